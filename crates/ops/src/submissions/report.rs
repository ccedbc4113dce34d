//! Stores the result of a step in one transaction: the new state, the progress, the message, and when the next step is
//! due. A report under an older claim is rejected.

use super::progress::{self, Progress};
use super::{remove_files, turns};

use launchway_api::submissions::SubmissionView;
use launchway_blob::Key;
use launchway_domain::actor::Actor;
use launchway_domain::submission::error::SubmissionError;
use launchway_domain::submission::record::Change;
use launchway_domain::submission::{Submission, SubmissionStatus, Transition};
use launchway_domain::time::{EpochMs, MINUTE, SECOND};

use crate::api_error::ApiError;
use crate::app::App;
use crate::counters::Observation;
use crate::write::Write;

/// How long a claim is valid without renewal.
pub const LEASE: EpochMs = MINUTE + 30 * SECOND;

/// The result of a step.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The new progress, if it changed.
    pub progress: Option<Progress>,
    /// The transition of the submission.
    pub transition: Option<Transition>,
    /// The message.
    pub message: Option<String>,
    /// Why the submission fails, or why its step is retried.
    pub error: Option<SubmissionError>,
    /// The change that the app store accepted or refused.
    pub executed: Option<Change>,
    /// The current rollout in percent of the users.
    pub rollout: Option<u8>,
    /// The number of consecutive failures, and when they began.
    pub failures: (u32, EpochMs),
    /// When the next step is due; `None`: at once.
    pub next: Option<EpochMs>,
}

/// Stores the result of a step. Returns the submission if the next step is due at once and `goes_on`: then the claim is
/// kept. Otherwise it is released.
pub async fn record(
    app: &App,
    claimed: &Submission,
    report: Report,
    goes_on: bool,
) -> Result<Option<Submission>, ApiError> {
    let mut write = Write::open(app, claimed.org_id, Actor::Service, None).await?;
    let Some(old) = write.org().lock_submission(claimed.id).await? else {
        return Ok(None);
    };
    if old.work.claim != claimed.work.claim {
        return Ok(None);
    }
    if old.state.status.is_final() {
        // It was canceled before its first step began.
        write.org().hold_submission(old.id, None).await?;
        write.commit().await?;
        return Ok(None);
    }
    let now = write.now();
    let mut new = after(&mut write, &old, &report).await?;
    let is_over = new.state.status.is_final();
    let mut unused = Vec::new();
    if is_over {
        unused = finish(&mut write, &mut new).await?;
    } else {
        // A change or cancellation that was requested meanwhile is due at once.
        let wanted = (new.change.is_some() && new.change != claimed.change)
            || (new.state.cancel_requested && !claimed.state.cancel_requested);
        new.work.due_at = Some(report.next.filter(|_| !wanted).unwrap_or(now));
    }
    turns::end(&mut write, &new, report.progress.as_ref()).await?;
    // A pending deletion takes effect once the submission is finished or can no longer be canceled.
    if new.work.is_deleted && (is_over || !new.state.cancel_requested) {
        unused.extend(super::keys(&mut write, old.id).await?);
        turns::leave(&mut write, &old).await?;
        write.org().hold_submission(old.id, None).await?;
        write.org().delete_submission(old.id).await?;
        write.commit().await?;
        remove_files(app, &unused).await;
        return Ok(None);
    }
    tell_webhooks(&mut write, &old, &new).await?;
    let goes_on = goes_on && new.work.due_at.is_some_and(|due| due <= now);
    write.org().change_submission(&new).await?;
    let until = goes_on.then_some(now + LEASE);
    write.org().hold_submission(old.id, until).await?;
    write.commit().await?;
    remove_files(app, &unused).await;
    Ok(goes_on.then_some(new))
}

