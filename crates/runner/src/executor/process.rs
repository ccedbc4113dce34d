//! Runs a step as processes of this machine: a supervisor, which is this program started again, and below it the
//! sandboxed step.
//!
//! The supervisor receives the order through a pipe and stops the step when the pipe closes. So the steps of a runner
//! end with it, even if it crashes.

use std::path::PathBuf;
use std::process::Stdio;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, Command};
use zeroize::Zeroizing;

use super::supervisor::{self, Report};
use super::{Executor, ExecutorError, RunningStep, StepEnd, StepOrder, Stop};

/// The maximum size of a supervisor's report.
const MAX_REPORT: u64 = 64 << 10;

/// Runs steps on this machine.
#[derive(Clone, Debug)]
pub struct ProcessExecutor {
    program: PathBuf,
}

impl ProcessExecutor {
    /// Steps are started through this program, whose `main` calls [`super::step_entry`].
    ///
    /// # Errors
    /// The path of the running program is unknown.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self {
            program: this_program()?,
        })
    }

    /// Steps are started through another program, whose `main` calls [`super::step_entry`].
    pub fn through(program: PathBuf) -> Self {
        Self { program }
    }

    async fn begin(&self, order: StepOrder) -> Result<RunningStep, ExecutorError> {
        let not_started = |error: std::io::Error| ExecutorError::NotStarted(error.to_string());
        // The environment is cleared: the order may hold variables that change how programs load, and the supervisor is
        // not sandboxed.
        let mut command = Command::new(&self.program);
        command.arg(supervisor::COMMAND).env_clear().current_dir("/");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // A process group of its own, as Ctrl-C in a terminal is meant for the runner.
        let mut child = command.process_group(0).spawn().map_err(not_started)?;
        let (Some(mut orders), Some(output), Some(report)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(ExecutorError::Lost);
        };
        let json = Zeroizing::new(
            serde_json::to_vec(&order)
                .map_err(std::io::Error::from)
                .map_err(not_started)?,
        );
        let written = async {
            orders.write_all(&(json.len() as u64).to_be_bytes()).await?;
            orders.write_all(&json).await
        };
        // A supervisor that failed to start explains that in its report.
        let _ = written.await;
        Ok(RunningStep {
            output: Box::pin(output),
            stop: Stop::when_dropped(orders),
            end: ended(child, report).boxed(),
        })
    }
}

impl Executor for ProcessExecutor {
    fn start(&self, order: StepOrder) -> BoxFuture<'_, Result<RunningStep, ExecutorError>> {
        self.begin(order).boxed()
    }

    fn program(&self) -> PathBuf {
        self.program.clone()
    }
}

async fn ended(mut child: Child, report: ChildStderr) -> Result<StepEnd, ExecutorError> {
    let mut said = Vec::new();
    let read = report.take(MAX_REPORT).read_to_end(&mut said).await;
    let waited = child.wait().await;
    if read.is_err() || waited.is_err() {
        return Err(ExecutorError::Lost);
    }
    match serde_json::from_slice(&said) {
        Ok(Report::Ended(end)) => Ok(end),
        Ok(Report::NotStarted(why)) => Err(ExecutorError::NotStarted(why)),
        Err(_) => Err(ExecutorError::Lost),
    }
}

/// The path of this program, even if its file was replaced after the start.
pub(super) fn this_program() -> std::io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    std::env::current_exe()
}
