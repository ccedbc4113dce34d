//! `/usage`: the organization's usage by month, and its quotas.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::error::ErrorBody;
use launchway_api::lists::OneOrPage;
use launchway_api::usage::UsageView;
use launchway_domain::usage::{Month, Usage};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Caller;
use launchway_ops::usage::holdings;

use crate::http::answers::{found, page};
use crate::query::Query;

/// Lists months, newest first, or reads the one that `id` names. Months are UTC; a month without usage is not listed.
#[utoipa::path(
    get,
    path = "/usage",
    tag = "Usage",
    params(
        ("id" = Option<String>, Query, description = "Read this month, such as `2026-11`, instead of listing"),
        ("limit" = Option<i64>, Query, description = "The maximum number of months, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of months to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of months; with `id`, the month", body = OneOrPage<UsageView>),
        (status = 404, description = "The month has no usage, and is not the current one", body = ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.raw("id")?;
    if id == Some("") {
        return Err(ApiError::bad("id is required"));
    }
    let paging = query.paging()?;
    let present = Month::of(app.clock.now());
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.org_id()?);
    let tier = org.record().await?.ok_or(ApiError::NoSuch("organization"))?.tier;
    let held = holdings(&mut org).await?;
    let view = |usage: &Usage| UsageView::of(usage, present, tier, &app.config.quotas, held);
    let Some(id) = id else {
        return Ok(page(org.usage(paging).await?, paging, view));
    };
    let none = || ApiError::NoSuch("month");
    let month: Month = id.parse().map_err(|_| none())?;
    match org.usage_of(month).await? {
        Some(usage) => Ok(found(&view(&usage))),
        None if month == present => Ok(found(&view(&Usage::none(month)))),
        None => Err(none()),
    }
}