/// The submission after a step.
async fn after(write: &mut Write<'_>, old: &Submission, report: &Report) -> Result<Submission, ApiError> {
    let now = write.now();
    let mut new = old.clone();
    if let Some(step) = report.transition {
        match old.state.apply(step) {
            Ok(state) => new.state = state,
            Err(refused) => {
                tracing::error!(submission = %old.id, ?step, %refused, "a step resulted in an invalid transition")
            }
        }
    }
    if new.state.status != old.state.status || report.progress.is_some() {
        new.work.since = now;
    }
    if let Some(progress) = &report.progress {
        new.external.extend(progress.external());
        new.rollout = progress.rollout().unwrap_or(new.rollout);
        new.work.sealed_progress = Some(progress::seal(write, old.id, progress).await?);
        new.work.is_urgent = progress.is_changing();
    }
    new.rollout = report.rollout.unwrap_or(new.rollout);
    if report.executed.is_some() && report.executed == new.change {
        new.change = None;
    }
    (new.work.failures, new.work.failing_since) = report.failures;
    new.error.clone_from(&report.error);
    if let Some(message) = &report.message {
        new.add_event(now, message.clone());
    } else if new.state.status != old.state.status {
        new.add_event(now, sentence(new.state.status));
    }
    Ok(new)
}

/// Ends the work on a finished submission. Returns the keys of files that are no longer needed.
async fn finish(write: &mut Write<'_>, submission: &mut Submission) -> Result<Vec<Key>, ApiError> {
    let now = write.now();
    submission.finished_at = Some(now);
    write.observe(ended(submission, now));
    submission.work.due_at = None;
    submission.work.is_urgent = false;
    submission.change = None;
    if !matches!(
        submission.state.status,
        SubmissionStatus::Success | SubmissionStatus::Canceled
    ) {
        return Ok(Vec::new());
    }
    let keys = super::keys(write, submission.id).await?;
    write.org().forget_submission_files(submission.id).await?;
    Ok(keys)
}

/// What the end of a submission counts.
pub fn ended(submission: &Submission, now: EpochMs) -> Observation {
    let (store, status) = (submission.store(), submission.state.status);
    Observation::SubmissionEnded(store, status, now - submission.created_at)
}

/// Releases the claim of an interrupted step, so that another claim can continue from the stored progress. Does nothing
/// under an older claim.
pub async fn give_up(app: &App, claimed: &Submission) -> Result<(), ApiError> {
    let mut write = Write::open(app, claimed.org_id, Actor::Service, None).await?;
    let present = write.org().lock_submission(claimed.id).await?;
    if present.is_some_and(|present| present.work.claim == claimed.work.claim) {
        write.org().hold_submission(claimed.id, None).await?;
        write.commit().await?;
    }
    Ok(())
}

async fn tell_webhooks(write: &mut Write<'_>, old: &Submission, new: &Submission) -> Result<(), ApiError> {
    let kind = match new.state.status {
        status if status == old.state.status => return Ok(()),
        SubmissionStatus::Validating => "submission.started",
        SubmissionStatus::Success => "submission.succeeded",
        SubmissionStatus::Failed => "submission.failed",
        SubmissionStatus::Rejected => "submission.rejected",
        _ => return Ok(()),
    };
    write.event(kind, &SubmissionView::of(new)).await
}

/// The message of a status when the step has none.
fn sentence(status: SubmissionStatus) -> &'static str {
    match status {
        SubmissionStatus::Queued => "The submission is queued",
        SubmissionStatus::Validating => "The app is being checked",
        SubmissionStatus::Uploading => "The app is being uploaded to the store",
        SubmissionStatus::Processing => "The store is processing the app",
        SubmissionStatus::InReview => "The app is in review",
        SubmissionStatus::RollingOut => "The release is rolling out",
        SubmissionStatus::Halted => "The release is halted",
        SubmissionStatus::Success => "The submission succeeded",
        SubmissionStatus::Rejected => "The store's review rejected it",
        SubmissionStatus::Failed => "The submission failed",
        SubmissionStatus::Canceled => "The submission is canceled",
    }
}
