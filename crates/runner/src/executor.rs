//! Runs the steps of a build. `process` runs them on this machine; a container or a virtual machine fits the same
//! trait.

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

/// The environment variable that identifies the processes of a build.
pub const MARK: &str = "LAUNCHWAY_STEP";

/// Runs steps.
pub trait Executor: Send + Sync {
    /// Starts a step.
    fn start(&self, order: StepOrder) -> BoxFuture<'_, Result<RunningStep, ExecutorError>>;

    /// The program that steps find as `launchway`; its `main` calls [`step_entry`].
    fn program(&self) -> PathBuf;
}

/// What to run, where, and in which sandbox. It contains secrets, so it is not `Debug`.
#[derive(Clone, Serialize, Deserialize)]
pub struct StepOrder {
    /// The command to run.
    pub command: StepCommand,
    /// The working directory.
    pub directory: PathBuf,
    /// The complete environment.
    pub env: BTreeMap<String, String>,
    /// Isolates the step from the rest of the machine.
    pub sandbox: Sandbox,
    /// The time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// The maximum size of a file that the step writes, in bytes.
    pub file_bytes: u64,
}

/// The command of a step.
#[derive(Clone, Serialize, Deserialize)]
pub enum StepCommand {
    /// A script, for bash with `-eo pipefail`, or for `/bin/sh -e` on machines without bash.
    Shell(String),
    /// A program, searched on the step's `PATH`, and its arguments.
    Program(Vec<String>),
}

/// A running step. Dropping it stops it.
pub struct RunningStep {
    /// Standard output and standard error, combined.
    pub output: Pin<Box<dyn AsyncRead + Send>>,
    /// When dropped, sends SIGTERM to all processes of the step, and SIGKILL after the grace period. `end` still
    /// completes.
    pub stop: Stop,
    /// Completes when all processes of the step have ended. Read `output` concurrently, as the step may block on it.
    pub end: BoxFuture<'static, Result<StepEnd, ExecutorError>>,
}

/// Stops a step when dropped.
pub struct Stop(#[expect(dead_code, reason = "what counts is when it is dropped")] Box<dyn Send>);

impl Stop {
    /// The step is stopped when `held` is dropped.
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

/// Why the end of a step is unknown.
#[derive(Debug, thiserror::Error)]
pub enum ExecutorError {
    /// The step could not be started.
    #[error("cannot start the step: {0}")]
    NotStarted(String),
    /// The supervisor of the step died.
    #[error("the supervisor of the step ended unexpectedly")]
    Lost,
}

/// The hidden commands by which a program restarts itself for a step. Call this first in `main` of every program that
/// embeds a runner, with its arguments. If it returns an exit code, the program exits with it.
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
