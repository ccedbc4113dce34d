//! Delivers the result of a build to the server: artifacts, the rest of the log, the outcome. After a crash, the
//! journal lets the delivery continue.

use std::collections::BTreeMap;
use std::sync::Arc;

use launchway_api::open;
use launchway_api::runner::{BuildError, Finish, Finished};
use launchway_domain::build::{BuildErrorCode, BuildResult};
use launchway_domain::masking::Masker;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::{error, info, warn};

use crate::context::RunnerContext;
use crate::journal::{Artifact, Outcome, Record};
use crate::log::{Log, LogWriter};
use crate::phases::Phases;
use crate::protocol::{Backoff, BuildCalls, CallError, Server};
use crate::side_tasks::{Stage, fenced_off, renew, send_log, watch_stage};
use crate::stop::{StopReason, Stopper};

/// How many times a file that object storage rejects is offered, each time with a new URL.
const MAX_REFUSALS: u32 = 5;
/// The interval between lease renewals during the delivery, in seconds.
const RENEW_SECONDS: u32 = 15;

/// The number of runners that may crash while they deliver a build before its artifacts are given up: something in
/// them, or in how the server handles them, crashes the runner or the server that embeds it.
const MAX_DEATHS: u32 = 5;
/// The number of further crashes during the delivery of that failure before the whole build is given up.
const MAX_LAST_DEATHS: u32 = 3;

/// A delivery in progress.
pub(crate) struct Delivery {
    pub(crate) calls: BuildCalls,
    pub(crate) record: Record,
    pub(crate) outcome: Outcome,
    pub(crate) stopper: Stopper,
}

/// Delivers a build, then forgets it once the server has everything or rejects it. A runner that is stopped keeps the
/// build in the journal.
pub(crate) async fn deliver(mut delivery: Delivery, log: Log, sending: JoinHandle<Option<u64>>) {
    let key = delivery.record.key();
    let deaths = delivery.record.deaths();
    if deaths >= MAX_DEATHS + MAX_LAST_DEATHS {
        error!(
            build = key,
            deaths, "giving up a build, because runners crashed while they delivered its result"
        );
        sending.abort();
        return forget(&delivery.record);
    }
    // Reverted below if this runner survives.
    delivery.note_deaths(deaths + 1);
    let delivered = delivery.all(log, sending, deaths).await;
    match &delivered {
        Ok(status) => info!(build = key, %status, "a build ended"),
        Err(StopReason::Halted) => {
            info!(
                build = key,
                "the runner was stopped; the result of the build is sent when it starts again"
            );
            return delivery.note_deaths(deaths);
        }
        Err(reason) => warn!(build = key, ?reason, "the server refuses the result of a build"),
    }
    forget(&delivery.record);
}

fn forget(record: &Record) {
    if let Err(error) = record.forget() {
        warn!(build = record.key(), %error, "cannot forget a build");
    }
}

impl Delivery {
    async fn all(
        &mut self,
        log: Log,
        sending: JoinHandle<Option<u64>>,
        deaths: u32,
    ) -> Result<open::BuildStatus, StopReason> {
        if deaths < MAX_DEATHS {
            self.store_files(&log.writer).await?;
        } else {
            let problem = format!("the runner crashed {deaths} times while it sent the result of this build");
            log.writer.say(&self.give_files_up(&problem)).await;
        }
        self.note();
        // Closes the log; the upload ends when the server has all of it.
        drop(log.writer);
        let size = self.unless_gone(sending).await?.ok().flatten();
        let log_size = size.ok_or_else(|| self.gone())?;
        let reply = match self.tell_end(log_size).await? {
            Err(CallError::Defect(problem)) => {
                error!(build = self.record.key(), problem, "giving up the files of a build");
                self.give_files_up(&format!("the server fails on the result of this build: {problem}"));
                self.note();
                self.tell_end(log_size).await?
            }
            reply => reply,
        };
        reply
            .map(|finished| finished.status)
            .map_err(|error| fenced_off(&error))
    }

    /// Turns the build into a failed one without artifacts. Returns the message for its log.
    fn give_files_up(&mut self, problem: &str) -> String {
        let message = format!(
            "Cannot store the files of this build: {problem}. Build again, and check the files that the build creates."
        );
        self.outcome.status = BuildResult::Failed.into();
        self.outcome.artifacts.clear();
        self.outcome.fingerprint = None;
        self.outcome.lwfp2 = None;
        self.outcome.error = Some(BuildError {
            code: BuildErrorCode::Internal.into(),
            phase: Some("artifacts".to_owned()),
            message: message.clone(),
        });
        format!("failed: {message}")
    }

    /// Uploads the artifacts that are not uploaded yet. A cancellation, or a file that cannot be stored, becomes the
    /// outcome of the build.
    async fn store_files(&mut self, log: &LogWriter) -> Result<(), StopReason> {
        for index in 0..self.outcome.artifacts.len() {
            if self.outcome.artifacts[index].id.is_some() {
                continue;
            }
            let artifact = self.outcome.artifacts[index].clone();
            let stored = match self.store(&artifact, index).await {
                Ok(stored) => stored,
                // The build was canceled at the last moment.
                Err(StopReason::Canceled) => {
                    self.outcome.status = BuildResult::Canceled.into();
                    log.say("canceled").await;
                    break;
                }
                Err(reason) => return Err(reason),
            };
            match stored {
                Ok(id) => {
                    log.say(&format!(
                        "artifact {} ({} bytes) is stored",
                        artifact.name, artifact.size
                    ))
                    .await;
                    self.outcome.artifacts[index].id = Some(id);
                }
                Err(problem) => {
                    log.say(&format!("failed: {problem}")).await;
                    self.outcome.status = BuildResult::Failed.into();
                    self.outcome.error = Some(BuildError {
                        code: BuildErrorCode::Internal.into(),
                        phase: Some("artifacts".to_owned()),
                        message: problem,
                    });
                    break;
                }
            }
            self.note();
        }
        Ok(())
    }

