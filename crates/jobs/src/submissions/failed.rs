//! Handles a failed step: the step is retried later, or the submission fails. A rollout change that an app store
//! refuses is dropped, because users have the release already.

use super::steps::status_of;

use launchway_app_stores::AppStoreError;
use launchway_app_stores::google_play::{Progress as PlayProgress, Session, Stage};
use launchway_domain::submission::SubmissionStatus::{Halted, RollingOut};
use launchway_domain::submission::error::SubmissionError;
use launchway_domain::submission::{Submission, Transition, schedule};
use launchway_domain::time::{EpochMs, MINUTE};
use launchway_ops::submissions::progress::Progress;
use launchway_ops::submissions::report::Report;

/// The number of consecutive failures after which an event reports that an app store is not available. A refusal is
/// reported at once.
const TOLD: u32 = 3;

/// The kind of work that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// The next step.
    Step,
    /// A change of the rollout.
    Change,
    /// A cancellation.
    Cancel,
}

/// The report of a failure.
pub fn report(
    held: &Submission,
    reached: Option<&Progress>,
    tried: WorkKind,
    failure: AppStoreError,
    now: EpochMs,
) -> Report {
    let failures = held.work.failures.saturating_add(1);
    let since = if failures == 1 { now } else { held.work.failing_since };
    let next = failure
        .is_worth_another_try(failures)
        .then(|| schedule::after_failure(failures, since, failure.retry_after(), now))
        .flatten();
    if let Some(next) = next {
        let is_news = failures == if failure.is_refusal() { 1 } else { TOLD };
        let error = failure.into_error();
        return Report {
            message: is_news.then(|| format!("{}. The step is retried.", error.message.trim_end_matches('.'))),
            error: Some(error),
            failures: (failures, since),
            next: Some(next),
            ..Report::default()
        };
    }
    end(held, reached, tried, failure.into_error(), now)
}

/// The report of a failure that is not retried.
fn end(held: &Submission, reached: Option<&Progress>, tried: WorkKind, error: SubmissionError, now: EpochMs) -> Report {
    match (tried, reached) {
        // It must not go on: what it would do next may reach users.
        (WorkKind::Cancel, Some(reached)) if reached.may_submit() => Report {
            transition: Some(Transition::Fail),
            message: Some(format!("Cannot cancel it in the store: {}", error.message)),
            error: Some(error),
            ..Report::default()
        },
        (WorkKind::Cancel, _) => Report {
            transition: Some(Transition::CancelRefused),
            message: Some(format!("Cannot cancel it: {}", error.message)),
            ..Report::default()
        },
        (WorkKind::Change, _) => Report {
            message: Some(format!("The change failed: {}", error.message)),
            executed: held.change,
            next: Some(now + MINUTE),
            ..Report::default()
        },
        (
            WorkKind::Step,
            Some(Progress::GooglePlay {
                steps,
                before: Some(before),
            }),
        ) if steps.released && matches!(held.state.status, RollingOut | Halted) => Report {
            progress: Some(Progress::GooglePlay {
                steps: PlayProgress {
                    stage: Stage::Rollout,
                    edit_id: String::new(),
                    session: Session::default(),
                    redone: 0,
                    target: Some(*before),
                    ..steps.clone()
                },
                before: None,
            }),
            transition: Some(Transition::Advance(status_of(*before))),
            message: Some(format!("The change failed: {}", error.message)),
            next: Some(now + MINUTE),
            ..Report::default()
        },
        (WorkKind::Step, _) => Report {
            transition: Some(Transition::Fail),
            message: Some(error.message.clone()),
            error: Some(error),
            ..Report::default()
        },
    }
}
