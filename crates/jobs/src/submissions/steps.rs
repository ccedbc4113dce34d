//! One step of the work on a submission: selects it, runs it, and reports the result.

use super::clients::{Client, ClientError, Clients};
use super::failed::{self, WorkKind};
use super::preflight;

use launchway_app_stores::google_play::{Stage, Target, TargetStatus};
use launchway_app_stores::{AppStoreError, Cancellation, NextStep, Release, Step, app_store};
use launchway_domain::submission::SubmissionStatus::{
    self, Halted, Processing, Queued, Rejected, RollingOut, Validating,
};
use launchway_domain::submission::error::{SubmissionError, SubmissionErrorCode as Code};
use launchway_domain::submission::record::Change;
use launchway_domain::submission::{Submission, Transition, schedule};
use launchway_domain::time::{EpochMs, MINUTE, SECOND};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::submissions::progress::{self, Progress};
use launchway_ops::submissions::report::Report;
use launchway_ops::submissions::{release, target, turns};

/// How long to wait before checking again whether another review of the app has ended.
const OTHER_REVIEW: EpochMs = 10 * MINUTE;

/// How long to wait before checking again whether it is a submission's turn. The end of a turn wakes the next
/// submission at once; this covers processes that cannot do so, such as a node of an older release.
const TURN: EpochMs = MINUTE;

/// How long to wait before checking again whether an app store has taken back what a cancellation asked for.
const CANCEL_PAUSE: EpochMs = 10 * SECOND;

/// Runs the next step.
pub async fn make(app: &App, clients: &Clients, held: &Submission) -> Result<Report, ApiError> {
    if held.state.status == Queued {
        return Ok(reach(Validating));
    }
    let mut tx = app.db.read().await?;
    let files = tx.org(held.org_id).submission_files(held.id).await?;
    let reached = match &held.work.sealed_progress {
        Some(sealed) => Some(progress::open(app, &mut tx, held.org_id, held.id, sealed).await?),
        None => None,
    };
    drop(tx);
    let now = app.clock.now();
    let Some(reached) = reached else {
        if held.state.cancel_requested {
            return Ok(report_transition(Transition::CancelConfirmed));
        }
        return Ok(match preflight::check(app, held, &files).await? {
            Ok(()) => Report {
                progress: Some(Progress::none(held.store())),
                message: Some("Preflight checks passed".to_owned()),
                ..Report::default()
            },
            Err(failure) => failed::report(held, None, WorkKind::Step, failure, now),
        });
    };
    let tried = match (held.state.cancel_requested, held.change) {
        (true, _) => WorkKind::Cancel,
        (false, Some(_)) => WorkKind::Change,
        (false, None) => WorkKind::Step,
    };
    if let (WorkKind::Step, Progress::AppStore(steps)) = (tried, &reached)
        && let Some(awaited) = turns::take(app, held, steps).await?
    {
        return Ok(wait(held, steps, awaited, now));
    }
    let client = match clients.of(app, held).await {
        Ok(client) => client,
        Err(ClientError::Reported(failure)) => return Ok(failed::report(held, Some(&reached), tried, failure, now)),
        Err(ClientError::Failed(failure)) => return Err(failure),
    };
    let mut release = release::of(app, held, &files)?;
    if tried == WorkKind::Step && reached.looks_for_binary() {
        release.earlier = release::earlier_uploads(app, held).await?;
    }
    let made = match tried {
        WorkKind::Cancel => cancel(&client, &release, &reached, now).await,
        WorkKind::Change => change(&client, held, &reached).await,
        WorkKind::Step => step(&client, &release, &reached).await.map(|step| {
            // Reads the clock again: a step may take long.
            after_step(held, &reached, step, app.clock.now())
        }),
    };
    Ok(made.unwrap_or_else(|failure| failed::report(held, Some(&reached), tried, failure, app.clock.now())))
}

/// Another submission has its turn. The reason for waiting is reported once.
fn wait(held: &Submission, steps: &app_store::Progress, awaited: String, now: EpochMs) -> Report {
    let is_news = steps.waits_for != awaited;
    let steps = app_store::Progress {
        waits_for: awaited.clone(),
        ..steps.clone()
    };
    let transition = (steps.stage.needs() == Some(app_store::Turn::Version) && held.state.status != Processing)
        .then_some(Transition::Advance(Processing));
    Report {
        progress: is_news.then_some(Progress::AppStore(steps)),
        transition,
        message: is_news.then_some(awaited),
        next: Some(now + TURN),
        ..Report::default()
    }
}

fn reach(status: SubmissionStatus) -> Report {
    report_transition(Transition::Advance(status))
}

fn report_transition(step: Transition) -> Report {
    Report {
        transition: Some(step),
        ..Report::default()
    }
}

/// The status of a submission whose release is available to users, from the target of the track.
pub fn status_of(target: Target) -> SubmissionStatus {
    match target.status {
        TargetStatus::Halted => Halted,
        _ => RollingOut,
    }
}

/// The credential and the progress belong to different app stores: no such submission is created.
fn mixed_up() -> AppStoreError {
    AppStoreError::new(Code::CredentialInvalid, "The credential is for another store")
}

async fn step(client: &Client, release: &Release, reached: &Progress) -> Result<Step<Progress>, AppStoreError> {
    fn whole<P>(step: Step<P>, whole: impl FnOnce(P) -> Progress) -> Step<Progress> {
        Step {
            progress: whole(step.progress),
            status: step.status,
            message: step.message,
            next: step.next,
        }
    }
    match (client, reached) {
        (Client::AppStore(store), Progress::AppStore(steps)) => {
            Ok(whole(store.step(release, steps).await?, Progress::AppStore))
        }
        (Client::GooglePlay(store), Progress::GooglePlay { steps, before }) => {
            let mut step = store.step(release, steps).await?;
            // From the commit on, the change is in effect; until then users have the previous release.
            let before = before.filter(|_| step.progress.stage <= Stage::Commit);
            if let Some(before) = before {
                step.status = status_of(before);
            }
            Ok(whole(step, |steps| Progress::GooglePlay { steps, before }))
        }
        _ => Err(mixed_up()),
    }
}

