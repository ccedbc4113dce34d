//! `/runners`: the organization's own runners (`docs/reference/builds.md#managing-runners`).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::lists::{Deleted, OneOrPage};
use launchway_api::runners::{RunnerToken, RunnerView};
use launchway_api::words::DoneStatus;
use launchway_domain::build::Runner;
use launchway_domain::time::iso;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Caller;
use launchway_ops::write::{Creation, Write};
use launchway_ops::{builds, runners};

use crate::extract::CreateBare;
use crate::http::answers::{created, found, id_and_status, page, replay};
use crate::query::Query;

/// Lists the organization's own runners, or reads the one that `id` names.
#[utoipa::path(
    get,
    path = "/runners",
    tag = "Runners",
    params(
        ("id" = Option<String>, Query, description = "Read this runner instead of listing"),
        ("limit" = Option<i64>, Query, description = "The maximum number of runners, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of runners to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of runners, including revoked ones; with `id`, the runner", body = OneOrPage<RunnerView>),
        (status = 404, description = "No runner has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.optional_id("runner")?;
    let paging = query.paging()?;
    let now = app.clock.now();
    let view = |runner: &Runner| RunnerView::of(runner, runners::is_online(runner, now));
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.org_id()?);
    match id {
        Some(id) => {
            let runner = org.runner(id.get()?).await?.ok_or(ApiError::NoSuch("runner"))?;
            Ok(found(&view(&runner)))
        }
        None => Ok(page(org.runners(paging).await?, paging, view)),
    }
}

/// Creates a token that enrolls one runner within an hour. Only this response contains it.
#[utoipa::path(
    post,
    path = "/runners/tokens",
    tag = "Runners",
    responses((status = 201, description = "The token, for `launchway runner`", body = RunnerToken))
)]
pub async fn create_token(State(app): State<Arc<App>>, caller: Caller, new: CreateBare) -> Result<Response, ApiError> {
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let made = runners::create_token(&mut write).await?;
    let mut view = RunnerToken {
        token: None,
        expires_at: iso(made.expires_at),
    };
    write.commit_created(&view).await?;
    view.token = Some(made.token);
    Ok(created(&view))
}

/// Revokes a runner, immediately. It stays in the list.
#[utoipa::path(
    delete,
    path = "/runners",
    tag = "Runners",
    params(("id" = String, Query, description = "The runner")),
    responses(
        (status = 200, description = "`revoked`, also if it was revoked before", body = Deleted),
        (status = 404, description = "No runner has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn revoke(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("runner")?.get()?;
    let files = Write::run(&app, &caller, id, runners::revoke).await?;
    builds::remove_files(&app, &files).await;
    Ok(id_and_status(id, DoneStatus::Revoked))
}
