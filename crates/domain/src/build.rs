//! The states of a build and the transitions between them (`docs/reference/builds.md#transitions`). Storing a build is a
//! compare-and-set on (status, attempt); a final state never changes.

pub mod cache;
pub mod git;
pub mod plan;
mod record;

use crate::time::{DAY, EpochMs, SECOND};

pub use record::{Artifact, Build, BuildFailure, GitFacts, PhaseRecord, Runner, SourceRecord, Spec};

/// How long a runner holds a build without a word.
pub const LEASE: EpochMs = 90 * SECOND;
/// How often a runner renews its lease.
pub const RENEW: EpochMs = 15 * SECOND;
/// How often a build is given to a runner at most.
pub const MAX_ATTEMPTS: u32 = 3;
/// How long a build waits for a runner at most.
pub const EXPIRY: EpochMs = DAY;

words! {
    /// Where a build stands.
    BuildStatus, "queued, running, success, failed, canceled",
    /// It waits for a runner.
    Queued = "queued",
    /// A runner has it.
    Running = "running",
    /// It gave what it promised.
    Success = "success",
    /// It did not.
    Failed = "failed",
    /// Somebody stopped it.
    Canceled = "canceled",
}

words! {
    /// What the app is made for.
    BuildType, "debug, release",
    /// For those who make it.
    Debug = "debug",
    /// For those who use it.
    Release = "release",
}

words! {
    /// How the app reaches devices.
    Distribution, "store, internal, simulator, development",
    /// Through the App Store or Google Play.
    Store = "store",
    /// By a link, to known devices.
    Internal = "internal",
    /// To a simulator.
    Simulator = "simulator",
    /// To a device at a developer's cable.
    Development = "development",
}

words! {
    /// What a runner says a build came to.
    BuildResult, "success, failed, canceled",
    /// It gave what it promised.
    Success = "success",
    /// It did not.
    Failed = "failed",
    /// It was stopped, as asked.
    Canceled = "canceled",
}

words! {
    /// Whether a runner can be given builds.
    RunnerStatus, "online, offline, revoked",
    /// It was heard of lately.
    Online = "online",
    /// It was not.
    Offline = "offline",
    /// It was shut out.
    Revoked = "revoked",
}

words! {
    /// Why a build failed.
    BuildErrorCode, "STEP_FAILED, TIMED_OUT, RUNNER_LOST, EXPIRED, SOURCE_INVALID, ARTIFACT_MISSING, INTERNAL",
    /// A step ended with another exit code than 0.
    StepFailed = "STEP_FAILED",
    /// A step, or the build, took longer than it may.
    TimedOut = "TIMED_OUT",
    /// Its runner fell silent, for the last time.
    RunnerLost = "RUNNER_LOST",
    /// No runner took it in time.
    Expired = "EXPIRED",
    /// Its source cannot be unpacked, fetched or understood.
    SourceInvalid = "SOURCE_INVALID",
    /// A file that the plan promises is not there.
    ArtifactMissing = "ARTIFACT_MISSING",
    /// A defect of the service or the runner.
    Internal = "INTERNAL",
}

impl BuildStatus {
    /// Whether it never changes any more.
    pub const fn is_final(self) -> bool {
        matches!(self, BuildStatus::Success | BuildStatus::Failed | BuildStatus::Canceled)
    }
}

/// Where a build stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildState {
    /// Its status.
    pub status: BuildStatus,
    /// Which try this is, from 1. The fencing number: what a runner sends of another try is refused.
    pub attempt: u32,
    /// When it was put into the queue last.
    pub queued_at: EpochMs,
    /// When the lease of a running build ends.
    pub lease_until: Option<EpochMs>,
    /// Whether its runner was asked to stop it.
    pub cancel_requested: bool,
}

/// What a runner says a try came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every step ended well and every artifact is there.
    Success,
    /// It failed.
    Failed(BuildErrorCode),
    /// It was stopped, as asked.
    Canceled,
}

