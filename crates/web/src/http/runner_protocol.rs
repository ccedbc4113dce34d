//! `/runner`: the requests of runners (`docs/reference/builds.md#runners`). A runner drops a build after a refusal
//! about it.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body as HttpBody;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use launchway_api::error::ErrorBody;
use launchway_api::runner::{
    AnnounceArtifact, ArtifactTarget, AskLease, AttemptReply, Enroll, Enrolled, Finish, Finished, LeaseAnswer, Renew,
    TellPlan,
};
use launchway_domain::id::BuildId;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::{Origin, RunnerCaller};
use launchway_ops::{artifacts, build_logs, fingerprints, finish, held_builds, leases, runners};
use tokio::time::{Instant, timeout_at};

use crate::admit::OneTimeToken;
use crate::extract::Body;
use crate::http::answers::created;
use crate::query::Query;
use crate::request_body::whole_body;

/// Seconds that a runner may wait for a build.
const MAX_WAIT: u32 = 30;
/// How often the queue is polled without a notification: another node may have accepted a build.
const LOOK: Duration = Duration::from_secs(1);
/// The maximum size of a log chunk, in bytes.
const MAX_CHUNK: usize = 1 << 20;
const MAX_ORIGIN: usize = 100;
const MAX_COMMIT: usize = 64;

/// Enrolls a runner, and consumes its one-time token.
#[utoipa::path(
    post,
    path = "/runner/enrol",
    tag = "Runner protocol",
    request_body = Enroll,
    responses((status = 201, description = "The runner's own token, shown only once", body = Enrolled))
)]
pub async fn enroll(
    State(app): State<Arc<App>>,
    axum::Extension(origin): axum::Extension<Origin>,
    axum::Extension(OneTimeToken(token)): axum::Extension<OneTimeToken>,
    Body(wanted): Body<Enroll>,
) -> Result<Response, ApiError> {
    let wanted = runners::plan(&wanted)?;
    Ok(created(&runners::enroll(&app, token.reveal(), wanted, &origin).await?))
}

/// Waits for a build that matches the labels, and leases it.
#[utoipa::path(
    post,
    path = "/runner/lease",
    tag = "Runner protocol",
    request_body = AskLease,
    responses((status = 200, description = "A build, or null if there was none in time", body = LeaseAnswer))
)]
pub async fn lease(
    State(app): State<Arc<App>>,
    caller: RunnerCaller,
    Body(ask): Body<AskLease>,
) -> Result<Json<LeaseAnswer>, ApiError> {
    let labels = runners::labels(&ask.labels)?;
    let version = runners::version(&ask.version)?;
    if ask.wait_seconds > MAX_WAIT {
        return Err(ApiError::bad(format!("waitSeconds must be at most {MAX_WAIT}")));
    }
    if (&labels, &version) != (&caller.runner.labels, &caller.runner.version) {
        runners::note_as(&app, caller.runner.id, &labels, &version).await?;
    }
    let deadline = Instant::now() + Duration::from_secs(ask.wait_seconds.into());
    loop {
        let mut queued = std::pin::pin!(app.build_queue.notified());
        queued.as_mut().enable();
        if app.stopping.is_cancelled() {
            return Ok(Json(LeaseAnswer { lease: None }));
        }
        if let Some(lease) = leases::take(&app, &caller, &labels).await? {
            return Ok(Json(LeaseAnswer { lease: Some(lease) }));
        }
        let now = Instant::now();
        if now >= deadline {
            return Ok(Json(LeaseAnswer { lease: None }));
        }
        let next_look = deadline.min(now + LOOK);
        tokio::select! {
            _ = timeout_at(next_look, queued) => {}
            () = app.stopping.cancelled() => {}
        }
    }
}

/// Renews the lease of a build, and reports its phases.
#[utoipa::path(
    post,
    path = "/runner/renew",
    tag = "Runner protocol",
    request_body = Renew,
    responses(
        (status = 200, description = "The build continues", body = AttemptReply),
        (status = 400, description = "The runner does not have this attempt, and must drop the build", body = ErrorBody),
    )
)]
pub async fn renew(
    State(app): State<Arc<App>>,
    caller: RunnerCaller,
    Body(told): Body<Renew>,
) -> Result<Json<AttemptReply>, ApiError> {
    let phases = finish::phases(&told.phases)?;
    let id = build_id(&told.build_id)?;
    Ok(Json(leases::renew(&app, &caller, id, told.attempt, &phases).await?))
}

