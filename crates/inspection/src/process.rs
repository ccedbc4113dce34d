//! One inspection process, seen from outside: its input, its timeout, the bound on its output, and how it ended.

use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use zeroize::Zeroizing;

use super::{COMMAND, ENVIRONMENT, Inspector};

/// The maximum length of an answer in bytes. The longest are the facts of a credential, which are bounded, and the
/// warnings about an app.
const MAX_ANSWER: u64 = 1 << 20;
/// The maximum length in bytes of what a failing process prints.
const MAX_LAST_WORDS: u64 = 4096;
/// The message of Rust's runtime when memory is exhausted.
const NO_MEMORY: &str = "memory allocation of";
const SIGABRT: i32 = 6;
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

/// How a process ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessFailure {
    /// The file triggered a defect of the program.
    Crashed,
    /// It exceeded its memory limit, or the machine's memory.
    OutOfMemory,
    /// It exceeded its time limit.
    OutOfTime,
}

/// Runs a process for a task and returns its output, which is its answer. Dropping the future kills the process.
///
/// # Errors
/// No process could be started.
pub(super) async fn run(
    inspector: &Inspector,
    task: &str,
    input: Stdio,
    content: Option<Zeroizing<Vec<u8>>>,
) -> std::io::Result<Result<Vec<u8>, ProcessFailure>> {
    let mut command = Command::new(&inspector.program);
    command.args(&inspector.arguments).args([COMMAND, task]);
    command.env_clear().envs(ENVIRONMENT).current_dir("/");
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A process group of its own: Ctrl-C in a terminal is for the server, which stops the process itself.
    let mut child = command.process_group(0).kill_on_drop(true).spawn()?;
    let (given, said, last_words) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let work = async {
        let give = async {
            if let (Some(mut given), Some(content)) = (given, content) {
                // A process that exits early does not read its input.
                let _ = given.write_all(&content).await;
            }
        };
        let ((), said, last_words) = tokio::join!(give, bounded(said, MAX_ANSWER), bounded(last_words, MAX_LAST_WORDS));
        (said, last_words)
    };
    let Ok((said, last_words)) = tokio::time::timeout(inspector.timeout, work).await else {
        let _ = child.kill().await;
        tracing::error!(task, "killed an inspection that did not end in time");
        return Ok(Err(ProcessFailure::OutOfTime));
    };
    // A process that writes too much, or that closes its output and continues, is finished too.
    if said.len() as u64 > MAX_ANSWER {
        child.start_kill()?;
    }
    let Ok(status) = tokio::time::timeout(inspector.timeout, child.wait()).await else {
        let _ = child.kill().await;
        return Ok(Err(ProcessFailure::OutOfTime));
    };
    let status = status?;
    if status.success() && said.len() as u64 <= MAX_ANSWER {
        return Ok(Ok(said));
    }
    // Only the program's own words: where it panicked, not what it read (`work.rs`).
    let words = String::from_utf8_lossy(&last_words);
    let died = how(status, &words);
    tracing::error!(task, ?status, ?died, words = ?words.trim(), "an inspection failed");
    Ok(Err(died))
}

/// Reads at most one byte more than `most`, then closes the pipe, so that the process stops writing.
async fn bounded(from: Option<impl AsyncRead + Unpin>, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        // A read error shows up as an incomplete answer.
        let _ = from.take(most + 1).read_to_end(&mut bytes).await;
    }
    bytes
}

fn how(status: ExitStatus, words: &str) -> ProcessFailure {
    match status.signal() {
        Some(SIGXCPU) => ProcessFailure::OutOfTime,
        Some(SIGABRT) if words.contains(NO_MEMORY) => ProcessFailure::OutOfMemory,
        // The server kills only at the timeout, but a system without memory kills too.
        Some(SIGKILL) => ProcessFailure::OutOfMemory,
        _ => ProcessFailure::Crashed,
    }
}
