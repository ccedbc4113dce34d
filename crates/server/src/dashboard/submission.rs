//! `/o/{org}/submissions/{id}`: one submission: the store's states as they came, what is asked, and what may be done with it.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use launchway_api::submissions::{ChangeSubmission, SubmissionView};
use launchway_domain::id::{OrgId, SubmissionId};
use launchway_domain::submission::destination::Destination;
use launchway_domain::submission::{Move, Submission, SubmissionStatus};

use super::frame::{Frame, Notice, done, page};
use super::live::{self, Made, Part};
use super::posted::{Form, Posted};
use super::show;
use super::timeline::{Step, timeline};
use super::trouble::Trouble;
use super::visitor::Visitor;
use crate::app::App;
use crate::failure::Failure;
use crate::ops::submissions::{self, form};
use crate::ops::write::Write;

#[derive(Template)]
#[template(path = "dashboard/submission.html")]
struct Page {
    frame: Frame,
    state: SubmissionState,
    live: bool,
    form: Form,
}

/// The part that moves.
#[derive(Template)]
#[template(path = "dashboard/submission_state.html")]
struct SubmissionState {
    home: String,
    token: String,
    submission: SubmissionView,
    timeline: Vec<Step>,
    is_over: bool,
    can: Can,
    /// What was wanted of the rollout, as long as the store was not told.
    wanted: Option<&'static str>,
    /// The name of the credential, where it is still there.
    credential: Option<String>,
    /// What else is asked of the store: name and value.
    options: Vec<(&'static str, String)>,
}

/// What may be done with a submission now.
struct Can {
    cancel: bool,
    retry: bool,
    halt: bool,
    resume: bool,
    /// An approved version that was held back.
    release: bool,
    /// A share of the users, freely.
    roll_out: bool,
    /// The App Store's phased release can only be ended.
    complete: bool,
}

impl Can {
    fn of(submission: &Submission) -> Can {
        use SubmissionStatus::{Halted, RollingOut};
        let standing = submission.standing;
        let is_play = matches!(submission.destination, Destination::Track(_));
        let has_rollout = submission.destination != Destination::TestFlight;
        let is_out = has_rollout && matches!(standing.status, RollingOut | Halted);
        Can {
            cancel: !standing.cancel_requested && standing.after(Move::Cancel).is_ok(),
            retry: standing.after(Move::Retry).is_ok() && submission.error.as_ref().is_none_or(|error| error.retryable),
            halt: has_rollout && standing.status == RollingOut,
            resume: has_rollout && standing.status == Halted,
            release: submission.may_be_released(),
            roll_out: is_out && is_play,
            complete: is_out && !is_play,
        }
    }
}

/// The id of a path; one that has no id's shape names nothing.
fn id_of(text: &str) -> Result<SubmissionId, Failure> {
    text.parse().map_err(|_| Failure::NoSuch("submission"))
}

async fn read(app: &App, org: OrgId, token: &str, id: SubmissionId) -> Result<Option<SubmissionState>, Failure> {
    let mut tx = app.db.read().await?;
    let mut org_rows = tx.org(org);
    let Some(submission) = org_rows.submission(id).await? else {
        return Ok(None);
    };
    let credential = match submission.credential_id {
        Some(known) => org_rows.credential(known).await?.map(|known| known.name),
        None => None,
    };
    let view = SubmissionView::of(&submission);
    Ok(Some(SubmissionState {
        home: format!("/o/{org}"),
        token: token.to_owned(),
        timeline: timeline(&view.events, &view.status, submission.finished_at),
        is_over: submission.standing.status.is_final(),
        can: Can::of(&submission),
        wanted: submission
            .change
            .map(|_| "The store is told of the change in a moment."),
        credential,
        options: options(&view),
        submission: view,
    }))
}

/// What else is asked of the store, in people's words.
fn options(view: &SubmissionView) -> Vec<(&'static str, String)> {
    let options = &view.options;
    let yes_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    [
        ("Groups", options.groups.as_ref().map(|groups| groups.join(", "))),
        (
            "Cryptography that needs papers",
            options.uses_non_exempt_encryption.map(yes_no),
        ),
        ("Waits for a release by hand", options.manual_release.map(yes_no)),
        ("Draft only", options.draft.map(yes_no)),
        ("Priority", options.priority.map(|priority| priority.to_string())),
        (
            "Countries",
            options.countries.as_ref().map(|countries| countries.join(", ")),
        ),
        ("Name of the release", options.release_name.clone()),
        (
            "Review asked for by hand",
            options.changes_not_sent_for_review.map(yes_no),
        ),
    ]
    .into_iter()
    .filter_map(|(label, value)| Some((label, value?)))
    .collect()
}

async fn shown(app: &App, visitor: &Visitor, id: SubmissionId, form: Form) -> Result<Page, Failure> {
    let state = read(app, visitor.org.id, &visitor.token, id).await?;
    let state = state.ok_or(Failure::NoSuch("submission"))?;
    let title = format!("{} to {}", state.submission.bundle_id, state.submission.destination);
    Ok(Page {
        frame: Frame::new(app, visitor, "submissions", title),
        live: !state.is_over,
        state,
        form,
    })
}

pub async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let shown = shown(&app, &visitor, id_of(&id)?, Form::default()).await?;
    Ok(page(StatusCode::OK, &shown))
}

