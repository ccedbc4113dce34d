//! `/update` (`docs/reference/updates.md#publishing`).

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use launchway_api::error::ErrorBody;
use launchway_api::lists::{Deleted, OneOrPage};
use launchway_api::open;
use launchway_api::reports::{CrashGroup, ReportCounts, ReportReason};
use launchway_api::updates::{ChangeUpdate, CreateUpdate, UpdateCallers, UpdateView};
use launchway_api::words::DoneStatus;
use launchway_blob::Key;
use launchway_domain::app::SIGNED_URL_SECONDS;
use launchway_domain::crash::first_line;
use launchway_domain::id::UpdateId;
use launchway_domain::report::ReportKind;
use launchway_domain::time::iso;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Caller;
use launchway_ops::updates::{release, request};
use launchway_ops::write::Write;
use launchway_ops::{fingerprints, updates};
use launchway_store::{Org, Rows, UpdateFilter};

use crate::extract::{Body, Create};
use crate::http::answers::{created_or_kept, found, id_and_status, page};
use crate::query::Query;

/// Publishes an over-the-air update. Once this responds, checks offer it.
#[utoipa::path(
    post,
    path = "/update",
    tag = "Update",
    params(("lwfp2" = Option<String>, Query, description = "The `lwfp-2` hash of the native code that `fingerprint` describes")),
    request_body = CreateUpdate,
    responses(
        (status = 201, description = "The update", body = UpdateView),
        (status = 404, description = "No upload, update or build has this id", body = ErrorBody),
    )
)]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    query: Query,
    new: Create<CreateUpdate>,
) -> Result<Response, ApiError> {
    let lwfp2 = fingerprints::lwfp2(query.get("lwfp2")?)?;
    request::run(&app, &caller, &new.body, lwfp2, new.request)
        .await
        .map(created_or_kept)
}

/// Lists updates, or reads the one that `id` names, with what devices reported about it.
#[utoipa::path(
    get,
    path = "/update",
    tag = "Update",
    params(
        ("id" = Option<String>, Query, description = "Read this update instead of listing"),
        ("bundleId" = Option<String>, Query, description = "Only updates of this app"),
        ("platform" = Option<open::Platform>, Query, description = "Only those for this platform"),
        ("configuration" = Option<String>, Query, description = "Only updates for this configuration"),
        ("status" = Option<open::UpdateStatus>, Query, description = "Only those with this status"),
        ("protocol" = Option<open::Protocol>, Query, description = "With `foreignId`: the protocol of the clients that name it"),
        ("foreignId" = Option<String>, Query, description = "Only the update that clients of `protocol` name so; one of CodePush begins with the configuration and a slash"),
        ("limit" = Option<i64>, Query, description = "The maximum number of updates, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of updates to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of updates; with `id`, the update", body = OneOrPage<UpdateView>),
        (status = 404, description = "No update has this id", body = ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.optional_id("update")?;
    let paging = query.paging()?;
    let filter = filter(&query)?;
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.org_id()?);
    match id {
        Some(id) => {
            let id = id.get()?;
            let update = org.update(id).await?.ok_or(ApiError::NoSuch("update"))?;
            let reports = reports(&mut org, id).await?;
            let callers = app.index.callers(&update.bundle_id);
            let foreign_ids = release::foreign_ids(&mut org, id).await?;
            Ok(found(&UpdateView {
                foreign_ids: Some(foreign_ids),
                reports: Some(reports),
                callers: Some(UpdateCallers {
                    checks: callers.checks,
                    without_build: callers.without_build,
                }),
                ..UpdateView::of(&update)
            }))
        }
        None => {
            let rows = match filter {
                Some(filter) => org.updates(&filter, paging).await?,
                None => Rows::none(),
            };
            Ok(page(rows, paging, UpdateView::of))
        }
    }
}

/// Parses the filter of a query; `None` if it names nothing.
fn filter(query: &Query) -> Result<Option<UpdateFilter>, ApiError> {
    let words = words(query)?;
    let (Some(bundle), Some(configuration)) = (query.named("bundleId")?, query.named("configuration")?) else {
        return Ok(None);
    };
    let protocol = query.parsed("protocol", "expo, codepush, capgo or hot-updater")?;
    let foreign_id = match (protocol, query.named("foreignId")?) {
        (_, None) => return Ok(None),
        (_, Some(None)) => None,
        (Some(protocol), Some(Some(id))) => Some((protocol, id)),
        (None, Some(Some(_))) => return Err(ApiError::bad("foreignId needs protocol")),
    };
    Ok(Some(UpdateFilter {
        bundle,
        configuration,
        foreign_id,
        ..words
    }))
}

