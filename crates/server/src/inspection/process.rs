//! One inspecting process, seen from outside: what it gets, how long it may take, how much it may say, and how it ended.

use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use zeroize::Zeroizing;

use super::{COMMAND, ENVIRONMENT, Inspector};

/// An answer is not longer. Longest are the facts of a credential, which are bounded, and the warnings about an app.
const MAX_ANSWER: u64 = 1 << 20;
/// What it says at a bad end is not longer.
const MAX_LAST_WORDS: u64 = 4096;
/// What Rust says when there is no memory.
const NO_MEMORY: &str = "memory allocation of";
const SIGABRT: i32 = 6;
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

/// How a process ended that did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Died {
    /// A defect of the program that the file brought to light.
    Crashed,
    /// It wanted more memory than it may have, or the machine has.
    OutOfMemory,
    /// It wanted more time.
    OutOfTime,
}

/// Runs a process for a task; gives what it said, which is its answer. Dropped, it kills the process.
///
/// # Errors
/// No process could be started.
pub(super) async fn run(
    inspector: &Inspector,
    task: &str,
    input: Stdio,
    content: Option<Zeroizing<Vec<u8>>>,
) -> std::io::Result<Result<Vec<u8>, Died>> {
    let mut command = Command::new(&inspector.program);
    command.args(&inspector.arguments).args([COMMAND, task]);
    command.env_clear().envs(ENVIRONMENT).current_dir("/");
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Its own group: Ctrl-C at a terminal is for the server, which ends it in its own time.
    let mut child = command.process_group(0).kill_on_drop(true).spawn()?;
    let (given, said, last_words) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let work = async {
        let give = async {
            if let (Some(mut given), Some(content)) = (given, content) {
                // One that ended early does not take it.
                let _ = given.write_all(&content).await;
            }
        };
        let ((), said, last_words) = tokio::join!(give, bounded(said, MAX_ANSWER), bounded(last_words, MAX_LAST_WORDS));
        (said, last_words)
    };
    let Ok((said, last_words)) = tokio::time::timeout(inspector.timeout, work).await else {
        let _ = child.kill().await;
        tracing::error!(task, "an inspection was killed: it did not end in time");
        return Ok(Err(Died::OutOfTime));
    };
    // One that says too much, or closed its pipes and goes on, is at its end too.
    if said.len() as u64 > MAX_ANSWER {
        child.start_kill()?;
    }
    let Ok(status) = tokio::time::timeout(inspector.timeout, child.wait()).await else {
        let _ = child.kill().await;
        return Ok(Err(Died::OutOfTime));
    };
    let status = status?;
    if status.success() && said.len() as u64 <= MAX_ANSWER {
        return Ok(Ok(said));
    }
    // Only the program's own words: where it panicked, not what it read (`work.rs`).
    let words = String::from_utf8_lossy(&last_words);
    let died = how(status, &words);
    tracing::error!(task, ?status, ?died, words = ?words.trim(), "an inspection ended badly");
    Ok(Err(died))
}

/// What comes, up to one byte more than `most`. Whoever writes more is told that nobody reads it.
async fn bounded(from: Option<impl AsyncRead + Unpin>, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        // What cannot be read is missed in the answer.
        let _ = from.take(most + 1).read_to_end(&mut bytes).await;
    }
    bytes
}

fn how(status: ExitStatus, words: &str) -> Died {
    match status.signal() {
        Some(SIGXCPU) => Died::OutOfTime,
        Some(SIGABRT) if words.contains(NO_MEMORY) => Died::OutOfMemory,
        // Nobody here kills it before its time, but a system without memory does.
        Some(SIGKILL) => Died::OutOfMemory,
        _ => Died::Crashed,
    }
}
