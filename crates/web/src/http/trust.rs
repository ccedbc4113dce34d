//! `/trust` (`docs/reference/trust.md#publishing`).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::error::ErrorBody;
use launchway_api::lists::{Deleted, OneOrPage};
use launchway_api::trust::{
    AddTrustSignatures, AllowOtherFormats, CreateOnlineKey, CreateTrustDraft, OnlineKeyView, PostTrust, ResetTrust,
    TrustChange, TrustDraftView, TrustView,
};
use launchway_api::words::DoneStatus;
use launchway_domain::bundle_id::BundleId;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::apps;
use launchway_ops::caller::Caller;
use launchway_ops::trust::accept::{self, Terms};
use launchway_ops::trust::permission::Permission;
use launchway_ops::trust::proposal::Proposal;
use launchway_ops::trust::{drafts, online, reset as resetting, signatures, view};
use launchway_ops::write::{Creation, Write};

use crate::extract::{Body, Create};
use crate::http::answers::{created, found, id_and_status, page_of, replay};
use crate::query::Query;

/// Returns the roles, keys and drafts of an app. An app without a root has none.
#[utoipa::path(
    get,
    path = "/trust",
    tag = "Trust",
    params(("bundleId" = String, Query, description = "The app")),
    responses((status = 200, description = "The roles, keys and drafts", body = TrustView))
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let bundle = bundle(&query)?;
    let mut tx = app.db.read().await?;
    let trust = view::read(&mut tx.org(caller.org_id()?), &bundle, app.clock.now()).await?;
    Ok(found(&trust))
}

/// Adds roots and versions of roles, all of them or none. With too few signatures they become drafts. A change of more
/// than version and expiry requires an admin.
#[utoipa::path(
    post,
    path = "/trust",
    tag = "Trust",
    request_body = PostTrust,
    responses((status = 201, description = "What was accepted, and the current state", body = TrustChange))
)]
pub async fn change(State(app): State<Arc<App>>, caller: Caller, new: Create<PostTrust>) -> Result<Response, ApiError> {
    let bundle = apps::bundle_id(&new.body.bundle_id)?;
    let proposal = Proposal::read(&new.body.roots, &new.body.roles)?;
    let terms = Terms {
        based_on: new.body.based_on,
        permission: Permission::of(&caller),
        restore: new.body.restore.unwrap_or(false),
    };
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let change = accept::change(&mut write, &bundle, proposal, terms).await?;
    write.commit_created(&change).await?;
    Ok(created(&change))
}

/// Lists the drafts of an app, or reads that of one role with its metadata.
#[utoipa::path(
    get,
    path = "/trust/drafts",
    tag = "Trust",
    params(
        ("bundleId" = String, Query, description = "The app"),
        ("role" = Option<String>, Query, description = "Read the draft of this role instead of listing"),
        ("limit" = Option<i64>, Query, description = "The maximum number of drafts, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of drafts to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of drafts; with `role`, the draft", body = OneOrPage<TrustDraftView>),
        (status = 404, description = "The app has no draft of this role", body = ErrorBody),
    )
)]
pub async fn read_drafts(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let (bundle, paging) = (query.named::<BundleId>("bundleId")?, query.paging()?);
    let role = query.get("role")?;
    let bundle = match (bundle, role) {
        (Some(bundle), _) => bundle.ok_or_else(|| ApiError::bad(BUNDLE_REQUIRED))?,
        (None, Some(_)) => return Err(drafts::none()),
        (None, None) => return Ok(page_of(Vec::<TrustDraftView>::new(), 0, paging)),
    };
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.org_id()?);
    if let Some(role) = role {
        return Ok(found(&drafts::read(&mut org, &bundle, role).await?));
    }
    let all = view::drafts(&mut org, &bundle).await?;
    let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let (offset, limit) = [paging.offset, paging.limit]
        .map(|count| usize::try_from(count).unwrap_or(0))
        .into();
    Ok(page_of(
        all.into_iter().skip(offset).take(limit).collect(),
        total,
        paging,
    ))
}

/// Composes the next version of a role from updates that await its signature.
#[utoipa::path(
    post,
    path = "/trust/drafts",
    tag = "Trust",
    request_body = CreateTrustDraft,
    responses(
        (status = 201, description = "The draft with its metadata", body = TrustDraftView),
        (status = 404, description = "No update has this id", body = ErrorBody),
    )
)]
pub async fn create_draft(
    State(app): State<Arc<App>>,
    caller: Caller,
    new: Create<CreateTrustDraft>,
) -> Result<Response, ApiError> {
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let draft = drafts::create(&mut write, &new.body).await?;
    write.commit_created(&draft).await?;
    Ok(created(&draft))
}

