//! Creates, changes, cancels, retries and deletes submissions (`docs/reference/submissions.md#submission-endpoints`).
//! The job is in `launchway_jobs::submissions`; [`report`] stores its results.

pub mod app_store_events;
pub mod credential;
pub mod files;
pub mod form;
pub mod progress;
pub mod release;
pub mod report;
pub mod request;
pub mod turns;

use crate::api_error::ApiError;
use crate::app::App;
use crate::uploads::{self, ALREADY_USED};
use crate::write::{NOTHING, Signal, Write};
use crate::{apps, usage};
use files::Prepared;
use form::NewSubmission;
use launchway_api::submissions::SubmissionView;
use launchway_app_stores::google_play::TargetStatus;
use launchway_blob::Key;
use launchway_domain::id::SubmissionId;
use launchway_domain::platform::Platform;
use launchway_domain::submission::destination::Destination;
use launchway_domain::submission::record::{Change, Work};
use launchway_domain::submission::{Submission, SubmissionState, SubmissionStatus, Transition};
use progress::Progress;

/// Parses a destination of an app for this platform.
pub fn destination(platform: Platform, text: &str) -> Result<Destination, ApiError> {
    Destination::parse(platform, text).map_err(|invalid| ApiError::bad(format!("destination {invalid}")))
}

/// Creates a submission from its prepared files.
pub async fn create(
    write: &mut Write<'_>,
    id: SubmissionId,
    new: NewSubmission,
    prepared: &Prepared,
) -> Result<Submission, ApiError> {
    let destination = destination(prepared.platform, &new.destination)?;
    let bundle = apps::bundle_id(&prepared.bundle_id)?;
    let bundle_id = apps::available_bundle_id(write, &bundle).await?;
    let credential = credential::choose(write, new.credential, destination.store(), &bundle).await?;
    for upload in &prepared.uploads {
        if !write.org().use_upload(*upload).await? {
            return Err(ApiError::bad(ALREADY_USED));
        }
    }
    usage::count_submission(write).await?;
    let now = write.now();
    let mut submission = Submission {
        id,
        org_id: write.org_id(),
        state: SubmissionState::new(),
        build_id: prepared.build_id,
        bundle_id,
        platform: prepared.platform,
        destination,
        version: prepared.version.clone(),
        build_number: prepared.build_number.clone(),
        sha256: prepared
            .files
            .first()
            .map(|file| file.sha256.clone())
            .unwrap_or_default(),
        rollout: new.rollout,
        spec: new.spec,
        credential_id: Some(credential),
        external: Default::default(),
        change: None,
        error: None,
        events: Vec::new(),
        work: Work {
            due_at: Some(now),
            since: now,
            ..Work::default()
        },
        created_by: write.actor_text(),
        created_at: now,
        finished_at: None,
    };
    submission.add_event(now, "The submission is queued");
    write.org().create_submission(&submission, &bundle).await?;
    for (number, file) in (0..).zip(&prepared.files) {
        write.org().add_submission_file(id, number, file).await?;
    }
    usage::room_to_store(write, 0).await?;
    let view = SubmissionView::of(&submission);
    write.audit("submission.create", id, NOTHING, Some(&view)).await?;
    write.signal(Signal::Submissions);
    Ok(submission)
}

/// A submission that is not deleted, locked until this change ends.
async fn lock(write: &mut Write<'_>, id: SubmissionId) -> Result<Submission, ApiError> {
    let found = write.org().lock_submission(id).await?;
    found
        .filter(|submission| !submission.work.is_deleted)
        .ok_or(ApiError::NoSuch("submission"))
}

/// Stores a caller's change, and wakes the job.
async fn store_change(
    write: &mut Write<'_>,
    action: &str,
    old: &Submission,
    mut new: Submission,
) -> Result<Submission, ApiError> {
    new.work.due_at = (!new.state.status.is_final()).then_some(write.now());
    // What the caller requests has tries of its own.
    new.work.failures = 0;
    write.org().change_submission(&new).await?;
    let (before, after) = (SubmissionView::of(old), SubmissionView::of(&new));
    write.audit(action, old.id, Some(&before), Some(&after)).await?;
    write.signal(Signal::Submissions);
    Ok(new)
}

