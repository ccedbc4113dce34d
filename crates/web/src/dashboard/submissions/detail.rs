//! `/o/{org}/submissions/{id}`: a submission: the sequence of the store's states, pending changes, and its actions.

use askama::Template;
use axum::response::Response;
use launchway_api::submissions::SubmissionView;
use launchway_domain::id::SubmissionId;
use launchway_domain::submission::destination::Destination;
use launchway_domain::submission::{Submission, SubmissionStatus, Transition};
use launchway_ops::api_error::ApiError;

use crate::dashboard::form_data::Form;
use crate::dashboard::frame::{Frame, page};
use crate::dashboard::live::{self, Part, RenderedPart};
use crate::dashboard::page_error::PageError;
use crate::dashboard::show;
use crate::dashboard::submissions::timeline::{Step, timeline};
use crate::dashboard::visit::Visit;

#[derive(Template)]
#[template(path = "dashboard/submission.html")]
struct Page {
    frame: Frame,
    state: SubmissionSection,
    live: bool,
    form: Form,
}

/// The live part of the page.
#[derive(Template)]
#[template(path = "dashboard/submission_state.html")]
struct SubmissionSection {
    home: String,
    submission: SubmissionView,
    timeline: Vec<Step>,
    is_over: bool,
    can: AvailableActions,
    /// The requested change of the rollout, until the store was told.
    wanted: Option<&'static str>,
    /// The name of the credential, if it still exists.
    credential: Option<String>,
    /// Further options for the store: name and value.
    options: Vec<(&'static str, String)>,
}

/// The actions that are possible now.
struct AvailableActions {
    cancel: bool,
    retry: bool,
    halt: bool,
    resume: bool,
    /// Releasing an approved version that was held back.
    release: bool,
    /// Setting any share of the users.
    roll_out: bool,
    /// Completing: the App Store's phased release can only be ended.
    complete: bool,
}

impl AvailableActions {
    fn of(submission: &Submission) -> AvailableActions {
        use SubmissionStatus::{Halted, RollingOut};
        let state = submission.state;
        let is_play = matches!(submission.destination, Destination::Track(_));
        let has_rollout = submission.destination != Destination::TestFlight;
        let is_out = has_rollout && matches!(state.status, RollingOut | Halted);
        AvailableActions {
            cancel: !state.cancel_requested && state.apply(Transition::Cancel).is_ok(),
            retry: state.apply(Transition::Retry).is_ok()
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
        can: AvailableActions::of(&submission),
        wanted: submission
            .change
            .map(|_| "The change will be sent to the store in a moment"),
        credential,
        options: options(&view),
        submission: view,
    })
}

/// Further options for the store, in words.
fn options(view: &SubmissionView) -> Vec<(&'static str, String)> {
    let options = &view.options;
    let yes_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    [
        ("Groups", options.groups.as_ref().map(|groups| groups.join(", "))),
        ("Non-exempt encryption", options.uses_non_exempt_encryption.map(yes_no)),
        ("Waits for a manual release", options.manual_release.map(yes_no)),
        ("Draft only", options.draft.map(yes_no)),
        ("Priority", options.priority.map(|priority| priority.to_string())),
        (
            "Countries",
            options.countries.as_ref().map(|countries| countries.join(", ")),
        ),
        ("Name of the release", options.release_name.clone()),
        (
            "Review requested manually",
            options.changes_not_sent_for_review.map(yes_no),
        ),
    ]
    .into_iter()
    .filter_map(|(label, value)| Some((label, value?)))
    .collect()
}

pub async fn render_page(visit: &Visit<SubmissionId>, form: Form) -> Result<Response, PageError> {
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
    render_page(&visit, Form::default()).await
}

impl Part for Visit<SubmissionId> {
    async fn make(&self) -> Result<Option<RenderedPart>, ApiError> {
        let state = match read(self).await {
            Err(ApiError::NoSuch(_)) => return Ok(None),
            state => state?,
        };
        Ok(Some(RenderedPart {
            html: show::render(&state)?,
            is_last: state.is_over,
        }))
    }
}

pub async fn live(visit: Visit<SubmissionId>) -> Result<Response, PageError> {
    read(&visit).await?;
    Ok(live::follow(visit.app.clone(), visit.visitor.caller.clone(), visit)?)
}