fn after_step(held: &Submission, reached: &Progress, step: Step<Progress>, now: EpochMs) -> Report {
    let is_ahead = step.progress != *reached || step.status != held.state.status;
    let waits = if is_ahead { 0 } else { now - held.work.since };
    let stuck = match step.next {
        NextStep::Later if step.status == Processing && waits >= schedule::PROCESSING_LIMIT => {
            Some(SubmissionError::new(
                Code::ProcessingStuck,
                "The store has been processing the app for two days",
            ))
        }
        NextStep::AfterOtherReview if waits >= schedule::OTHER_REVIEW_LIMIT => Some(SubmissionError::new(
            Code::ReviewInProgress,
            "Another review of this app has not ended for two weeks",
        )),
        _ => None,
    };
    if let Some(error) = stuck {
        return Report {
            transition: Some(Transition::Fail),
            message: Some(error.message.clone()),
            error: Some(error),
            ..Report::default()
        };
    }
    let step_move = match step.status {
        Rejected => Transition::Reject,
        status => Transition::Advance(status),
    };
    let error = (step.status == Rejected).then(|| {
        let message = step.message.clone().unwrap_or_default();
        SubmissionError::new(Code::Rejected, message)
    });
    Report {
        progress: (step.progress != *reached).then_some(step.progress),
        transition: Some(step_move),
        message: step.message,
        error,
        next: match step.next {
            NextStep::Now | NextStep::Never => None,
            NextStep::Later => Some(now + schedule::poll(step.status, waits)),
            NextStep::AfterOtherReview => Some(now + OTHER_REVIEW),
        },
        ..Report::default()
    }
}

async fn cancel(client: &Client, release: &Release, reached: &Progress, now: EpochMs) -> Result<Report, AppStoreError> {
    match (client, reached) {
        (Client::AppStore(store), Progress::AppStore(steps)) => Ok(after_cancel(
            store.cancel(release, steps).await?,
            now,
            Progress::AppStore,
        )),
        (Client::GooglePlay(store), Progress::GooglePlay { steps, before }) => {
            let whole = |steps| Progress::GooglePlay { steps, before: *before };
            Ok(after_cancel(store.cancel(release, steps).await?, now, whole))
        }
        _ => Err(mixed_up()),
    }
}

fn after_cancel<P>(outcome: Cancellation<P>, now: EpochMs, whole: impl FnOnce(P) -> Progress) -> Report {
    match outcome {
        Cancellation::Undone(stays) => Report {
            transition: Some(Transition::CancelConfirmed),
            message: (!stays.is_empty()).then(|| format!("The submission is canceled. {}.", stays.join(". "))),
            ..Report::default()
        },
        Cancellation::Later(progress) => Report {
            progress: Some(whole(progress)),
            next: Some(now + CANCEL_PAUSE),
            ..Report::default()
        },
        Cancellation::TooLate { why, progress } => Report {
            progress: Some(whole(progress)),
            transition: Some(Transition::CancelRefused),
            message: Some(format!("It can no longer be canceled, so it continues. {why}.")),
            ..Report::default()
        },
    }
}

async fn change(client: &Client, held: &Submission, reached: &Progress) -> Result<Report, AppStoreError> {
    let wanted = held.change.unwrap_or_default();
    match (client, reached) {
        (Client::AppStore(store), Progress::AppStore(steps)) if held.may_be_released() => {
            let is_requested = store.release(steps).await?;
            let message = if is_requested {
                "The version is released"
            } else {
                "The version will be released as soon as it is approved"
            };
            let steps = app_store::Progress {
                releases_when_approved: !is_requested,
                ..steps.clone()
            };
            Ok(Report {
                progress: Some(Progress::AppStore(steps)),
                message: Some(message.to_owned()),
                executed: held.change,
                ..Report::default()
            })
        }
        (Client::AppStore(store), Progress::AppStore(steps)) => {
            let (change, status, message) = of_app_store(wanted);
            store.change(steps, change).await?;
            Ok(Report {
                transition: status.map(Transition::Advance),
                message: Some(message.to_owned()),
                executed: held.change,
                rollout: (change == app_store::Change::Complete).then_some(100),
                ..Report::default()
            })
        }
        (Client::GooglePlay(_), Progress::GooglePlay { steps, before }) => {
            // Also a target that seems to be reached: a person may have changed the release in the Play Console.
            let changed = target(reached, wanted).map(|target| match wanted.rollout {
                Some(_) => steps.for_change(target),
                None => steps.for_change_of_status(target),
            });
            Ok(Report {
                progress: changed.map(|changed| Progress::GooglePlay {
                    steps: changed,
                    before: before.or(steps.target),
                }),
                executed: held.change,
                ..Report::default()
            })
        }
        _ => Err(mixed_up()),
    }
}

/// The change for the App Store, and the resulting status of the submission.
fn of_app_store(wanted: Change) -> (app_store::Change, Option<SubmissionStatus>, &'static str) {
    match (wanted.rollout, wanted.halted) {
        (Some(100), _) => (
            app_store::Change::Complete,
            None,
            "The version is now released to all users",
        ),
        (_, Some(true)) => (app_store::Change::Halt, Some(Halted), "The phased release is halted"),
        _ => (
            app_store::Change::Resume,
            Some(RollingOut),
            "The phased release continues",
        ),
    }
}
