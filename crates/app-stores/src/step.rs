//! What a step of a submission came to.

use launchway_domain::submission::SubmissionStatus;

/// What a step came to. Its owner keeps `progress` before it makes the next step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<P> {
    /// What the submission has reached.
    pub progress: P,
    /// The status that it has now.
    pub status: SubmissionStatus,
    /// What happened, for the record's list of events. `None`: nothing worth a line.
    pub told: Option<String>,
    /// When the next step is due.
    pub then: Then,
}

/// When the next step is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// At once.
    Now,
    /// When the store has had time to work; see `submission::schedule::poll`.
    Later,
    /// Another review of the same app is to end first.
    AfterOtherReview,
    /// Never: the status is final.
    Never,
}

impl<P> Step<P> {
    /// A step that leads at once to the next.
    pub(crate) fn on(progress: P, status: SubmissionStatus, told: impl Into<String>) -> Self {
        Self {
            progress,
            status,
            told: Some(told.into()),
            then: Then::Now,
        }
    }

    /// The same without a word.
    pub(crate) fn quietly(progress: P, status: SubmissionStatus) -> Self {
        Self {
            progress,
            status,
            told: None,
            then: Then::Now,
        }
    }

    /// The store works.
    pub(crate) fn wait(progress: P, status: SubmissionStatus) -> Self {
        Self {
            progress,
            status,
            told: None,
            then: Then::Later,
        }
    }

    /// Says only once what it waits for: `kept` is where the progress keeps what was said last.
    pub(crate) fn once(mut self, kept: impl FnOnce(&mut P) -> &mut String) -> Self {
        let kept = kept(&mut self.progress);
        match (self.told.take(), self.then) {
            (Some(text), Then::Later | Then::AfterOtherReview) if text == *kept => {}
            (Some(text), Then::Later | Then::AfterOtherReview) => {
                kept.clone_from(&text);
                self.told = Some(text);
            }
            (Some(text), _) => {
                kept.clear();
                self.told = Some(text);
            }
            (None, _) => {}
        }
        self
    }

    /// It is over.
    pub(crate) fn end(progress: P, status: SubmissionStatus, told: impl Into<String>) -> Self {
        Self {
            progress,
            status,
            told: Some(told.into()),
            then: Then::Never,
        }
    }
}
