//! `/build` (`docs/reference/builds.md#build-endpoints`).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::builds::{BuildPlan, BuildView, CreateBuild};
use launchway_api::error::ErrorBody;
use launchway_api::lists::{Deleted, OneOrPage};
use launchway_api::open;
use launchway_api::words::DoneStatus;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::builds::view::{view, views};
use launchway_ops::builds::{self, request};
use launchway_ops::caller::Caller;
use launchway_ops::fingerprints;
use launchway_ops::write::{Creation, Write};
use launchway_store::{BuildFilter, Rows};

use crate::extract::{Create, CreateBare};
use crate::http::answers::{created, created_or_kept, found, id_and_status, page_of, replay};
use crate::query::Query;

/// Queues a build. A runner that meets its requirements claims it.
#[utoipa::path(
    post,
    path = "/build",
    tag = "Build",
    params(("lwfp2" = Option<String>, Query, description = "The `lwfp-2` hash of the native code that `fingerprint` \
                                                            describes")),
    request_body = CreateBuild,
    responses(
        (status = 201, description = "The build, `queued`", body = BuildView),
        (status = 404, description = "No upload has this id", body = ErrorBody),
    )
)]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    query: Query,
    new: Create<CreateBuild>,
) -> Result<Response, ApiError> {
    let lwfp2 = fingerprints::lwfp2(query.get("lwfp2")?)?;
    request::run(&app, &caller, new.body, lwfp2, new.request)
        .await
        .map(created_or_kept)
}

/// Lists builds, or reads the one that `id` names.
#[utoipa::path(
    get,
    path = "/build",
    tag = "Build",
    params(
        ("id" = Option<String>, Query, description = "Read this build instead of listing"),
        ("status" = Option<open::BuildStatus>, Query, description = "Only those with this status"),
        ("platform" = Option<open::Platform>, Query, description = "Only those for this platform"),
        ("bundleId" = Option<String>, Query, description = "Only builds of this app"),
        ("configuration" = Option<String>, Query, description = "Only builds of this configuration"),
        ("branch" = Option<String>, Query, description = "Only builds of this branch, as `git.branch` named it"),
        ("limit" = Option<i64>, Query, description = "The maximum number of builds, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of builds to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of builds; with `id`, the build", body = OneOrPage<BuildView>),
        (status = 404, description = "No build has this id", body = ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.optional_id("build")?;
    let paging = query.paging()?;
    let filter = filter(&query)?;
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.org_id()?);
    if let Some(id) = id {
        let build = org.build(id.get()?).await?.ok_or(ApiError::NoSuch("build"))?;
        return Ok(found(&view(&app, &mut org, &build).await?));
    }
    let rows = match filter {
        Some(filter) => org.builds(&filter, paging).await?,
        None => Rows::none(),
    };
    let items = views(&app, &mut org, &rows.items).await?;
    Ok(page_of(items, rows.total, paging))
}

/// Parses the filter of a query; `None` if it names nothing.
fn filter(query: &Query) -> Result<Option<BuildFilter>, ApiError> {
    let words = words(query)?;
    let (bundle, configuration) = (query.named("bundleId")?, query.named("configuration")?);
    let (Some(bundle), Some(configuration), Some(branch)) = (bundle, configuration, query.named_text("branch")?) else {
        return Ok(None);
    };
    Ok(Some(BuildFilter {
        bundle,
        configuration,
        branch,
        ..words
    }))
}

/// Parses the fixed words of a filter.
pub fn words(query: &Query) -> Result<BuildFilter, ApiError> {
    Ok(BuildFilter {
        status: query.parsed("status", "queued, running, success, failed or canceled")?,
        platform: query.parsed("platform", "ios, android or visionos")?,
        ..BuildFilter::default()
    })
}

/// Deletes a build with its log and artifacts. An active build stops.
#[utoipa::path(
    delete,
    path = "/build",
    tag = "Build",
    params(("id" = String, Query, description = "The build")),
    responses(
        (status = 200, description = "`deleted`", body = Deleted),
        (status = 404, description = "No build has this id", body = ErrorBody),
    )
)]
pub async fn delete(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("build")?.get()?;
    let files = Write::run(&app, &caller, id, builds::delete).await?;
    builds::remove_files(&app, &files).await;
    Ok(id_and_status(id, DoneStatus::Deleted))
}

/// Cancels a build: a queued build immediately, a running build as soon as its runner gets the request.
#[utoipa::path(
    post,
    path = "/build/cancel",
    tag = "Build",
    params(("id" = String, Query, description = "The build")),
    responses(
        (status = 200, description = "The build: `canceled`, or `running` with `cancelRequested`", body = BuildView),
        (status = 404, description = "No build has this id", body = ErrorBody),
    )
)]
pub async fn cancel(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("build")?;
    let mut write = Write::begin(&app, &caller).await?;
    let build = builds::cancel(&mut write, id.get()?).await?;
    let shown = view(&app, &mut write.org(), &build).await?;
    write.commit().await?;
    Ok(found(&shown))
}

/// Retries a finished build: creates a new build with the same source and settings.
#[utoipa::path(
    post,
    path = "/build/retry",
    tag = "Build",
    params(("id" = String, Query, description = "The build to retry")),
    responses(
        (status = 201, description = "The new build, with `parentId`", body = BuildView),
        (status = 404, description = "No build has this id", body = ErrorBody),
    )
)]
pub async fn retry(
    State(app): State<Arc<App>>,
    caller: Caller,
    query: Query,
    new: CreateBare,
) -> Result<Response, ApiError> {
    let id = query.id("build")?;
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let build = builds::retry(&mut write, id.get()?).await?;
    let shown = view(&app, &mut write.org(), &build).await?;
    write.commit_created(&shown).await?;
    Ok(created(&shown))
}

/// Returns the plan of a build.
#[utoipa::path(
    get,
    path = "/build/plan",
    tag = "Build",
    params(("id" = String, Query, description = "The build")),
    responses(
        (status = 200, description = "The plan; null until the source was read", body = BuildPlan),
        (status = 404, description = "No build has this id", body = ErrorBody),
    )
)]
pub async fn plan(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("build")?;
    let mut tx = app.db.read().await?;
    let build = tx.org(caller.org_id()?).build(id.get()?).await?;
    let build = build.ok_or(ApiError::NoSuch("build"))?;
    Ok(found(&BuildPlan {
        id: build.id.to_string(),
        status: build.state.status.into(),
        plan: build.plan,
        origin: build.plan_origin.map(open::PlanOrigin::of),
    }))
}
