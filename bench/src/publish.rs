//! Measures publishing: what an upload and its publication cost the server and the processes that inspect the package, beside a
//! program that only reads the same bytes, hashes them and writes them to the disk.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::args::PublishArgs;
use crate::child;
use crate::figures::{Goal, Spread, mebibytes};
use crate::package::package;
use crate::programs;
use crate::publisher::{Publisher, create_key};
use crate::server::Server;

/// The processor time of a publication is at most so many times that of reading, hashing and writing.
const CPU: f64 = 1.5;
/// The memory that a publication may take, in MiB.
const MEMORY: f64 = 16.0;
/// The app.
const BUNDLE: &str = "com.example.publish";
/// How much is read at once by the program beside the server.
const BUFFER: usize = 64 << 10;

/// Measures publications and the program beside them in turn, and prints their ratios.
///
/// # Errors
/// When the server does not start, or refuses a publication.
pub fn run(args: &PublishArgs) -> anyhow::Result<()> {
    let program = programs::server(args.server.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let data = tempfile::tempdir()?;
    let key = create_key(&program, data.path())?;
    let package = Bytes::from(package(args.package_mebibytes)?);
    let file = data.path().join("package.zip");
    fs::write(&file, &package)?;
    let mut command = programs::serve(&program, data.path());
    command.arg("--no-runner");
    let server = Server::start(command)?;
    let (mut ratios, mut seconds, mut cpu) = (Vec::new(), Vec::new(), Vec::new());
    // The first publication also opens what later ones use, and the highest memory counts from its end.
    let mut publisher = runtime.block_on(Publisher::connect(server.address, &key))?;
    runtime.block_on(publisher.publish(&package, BUNDLE, 0))?;
    let memory = server.memory()?;
    for round in 1..=args.rounds {
        let floor = copy(&file, &data.path().join("copy.zip"))?;
        let (before, started) = (server.cpu_of_all()?, Instant::now());
        runtime.block_on(publisher.publish(&package, BUNDLE, round))?;
        seconds.push(started.elapsed().as_secs_f64());
        let used = (server.cpu_of_all()? - before).as_secs_f64();
        cpu.push(used);
        ratios.push(used / floor.as_secs_f64());
    }
    let more = mebibytes(server.peak_memory()?.saturating_sub(memory));
    let mut out = std::io::stdout();
    writeln!(
        out,
        "Publishing {:.0} MiB, {} times, min – median – max:",
        mebibytes(package.len() as u64),
        args.rounds
    )?;
    writeln!(out, "seconds                              {:.3}", Spread::of(seconds))?;
    writeln!(out, "CPU of the server, seconds           {:.3}", Spread::of(cpu))?;
    let ratios = Spread::of(ratios);
    let goal = Goal::AtMost(CPU).verdict(ratios.median);
    writeln!(out, "CPU / reading, SHA-256 and writing   {ratios:.2}   {goal}")?;
    let goal = Goal::AtMost(MEMORY).verdict(more);
    writeln!(out, "memory above that at rest            {more:.1} MiB   {goal}")?;
    Ok(())
}

/// Reads a file, hashes it and writes it to the disk, in a process of its own.
fn copy(from: &Path, to: &Path) -> anyhow::Result<Duration> {
    let mut command = Command::new(std::env::current_exe()?);
    child::run(command.arg("copy").arg(from).arg(to))
}

/// What the process of [`copy`] does.
///
/// # Errors
/// When a file cannot be read or written.
pub fn copy_file(from: &Path, to: &Path) -> anyhow::Result<()> {
    let (mut from, mut to) = (File::open(from)?, File::create(to)?);
    let (mut buffer, mut hash) = (vec![0; BUFFER], Sha256::new());
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hash.update(&buffer[..count]);
        to.write_all(&buffer[..count])?;
    }
    std::hint::black_box(hash.finalize());
    to.sync_all()?;
    Ok(())
}