/// Deletes the draft of a role with its signatures. Its updates keep waiting. For root and `targets`, this requires an
/// admin.
#[utoipa::path(
    delete,
    path = "/trust/drafts",
    tag = "Trust",
    params(
        ("bundleId" = String, Query, description = "The app"),
        ("role" = String, Query, description = "The role"),
    ),
    responses(
        (status = 200, description = "`deleted`", body = Deleted),
        (status = 404, description = "The app has no draft of this role", body = ErrorBody),
    )
)]
pub async fn delete_draft(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let bundle = bundle(&query)?;
    let role = query.get("role")?.ok_or_else(|| ApiError::bad("role is required"))?;
    let mut write = Write::begin(&app, &caller).await?;
    drafts::delete(&mut write, &bundle, role, Permission::of(&caller)).await?;
    write.commit().await?;
    Ok(id_and_status(role, DoneStatus::Deleted))
}

/// Adds signatures to a draft. The last missing signature publishes it.
#[utoipa::path(
    post,
    path = "/trust/signatures",
    tag = "Trust",
    request_body = AddTrustSignatures,
    responses(
        (status = 201, description = "What was accepted, and the current state", body = TrustChange),
        (status = 404, description = "The app has no draft of this role", body = ErrorBody),
    )
)]
pub async fn add_signatures(
    State(app): State<Arc<App>>,
    caller: Caller,
    new: Create<AddTrustSignatures>,
) -> Result<Response, ApiError> {
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let change = signatures::add(&mut write, &new.body).await?;
    write.commit_created(&change).await?;
    Ok(created(&change))
}

/// Creates a key of the server for snapshot and timestamp. The next root has to name it.
#[utoipa::path(
    post,
    path = "/trust/online-key",
    tag = "Trust",
    request_body = CreateOnlineKey,
    responses((status = 201, description = "The public key", body = OnlineKeyView))
)]
pub async fn create_online_key(
    State(app): State<Arc<App>>,
    caller: Caller,
    new: Create<CreateOnlineKey>,
) -> Result<Response, ApiError> {
    let bundle = apps::bundle_id(&new.body.bundle_id)?;
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let key = view::online_key(&online::create_key(&mut write, &bundle).await?);
    write.commit_created(&key).await?;
    Ok(created(&key))
}

/// Begins a new repository for an app whose keys are all lost. Devices with the old root refuse it until a store release
/// brings the new root.
#[utoipa::path(
    post,
    path = "/trust/reset",
    tag = "Trust",
    request_body = ResetTrust,
    responses((status = 201, description = "What was accepted, and the current state", body = TrustChange))
)]
pub async fn reset(State(app): State<Arc<App>>, caller: Caller, new: Create<ResetTrust>) -> Result<Response, ApiError> {
    let proposal = Proposal::read(std::slice::from_ref(&new.body.root), &new.body.roles)?;
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let change = resetting::reset(&mut write, &new.body, proposal).await?;
    write.commit_created(&change).await?;
    Ok(created(&change))
}

/// Allows or forbids updates of formats that the app's root does not protect.
#[utoipa::path(
    post,
    path = "/trust/other-formats",
    tag = "Trust",
    request_body = AllowOtherFormats,
    responses((status = 200, description = "The current state", body = TrustView))
)]
pub async fn allow_other_formats(
    State(app): State<Arc<App>>,
    caller: Caller,
    body: Body<AllowOtherFormats>,
) -> Result<Response, ApiError> {
    let bundle = apps::bundle_id(&body.0.bundle_id)?;
    let mut write = Write::begin(&app, &caller).await?;
    let trust = resetting::allow_other_formats(&mut write, &bundle, body.0.allowed).await?;
    write.commit().await?;
    Ok(found(&trust))
}

const BUNDLE_REQUIRED: &str = "bundleId is required";

/// The app that a query names.
fn bundle(query: &Query) -> Result<BundleId, ApiError> {
    let text = query.get("bundleId")?;
    apps::bundle_id(text.ok_or_else(|| ApiError::bad(BUNDLE_REQUIRED))?)
}