/// Parses the fixed words of a filter.
pub fn words(query: &Query) -> Result<UpdateFilter, ApiError> {
    Ok(UpdateFilter {
        platform: query.parsed("platform", "ios, android or visionos")?,
        status: query.parsed("status", "published, paused, withdrawn or awaiting_signature")?,
        ..UpdateFilter::default()
    })
}

/// What devices reported of an update.
pub async fn reports(org: &mut Org<'_>, id: UpdateId) -> Result<ReportCounts, ApiError> {
    let mut counts = ReportCounts::default();
    for (kind, count) in org.report_counts(id).await? {
        match kind {
            ReportKind::Downloaded => counts.downloaded = count,
            ReportKind::Installed => counts.installed = count,
            ReportKind::Confirmed => counts.confirmed = count,
            ReportKind::RolledBack => counts.rolled_back = count,
            ReportKind::Failed => counts.failed = count,
        }
    }
    let reasons = org.report_reasons(id).await?.into_iter();
    let view = |stored: launchway_store::StoredReason| ReportReason {
        kind: stored.kind.into(),
        at: iso(stored.at),
        reason: stored.reason,
    };
    counts.reasons = reasons.map(view).collect();
    let crashes = org.crash_groups(id).await?.into_iter();
    let view = |group: launchway_store::CrashGroup| CrashGroup {
        devices: group.devices,
        first_seen_at: iso(group.first_seen),
        last_seen_at: iso(group.last_seen),
        first_line: first_line(&group.stack),
        stack: group.stack,
    };
    counts.crashes = crashes.map(view).collect();
    Ok(counts)
}

/// Pauses, resumes or withdraws an update, or changes its rollout, `mandatory` or notes. Absent fields do not change.
/// Withdrawing is final.
#[utoipa::path(
    patch,
    path = "/update",
    tag = "Update",
    params(("id" = String, Query, description = "The update")),
    request_body = ChangeUpdate,
    responses(
        (status = 200, description = "The update", body = UpdateView),
        (status = 404, description = "No update has this id", body = ErrorBody),
    )
)]
pub async fn change(
    State(app): State<Arc<App>>,
    caller: Caller,
    query: Query,
    body: Body<ChangeUpdate>,
) -> Result<Response, ApiError> {
    let id = query.id("update")?;
    let plan = updates::plan(&body.0)?;
    let mut write = Write::begin(&app, &caller).await?;
    let update = updates::change(&mut write, id.get()?, plan).await?;
    write.commit().await?;
    Ok(found(&UpdateView::of(&update)))
}

/// Deletes an update. Checks no longer offer it; its version and build number stay reserved.
#[utoipa::path(
    delete,
    path = "/update",
    tag = "Update",
    params(("id" = String, Query, description = "The update")),
    responses(
        (status = 200, description = "`deleted`", body = Deleted),
        (status = 404, description = "No update has this id", body = ErrorBody),
    )
)]
pub async fn delete(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("update")?.get()?;
    Write::run(&app, &caller, id, updates::delete).await?;
    Ok(id_and_status(id, DoneStatus::Deleted))
}

/// Redirects to a signed URL of an update's package, also before the update is published: for those who sign it.
#[utoipa::path(
    get,
    path = "/update/package",
    tag = "Update",
    params(("id" = String, Query, description = "The update")),
    responses(
        (status = 302, description = "The URL is in `Location`, valid for an hour"),
        (status = 404, description = "No update has this id", body = ErrorBody),
    )
)]
pub async fn package(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("update")?.get()?;
    let update = app.db.read().await?.org(caller.org_id()?).update(id).await?;
    let update = update.ok_or(ApiError::NoSuch("update"))?;
    let failed = |error: String| ApiError::Internal(error);
    let key = Key::new(&update.blob_key).map_err(|error| failed(error.to_string()))?;
    let name = format!("{}.zip", update.id);
    let signed = app.blob.presign_get(&key, &name, app.clock.now(), SIGNED_URL_SECONDS);
    let location = HeaderValue::try_from(signed.url).map_err(|error| failed(error.to_string()))?;
    Ok((StatusCode::FOUND, [(header::LOCATION, location)]).into_response())
}
