//! `POST /update/report/{bundleId}`: what happened to an update on a device (`docs/reference/updates.md#device-reports`).

use std::sync::Arc;

use axum::extract::{Extension, FromRequest, Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use launchway_api::error::ErrorBody;
use launchway_api::reports::{DeviceEvent, DeviceReport, ReportAnswer};
use launchway_api::words::AcceptedStatus;
use launchway_domain::percent::decode_path;
use launchway_domain::report::{MAX_REASON, ReportKind};
use launchway_domain::time::from_rfc3339;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Origin;
use launchway_ota::report_token::ReportClaim;
use launchway_store::Report;

use crate::extract::Body;
use crate::http::answers::found;

const MAX_EVENTS: usize = 100;
/// The maximum size of a report in bytes: the maximum number of events with the longest reasons, escaped.
const MAX_REPORT: usize = 256 << 10;

/// Accepts a device's report. The token from the device's check is the authentication.
#[utoipa::path(
    post,
    path = "/update/report/{bundleId}",
    tag = "Update",
    params(("bundleId" = String, Path, description = "App bundle identifier", example = "com.example.app")),
    request_body = DeviceReport,
    responses(
        (status = 200, description = "Accepted; each device counts once for each update and type", body = ReportAnswer),
        (status = 401, description = "The token is forged, has expired, or belongs to another app", body = ErrorBody),
        (status = 429, description = "The rate limit of the client address is exceeded", body = ErrorBody),
    )
)]
pub async fn report(State(app): State<Arc<App>>, origin: Extension<Origin>, request: Request) -> Response {
    let mut response = take(&app, &origin, request).await.into_response();
    let headers = response.headers_mut();
    // Apps may be web pages of any origin: `docs/reference/conventions.md#cors`.
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

async fn take(app: &App, origin: &Origin, request: Request) -> Result<Response, ApiError> {
    let now = app.clock.now();
    app.addresses
        .count(origin.address, now)
        .map_err(ApiError::RateLimited)?;
    let path = request.uri().path().strip_prefix("/update/report/").unwrap_or_default();
    let bundle = String::from_utf8_lossy(&decode_path(path)).into_owned();
    let body = Body::<DeviceReport, MAX_REPORT>::from_request(request, &()).await?;
    let claim = app.report_tokens.read(&bundle, &body.0.report_token, now);
    let claim = claim.ok_or_else(|| ApiError::NotProven("Invalid or expired report token".to_owned()))?;
    if body.0.events.is_empty() || body.0.events.len() > MAX_EVENTS {
        return Err(ApiError::bad(format!("events must contain 1 to {MAX_EVENTS} events")));
    }
    let reports = body
        .0
        .events
        .iter()
        .enumerate()
        .map(|(at, event)| read_event(app, &claim, event, at, now));
    let counted = app.reports.count(reports.collect::<Result<_, _>>()?).await?;
    Ok(found(&ReportAnswer {
        status: AcceptedStatus::Accepted.into(),
        counted,
    }))
}

fn read_event(app: &App, claim: &ReportClaim, event: &DeviceEvent, at: usize, now: i64) -> Result<Report, ApiError> {
    let bad = |problem: String| ApiError::bad(format!("events[{at}].{problem}"));
    let kind: ReportKind = event.kind.checked().map_err(|unknown| bad(unknown.to_string()))?;
    if event.update_id.parse() != Ok(claim.update_id) {
        return Err(bad("updateId is not the update of the token".to_owned()));
    }
    if from_rfc3339(&event.at).is_none() {
        return Err(bad("at must be a time such as 2026-11-20T10:00:00.000Z".to_owned()));
    }
    if event
        .reason
        .as_ref()
        .is_some_and(|reason| reason.chars().count() > MAX_REASON)
    {
        return Err(bad(format!("reason must have at most {MAX_REASON} characters")));
    }
    // PostgreSQL cannot store a NUL in text.
    if event.reason.as_ref().is_some_and(|reason| reason.contains('\0')) {
        return Err(bad("reason must not contain a NUL character".to_owned()));
    }
    let tells = matches!(kind, ReportKind::RolledBack | ReportKind::Failed);
    let reason = event.reason.clone().filter(|reason| tells && !reason.is_empty());
    Ok(Report {
        update_id: claim.update_id,
        kind,
        device: app.report_tokens.device(claim, kind),
        unkeyed: claim.unkeyed,
        at: now,
        reason,
    })
}
