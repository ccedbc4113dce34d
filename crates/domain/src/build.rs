//! The states of a build and the transitions between them (`docs/reference/builds.md#transitions`). Storing a build is a
//! compare-and-set on (status, attempt); a final state never changes.

pub mod cache;
pub mod git;
pub mod plan;
mod record;

use crate::time::{DAY, EpochMs, SECOND};

pub use record::{Artifact, Build, BuildFailure, GitFacts, PhaseRecord, Runner, SourceRecord, Spec, Undecided};

/// How long a lease lasts without renewal.
pub const LEASE: EpochMs = 90 * SECOND;
/// How often a runner renews its lease.
pub const RENEW: EpochMs = 15 * SECOND;
/// The maximum number of attempts of a build.
pub const MAX_ATTEMPTS: u32 = 3;
/// The maximum time that a build waits for a runner.
pub const EXPIRY: EpochMs = DAY;

words! {
    /// The status of a build.
    BuildStatus:
    /// Waits for a runner.
    Queued = "queued",
    /// A runner executes it.
    Running = "running",
    /// Every step succeeded, and every artifact is stored.
    Success = "success",
    /// It ended with an error.
    Failed = "failed",
    /// It was canceled.
    Canceled = "canceled",
}

words! {
    /// The type of a build.
    BuildType:
    /// For development.
    Debug = "debug",
    /// For distribution.
    Release = "release",
}

words! {
    /// How the app reaches devices.
    Distribution:
    /// Through the App Store or Google Play.
    Store = "store",
    /// By a link, to known devices.
    Internal = "internal",
    /// To a simulator.
    Simulator = "simulator",
    /// To a device attached to a developer's machine.
    Development = "development",
}

words! {
    /// The result of a build, as its runner reports it.
    BuildResult:
    /// Every step succeeded, and every artifact is there.
    Success = "success",
    /// It ended with an error.
    Failed = "failed",
    /// It was stopped on request.
    Canceled = "canceled",
}

words! {
    /// Whether a runner can claim builds.
    RunnerStatus:
    /// It has called recently.
    Online = "online",
    /// It has not called recently.
    Offline = "offline",
    /// Its access was revoked.
    Revoked = "revoked",
}

words! {
    /// Why a build failed.
    BuildErrorCode:
    /// A step ended with a nonzero exit code.
    StepFailed = "STEP_FAILED",
    /// A step, or the build, exceeded its timeout.
    TimedOut = "TIMED_OUT",
    /// Its runner stopped responding during the last attempt.
    RunnerLost = "RUNNER_LOST",
    /// No runner claimed it in time.
    Expired = "EXPIRED",
    /// Its source cannot be unpacked, fetched or parsed.
    SourceInvalid = "SOURCE_INVALID",
    /// A file that the plan declares is missing.
    ArtifactMissing = "ARTIFACT_MISSING",
    /// A defect of the service or the runner.
    Internal = "INTERNAL",
}

impl BuildErrorCode {
    /// Whether the same build may succeed if it is requested again. The others repeat until the source, the plan or the
    /// settings change.
    pub const fn may_pass(self) -> bool {
        use BuildErrorCode::{Expired, Internal, RunnerLost, TimedOut};
        matches!(self, TimedOut | RunnerLost | Expired | Internal)
    }
}

impl BuildStatus {
    /// Whether no transition leaves this status.
    pub const fn is_final(self) -> bool {
        matches!(self, BuildStatus::Success | BuildStatus::Failed | BuildStatus::Canceled)
    }
}

/// The state of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildState {
    /// Its status.
    pub status: BuildStatus,
    /// The attempt number, from 1. It is the fencing token: messages of another attempt are refused.
    pub attempt: u32,
    /// When it last entered the queue.
    pub queued_at: EpochMs,
    /// When the lease of a running build ends.
    pub lease_until: Option<EpochMs>,
    /// Whether its runner has been asked to stop it.
    pub cancel_requested: bool,
}

/// The outcome of an attempt, as the runner reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every step succeeded, and every artifact is stored.
    Success,
    /// The attempt failed.
    Failed(BuildErrorCode),
    /// The attempt was stopped on request.
    Canceled,
}

/// A transition of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// A runner claims it.
    Lease,
    /// The runner of this attempt renews its lease.
    Renew {
        /// The attempt number.
        attempt: u32,
    },
    /// The runner of this attempt reports its outcome.
    Finish {
        /// The attempt number.
        attempt: u32,
        /// The outcome.
        outcome: Outcome,
    },
    /// The lease expired.
    Lapse,
    /// Its runner was removed.
    Withdraw,
    /// Somebody cancels it.
    Cancel,
    /// It waited in the queue for too long.
    Expire,
}

/// Why a transition is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransitionError {
    /// The build has a final status.
    #[error("The build has ended")]
    Final,
    /// A newer attempt has begun.
    #[error("Attempt {0} of the build has ended, and another one has started")]
    Stale(u32),
    /// The current status does not allow the transition.
    #[error("The build is {0}")]
    NotAllowed(BuildStatus),
    /// The lease or the waiting time has not expired yet.
    #[error("The build has not timed out")]
    TooEarly,
    /// Nobody canceled the build.
    #[error("Nobody canceled the build")]
    NotCanceled,
}

/// The new state, and the error if the build has failed.
pub type NextState = (BuildState, Option<BuildErrorCode>);

impl BuildState {
    /// A newly queued build.
    pub const fn new(now: EpochMs) -> BuildState {
        BuildState {
            status: BuildStatus::Queued,
            attempt: 1,
            queued_at: now,
            lease_until: None,
            cancel_requested: false,
        }
    }

    /// Applies a transition at `now` (epoch milliseconds) and returns the new state.
    ///
    /// # Errors
    /// The transition is not allowed in this state; nothing changes.
    pub fn apply(self, step: Transition, now: EpochMs) -> Result<NextState, TransitionError> {
        use BuildStatus::{Canceled, Failed, Queued, Running, Success};
        if self.status.is_final() {
            return Err(TransitionError::Final);
        }
        match (self.status, step) {
            (Queued, Transition::Lease) => Ok((self.leased(now), None)),
            (Queued, Transition::Cancel) => Ok((self.ended(Canceled), None)),
            (Queued, Transition::Expire) if now - self.queued_at >= EXPIRY => {
                Ok((self.ended(Failed), Some(BuildErrorCode::Expired)))
            }
            (Queued, Transition::Expire) => Err(TransitionError::TooEarly),
            (_, Transition::Renew { attempt } | Transition::Finish { attempt, .. }) if attempt != self.attempt => {
                Err(TransitionError::Stale(attempt))
            }
            (Running, Transition::Renew { .. }) => Ok((self.leased(now), None)),
            (
                Running,
                Transition::Finish {
                    outcome: Outcome::Canceled,
                    ..
                },
            ) if !self.cancel_requested => Err(TransitionError::NotCanceled),
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
                Err(TransitionError::TooEarly)
            }
            (Running, Transition::Lapse | Transition::Withdraw) if self.cancel_requested => {
                Ok((self.ended(Canceled), None))
            }
            (Running, Transition::Lapse | Transition::Withdraw) if self.attempt >= MAX_ATTEMPTS => {
                Ok((self.ended(Failed), Some(BuildErrorCode::RunnerLost)))
            }
            (Running, Transition::Lapse | Transition::Withdraw) => {
                let again = BuildState {
                    status: Queued,
                    attempt: self.attempt + 1,
                    queued_at: now,
                    lease_until: None,
                    cancel_requested: false,
                };
                Ok((again, None))
            }
            (status, _) => Err(TransitionError::NotAllowed(status)),
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
