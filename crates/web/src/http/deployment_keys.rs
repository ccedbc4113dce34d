//! `/deployment-keys` (`docs/reference/foreign-clients.md#deployment-keys`).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::deployment_keys::{CreateDeploymentKey, DeploymentKeyView};
use launchway_api::lists::{Deleted, OneOrPage};
use launchway_api::words::DoneStatus;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Caller;
use launchway_ops::deployment_keys;
use launchway_ops::write::{Creation, Write};
use launchway_store::Rows;

use crate::extract::Create;
use crate::http::answers::{created, found, id_and_status, page, replay};
use crate::query::Query;

/// Lists the deployment keys of CodePush's clients, or reads the one that `id` names.
#[utoipa::path(
    get,
    path = "/deployment-keys",
    tag = "Update",
    params(
        ("id" = Option<String>, Query, description = "Read this key instead of listing"),
        ("bundleId" = Option<String>, Query, description = "Only keys of this app"),
        ("limit" = Option<i64>, Query, description = "The maximum number of keys, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of keys to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of keys; with `id`, the key", body = OneOrPage<DeploymentKeyView>),
        (status = 404, description = "No deployment key has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.optional_id("deployment key")?;
    let paging = query.paging()?;
    let bundle = query.named("bundleId")?;
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.org_id()?);
    match (id, bundle) {
        (Some(id), _) => {
            let key = org.deployment_key(id.get()?).await?;
            let key = key.ok_or(ApiError::NoSuch("deployment key"))?;
            Ok(found(&DeploymentKeyView::of(&key)))
        }
        (None, Some(bundle)) => {
            let rows = org.deployment_keys(bundle.as_ref(), paging).await?;
            Ok(page(rows, paging, DeploymentKeyView::of))
        }
        (None, None) => Ok(page(Rows::none(), paging, DeploymentKeyView::of)),
    }
}

/// Creates a deployment key. The CodePush client of an app sends it to name its platform and configuration.
#[utoipa::path(
    post,
    path = "/deployment-keys",
    tag = "Update",
    request_body = CreateDeploymentKey,
    responses((status = 201, description = "The key", body = DeploymentKeyView))
)]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    new: Create<CreateDeploymentKey>,
) -> Result<Response, ApiError> {
    let plan = deployment_keys::plan(&new.body)?;
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let view = DeploymentKeyView::of(&deployment_keys::create(&mut write, plan).await?);
    write.commit_created(&view).await?;
    Ok(created(&view))
}

/// Deletes a deployment key. Apps that send it get no more updates.
#[utoipa::path(
    delete,
    path = "/deployment-keys",
    tag = "Update",
    params(("id" = String, Query, description = "The key")),
    responses(
        (status = 200, description = "`deleted`", body = Deleted),
        (status = 404, description = "No deployment key has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn delete(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("deployment key")?.get()?;
    Write::run(&app, &caller, id, deployment_keys::delete).await?;
    Ok(id_and_status(id, DoneStatus::Deleted))
}
