//! What needs attention on the overview: what users wait for first, then what fails on their devices.

use launchway_api::credentials::CredentialView;
use launchway_api::open;
use launchway_domain::build::{Build, BuildStatus};
use launchway_domain::credential::CredentialStatus;
use launchway_domain::submission::{Submission, SubmissionStatus};
use launchway_domain::time::{DAY, EpochMs};
use launchway_domain::update::{Update, UpdateStatus};
use launchway_domain::webhook::WebhookStatus;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_store::{Org, Paging, UpdateFilter};

use crate::dashboard::show;
use crate::dashboard::updates::health::{failure_rate, healths};
use crate::dashboard::visitor::Visitor;

/// Items of one kind that need attention.
const MAX_OF_A_KIND: usize = 3;
/// Credentials and webhooks that are searched for problems.
const MANY: Paging = Paging { limit: 100, offset: 0 };
/// Published updates that are searched for failing ones.
const PUBLISHED: Paging = Paging { limit: 50, offset: 0 };
/// Days before its expiry from which an item needs attention.
const SOON: i64 = 30;
/// Days after which a failed build no longer needs attention.
const RECENT: i64 = 7;

/// An item that needs attention.
pub struct Attention {
    pub text: String,
    /// The path within the organization's pages.
    pub link: String,
}

/// What needs attention among the latest builds, updates and submissions, and in the settings; the most urgent first.
pub async fn find(
    app: &App,
    visitor: &Visitor,
    org: &mut Org<'_>,
    builds: &[Build],
    updates: &[Update],
    submissions: &[Submission],
) -> Result<Vec<Attention>, ApiError> {
    let now = app.clock.now();
    let mut found = submissions_to_look_at(submissions, now);
    found.extend(failing_updates(org).await?);
    found.extend(updates_to_sign(updates));
    found.extend(builds_to_look_at(builds, now));
    if visitor.is_admin() {
        found.extend(settings_to_look_at(org, now).await?);
    }
    Ok(found)
}

/// Updates that devices are offered although they fail there.
async fn failing_updates(org: &mut Org<'_>) -> Result<Vec<Attention>, ApiError> {
    let filter = UpdateFilter {
        status: Some(UpdateStatus::Published),
        ..UpdateFilter::default()
    };
    let published = org.updates(&filter, PUBLISHED).await?.items;
    let healths = healths(org, &published).await?;
    let mut found = Vec::new();
    for update in &published {
        let health = healths.get(&update.id).copied().unwrap_or_default();
        let is_live = update.rollout.percent() > 0 && !published.iter().any(|newer| replaces(newer, update));
        let Some(rate) = failure_rate(&health).filter(|_| is_live && health.is_failing()) else {
            continue;
        };
        found.push(Attention {
            text: format!(
                "The update {} ({}) of {} for {} failed on {rate} of the {} devices that tried it. Pause it, or roll it back.",
                update.version_text,
                update.build_number,
                update.bundle_id,
                show::platform(&update.platform),
                show::count(&health.tried)
            ),
            link: format!("/updates/{}", update.id),
        });
    }
    found.truncate(MAX_OF_A_KIND);
    Ok(found)
}

/// Whether every device that would be offered an update is offered a newer one instead.
fn replaces(newer: &Update, update: &Update) -> bool {
    (&newer.version, &newer.build_number) > (&update.version, &update.build_number)
        && newer.rollout.percent() == 100
        && newer.bundle_id == update.bundle_id
        && newer.platform == update.platform
        && newer.configuration == update.configuration
        && newer.fingerprint == update.fingerprint
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

/// Builds that failed lately.
fn builds_to_look_at(latest: &[Build], now: EpochMs) -> Vec<Attention> {
    let failed = |build: &&Build| build.state.status == BuildStatus::Failed && build.created_at > now - RECENT * DAY;
    let attention = |build: &Build| {
        let cause = build.error.as_ref().map(|error| error.message.as_str());
        Attention {
            text: format!(
                "A build of {} for {} failed. {}",
                build.bundle_id,
                show::platform(&build.platform),
                show::first_line(cause.unwrap_or_default())
            ),
            link: format!("/builds/{}", build.id),
        }
    };
    latest
        .iter()
        .filter(failed)
        .take(MAX_OF_A_KIND)
        .map(attention)
        .collect()
}

/// Settings that need an admin.
async fn settings_to_look_at(org: &mut Org<'_>, now: EpochMs) -> Result<Vec<Attention>, ApiError> {
    let mut found = Vec::new();
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
