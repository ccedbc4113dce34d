//! Tries what an inspection process must not be able to do, so that tests can prove that it cannot.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Write};
use std::net::TcpStream;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::confine::{Bounds, give_up_everything};
use super::work::standard_input;

/// What to try.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Trial {
    /// Allocate without bound; finally prints how many mebibytes it got.
    Memory,
    /// Recurse without bound.
    Stack,
    /// Compute without bound.
    Time,
    /// A panic.
    Panic,
    /// Append a byte to the inspected file.
    Write,
    /// Open files and sockets and start processes: prints a word for each success.
    World,
}

/// Runs a trial under the limits of every inspection, except that the CPU time is one second.
pub(super) fn run(trial: Trial) -> Result<(), String> {
    let input = standard_input()?;
    let bounds = Bounds {
        seconds: 1,
        ..Bounds::ONE
    };
    give_up_everything(&input, bounds)?;
    match trial {
        Trial::Memory => {
            let mut held: Vec<Vec<u8>> = Vec::new();
            loop {
                held.push(vec![1; 1 << 20]);
                let _ = writeln!(io::stderr(), "{}", black_box(&held).len());
            }
        }
        Trial::Stack => {
            black_box(deeper(1));
        }
        Trial::Time => loop {
            black_box(());
        },
        Trial::Panic => {
            let secret = "hunter2".to_owned();
            black_box(&secret[20..]);
        }
        Trial::Write => File::from(input).write_all(b"x").map_err(|error| error.to_string())?,
        Trial::World => {
            let mut got = Vec::new();
            let mut tried = |word: &str, worked: bool| got.extend(worked.then(|| word.to_owned()));
            tried("reads", File::open("/etc/passwd").is_ok());
            tried(
                "writes",
                File::create(std::env::temp_dir().join("launchway-trial")).is_ok(),
            );
            tried("connects", reaches(&TcpStream::connect("127.0.0.1:9")));
            tried("runs", Command::new("/bin/true").status().is_ok());
            tried("can read the environment", sees_environment());
            let _ = write!(io::stdout(), "{}", got.join(", "));
        }
    }
    Ok(())
}

fn deeper(depth: u64) -> u64 {
    if depth == u64::MAX {
        return 0;
    }
    black_box(depth) + black_box(deeper(depth + 1))
}

/// Whether a socket was available, whatever the peer answered.
fn reaches(connected: &io::Result<TcpStream>) -> bool {
    match connected {
        Ok(_) => true,
        Err(error) => error.kind() == io::ErrorKind::ConnectionRefused,
    }
}

#[expect(clippy::disallowed_methods, reason = "nothing is read of it")]
fn sees_environment() -> bool {
    std::env::vars_os().any(|(name, _)| name == "HOME")
}
