//! A build that a runner holds: every later request of the runner locks the build and verifies that it still holds this
//! attempt.

use launchway_api::runner::AttemptReply;
use launchway_domain::actor::Actor;
use launchway_domain::build::{Build, BuildStatus};
use launchway_domain::id::BuildId;

use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::RunnerCaller;
use crate::write::Write;

/// The message for a runner without the lease of a build. The runner then drops the build.
pub const NO_LEASE: &str =
    "This runner does not have this attempt of the build, or no longer. It must abandon the build.";
const REASON: &str = "a runner may work for every tenant";

/// A URL of our own object storage as the runner reaches it: the embedded runner bypasses the public address, which may
/// be a proxy that is not up yet.
pub fn reachable_url(app: &App, caller: &RunnerCaller, url: String) -> String {
    let embedded = app
        .embedded
        .get()
        .filter(|embedded| embedded.runner == caller.runner.id);
    match (embedded, url.strip_prefix(&app.public_url)) {
        (Some(embedded), Some(path)) if path.starts_with('/') => format!("{}{path}", embedded.origin),
        _ => url,
    }
}

/// Begins a change by a runner, and locks the build of its attempt. A change that followers see signals it itself.
///
/// # Errors
/// [`ApiError::BadRequest`] if the runner does not hold the lease.
pub async fn begin_change<'a>(
    app: &'a App,
    caller: &RunnerCaller,
    id: BuildId,
    attempt: u32,
) -> Result<(Write<'a>, Build), ApiError> {
    let mut tx = app.db.write().await?;
    let build = tx.system(REASON).lock_leased_build(id).await?;
    let build = build
        .filter(|build| is_held(build, caller, attempt))
        .ok_or_else(no_lease_error)?;
    let actor = Actor::Runner(caller.runner.id);
    let write = Write::within(app, tx, build.org_id, actor, Some(&caller.origin));
    Ok((write, build))
}

/// Whether a runner holds the lease of an attempt.
pub fn is_held(build: &Build, caller: &RunnerCaller, attempt: u32) -> bool {
    let state = &build.state;
    build.runner_id == Some(caller.runner.id) && state.status == BuildStatus::Running && state.attempt == attempt
}

/// The error for a runner without the lease.
pub fn no_lease_error() -> ApiError {
    ApiError::bad(NO_LEASE)
}

/// The build that a runner names, without a lock: for work before the transaction.
pub async fn find_build(app: &App, id: BuildId) -> Result<Build, ApiError> {
    let mut tx = app.db.read().await?;
    tx.system(REASON).any_build(id).await?.ok_or_else(no_lease_error)
}

/// The answer to a runner that continues with a build.
pub fn attempt_reply(build: &Build) -> AttemptReply {
    AttemptReply {
        cancel: build.state.cancel_requested,
        log_offset: u64::try_from(build.log_size).unwrap_or_default(),
    }
}
