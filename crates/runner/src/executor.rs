//! Where a step of a build runs. `process` runs it on this machine; a container or a virtual machine fits the same trait.

mod descendants;
mod process;
mod sandboxed;
mod supervisor;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;
use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncRead;

use crate::sandbox::Sandbox;
use crate::source::git::ssh;
use crate::{source_tool, step_tool};

pub use descendants::end_marked;
pub use process::ProcessExecutor;

/// The environment variable by which the processes of a build are found again.
pub const MARK: &str = "LAUNCHWAY_STEP";

/// Runs steps.
pub trait Executor: Send + Sync {
    /// Starts a step.
    fn start(&self, order: StepOrder) -> BoxFuture<'_, Result<RunningStep, ExecutorError>>;

    /// The program that steps find as `launchway`; its `main` calls [`step_entry`].
    fn program(&self) -> PathBuf;
}

/// What to run, where, and behind what sandbox. It holds secrets: it is not shown.
#[derive(Clone, Serialize, Deserialize)]
pub struct StepOrder {
    /// What to run.
    pub command: StepCommand,
    /// The directory to run it in.
    pub directory: PathBuf,
    /// Its whole environment.
    pub env: BTreeMap<String, String>,
    /// What keeps it from the rest of the machine.
    pub sandbox: Sandbox,
    /// What it has to end in order, from SIGTERM until SIGKILL.
    pub grace: Duration,
    /// Bytes that a file which it writes may have.
    pub file_bytes: u64,
}

/// What to run.
#[derive(Clone, Serialize, Deserialize)]
pub enum StepCommand {
    /// A script, for bash with `-eo pipefail`, or for `/bin/sh -e` where there is no bash.
    Shell(String),
    /// A program, looked for on the step's `PATH`, and its arguments.
    Program(Vec<String>),
}

/// A step that runs. Dropped, it is stopped.
pub struct RunningStep {
    /// What it prints, standard output and error in one.
    pub output: Pin<Box<dyn AsyncRead + Send>>,
    /// Asks it to end: SIGTERM to all its processes, SIGKILL after the grace. The end still comes.
    pub stop: Stop,
    /// How it ended, after all its processes are gone. What it printed must be read beside, or it may wait for that.
    pub end: BoxFuture<'static, Result<StepEnd, ExecutorError>>,
}

/// Asks a step to end when it is dropped.
pub struct Stop(#[expect(dead_code, reason = "what counts is when it is dropped")] Box<dyn Send>);

impl Stop {
    /// The step is asked to end when `held` is dropped.
    pub fn when_dropped(held: impl Send + 'static) -> Self {
        Self(Box::new(held))
    }
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepEnd {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

/// Why there is no end of a step to tell.
#[derive(Debug, thiserror::Error)]
pub enum ExecutorError {
    /// It could not be started.
    #[error("the step could not be started: {0}")]
    NotStarted(String),
    /// What watches over it is gone.
    #[error("the process that watches over the step is gone")]
    Lost,
}

/// The hidden commands by which a program starts itself again for a step. To be called first thing in `main` of each
/// program that holds a runner, with its arguments: when there is an answer, that is what the program ends with.
pub fn step_entry(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter();
    let command = arguments.nth(1)?;
    if command == supervisor::COMMAND {
        Some(supervisor::run())
    } else if command == sandboxed::COMMAND {
        Some(sandboxed::run())
    } else if command == step_tool::COMMAND {
        Some(step_tool::run(arguments))
    } else if command == source_tool::COMMAND {
        Some(source_tool::run(arguments))
    } else if command == ssh::COMMAND {
        Some(ssh::run(arguments))
    } else {
        None
    }
}