/// Requests a change of a rollout, which the job sends to the app store. Merges with a change that was not sent yet.
pub async fn change(write: &mut Write<'_>, id: SubmissionId, wanted: Change) -> Result<Submission, ApiError> {
    let old = lock(write, id).await?;
    let change = wanted.merge_into(old.change);
    may_change(&old, wanted, change)?;
    let mut new = old.clone();
    new.change = Some(change);
    store_change(write, "submission.change", &old, new).await
}

/// Checks that the app store of a submission supports this change.
pub fn may_change(submission: &Submission, wanted: Change, whole: Change) -> Result<(), ApiError> {
    use SubmissionStatus::{Halted, RollingOut};
    let status = submission.state.status;
    match (&submission.destination, status) {
        (Destination::TestFlight, _) => Err(ApiError::bad(
            "A submission to testflight has no rollout that can be changed",
        )),
        _ if submission.may_be_released() => match wanted {
            Change {
                rollout: None,
                halted: Some(false),
            } => Ok(()),
            _ => Err(ApiError::bad(
                "The version is not released yet. Set status to rolling_out to release it once it is approved.",
            )),
        },
        (_, RollingOut | Halted) => match (&submission.destination, whole) {
            (
                Destination::AppStore,
                Change {
                    rollout: Some(1..100), ..
                },
            ) => Err(ApiError::bad(
                "rollout: the App Store's phased release can only be ended, with 100",
            )),
            (
                _,
                Change {
                    rollout: Some(100),
                    halted: Some(true),
                },
            ) => Err(ApiError::bad("rollout must be below 100 with status halted")),
            _ => Ok(()),
        },
        _ => Err(ApiError::bad(format!(
            "The submission is {status}. Only a release that is rolling_out or halted can be changed."
        ))),
    }
}

/// The state of a submission after it is canceled.
pub fn state_after_cancel(submission: &Submission) -> Result<SubmissionState, ApiError> {
    let state = submission.state.apply(Transition::Cancel);
    let state = state.map_err(|refused| ApiError::bad(refused.to_string()))?;
    // One that waits to be retried has something in its store to take back.
    if state.status.is_final() && submission.work.sealed_progress.is_some() {
        return Ok(SubmissionState {
            cancel_requested: true,
            ..submission.state
        });
    }
    Ok(state)
}

/// The state of a submission after it is retried.
pub fn state_after_retry(submission: &Submission) -> Result<SubmissionState, ApiError> {
    let state = submission.state.apply(Transition::Retry);
    let state = state.map_err(|refused| ApiError::bad(refused.to_string()))?;
    match submission.error.as_ref().filter(|error| !error.retryable) {
        Some(error) => Err(ApiError::bad(format!(
            "A retry would fail in the same way. {}",
            error.fix
        ))),
        None => Ok(state),
    }
}

/// Cancels a submission: a waiting one at once, an active one as soon as the app store has undone what was begun there.
/// Also returns the objects to remove once the change is durable.
pub async fn cancel(write: &mut Write<'_>, id: SubmissionId) -> Result<(Submission, Vec<Key>), ApiError> {
    let old = lock(write, id).await?;
    let state = state_after_cancel(&old)?;
    if state == old.state {
        return Ok((old, Vec::new()));
    }
    let (mut new, now) = (old.clone(), write.now());
    new.state = state;
    let mut unused = Vec::new();
    if state.status.is_final() {
        new.finished_at = Some(now);
        write.observe(report::ended(&new, now));
        new.add_event(now, "The submission is canceled");
        unused = keys(write, id).await?;
        write.org().forget_submission_files(id).await?;
        turns::end(write, &new, None).await?;
    } else {
        new.add_event(now, "The cancellation is requested");
    }
    let new = store_change(write, "submission.cancel", &old, new).await?;
    Ok((new, unused))
}

