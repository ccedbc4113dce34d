//! Runs one command of an attempt: its output into the log, its time measured, stopped when the build is.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use bytes::BytesMut;
use launchway_domain::build::BuildErrorCode;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::{Attempt, Failure, sentence, too_long};
use crate::executor::{ExecutorError, RunningStep, StepCommand, StepEnd, StepOrder};

/// Bytes of output read at a time.
const CHUNK: usize = 32 << 10;

impl Attempt {
    /// Runs a command in the source's directory; what it prints goes into the log.
    pub(super) async fn run_command(
        &self,
        command: StepCommand,
        env: BTreeMap<String, String>,
        limit: Option<Duration>,
    ) -> Result<StepEnd, Failure> {
        self.run_with(command, env, limit, None).await
    }

    /// Runs a command and gives the first line that it prints.
    pub(super) async fn ask_command(
        &self,
        command: StepCommand,
        env: BTreeMap<String, String>,
    ) -> Result<Option<String>, Failure> {
        let mut printed = BytesMut::new();
        let end = self.run_with(command, env, None, Some(&mut printed)).await?;
        let line = String::from_utf8_lossy(&printed).lines().next().map(str::to_owned);
        Ok(line.filter(|_| end == StepEnd::Exited(0)))
    }

    /// Runs a command; what it prints is nobody's.
    pub(super) async fn run_quietly(
        &self,
        command: StepCommand,
        env: BTreeMap<String, String>,
    ) -> Result<StepEnd, Failure> {
        self.run_with(command, env, None, Some(&mut BytesMut::new())).await
    }

    /// Runs a command; what it prints goes into the log, or the first of it into `printed`.
    async fn run_with(
        &self,
        command: StepCommand,
        env: BTreeMap<String, String>,
        limit: Option<Duration>,
        printed: Option<&mut BytesMut>,
    ) -> Result<StepEnd, Failure> {
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
            // A step that has ended has ended.
            biased;
            ended = &mut work => return ended.map_err(not_run),
            reason = self.stopper.stopped() => Failure::Stopped(reason),
            () = timer => {
                let seconds = limit.unwrap_or_default().as_secs();
                let phase = self.phases.latest().unwrap_or_default();
                let message = too_long(&format!("step '{phase}'"), u32::try_from(seconds).unwrap_or(u32::MAX));
                Failure::Failed(BuildErrorCode::TimedOut, message)
            }
        };
        drop(stop);
        // Its last words are still for the log.
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

fn not_run(error: ExecutorError) -> Failure {
    let code = match error {
        ExecutorError::NotStarted(_) => BuildErrorCode::StepFailed,
        ExecutorError::Lost => BuildErrorCode::Internal,
    };
    Failure::Failed(code, sentence(&error.to_string()))
}
