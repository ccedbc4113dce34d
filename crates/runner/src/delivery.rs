//! The end of a build on its way to the server: files, the rest of the log, the result. It is the same after a crash, from
//! the journal.

use std::collections::BTreeMap;
use std::sync::Arc;

use launchway_api::open;
use launchway_api::runner::{BuildError, Finish, Finished};
use launchway_domain::build::{BuildErrorCode, BuildResult};
use launchway_domain::masking::Masker;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::{error, info, warn};

use crate::build::{Stage, fenced_off, renew, send_log};
use crate::context::RunnerContext;
use crate::journal::{Artifact, Outcome, Record};
use crate::log::{Log, LogWriter};
use crate::phases::Phases;
use crate::protocol::{Backoff, BuildCalls, CallError, Server};
use crate::stop::{StopReason, Stopper};

/// A file that the storage refuses for good is offered so often, each time to a new URL.
const MOST_REFUSALS: u32 = 5;
/// How often a lease is renewed for a build of which only the end is left.
const RENEW_SECONDS: u32 = 15;

/// So many runners may die while they deliver a build's end. Then its files are given up: something in them, or in what the
/// server makes of them, ends a runner, or the server that it is a part of.
const MOST_DEATHS: u32 = 5;
/// So many more may die while they deliver that the build failed. Then the whole build is given up.
const MOST_LAST_DEATHS: u32 = 3;

/// What is to be delivered.
pub(crate) struct Delivery {
    pub(crate) calls: BuildCalls,
    pub(crate) record: Record,
    pub(crate) outcome: Outcome,
    pub(crate) stopper: Stopper,
}

/// Delivers, and forgets the build when the server has it all or does not want it. A runner that is stopped leaves it in the
/// journal.
pub(crate) async fn deliver(mut delivery: Delivery, log: Log, sending: JoinHandle<Option<u64>>) {
    let key = delivery.record.key();
    let deaths = delivery.record.deaths();
    if deaths >= MOST_DEATHS + MOST_LAST_DEATHS {
        error!(
            build = key,
            deaths, "a build is given up: runners died while they delivered its end"
        );
        sending.abort();
        return forget(&delivery.record);
    }
    // Taken back when this runner does not die.
    delivery.note_deaths(deaths + 1);
    let delivered = delivery.all(log, sending, deaths).await;
    match &delivered {
        Ok(status) => info!(build = key, %status, "a build is over"),
        Err(StopReason::Halted) => {
            info!(
                build = key,
                "the runner is stopped: the end of the build is sent when it is started again"
            );
            return delivery.note_deaths(deaths);
        }
        Err(reason) => warn!(build = key, ?reason, "the server does not take the end of a build"),
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
        if deaths < MOST_DEATHS {
            self.store_files(&log.writer).await?;
        } else {
            let problem = format!("the runner died {deaths} times while it sent the end of this build");
            log.writer.say(&self.give_files_up(&problem)).await;
        }
        self.note();
        // Ends the log, and with it, when the server has it, the sending.
        drop(log.writer);
        let size = self.unless_gone(sending).await?.ok().flatten();
        let log_size = size.ok_or_else(|| self.gone())?;
        let told = match self.tell_end(log_size).await? {
            Err(CallError::Defect(problem)) => {
                error!(build = self.record.key(), problem, "the files of a build are given up");
                self.give_files_up(&format!(
                    "the server fails when it takes the end of this build: {problem}"
                ));
                self.note();
                self.tell_end(log_size).await?
            }
            told => told,
        };
        told.map(|finished| finished.status).map_err(|error| fenced_off(&error))
    }

    /// Makes the build one that failed, without files; gives the sentence for its log.
    fn give_files_up(&mut self, problem: &str) -> String {
        let message =
            format!("The files of this build are given up: {problem}. Build again, and look at what the build makes.");
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

    /// Stores the files that are not stored yet. A cancel, and a file that cannot be stored, become what came of the build.
    async fn store_files(&mut self, log: &LogWriter) -> Result<(), StopReason> {
        for index in 0..self.outcome.artifacts.len() {
            if self.outcome.artifacts[index].id.is_some() {
                continue;
            }
            let artifact = self.outcome.artifacts[index].clone();
            let stored = match self.store(&artifact, index).await {
                Ok(stored) => stored,
                // Somebody canceled it in the last moment.
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

    /// Tells the server what came of the build.
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
        let told = self.calls.finish(&finish, self.outcome.lwfp2.as_deref());
        self.unless_gone(told).await
    }

    /// Stores a file, each try at a new URL. The inner problem is for the build's record.
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
            // A file of gibibytes goes no further for a build that nobody wants.
            let broken = match self.stopper.unless_stopped(put).await? {
                Ok(()) => return Ok(Ok(target.id)),
                Err(broken) => broken,
            };
            refusals += u32::from(broken.reason.is_none());
            if refusals >= MOST_REFUSALS {
                let problem = format!("The artifact {} cannot be stored: {}.", artifact.name, broken.error);
                return Ok(Err(problem));
            }
            let machine = self.calls.server().machine();
            let delay = backoff.after(None, machine.random());
            warn!(build = self.record.key(), error = %broken.error, "an artifact was not stored: trying again");
            self.unless_gone(machine.pause(delay)).await?;
        }
    }

    /// Does something unless nobody wants the end of the build any more, or the runner is stopped. A cancel changes nothing
    /// here: what the build came to is known.
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
            .unwrap_or_else(|| StopReason::FencedOff("its log was not taken".to_owned()))
    }

    fn note_deaths(&self, deaths: u32) {
        if let Err(error) = self.record.set_deaths(deaths) {
            warn!(build = self.record.key(), %error, "cannot note how often a runner died with a build");
        }
    }

    fn note(&self) {
        if let Err(error) = self.record.set_outcome(&self.outcome) {
            warn!(build = self.record.key(), %error, "cannot note the end of a build");
        }
    }
}

/// Goes on, after a crash, with a build that was in hand: what came of it is delivered; one of which nothing came is
/// dropped, and begins again when its lease is over. Its processes and workspace are gone already.
pub async fn resume(context: Arc<RunnerContext>, server: Server, record: Record, stage: watch::Receiver<Stage>) {
    let (key, outcome) = (record.key(), record.outcome());
    info!(
        build = key,
        whole = outcome.is_some(),
        "a build was in hand when the runner ended"
    );
    let calls = server.build(&record.build.build_id, record.build.attempt);
    // The secrets are gone with the crash; only these lines come to what is masked already.
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
    let halting = crate::build::watch_stage(stage, stopper.clone());
    let sending = send_log(&record, &log, calls.clone(), stopper.clone());
    match outcome {
        Some(outcome) => {
            log.writer
                .say("The runner was started again and sends what is left")
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
                .say("The runner ended in the middle of this attempt; the build begins again when its lease is over")
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