/// Continues a failed or rejected submission where it stopped.
pub async fn retry(write: &mut Write<'_>, id: SubmissionId) -> Result<Submission, ApiError> {
    let old = lock(write, id).await?;
    let state = state_after_retry(&old)?;
    let files = write.org().submission_files(id).await?;
    if files.is_empty() {
        return Err(ApiError::bad(
            "The app file of this submission was deleted. Create a new submission.",
        ));
    }
    let (mut new, now) = (old.clone(), write.now());
    if let Some(sealed) = &old.work.sealed_progress {
        let release = release::of(write.app(), &old, &files)?;
        let reached = progress::open_within(write, id, sealed).await?.for_retry(&release);
        new.work.sealed_progress = Some(progress::seal(write, id, &reached).await?);
    }
    let bundle = apps::bundle_id(&old.bundle_id)?;
    // A deleted credential may have been replaced.
    let known = match old.credential_id {
        Some(known) => write.org().credential(known).await?.map(|known| known.id),
        None => None,
    };
    new.credential_id = Some(credential::choose(write, known.map(Some), old.store(), &bundle).await?);
    new.state = state;
    new.error = None;
    new.finished_at = None;
    new.work.since = now;
    new.add_event(now, "The submission continues");
    store_change(write, "submission.retry", &old, new).await
}

/// Deletes a submission. If it can be canceled, it is; until that is done the work continues while the submission is
/// hidden. Returns the objects to remove once the deletion is durable.
pub async fn delete(write: &mut Write<'_>, id: SubmissionId) -> Result<Vec<Key>, ApiError> {
    let old = lock(write, id).await?;
    let view = SubmissionView::of(&old);
    write.audit("submission.delete", id, Some(&view), NOTHING).await?;
    match state_after_cancel(&old) {
        Ok(state) if !state.status.is_final() => {
            let mut new = old;
            new.state = state;
            new.work.is_deleted = true;
            new.work.due_at = Some(write.now());
            write.org().change_submission(&new).await?;
            write.signal(Signal::Submissions);
            Ok(Vec::new())
        }
        // It waits, it is finished, or users have it: there is nothing to undo.
        _ => {
            let keys = keys(write, id).await?;
            turns::leave(write, &old).await?;
            write.org().delete_submission(id).await?;
            Ok(keys)
        }
    }
}

/// Removes the files of a submission that ended long ago, and keeps its record. Returns the objects to remove once the
/// change is durable.
pub async fn clear(write: &mut Write<'_>, id: SubmissionId) -> Result<Vec<Key>, ApiError> {
    let known = write.org().lock_submission(id).await?;
    if known.is_none_or(|submission| !submission.state.status.is_final()) {
        return Ok(Vec::new());
    }
    let keys = keys(write, id).await?;
    write.org().forget_submission_files(id).await?;
    Ok(keys)
}

/// The objects of a submission.
async fn keys(write: &mut Write<'_>, id: SubmissionId) -> Result<Vec<Key>, ApiError> {
    let files = write.org().submission_files(id).await?;
    // A text that is not a key names no object.
    Ok(files.iter().filter_map(|file| Key::new(&file.blob_key).ok()).collect())
}

/// Removes the objects of deleted submissions.
pub async fn remove_files(app: &App, keys: &[Key]) {
    for key in keys {
        uploads::remove(app, key).await;
    }
}

/// The target of a Google Play track after a change.
pub fn target(progress: &Progress, change: Change) -> Option<launchway_app_stores::google_play::Target> {
    let Progress::GooglePlay { steps, .. } = progress else {
        return None;
    };
    let present = steps.target?;
    let percent = change.rollout.or(present.percent).unwrap_or(100);
    let halted = change.halted.unwrap_or(present.status == TargetStatus::Halted);
    let status = match (halted, percent) {
        (true, _) => TargetStatus::Halted,
        (false, 100..) => TargetStatus::Completed,
        (false, _) => TargetStatus::InProgress,
    };
    let percent = (status != TargetStatus::Completed).then_some(percent.min(99));
    Some(launchway_app_stores::google_play::Target { status, percent })
}
