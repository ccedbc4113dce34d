//! `/update` (spec part 4, contract part 7).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::error::ErrorBody;
use launchway_api::lists::{Deleted, OneOrPage};
use launchway_api::reports::{ReportCounts, ReportReason};
use launchway_api::updates::{ChangeUpdate, CreateUpdate, UpdateView};
use launchway_domain::id::UpdateId;
use launchway_domain::report::ReportKind;
use launchway_domain::time::iso;
use launchway_store::{Org, UpdateFilter};

use crate::app::App;
use crate::caller::Caller;
use crate::failure::Failure;
use crate::http::answers::{again, created, found, gone, page};
use crate::http::extract::{Body, Create, Query};
use crate::ops::packages::{self, Prepared};
use crate::ops::publish::{self, Source, UpdatePlan};
use crate::ops::updates;
use crate::ops::uploads;
use crate::ops::write::{Begun, Write, kept_answer};

/// Publishes an over-the-air update. When this answers, checks are offered it.
#[utoipa::path(
    post,
    path = "/update",
    tag = "Update",
    request_body = CreateUpdate,
    responses(
        (status = 201, description = "The update", body = UpdateView),
        (status = 404, description = "No upload, update or build has this id", body = ErrorBody),
    )
)]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    new: Create<CreateUpdate>,
) -> Result<Response, Failure> {
    let plan = publish::plan(&new.body)?;
    if let Some(kept) = kept_answer(&app, &caller, &new.request).await? {
        return Ok(again(kept));
    }
    let prepared = match prepare(&app, &caller, &plan).await {
        Ok(prepared) => prepared,
        // A simultaneous twin may have used the upload meanwhile: then its answer is this one's too.
        Err(failure) => {
            return kept_answer(&app, &caller, &new.request)
                .await?
                .map(again)
                .ok_or(failure);
        }
    };
    let result = publish_prepared(&app, &caller, new, plan, prepared.as_ref()).await;
    match (&result, &prepared) {
        (Ok((_, true)), Some(prepared)) => uploads::drop_staged(&app, prepared.upload.id).await,
        // When a commit failed nobody knows whether it happened: then the bytes stay, and clean-up decides.
        (Err(failure), Some(_)) if failure.status().0.is_server_error() => {}
        (_, Some(prepared)) => packages::discard(&app, prepared).await,
        _ => {}
    }
    result.map(|(response, _)| response)
}

async fn prepare(app: &App, caller: &Caller, plan: &UpdatePlan) -> Result<Option<Prepared>, Failure> {
    // Asked before the package is looked into, which costs; the answer that counts is that of the transaction.
    publish::build(&mut app.db.read().await?.org(caller.home()?), plan).await?;
    match plan.source {
        Source::Upload(Some(id)) => packages::prepare(app, caller.home()?, id).await.map(Some),
        Source::Upload(None) => Err(Failure::NoSuch("upload")),
        Source::Update(_) => Ok(None),
    }
}

/// The answer, and whether the prepared package is in use now.
async fn publish_prepared(
    app: &App,
    caller: &Caller,
    new: Create<CreateUpdate>,
    plan: UpdatePlan,
    prepared: Option<&Prepared>,
) -> Result<(Response, bool), Failure> {
    let mut write = match Write::begin_create(app, caller, new.request).await? {
        Begun::Kept(kept) => return Ok((again(kept), false)),
        Begun::Fresh(write) => write,
    };
    let view = UpdateView::of(&publish::publish(&mut write, plan, prepared).await?);
    write.commit_created(&view).await?;
    Ok((created(&view), true))
}

/// Lists updates, or reads the one that `id` names, with what devices reported of it.
#[utoipa::path(
    get,
    path = "/update",
    tag = "Update",
    params(
        ("id" = Option<String>, Query, description = "Read this update instead of listing"),
        ("bundleId" = Option<String>, Query, description = "Only updates of this app"),
        ("platform" = Option<String>, Query, description = "Only updates for `ios`, `android` or `visionos`"),
        ("configuration" = Option<String>, Query, description = "Only updates for this configuration"),
        ("status" = Option<String>, Query, description = "Only `published`, `paused` or `withdrawn` ones"),
        ("limit" = Option<i64>, Query, description = "Updates at most, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "Updates to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of updates; with `id` the update", body = OneOrPage<UpdateView>),
        (status = 404, description = "No update has this id", body = ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, Failure> {
    let id = query.optional_id("update")?;
    let paging = query.paging()?;
    let filter = UpdateFilter {
        bundle: query.parsed("bundleId", "a bundle identifier")?,
        platform: query.parsed("platform", "ios, android or visionos")?,
        configuration: query.parsed("configuration", "1 to 64 letters, digits, `.`, `_` or `-`")?,
        status: query.parsed("status", "published, paused or withdrawn")?,
    };
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.home()?);
    match id {
        Some(id) => {
            let id = id.get()?;
            let update = org.update(id).await?.ok_or(Failure::NoSuch("update"))?;
            let reports = reports(&mut org, id).await?;
            Ok(found(&UpdateView {
                reports: Some(reports),
                ..UpdateView::of(&update)
            }))
        }
        None => Ok(page(org.updates(&filter, paging).await?, paging, UpdateView::of)),
    }
}

async fn reports(org: &mut Org<'_>, id: UpdateId) -> Result<ReportCounts, Failure> {
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
        kind: stored.kind.as_str().to_owned(),
        at: iso(stored.at),
        reason: stored.reason,
    };
    counts.reasons = reasons.map(view).collect();
    Ok(counts)
}

/// Pauses, publishes again, withdraws, or changes rollout, urgency or notes. What is absent stays. Withdrawn is the end.
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
) -> Result<Response, Failure> {
    let id = query.id("update")?;
    let plan = updates::plan(&body.0)?;
    let mut write = Write::begin(&app, &caller).await?;
    let update = updates::change(&mut write, id.get()?, plan).await?;
    write.commit().await?;
    Ok(found(&UpdateView::of(&update)))
}

/// Deletes an update. Checks are no longer offered it; its version and build number stay taken.
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
pub async fn delete(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, Failure> {
    let id = query.id("update")?;
    let mut write = Write::begin(&app, &caller).await?;
    let id = id.get()?;
    updates::delete(&mut write, id).await?;
    write.commit().await?;
    Ok(gone(id, "deleted"))
}
