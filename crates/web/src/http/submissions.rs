//! `/submit` (`docs/reference/submissions.md#submission-endpoints`).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::error::ErrorBody;
use launchway_api::lists::{Deleted, OneOrPage};
use launchway_api::open;
use launchway_api::submissions::{ChangeSubmission, CreateSubmission, SubmissionView};
use launchway_api::words::DoneStatus;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Caller;
use launchway_ops::submissions::{self, form, request};
use launchway_ops::write::Write;
use launchway_store::{Rows, SubmissionFilter};

use crate::extract::{Body, Create};
use crate::http::answers::{created_or_kept, found, id_and_status, page};
use crate::query::Query;

/// Submits the app of a build, or an uploaded app, to its store. The service does the rest; read the submission to
/// follow it.
#[utoipa::path(
    post,
    path = "/submit",
    tag = "Submit",
    request_body = CreateSubmission,
    responses(
        (status = 201, description = "The submission, `queued`", body = SubmissionView),
        (status = 404, description = "No build, upload, artifact or credential has this id", body = ErrorBody),
    )
)]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    new: Create<CreateSubmission>,
) -> Result<Response, ApiError> {
    request::run(&app, &caller, new.body, new.request)
        .await
        .map(created_or_kept)
}

/// Lists submissions, or reads the one that `id` names.
#[utoipa::path(
    get,
    path = "/submit",
    tag = "Submit",
    params(
        ("id" = Option<String>, Query, description = "Read this submission instead of listing"),
        ("status" = Option<open::SubmissionStatus>, Query, description = "Only those with this status"),
        ("platform" = Option<open::Platform>, Query, description = "Only those for this platform"),
        ("bundleId" = Option<String>, Query, description = "Only those of this app"),
        ("buildId" = Option<String>, Query, description = "Only those of this build"),
        ("limit" = Option<i64>, Query, description = "The maximum number of submissions, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of submissions to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of submissions; with `id`, the submission", body = OneOrPage<SubmissionView>),
        (status = 404, description = "No submission has this id", body = ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.optional_id("submission")?;
    let paging = query.paging()?;
    let filter = filter(&query)?;
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.org_id()?);
    if let Some(id) = id {
        let submission = org.submission(id.get()?).await?;
        let submission = submission.ok_or(ApiError::NoSuch("submission"))?;
        return Ok(found(&SubmissionView::of(&submission)));
    }
    let rows = match filter {
        Some(filter) => org.submissions(&filter, paging).await?,
        None => Rows::none(),
    };
    Ok(page(rows, paging, SubmissionView::of))
}

/// Parses the filter of a query; `None` if it names nothing.
fn filter(query: &Query) -> Result<Option<SubmissionFilter>, ApiError> {
    let words = words(query)?;
    let (Some(bundle), Some(build)) = (query.named("bundleId")?, query.named("buildId")?) else {
        return Ok(None);
    };
    Ok(Some(SubmissionFilter { bundle, build, ..words }))
}

/// Parses the fixed words of a filter.
pub fn words(query: &Query) -> Result<SubmissionFilter, ApiError> {
    Ok(SubmissionFilter {
        status: query.parsed(
            "status",
            "queued, validating, uploading, processing, in_review, rolling_out, halted, success, rejected, failed or \
             canceled",
        )?,
        platform: query.parsed("platform", "ios, android or visionos")?,
        ..SubmissionFilter::default()
    })
}

/// Changes a rollout: sets its percentage, halts it or resumes it; or releases an approved version that waits for it.
/// The store gets the change soon afterwards: read the submission to see the result.
#[utoipa::path(
    patch,
    path = "/submit",
    tag = "Submit",
    params(("id" = String, Query, description = "The submission")),
    request_body = ChangeSubmission,
    responses(
        (status = 200, description = "The submission, before the store has the change", body = SubmissionView),
        (status = 404, description = "No submission has this id", body = ErrorBody),
    )
)]
pub async fn change(
    State(app): State<Arc<App>>,
    caller: Caller,
    query: Query,
    body: Body<ChangeSubmission>,
) -> Result<Response, ApiError> {
    let id = query.id("submission")?;
    let wanted = form::change(&body.0)?;
    let mut write = Write::begin(&app, &caller).await?;
    let submission = submissions::change(&mut write, id.get()?, wanted).await?;
    write.commit().await?;
    Ok(found(&SubmissionView::of(&submission)))
}

/// Cancels a submission: a waiting one immediately, an active one as soon as the store has released it. To halt a
/// rollout that reaches users, use `PATCH` instead.
#[utoipa::path(
    post,
    path = "/submit/cancel",
    tag = "Submit",
    params(("id" = String, Query, description = "The submission")),
    responses(
        (status = 200, description = "The submission: `canceled`, or with `cancelRequested`", body = SubmissionView),
        (status = 404, description = "No submission has this id", body = ErrorBody),
    )
)]
pub async fn cancel(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("submission")?.get()?;
    let (submission, files) = Write::run(&app, &caller, id, submissions::cancel).await?;
    submissions::remove_files(&app, &files).await;
    Ok(found(&SubmissionView::of(&submission)))
}

/// Continues a failed or rejected submission where it stopped. What the store already has is not sent again.
#[utoipa::path(
    post,
    path = "/submit/retry",
    tag = "Submit",
    params(("id" = String, Query, description = "The submission")),
    responses(
        (status = 200, description = "The submission, `queued`", body = SubmissionView),
        (status = 404, description = "No submission has this id", body = ErrorBody),
    )
)]
pub async fn retry(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("submission")?.get()?;
    let submission = Write::run(&app, &caller, id, submissions::retry).await?;
    Ok(found(&SubmissionView::of(&submission)))
}

/// Deletes a submission. If the store still allows it, the submission is canceled there; users keep what they already
/// have.
#[utoipa::path(
    delete,
    path = "/submit",
    tag = "Submit",
    params(("id" = String, Query, description = "The submission")),
    responses(
        (status = 200, description = "`deleted`", body = Deleted),
        (status = 404, description = "No submission has this id", body = ErrorBody),
    )
)]
pub async fn delete(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("submission")?.get()?;
    let files = Write::run(&app, &caller, id, submissions::delete).await?;
    submissions::remove_files(&app, &files).await;
    Ok(id_and_status(id, DoneStatus::Deleted))
}
