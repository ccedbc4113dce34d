//! `/o/{org}`: recent builds, updates and submissions, what needs attention, and for a new organization the first
//! steps.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use launchway_api::builds::{BuildContext, BuildView};
use launchway_api::credentials::CredentialView;
use launchway_api::open;
use launchway_api::submissions::SubmissionView;
use launchway_api::updates::UpdateView;
use launchway_domain::build::{Build, BuildStatus};
use launchway_domain::credential::CredentialStatus;
use launchway_domain::submission::{Submission, SubmissionStatus};
use launchway_domain::time::{DAY, EpochMs};
use launchway_domain::update::{Update, UpdateStatus};
use launchway_domain::webhook::WebhookStatus;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_store::{BuildFilter, Org, Paging, SubmissionFilter, UpdateFilter};

use super::frame::{Frame, page};
use super::page_error::PageError;
use super::show;
use super::visitor::Visitor;

/// Rows of each list.
const LATEST: Paging = Paging { limit: 6, offset: 0 };
/// Recent builds, submissions and updates that are searched for what needs attention.
const LOOKED_AT: Paging = Paging { limit: 25, offset: 0 };
/// Items of one kind that need attention.
const MAX_OF_A_KIND: usize = 3;
/// Credentials and webhooks that are searched for problems.
const MANY: Paging = Paging { limit: 100, offset: 0 };
/// Days before its expiry from which an item needs attention.
const SOON: i64 = 30;
/// Days after which a failed build no longer needs attention.
const RECENT: i64 = 7;

#[derive(Template)]
#[template(path = "dashboard/overview.html")]
struct Overview {
    frame: Frame,
    url: String,
    builds: Vec<BuildView>,
    updates: Vec<UpdateView>,
    submissions: Vec<SubmissionView>,
    attention: Vec<Attention>,
    has_app: bool,
    has_key: bool,
}

/// An item that needs attention.
struct Attention {
    text: String,
    /// The path within the organization's pages.
    link: String,
}

impl Overview {
    /// Whether the first steps are shown: nothing was built, published or submitted yet.
    fn is_new(&self) -> bool {
        self.builds.is_empty() && self.updates.is_empty() && self.submissions.is_empty()
    }
}

pub async fn show(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, PageError> {
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    // Only among the latest: a search for failed ones among all builds would cost as much as there are builds.
    let builds = org.builds(&BuildFilter::default(), LOOKED_AT).await?.items;
    let updates = org.updates(&UpdateFilter::default(), LOOKED_AT).await?.items;
    let submissions = org.submissions(&SubmissionFilter::default(), LOOKED_AT).await?.items;
    let mut attention = submissions_to_look_at(&submissions, app.clock.now());
    attention.extend(updates_to_sign(&updates));
    attention.extend(others_to_look_at(&app, &visitor, &mut org, &builds).await?);
    let overview = Overview {
        frame: Frame::new(&app, &visitor, "overview", "Overview"),
        url: app.public_url.clone(),
        builds: builds
            .iter()
            .take(LATEST.limit as usize)
            .map(|build| BuildView::of(build, BuildContext::default()))
            .collect(),
        updates: updates.iter().take(LATEST.limit as usize).map(UpdateView::of).collect(),
        submissions: submissions
            .iter()
            .take(LATEST.limit as usize)
            .map(SubmissionView::of)
            .collect(),
        attention,
        has_app: org.apps(LATEST).await?.total > 0,
        has_key: org.keys(LATEST).await?.total > 0,
    };
    Ok(page(StatusCode::OK, &overview))
}

/// Submissions that need somebody to act: users wait for them.
fn submissions_to_look_at(latest: &[Submission], now: EpochMs) -> Vec<Attention> {
    let stuck = |submission: &&Submission| match submission.state.status {
        SubmissionStatus::Failed | SubmissionStatus::Rejected => {
            submission.finished_at.unwrap_or(submission.created_at) > now - RECENT * DAY
        }
        SubmissionStatus::Halted => true,
        _ => false,
    };
    let attention = |submission: &Submission| {
        let what = match submission.state.status {
            SubmissionStatus::Halted => "is halted",
            SubmissionStatus::Rejected => "was rejected",
            _ => "failed",
        };
        let fix = submission.error.as_ref().map(|error| error.fix.as_str());
        Attention {
            text: format!(
                "The submission of {} to {} {what}. {}",
                submission.bundle_id,
                show::destination(&open::KnownDestination::of(submission.destination.as_str())),
                show::first_line(fix.unwrap_or_default())
            ),
            link: format!("/submissions/{}", submission.id),
        }
    };
    latest.iter().filter(stuck).take(MAX_OF_A_KIND).map(attention).collect()
}

/// Updates that await their signature.
fn updates_to_sign(latest: &[Update]) -> Vec<Attention> {
    let awaiting = latest
        .iter()
        .filter(|update| update.status == UpdateStatus::AwaitingSignature);
    let attention = |update: &Update| Attention {
        text: format!(
            "The update {} of {} for {} awaits its signature. No device is offered it before.",
            update.version_text,
            update.bundle_id,
            show::platform(&update.platform)
        ),
        link: format!("/updates/{}", update.id),
    };
    awaiting.take(MAX_OF_A_KIND).map(attention).collect()
}

/// Other items that need attention, the most urgent first.
async fn others_to_look_at(
    app: &App,
    visitor: &Visitor,
    org: &mut Org<'_>,
    latest: &[Build],
) -> Result<Vec<Attention>, ApiError> {
    let now = app.clock.now();
    let mut found = Vec::new();
    let failed = |build: &&Build| build.state.status == BuildStatus::Failed && build.created_at > now - RECENT * DAY;
    for build in latest.iter().filter(failed).take(MAX_OF_A_KIND) {
        let cause = build.error.as_ref().map(|error| error.message.as_str());
        found.push(Attention {
            text: format!(
                "A build of {} for {} failed. {}",
                build.bundle_id,
                show::platform(&build.platform),
                show::first_line(cause.unwrap_or_default())
            ),
            link: format!("/builds/{}", build.id),
        });
    }
    if !visitor.is_admin() {
        return Ok(found);
    }
    for webhook in org.webhooks(MANY).await?.items {
        if webhook.status == WebhookStatus::Disabled {
            found.push(Attention {
                text: format!(
                    "The webhook {} is disabled. {}",
                    webhook.name,
                    webhook.disabled_reason.unwrap_or_default()
                ),
                link: format!("/webhooks/{}", webhook.id),
            });
        }
    }
    for credential in org.credentials(MANY).await?.items {
        if credential.expires_at.is_some_and(|at| at < now + SOON * DAY) {
            let view = CredentialView::of(&credential, now);
            let word = if view.status == CredentialStatus::Expired {
                "has expired"
            } else {
                "expires soon"
            };
            found.push(Attention {
                text: format!(
                    "The credential {} {word}. Add a new one before builds need it.",
                    view.name
                ),
                link: "/credentials".to_owned(),
            });
        }
    }
    Ok(found)
}
