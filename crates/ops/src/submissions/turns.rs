//! Turns in App Store Connect: one submission at a time uploads a build of one number, and one prepares a version and
//! has it reviewed. The others wait, and report for which one.

use super::progress::Progress;

use launchway_app_stores::app_store;
use launchway_domain::submission::{Store, Submission};
use launchway_store::Turn;

use crate::api_error::ApiError;
use crate::app::App;
use crate::apps;
use crate::write::{Signal, Write};

const REASON: &str = "an app exists once in its store, for all tenants";

/// The name of a turn, which is the same on every node.
fn part(submission: &Submission, turn: app_store::Turn) -> String {
    match turn {
        app_store::Turn::Version => "version".to_owned(),
        app_store::Turn::Upload => format!(
            "upload {} {}",
            submission.version.as_deref().unwrap_or_default(),
            submission.build_number.as_deref().unwrap_or_default()
        ),
    }
}

/// Takes the turn that the next step of a submission needs. If another submission holds it, returns a text that names
/// it.
pub async fn take(app: &App, claimed: &Submission, steps: &app_store::Progress) -> Result<Option<String>, ApiError> {
    let Some(wanted) = steps.stage.needs() else {
        return Ok(None);
    };
    let (bundle, part) = (apps::bundle_id(&claimed.bundle_id)?, part(claimed, wanted));
    let turn = Turn {
        bundle: &bundle,
        platform: claimed.platform,
        part: &part,
        // Later steps of the version have work of their own under way.
        after_others: steps.stage == app_store::Stage::Version,
    };
    let mut tx = app.db.read().await?;
    let has_it = tx.system(REASON).has_app_store_turn(turn, claimed.id).await?;
    drop(tx);
    if has_it && !turn.after_others {
        return Ok(None);
    }
    let mut tx = app.db.write().await?;
    let holder = tx
        .system(REASON)
        .take_app_store_turn(turn, claimed.id, claimed.work.claim)
        .await?;
    tx.commit().await?;
    Ok(holder.map(|holder| {
        let what = match (&holder.version, &holder.build_number) {
            (Some(version), Some(build)) if holder.org_id == claimed.org_id => {
                format!("{} (version {version}, build {build})", holder.id)
            }
            _ => "another submission of this app".to_owned(),
        };
        match wanted {
            app_store::Turn::Upload => format!("This submission waits for {what}, which uploads the same build number"),
            app_store::Turn::Version => format!(
                "This submission waits until {what} is released, rejected or canceled, because App Store Connect \
                 accepts one version of an app at a time"
            ),
        }
    }))
}

/// Ends the turns that a submission with this progress no longer needs, and hands them to the next.
pub async fn end(write: &mut Write<'_>, submission: &Submission, progress: Option<&Progress>) -> Result<(), ApiError> {
    match progress {
        _ if submission.state.status.is_final() => leave(write, submission).await,
        Some(Progress::AppStore(steps)) => keep(write, submission, steps.stage.keeps()).await,
        _ => Ok(()),
    }
}

/// Ends all turns of a submission, and hands them to the next.
pub async fn leave(write: &mut Write<'_>, submission: &Submission) -> Result<(), ApiError> {
    match submission.store() {
        Store::AppStore => keep(write, submission, None).await,
        Store::GooglePlay => Ok(()),
    }
}

async fn keep(write: &mut Write<'_>, submission: &Submission, kept: Option<app_store::Turn>) -> Result<(), ApiError> {
    let (kept, now) = (kept.map(|turn| part(submission, turn)), write.now());
    let mut system = write.system(REASON);
    if system.end_app_store_turns(submission.id, kept.as_deref(), now).await? {
        write.signal(Signal::Submissions);
    }
    Ok(())
}
