//! The states of a submission and the transitions between them (`docs/reference/submissions.md#transitions`). Storing a
//! submission is a compare-and-set on its status. What it has reached in the app store is stored beside it, so a retry
//! continues where it stopped.

pub mod destination;
pub mod error;
pub mod preflight;
pub mod record;
pub mod schedule;

pub use record::{FileKind, Submission, SubmissionFile, SymbolKind};

words! {
    /// Where a submission stands.
    SubmissionStatus,
    "queued, validating, uploading, processing, in_review, rolling_out, halted, success, rejected, failed, canceled",
    /// It waits for its turn.
    Queued = "queued",
    /// The binary is checked against what is asked, before any call to the store.
    Validating = "validating",
    /// The binary goes to the store.
    Uploading = "uploading",
    /// The store works on the binary, and is told what to do with it.
    Processing = "processing",
    /// The store's people or programs look at it.
    InReview = "in_review",
    /// A share of the users gets it.
    RollingOut = "rolling_out",
    /// Nobody gets it any more, for now.
    Halted = "halted",
    /// It is where it was to go, for everybody there.
    Success = "success",
    /// The store's review refused it.
    Rejected = "rejected",
    /// It did not get there.
    Failed = "failed",
    /// Somebody stopped it.
    Canceled = "canceled",
}

words! {
    /// What somebody wants of a rollout.
    RolloutState, "halted, rolling_out",
    /// Nobody else gets the app for now.
    Halted = "halted",
    /// It goes on, or an approved version that waits for that is released.
    RollingOut = "rolling_out",
}

words! {
    /// A store.
    Store, "app_store, google_play",
    /// Apple's, for iOS and visionOS.
    AppStore = "app_store",
    /// Google's, for Android.
    GooglePlay = "google_play",
}

impl SubmissionStatus {
    /// Whether nothing happens to it any more by itself. A retry can begin it again.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Success | Self::Rejected | Self::Failed | Self::Canceled)
    }

    /// How far it is on the way to `success`. `None` beside the way.
    const fn place(self) -> Option<u8> {
        Some(match self {
            Self::Queued => 0,
            Self::Validating => 1,
            Self::Uploading => 2,
            Self::Processing => 3,
            Self::InReview => 4,
            // One place: a rollout is halted and resumed.
            Self::RollingOut | Self::Halted => 5,
            Self::Success => 6,
            Self::Rejected | Self::Failed | Self::Canceled => return None,
        })
    }
}

/// Where a submission stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubmissionState {
    /// Its status.
    pub status: SubmissionStatus,
    /// Whether somebody wants it stopped, and the store is not asked yet.
    pub cancel_requested: bool,
}

/// What happens to a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// It gets ahead to this status; some are skipped by destination. One that lies behind changes nothing.
    Reach(SubmissionStatus),
    /// The store's review refuses it.
    Reject,
    /// It cannot go on.
    Fail,
    /// Somebody wants it stopped.
    Cancel,
    /// What was begun in the store is undone.
    Undone,
    /// The store does not let it be stopped any more.
    NotUndone,
    /// Somebody wants it to go on where it failed or was rejected.
    Retry,
}

/// Why a move is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransitionError {
    /// It is over.
    #[error("The submission is {0}; that cannot be changed any more")]
    Over(SubmissionStatus),
    /// The move does not fit where the submission stands.
    #[error("The submission is {0}")]
    Unfit(SubmissionStatus),
    /// Users have it already.
    #[error("The submission is released already; halt its rollout instead")]
    Released,
    /// There is nothing to retry.
    #[error("The submission is {0}; only a failed or rejected one can be retried")]
    NotFailed(SubmissionStatus),
}

impl SubmissionState {
    /// A new submission.
    pub const fn new() -> SubmissionState {
        SubmissionState {
            status: SubmissionStatus::Queued,
            cancel_requested: false,
        }
    }

    /// Where a move leads. Reaching the status that it has changes nothing.
    ///
    /// # Errors
    /// The move is not legal here; nothing changes.
    pub fn after(self, step: Transition) -> Result<SubmissionState, TransitionError> {
        use SubmissionStatus::{Canceled, Failed, Halted, InReview, Processing, Queued, Rejected, RollingOut};
        let to = |status| {
            Ok(SubmissionState {
                status,
                cancel_requested: false,
            })
        };
        match (self.status, step) {
            (Failed | Rejected, Transition::Retry) => Ok(SubmissionState::new()),
            (status, Transition::Retry) => Err(TransitionError::NotFailed(status)),
            (status, _) if status.is_final() => Err(TransitionError::Over(status)),
            (status, Transition::Reach(next)) => match (status.place(), next.place()) {
                (Some(from), Some(place)) if from <= place => Ok(SubmissionState {
                    status: next,
                    cancel_requested: self.cancel_requested && !next.is_final(),
                }),
                // What was reached is not taken back: a store's answers flicker, and steps are made again.
                (Some(_), Some(_)) => Ok(self),
                _ => Err(TransitionError::Unfit(status)),
            },
            (Processing | InReview | RollingOut | Halted, Transition::Reject) => to(Rejected),
            (_, Transition::Fail) => to(Failed),
            (Queued, Transition::Cancel) => to(Canceled),
            (RollingOut | Halted, Transition::Cancel) => Err(TransitionError::Released),
            (_, Transition::Cancel) => Ok(SubmissionState {
                cancel_requested: true,
                ..self
            }),
            (_, Transition::Undone) if self.cancel_requested => to(Canceled),
            (status, Transition::NotUndone) if self.cancel_requested => to(status),
            (status, Transition::Reject | Transition::Undone | Transition::NotUndone) => {
                Err(TransitionError::Unfit(status))
            }
        }
    }
}

impl Default for SubmissionState {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