    /// Sends the outcome of the build to the server.
    async fn tell_end(&self, log_size: u64) -> Result<Result<Finished, CallError>, StopReason> {
        let artifacts = self.outcome.artifacts.iter();
        let finish = Finish {
            build_id: self.calls.build_id().to_owned(),
            attempt: self.calls.attempt(),
            status: self.outcome.status.clone(),
            error: self.outcome.error.clone(),
            phases: self.outcome.phases.clone(),
            artifacts: artifacts.filter_map(|artifact| artifact.id.clone()).collect(),
            log_size,
            fingerprint: self.outcome.fingerprint.clone(),
            warnings: self.outcome.warnings.clone(),
        };
        let reply = self.calls.finish(&finish, self.outcome.lwfp2.as_deref());
        self.unless_gone(reply).await
    }

    /// Uploads a file, with a new URL for each try. The inner error is for the build's record.
    async fn store(&self, artifact: &Artifact, index: usize) -> Result<Result<String, String>, StopReason> {
        let (path, storage) = (self.record.artifact(index), self.calls.server().storage());
        let (mut backoff, mut refusals) = (Backoff::default(), 0);
        loop {
            let announced = self
                .calls
                .announce(&artifact.kind, &artifact.name, artifact.size, &artifact.sha256);
            let target = self.unless_gone(announced).await?.map_err(|error| fenced_off(&error))?;
            if target.cancel {
                return Err(StopReason::Canceled);
            }
            let headers = BTreeMap::new();
            let put = storage.put(&target.url, &headers, &path, artifact.size, Arc::new(|_| {}));
            // Do not upload gibibytes for a build that is no longer wanted.
            let broken = match self.stopper.unless_stopped(put).await? {
                Ok(()) => return Ok(Ok(target.id)),
                Err(broken) => broken,
            };
            refusals += u32::from(broken.reason.is_none());
            if refusals >= MAX_REFUSALS {
                let problem = format!("Cannot store the artifact {}: {}", artifact.name, broken.error);
                return Ok(Err(problem));
            }
            let machine = self.calls.server().machine();
            let delay = backoff.after(None, machine.random());
            warn!(build = self.record.key(), error = %broken.error, "cannot store an artifact; retrying");
            self.unless_gone(machine.pause(delay)).await?;
        }
    }

    /// Runs `work` until the server no longer wants the build or the runner is stopped. A cancellation is ignored: the
    /// outcome of the build is already known.
    async fn unless_gone<T>(&self, work: impl Future<Output = T>) -> Result<T, StopReason> {
        let gone = async {
            let ends = |reason: &StopReason| matches!(reason, StopReason::FencedOff(_) | StopReason::Halted);
            self.stopper.stopped_by(ends).await
        };
        tokio::select! {
            biased;
            reason = gone => Err(reason),
            done = work => Ok(done),
        }
    }

    fn gone(&self) -> StopReason {
        self.stopper
            .reason()
            .unwrap_or_else(|| StopReason::FencedOff("its log was not accepted".to_owned()))
    }

    fn note_deaths(&self, deaths: u32) {
        if let Err(error) = self.record.set_deaths(deaths) {
            warn!(build = self.record.key(), %error, "cannot record how often a runner crashed with a build");
        }
    }

    fn note(&self) {
        if let Err(error) = self.record.set_outcome(&self.outcome) {
            warn!(build = self.record.key(), %error, "cannot record the end of a build");
        }
    }
}

/// Resumes a build after a crash. If it has an outcome, the outcome is delivered; otherwise it is dropped, and starts
/// again when its lease expires. Its processes and workspace are already removed.
pub async fn resume(context: Arc<RunnerContext>, server: Server, record: Record, stage: watch::Receiver<Stage>) {
    let (key, outcome) = (record.key(), record.outcome());
    info!(
        build = key,
        whole = outcome.is_some(),
        "a build was running when the runner ended"
    );
    let calls = server.build(&record.build.build_id, record.build.attempt);
    // The secrets were lost in the crash; the log so far is already masked, and only the lines below are added.
    let log = match Log::open(
        &record.log(),
        Arc::new(Masker::new([])),
        context.settings.limits.log_bytes,
    ) {
        Ok(log) => log,
        Err(error) => {
            warn!(build = key, %error, "cannot open the log of a build");
            return;
        }
    };
    let stopper = Stopper::default();
    let halting = watch_stage(stage, stopper.clone());
    let sending = send_log(&record, &log, calls.clone(), stopper.clone());
    match outcome {
        Some(outcome) => {
            log.writer
                .say("The runner restarted, and sends the remaining log and files")
                .await;
            let phases = Arc::new(Phases::default());
            phases.set(outcome.phases.clone());
            let renewing = renew(calls.clone(), phases, stopper.clone(), RENEW_SECONDS);
            let delivery = Delivery {
                calls,
                record,
                outcome,
                stopper,
            };
            deliver(delivery, log, sending).await;
            renewing.abort();
        }
        None => {
            log.writer
                .say("The runner ended during this attempt. The build starts again when its lease expires.")
                .await;
            drop(log.writer);
            tokio::select! {
                _ = sending => {}
                _ = stopper.stopped() => {}
            }
            if let Err(error) = record.forget() {
                warn!(build = key, %error, "cannot forget a build");
            }
        }
    }
    halting.abort();
}
