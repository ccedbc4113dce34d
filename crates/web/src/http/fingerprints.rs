//! `/fingerprints`: the fingerprints of builds and updates, and the differences between two of them
//! (`docs/reference/fingerprints.md#fingerprint-endpoints`).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::error::ErrorBody;
use launchway_api::fingerprints::{FingerprintChange, FingerprintDifference, FingerprintView};
use launchway_api::open;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::fingerprint::{diff as differences, reason};
use launchway_domain::id::{BuildId, UpdateId};
use launchway_domain::platform::Platform;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Caller;
use launchway_ops::fingerprints::{of_build, of_update};
use launchway_store::Org;

use crate::http::answers::found;
use crate::query::Query;

/// Returns the fingerprint of a build or an update: its hash, and its document if it is known.
#[utoipa::path(
    get,
    path = "/fingerprints",
    tag = "Fingerprint",
    params(("id" = String, Query, description = "A build or an update")),
    responses(
        (status = 200, description = "The fingerprint", body = FingerprintView),
        (status = 404, description = "No build or update has this id", body = ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = build_or_update(&query, "id")?;
    let mut tx = app.db.read().await?;
    Ok(found(&read_fingerprint(&mut tx.org(caller.org_id()?), id).await?))
}

/// Explains the differences between the fingerprints of two builds or updates.
#[utoipa::path(
    get,
    path = "/fingerprints/diff",
    tag = "Fingerprint",
    params(
        ("from" = String, Query, description = "A build or an update, such as the installed one"),
        ("to" = String, Query, description = "A build or an update, such as the one to install"),
    ),
    responses(
        (status = 200, description = "The differences", body = FingerprintDifference),
        (status = 400, description = "One of them has no fingerprint", body = ErrorBody),
        (status = 404, description = "No build or update has this id", body = ErrorBody),
    )
)]
pub async fn diff(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let (from, to) = (build_or_update(&query, "from")?, build_or_update(&query, "to")?);
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.org_id()?);
    let from = read_fingerprint(&mut org, from).await?;
    let to = read_fingerprint(&mut org, to).await?;
    if let Some(side) = [&from, &to].iter().find(|side| side.fingerprint.is_none()) {
        return Err(ApiError::bad(format!("{} has no fingerprint", side.id)));
    }
    let same = from.is_same_as(&to);
    let (there, here) = (from.read(), to.read());
    let changes = there.as_ref().zip(here.as_ref());
    // Hashes of different algorithms cannot be compared.
    let changes = changes.filter(|(there, here)| there.algorithm() == here.algorithm());
    Ok(found(&FingerprintDifference {
        same,
        reason: (!same).then(|| reason(there.as_ref(), here.as_ref())),
        changes: match (same, changes) {
            (true, _) => Some(Vec::new()),
            (false, both) => both.map(|(from, to)| differences(from, to).iter().map(FingerprintChange::from).collect()),
        },
        from,
        to,
    }))
}

/// Returns the fingerprint of the newest successful build that has one: what an update must match.
#[utoipa::path(
    get,
    path = "/fingerprints/latest",
    tag = "Fingerprint",
    params(
        ("bundleId" = String, Query, description = "The app"),
        ("platform" = open::Platform, Query, description = "The platform"),
        ("configuration" = Option<String>, Query, description = "Only builds of this configuration, or without one"),
    ),
    responses(
        (status = 200, description = "The fingerprint of the build", body = FingerprintView),
        (status = 404, description = "No such build", body = ErrorBody),
    )
)]
pub async fn latest(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let required = |name: &str| ApiError::bad(format!("{name} is required"));
    let bundle: Option<BundleId> = query.parsed("bundleId", "a bundle identifier")?;
    let bundle = bundle.ok_or_else(|| required("bundleId"))?;
    let platform: Option<Platform> = query.parsed("platform", "ios, android or visionos")?;
    let platform = platform.ok_or_else(|| required("platform"))?;
    let configuration: Option<Configuration> =
        query.parsed("configuration", "1 to 64 letters, digits, `.`, `_` or `-`")?;
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.org_id()?);
    let build = org
        .newest_build_with_fingerprint(&bundle, platform, configuration.as_ref())
        .await?
        .ok_or(ApiError::NoneFits(NONE_YET))?;
    Ok(found(&of_build(&mut org, &build).await?))
}

const BUILD_OR_UPDATE: &str = "build or update";
const NONE_YET: &str = "No successful build of this app for this platform has a fingerprint";

/// The value of a parameter that names a build or an update.
fn build_or_update<'q>(query: &'q Query, name: &str) -> Result<&'q str, ApiError> {
    let text = query.get(name)?;
    text.ok_or_else(|| ApiError::bad(format!("{name} is required")))
}

/// The fingerprint of a build or update. An id of any other form names nothing.
async fn read_fingerprint(org: &mut Org<'_>, id: &str) -> Result<FingerprintView, ApiError> {
    if let Ok(id) = id.parse::<BuildId>()
        && let Some(build) = org.build(id).await?
    {
        return of_build(org, &build).await;
    }
    if let Ok(id) = id.parse::<UpdateId>()
        && let Some(update) = org.update(id).await?
    {
        return of_update(org, &update).await;
    }
    Err(ApiError::NoSuch(BUILD_OR_UPDATE))
}