/// Reports the plan of a build.
#[utoipa::path(
    post,
    path = "/runner/plan",
    tag = "Runner protocol",
    request_body = TellPlan,
    responses(
        (status = 200, description = "The build continues", body = AttemptReply),
        (status = 400, description = "The runner does not have this attempt, and must drop the build", body = ErrorBody),
    )
)]
pub async fn plan(
    State(app): State<Arc<App>>,
    caller: RunnerCaller,
    Body(told): Body<TellPlan>,
) -> Result<Json<AttemptReply>, ApiError> {
    told.plan.check().map_err(|error| ApiError::bad(error.to_string()))?;
    if told.origin.as_str().is_empty() || told.origin.as_str().chars().count() > MAX_ORIGIN {
        return Err(ApiError::bad(format!("origin must have 1 to {MAX_ORIGIN} characters")));
    }
    let plain = |commit: &String| {
        (1..=MAX_COMMIT).contains(&commit.len()) && commit.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    if told.commit.as_ref().is_some_and(|commit| !plain(commit)) {
        return Err(ApiError::bad("commit must be hex digits"));
    }
    let id = build_id(&told.build_id)?;
    Ok(Json(leases::record_plan(&app, &caller, id, told).await?))
}

/// Appends raw bytes to a build's log at `offset`. The response has the offset at which the log continues: bytes that
/// the server already has are skipped, and bytes after a gap are not stored.
#[utoipa::path(
    post,
    path = "/runner/log",
    tag = "Runner protocol",
    params(
        ("id" = String, Query, description = "The build"),
        ("attempt" = u32, Query, description = "The fencing number"),
        ("offset" = u64, Query, description = "The offset of these bytes in the build's log"),
    ),
    request_body(content = Vec<u8>, content_type = "application/octet-stream", description = "At most 1 MiB"),
    responses(
        (status = 200, description = "Everything before `logOffset` is stored", body = AttemptReply),
        (status = 400, description = "The runner does not have this attempt, and must drop the build", body = ErrorBody),
    )
)]
pub async fn log(
    State(app): State<Arc<App>>,
    caller: RunnerCaller,
    query: Query,
    headers: HeaderMap,
    body: HttpBody,
) -> Result<Json<AttemptReply>, ApiError> {
    let id = query.raw("id")?.filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| ApiError::bad("id is required"))?;
    let number = |name: &str| -> Result<u64, ApiError> {
        let number = query.parsed(name, "a whole number from 0")?;
        number.ok_or_else(|| ApiError::bad(format!("{name} is required")))
    };
    let attempt = u32::try_from(number("attempt")?).map_err(|_| ApiError::bad("attempt is too large"))?;
    let offset = number("offset")?;
    let id = build_id(id)?;
    let too_large = format!("At most {MAX_CHUNK} bytes of a log are accepted at a time");
    let bytes = whole_body(&headers, body, MAX_CHUNK, &too_large).await?;
    Ok(Json(
        build_logs::append(&app, &caller, id, attempt, offset, bytes).await?,
    ))
}

/// Announces an artifact, and returns a pre-signed URL for its upload.
#[utoipa::path(
    post,
    path = "/runner/artifacts",
    tag = "Runner protocol",
    request_body = AnnounceArtifact,
    responses(
        (status = 201, description = "The upload URL, valid for an hour", body = ArtifactTarget),
        (status = 400, description = "The runner does not have this attempt, and must drop the build", body = ErrorBody),
    )
)]
pub async fn announce(
    State(app): State<Arc<App>>,
    caller: RunnerCaller,
    Body(wanted): Body<AnnounceArtifact>,
) -> Result<Response, ApiError> {
    artifacts::plan(&wanted)?;
    let id = build_id(&wanted.build_id)?;
    Ok(created(&artifacts::announce(&app, &caller, id, wanted).await?))
}

/// Ends a build. The response means that log, artifacts and result are stored. A repeated request changes nothing.
#[utoipa::path(
    post,
    path = "/runner/finish",
    tag = "Runner protocol",
    params(("lwfp2" = Option<String>, Query, description = "The `lwfp-2` hash of the native code that `fingerprint` describes")),
    request_body = Finish,
    responses(
        (status = 200, description = "The build has ended", body = Finished),
        (status = 400, description = "The runner does not have this attempt, or has not sent everything", body = ErrorBody),
    )
)]
pub async fn finish(
    State(app): State<Arc<App>>,
    caller: RunnerCaller,
    query: Query,
    Body(told): Body<Finish>,
) -> Result<Json<Finished>, ApiError> {
    let id = build_id(&told.build_id)?;
    let plan = finish::plan(id, told, fingerprints::lwfp2(query.get("lwfp2")?)?)?;
    Ok(Json(finish::finish(&app, &caller, plan).await?))
}

/// A text that is not a build id names no build of the runner.
fn build_id(text: &str) -> Result<BuildId, ApiError> {
    text.parse().map_err(|_| held_builds::no_lease_error())
}
