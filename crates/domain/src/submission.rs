//! The states of a submission and the transitions between them (`docs/reference/submissions.md#transitions`). Storing a
//! submission is a compare-and-set on its status. Its progress in the app store is stored next to it, so a retry continues
//! where it stopped.

pub mod destination;
pub mod error;
pub mod locale;
pub mod preflight;
pub mod record;
pub mod schedule;

pub use record::{FileKind, Submission, SubmissionFile, SymbolKind};

words! {
    /// The status of a submission.
    SubmissionStatus:
    /// Waits for its turn.
    Queued = "queued",
    /// The binary is checked against the request, before any call to the app store.
    Validating = "validating",
    /// The binary is being uploaded to the app store.
    Uploading = "uploading",
    /// The app store processes the binary, and is told what to do with it.
    Processing = "processing",
    /// The app store reviews it.
    InReview = "in_review",
    /// A share of the users receives it.
    RollingOut = "rolling_out",
    /// The rollout is halted: no further users receive it for now.
    Halted = "halted",
    /// It has reached its destination in full.
    Success = "success",
    /// The app store's review refused it.
    Rejected = "rejected",
    /// It ended with an error.
    Failed = "failed",
    /// It was canceled.
    Canceled = "canceled",
}

words! {
    /// A requested change of a rollout.
    RolloutState:
    /// No further users receive the app for now.
    Halted = "halted",
    /// The rollout continues, or an approved version that waits for it is released.
    RollingOut = "rolling_out",
}

words! {
    /// A store.
    Store:
    /// The App Store, for iOS and visionOS.
    AppStore = "app_store",
    /// Google Play, for Android.
    GooglePlay = "google_play",
}

impl SubmissionStatus {
    /// Whether nothing changes by itself any more. A retry can restart it.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Success | Self::Rejected | Self::Failed | Self::Canceled)
    }

    /// Its position on the path to `success`. `None` for a status off that path.
    const fn place(self) -> Option<u8> {
        Some(match self {
            Self::Queued => 0,
            Self::Validating => 1,
            Self::Uploading => 2,
            Self::Processing => 3,
            Self::InReview => 4,
            // One position: a rollout can be halted and resumed.
            Self::RollingOut | Self::Halted => 5,
            Self::Success => 6,
            Self::Rejected | Self::Failed | Self::Canceled => return None,
        })
    }
}

/// The state of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubmissionState {
    /// Its status.
    pub status: SubmissionStatus,
    /// Whether cancellation was requested and the app store has not been asked yet.
    pub cancel_requested: bool,
}

/// A transition of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// It advances to this status; the destination decides which are skipped. An earlier status changes nothing.
    Advance(SubmissionStatus),
    /// The app store's review refuses it.
    Reject,
    /// It cannot continue.
    Fail,
    /// Somebody cancels it.
    Cancel,
    /// The work begun in the app store has been undone.
    CancelConfirmed,
    /// The app store no longer allows it to be stopped.
    CancelRefused,
    /// Somebody retries it where it failed or was rejected.
    Retry,
}

/// Why a transition is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransitionError {
    /// The submission has a final status.
    #[error("The submission is {0} and can no longer be changed")]
    Final(SubmissionStatus),
    /// The current status does not allow the transition.
    #[error("The submission is {0}")]
    NotAllowed(SubmissionStatus),
    /// Users already have it.
    #[error("The submission is already released. Halt its rollout instead.")]
    Released,
    /// It has neither failed nor been rejected, so there is nothing to retry.
    #[error("The submission is {0}. Only a failed or rejected submission can be retried.")]
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

    /// Applies a transition and returns the new state. Advancing to the current status changes nothing.
    ///
    /// # Errors
    /// The transition is not allowed in this state; nothing changes.
    pub fn apply(self, step: Transition) -> Result<SubmissionState, TransitionError> {
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
            (status, _) if status.is_final() => Err(TransitionError::Final(status)),
            (status, Transition::Advance(next)) => match (status.place(), next.place()) {
                (Some(from), Some(place)) if from <= place => Ok(SubmissionState {
                    status: next,
                    cancel_requested: self.cancel_requested && !next.is_final(),
                }),
                // Progress is never taken back: the app stores' answers fluctuate, and steps are repeated.
                (Some(_), Some(_)) => Ok(self),
                _ => Err(TransitionError::NotAllowed(status)),
            },
            (Processing | InReview | RollingOut | Halted, Transition::Reject) => to(Rejected),
            (_, Transition::Fail) => to(Failed),
            (Queued, Transition::Cancel) => to(Canceled),
            (RollingOut | Halted, Transition::Cancel) => Err(TransitionError::Released),
            (_, Transition::Cancel) => Ok(SubmissionState {
                cancel_requested: true,
                ..self
            }),
            (_, Transition::CancelConfirmed) if self.cancel_requested => to(Canceled),
            (status, Transition::CancelRefused) if self.cancel_requested => to(status),
            (status, Transition::Reject | Transition::CancelConfirmed | Transition::CancelRefused) => {
                Err(TransitionError::NotAllowed(status))
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
