//! `/env` (`docs/reference/environment.md#endpoints-of-variables`).

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use launchway_api::env_vars::{EnvVarView, SetEnvVar};
use launchway_api::lists::{Deleted, OneOrPage};
use launchway_api::words::DoneStatus;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Caller;
use launchway_ops::env_vars;
use launchway_ops::write::{Creation, Write};

use crate::extract::Create;
use crate::http::answers::{created, found, id_and_status, page_of, replay};
use crate::query::Query;

/// Lists environment variables, or reads the one that `id` names. Values of secret variables are never returned.
#[utoipa::path(
    get,
    path = "/env",
    tag = "Environment variables",
    params(
        ("id" = Option<String>, Query, description = "Read this variable instead of listing"),
        ("limit" = Option<i64>, Query, description = "The maximum number of variables, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of variables to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of variables; with `id`, the variable", body = OneOrPage<EnvVarView>),
        (status = 404, description = "No environment variable has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.optional_id("environment variable")?;
    let paging = query.paging()?;
    let (home, mut tx) = (caller.org_id()?, app.db.read().await?);
    if let Some(id) = id {
        let kept = tx.org(home).env_var(id.get()?).await?;
        let kept = kept.ok_or(ApiError::NoSuch("environment variable"))?;
        return Ok(found(&env_vars::view(&app, &mut tx, home, &kept).await?));
    }
    let rows = tx.org(home).env_vars(paging).await?;
    let mut items = Vec::with_capacity(rows.items.len());
    for kept in &rows.items {
        items.push(env_vars::view(&app, &mut tx, home, kept).await?);
    }
    Ok(page_of(items, rows.total, paging))
}

/// Sets an environment variable: creates it (201), or replaces the one with the same name and scope (200).
#[utoipa::path(
    post,
    path = "/env",
    tag = "Environment variables",
    request_body = SetEnvVar,
    responses(
        (status = 201, description = "The new variable", body = EnvVarView),
        (status = 200, description = "The variable with its new value", body = EnvVarView),
    )
)]
pub async fn set(State(app): State<Arc<App>>, caller: Caller, new: Create<SetEnvVar>) -> Result<Response, ApiError> {
    let plan = env_vars::plan(new.body)?;
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let (view, is_new) = env_vars::set(&mut write, plan).await?;
    if is_new {
        write.commit_created(&view).await?;
        return Ok(created(&view));
    }
    write.commit_answered(StatusCode::OK, &view).await?;
    Ok(found(&view))
}

/// Deletes an environment variable.
#[utoipa::path(
    delete,
    path = "/env",
    tag = "Environment variables",
    params(("id" = String, Query, description = "The variable")),
    responses(
        (status = 200, description = "`deleted`", body = Deleted),
        (status = 404, description = "No environment variable has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn delete(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("environment variable")?.get()?;
    Write::run(&app, &caller, id, env_vars::delete).await?;
    Ok(id_and_status(id, DoneStatus::Deleted))
}
