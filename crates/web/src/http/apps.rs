//! `/apps` (`docs/reference/callers.md#apps`).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::apps::{AppView, CreateApp, DeletedApp};
use launchway_api::lists::OneOrPage;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::apps;
use launchway_ops::caller::Caller;
use launchway_ops::write::{Creation, Write};

use crate::extract::Create;
use crate::http::answers::{created, found, page, replay};
use crate::query::Query;

/// Lists apps, or reads the one that `id` names.
#[utoipa::path(
    get,
    path = "/apps",
    tag = "Apps",
    params(
        ("id" = Option<String>, Query, description = "Read this app instead of listing"),
        ("limit" = Option<i64>, Query, description = "The maximum number of apps, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of apps to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of apps; with `id`, the app", body = OneOrPage<AppView>),
        (status = 404, description = "No app has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.optional_id("app")?;
    let paging = query.paging()?;
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.org_id()?);
    match id {
        Some(id) => Ok(found(&AppView::of(
            &org.app(id.get()?).await?.ok_or(ApiError::NoSuch("app"))?,
        ))),
        None => Ok(page(org.apps(paging).await?, paging, AppView::of)),
    }
}

/// Claims a bundle identifier. Publishing its first update does the same.
#[utoipa::path(
    post,
    path = "/apps",
    tag = "Apps",
    request_body = CreateApp,
    responses((status = 201, description = "The app", body = AppView))
)]
pub async fn create(State(app): State<Arc<App>>, caller: Caller, new: Create<CreateApp>) -> Result<Response, ApiError> {
    let plan = apps::plan(&new.body)?;
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let view = AppView::of(&apps::create(&mut write, plan).await?);
    write.commit_created(&view).await?;
    Ok(created(&view))
}

/// Removes an app from the list. Its updates are still offered, and its bundle identifier stays with the organization.
#[utoipa::path(
    delete,
    path = "/apps",
    tag = "Apps",
    params(("id" = String, Query, description = "The app")),
    responses(
        (status = 200, description = "`deleted`, and what is left", body = DeletedApp),
        (status = 404, description = "No app has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn delete(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("app")?.get()?;
    Ok(found(&Write::run(&app, &caller, id, apps::delete).await?))
}
