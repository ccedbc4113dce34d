//! `/o/{org}/submissions/{id}`: one submission: the store's states as they came, what is asked, and what may be done with it.

use askama::Template;
use axum::response::Response;
use launchway_api::submissions::SubmissionView;
use launchway_domain::id::SubmissionId;
use launchway_domain::submission::destination::Destination;
use launchway_domain::submission::{Submission, SubmissionStatus, Transition};

use super::form_data::Form;
use super::frame::{Frame, page};
use super::live::{self, Made, Part};
use super::page_error::PageError;
use super::show;
use super::timeline::{Step, timeline};
use super::visit::Visit;
use crate::api_error::ApiError;

#[derive(Template)]
#[template(path = "dashboard/submission.html")]
struct Page {
    frame: Frame,
    state: SubmissionSection,
    live: bool,
    form: Form,
}

/// The part that moves.
#[derive(Template)]
#[template(path = "dashboard/submission_state.html")]
struct SubmissionSection {
    home: String,
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
        let state = submission.state;
        let is_play = matches!(submission.destination, Destination::Track(_));
        let has_rollout = submission.destination != Destination::TestFlight;
        let is_out = has_rollout && matches!(state.status, RollingOut | Halted);
        Can {
            cancel: !state.cancel_requested && state.after(Transition::Cancel).is_ok(),
            retry: state.after(Transition::Retry).is_ok()
                && submission.error.as_ref().is_none_or(|error| error.retryable),
            halt: has_rollout && state.status == RollingOut,
            resume: has_rollout && state.status == Halted,
            release: submission.may_be_released(),
            roll_out: is_out && is_play,
            complete: is_out && !is_play,
        }
    }
}

async fn read(visit: &Visit<SubmissionId>) -> Result<SubmissionSection, ApiError> {
    let mut tx = visit.app.db.read().await?;
    let mut org = tx.org(visit.org());
    let submission = org.submission(visit.id).await?;
    let submission = submission.ok_or(ApiError::NoSuch("submission"))?;
    let credential = match submission.credential_id {
        Some(known) => org.credential(known).await?.map(|known| known.name),
        None => None,
    };
    let view = SubmissionView::of(&submission);
    Ok(SubmissionSection {
        home: visit.visitor.home(),
        timeline: timeline(&view.events, &view.status, submission.finished_at),
        is_over: submission.state.status.is_final(),
        can: Can::of(&submission),
        wanted: submission
            .change
            .map(|_| "The store is told of the change in a moment."),
        credential,
        options: options(&view),
        submission: view,
    })
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

pub async fn shown(visit: &Visit<SubmissionId>, form: Form) -> Result<Response, PageError> {
    let state = read(visit).await?;
    let title = format!("{} to {}", state.submission.bundle_id, state.submission.destination);
    let shown = Page {
        frame: visit.frame("submissions", title),
        live: !state.is_over,
        state,
        form,
    };
    Ok(page(shown.form.status(), &shown))
}

pub async fn show(visit: Visit<SubmissionId>) -> Result<Response, PageError> {
    shown(&visit, Form::default()).await
}

impl Part for Visit<SubmissionId> {
    async fn make(&self) -> Result<Option<Made>, ApiError> {
        let state = match read(self).await {
            Err(ApiError::NoSuch(_)) => return Ok(None),
            state => state?,
        };
        Ok(Some(Made {
            html: show::rendered(&state)?,
            is_last: state.is_over,
        }))
    }
}

pub async fn live(visit: Visit<SubmissionId>) -> Result<Response, PageError> {
    read(&visit).await?;
    Ok(live::follow(visit.app.clone(), visit.visitor.caller.clone(), visit)?)
}