/// What happens to a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// A runner takes it.
    Lease,
    /// The runner of this attempt goes on with it.
    Renew {
        /// The fencing number.
        attempt: u32,
    },
    /// The runner of this attempt is done.
    Finish {
        /// The fencing number.
        attempt: u32,
        /// What came of it.
        outcome: Outcome,
    },
    /// Its runner was silent for too long.
    Lapse,
    /// Somebody wants it stopped.
    Cancel,
    /// It waited for too long.
    Expire,
}

/// Why a move is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransitionError {
    /// It is over.
    #[error("The build is over")]
    Over,
    /// Another try has begun since.
    #[error("Attempt {0} of the build is over; another one has begun")]
    Stale(u32),
    /// The move does not fit where the build stands.
    #[error("The build is {0}")]
    Unfit(BuildStatus),
    /// Its time is not over yet.
    #[error("The build's time is not over")]
    Early,
}

/// Where a move leads, and the error that a failed build then has.
pub type Moved = (BuildState, Option<BuildErrorCode>);

impl BuildState {
    /// A new build.
    pub const fn new(now: EpochMs) -> BuildState {
        BuildState {
            status: BuildStatus::Queued,
            attempt: 1,
            queued_at: now,
            lease_until: None,
            cancel_requested: false,
        }
    }

    /// Where a move at `now` leads.
    ///
    /// # Errors
    /// The move is not legal here; nothing changes.
    pub fn after(self, step: Transition, now: EpochMs) -> Result<Moved, TransitionError> {
        use BuildStatus::{Canceled, Failed, Queued, Running, Success};
        if self.status.is_final() {
            return Err(TransitionError::Over);
        }
        match (self.status, step) {
            (Queued, Transition::Lease) => Ok((self.leased(now), None)),
            (Queued, Transition::Cancel) => Ok((self.ended(Canceled), None)),
            (Queued, Transition::Expire) if now - self.queued_at >= EXPIRY => {
                Ok((self.ended(Failed), Some(BuildErrorCode::Expired)))
            }
            (Queued, Transition::Expire) => Err(TransitionError::Early),
            (_, Transition::Renew { attempt } | Transition::Finish { attempt, .. }) if attempt != self.attempt => {
                Err(TransitionError::Stale(attempt))
            }
            (Running, Transition::Renew { .. }) => Ok((self.leased(now), None)),
            (Running, Transition::Finish { outcome, .. }) => Ok(match outcome {
                Outcome::Success => (self.ended(Success), None),
                Outcome::Failed(code) => (self.ended(Failed), Some(code)),
                Outcome::Canceled => (self.ended(Canceled), None),
            }),
            (Running, Transition::Cancel) => {
                let asked = BuildState {
                    cancel_requested: true,
                    ..self
                };
                Ok((asked, None))
            }
            (Running, Transition::Lapse) if self.lease_until.is_some_and(|until| now < until) => {
                Err(TransitionError::Early)
            }
            (Running, Transition::Lapse) if self.cancel_requested => Ok((self.ended(Canceled), None)),
            (Running, Transition::Lapse) if self.attempt >= MAX_ATTEMPTS => {
                Ok((self.ended(Failed), Some(BuildErrorCode::RunnerLost)))
            }
            (Running, Transition::Lapse) => {
                let again = BuildState {
                    status: Queued,
                    attempt: self.attempt + 1,
                    queued_at: now,
                    lease_until: None,
                    cancel_requested: false,
                };
                Ok((again, None))
            }
            (status, _) => Err(TransitionError::Unfit(status)),
        }
    }

    fn leased(self, now: EpochMs) -> BuildState {
        BuildState {
            status: BuildStatus::Running,
            lease_until: Some(now + LEASE),
            ..self
        }
    }

    fn ended(self, status: BuildStatus) -> BuildState {
        BuildState {
            status,
            lease_until: None,
            ..self
        }
    }
}

#[cfg(test)]
mod tests;
