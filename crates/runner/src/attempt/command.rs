//! Runs one command of an attempt: logs its output, measures its duration, and stops it when the build is stopped.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use bytes::BytesMut;
use launchway_domain::build::BuildErrorCode;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::{Attempt, AttemptError, sentence, too_long};
use crate::executor::{ExecutorError, RunningStep, StepCommand, StepEnd, StepOrder};

/// The size of the read buffer.
const CHUNK: usize = 32 << 10;

impl Attempt {
    /// Runs a command in the directory of the source and logs its output.
    pub(super) async fn run_command(
        &self,
        command: StepCommand,
        env: BTreeMap<String, String>,
        limit: Option<Duration>,
    ) -> Result<StepEnd, AttemptError> {
        self.run_with(command, env, limit, None).await
    }

    /// Runs a command and returns the first line of its output.
    pub(super) async fn ask_command(
        &self,
        command: StepCommand,
        env: BTreeMap<String, String>,
    ) -> Result<Option<String>, AttemptError> {
        let mut printed = BytesMut::new();
        let end = self.run_with(command, env, None, Some(&mut printed)).await?;
        let line = String::from_utf8_lossy(&printed).lines().next().map(str::to_owned);
        Ok(line.filter(|_| end == StepEnd::Exited(0)))
    }

    /// Runs a command and discards its output.
    pub(super) async fn run_quietly(
        &self,
        command: StepCommand,
        env: BTreeMap<String, String>,
    ) -> Result<StepEnd, AttemptError> {
        self.run_with(command, env, None, Some(&mut BytesMut::new())).await
    }

    /// Runs a command. Its output goes into the log or, up to a limit, into `printed`.
    async fn run_with(
        &self,
        command: StepCommand,
        env: BTreeMap<String, String>,
        limit: Option<Duration>,
        printed: Option<&mut BytesMut>,
    ) -> Result<StepEnd, AttemptError> {
        if let Some(reason) = self.stopper.reason() {
            return Err(reason.into());
        }
        let order = StepOrder {
            command,
            directory: self.workspace.source(),
            env,
            sandbox: self.sandbox.clone(),
            grace: self.context.settings.limits.grace,
            file_bytes: self.context.settings.limits.file_bytes,
        };
        let RunningStep { output, stop, end } = self.context.executor.start(order).await.map_err(not_run)?;
        let mut work = pin!(async { tokio::join!(self.pump(output, printed), end).1 });
        let timer = async {
            match limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        let failure = tokio::select! {
            // The end of the step takes precedence over a simultaneous stop.
            biased;
            ended = &mut work => return ended.map_err(not_run),
            reason = self.stopper.stopped() => AttemptError::Stopped(reason),
            () = timer => {
                let seconds = limit.unwrap_or_default().as_secs();
                let phase = self.phases.latest().unwrap_or_default();
                let message = too_long(&format!("step `{phase}`"), u32::try_from(seconds).unwrap_or(u32::MAX));
                AttemptError::Failed(BuildErrorCode::TimedOut, message)
            }
        };
        drop(stop);
        // Log the output that is still in the pipe.
        let _ = work.await;
        Err(failure)
    }

    async fn pump(&self, mut output: impl AsyncRead + Unpin, mut printed: Option<&mut BytesMut>) {
        let mut buffer = BytesMut::new();
        loop {
            buffer.reserve(CHUNK);
            match output.read_buf(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            match &mut printed {
                None => self.log.print(buffer.split().freeze()).await,
                Some(printed) if printed.len() < CHUNK => printed.unsplit(buffer.split()),
                Some(_) => buffer.clear(),
            }
        }
    }
}

fn not_run(error: ExecutorError) -> AttemptError {
    let code = match error {
        ExecutorError::NotStarted(_) => BuildErrorCode::StepFailed,
        ExecutorError::Lost => BuildErrorCode::Internal,
    };
    AttemptError::Failed(code, sentence(&error.to_string()))
}