struct LiveState {
    app: Arc<App>,
    org: OrgId,
    token: String,
    id: SubmissionId,
}

impl Part for LiveState {
    async fn make(&self) -> Result<Option<Made>, Failure> {
        let state = read(&self.app, self.org, &self.token, self.id).await?;
        let Some(state) = state else { return Ok(None) };
        Ok(Some(Made {
            html: show::rendered(&state)?,
            is_last: state.is_over,
        }))
    }
}

pub async fn live(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    let submission = app.db.read().await?.org(visitor.org.id).submission(id).await?;
    submission.ok_or(Failure::NoSuch("submission"))?;
    let part = LiveState {
        app: app.clone(),
        org: visitor.org.id,
        token: visitor.token,
        id,
    };
    Ok(live::follow(app, visitor.org.id, part)?)
}

/// Changes the rollout, halts it, has it go on, or releases what was held back: whatever the form has.
pub async fn change(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
    posted: Posted,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    match changed(&app, &visitor, id, &posted).await {
        Ok(()) => Ok(back(&visitor, id, Notice::SUBMISSION_CHANGED)),
        Err(failure) if failure.status().0 == StatusCode::BAD_REQUEST => {
            let form = Form::refused(posted, &failure);
            Ok(page(StatusCode::BAD_REQUEST, &shown(&app, &visitor, id, form).await?))
        }
        Err(failure) => Ok(Trouble(failure).into_response()),
    }
}

async fn changed(app: &App, visitor: &Visitor, id: SubmissionId, posted: &Posted) -> Result<(), Failure> {
    let wanted = form::change(&ChangeSubmission {
        rollout: posted.percent("rollout")?,
        status: posted.optional("status")?,
    })?;
    let mut write = Write::begin(app, &visitor.caller).await?;
    submissions::change(&mut write, id, wanted).await?;
    write.commit().await
}

pub async fn cancel(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    let mut write = Write::begin(&app, &visitor.caller).await?;
    let (_, files) = submissions::cancel(&mut write, id).await?;
    write.commit().await?;
    submissions::remove_files(&app, &files).await;
    Ok(back(&visitor, id, Notice::SUBMISSION_CANCELED))
}

pub async fn retry(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    let mut write = Write::begin(&app, &visitor.caller).await?;
    submissions::retry(&mut write, id).await?;
    write.commit().await?;
    Ok(back(&visitor, id, Notice::SUBMISSION_RETRIED))
}

pub async fn delete(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    let mut write = Write::begin(&app, &visitor.caller).await?;
    let files = submissions::delete(&mut write, id).await?;
    write.commit().await?;
    submissions::remove_files(&app, &files).await;
    Ok(done(&visitor, "/submissions", Notice::SUBMISSION_DELETED))
}

fn back(visitor: &Visitor, id: SubmissionId, notice: Notice) -> Response {
    done(visitor, &format!("/submissions/{id}"), notice)
}
