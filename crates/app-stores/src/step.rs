//! The result of a submission step, and of a cancellation.

use launchway_domain::submission::SubmissionStatus;

/// The result of a step. Its owner saves `progress` before the next step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<P> {
    /// The progress of the submission.
    pub progress: P,
    /// The new status of the submission.
    pub status: SubmissionStatus,
    /// What happened, for the list of events. `None`: nothing worth an event.
    pub message: Option<String>,
    /// When the next step is due.
    pub next: NextStep,
}

/// When the next step is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// At once.
    Now,
    /// After a delay; see `submission::schedule::poll`.
    Later,
    /// After another review of the same app has ended.
    AfterOtherReview,
    /// Never: the status is final.
    Never,
}

/// The result of a cancellation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cancellation<P> {
    /// What the submission began is undone, but for what these sentences say, which have no full stop.
    Undone(Vec<String>),
    /// The app store is still at work. The same cancellation continues later, with this progress.
    Later(P),
    /// It is too late: the submission continues with this progress.
    TooLate {
        /// Why, as a sentence without a full stop.
        why: String,
        /// The progress from which it continues.
        progress: P,
    },
}

impl<P> Step<P> {
    /// A result after which the next step is due at once.
    pub(crate) fn proceed(progress: P, status: SubmissionStatus, message: impl Into<String>) -> Self {
        Self {
            progress,
            status,
            message: Some(message.into()),
            next: NextStep::Now,
        }
    }

    /// The same, without an event.
    pub(crate) fn proceed_quietly(progress: P, status: SubmissionStatus) -> Self {
        Self {
            progress,
            status,
            message: None,
            next: NextStep::Now,
        }
    }

    /// A result that waits for the app store.
    pub(crate) fn wait(progress: P, status: SubmissionStatus) -> Self {
        Self {
            progress,
            status,
            message: None,
            next: NextStep::Later,
        }
    }

    /// A result that waits for something that somebody should know.
    pub(crate) fn wait_for(progress: P, status: SubmissionStatus, message: impl Into<String>) -> Self {
        Self {
            message: Some(message.into()),
            ..Self::wait(progress, status)
        }
    }

    /// Reports a reason for waiting only once: `kept` is the field of the progress with the last reported reason.
    pub(crate) fn report_once(mut self, kept: impl FnOnce(&mut P) -> &mut String) -> Self {
        let kept = kept(&mut self.progress);
        match (self.message.take(), self.next) {
            (Some(text), NextStep::Later | NextStep::AfterOtherReview) if text == *kept => {}
            (Some(text), NextStep::Later | NextStep::AfterOtherReview) => {
                kept.clone_from(&text);
                self.message = Some(text);
            }
            (Some(text), _) => {
                kept.clear();
                self.message = Some(text);
            }
            (None, _) => {}
        }
        self
    }

    /// A result that ends the submission.
    pub(crate) fn end(progress: P, status: SubmissionStatus, message: impl Into<String>) -> Self {
        Self {
            progress,
            status,
            message: Some(message.into()),
            next: NextStep::Never,
        }
    }
}
