//! `POST /update/report/{bundleId}`: what happened to an update on a device (`docs/reference/updates.md#device-reports`).

use std::sync::Arc;

use axum::extract::{Extension, FromRequest, Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use launchway_api::error::ErrorBody;
use launchway_api::reports::{DeviceEvent, DeviceReport, ReportAnswer};
use launchway_api::words::AcceptedStatus;
use launchway_domain::crash::Stack;
use launchway_domain::percent::decode_path;
use launchway_domain::report::{DeviceEventKind, MAX_REASON, ReportKind};
use launchway_domain::time::from_rfc3339;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Origin;
use launchway_ota::report_token::ReportClaim;
use launchway_store::{CrashReport, Report};

use crate::extract::Body;
use crate::http::answers::found;

const MAX_EVENTS: usize = 100;
/// The maximum size of a report in bytes: the maximum number of events with the longest reasons, escaped. The longest stack
/// takes 48 KiB of it, escaped.
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
    let mut reports = Vec::with_capacity(body.0.events.len());
    let mut crash = None;
    for (at, event) in body.0.events.into_iter().enumerate() {
        match read_event(app, &claim, event, now) {
            Ok(Told::Report(report)) => reports.push(report),
            Ok(Told::Crash(told)) => {
                crash.get_or_insert(told);
            }
            Err(problem) => return Err(ApiError::bad(format!("events[{at}].{problem}"))),
        }
    }
    let counted = app.reports.count_with_crash(reports, crash).await?;
    Ok(found(&ReportAnswer {
        status: AcceptedStatus::Accepted.into(),
        counted,
    }))
}

/// What an event says.
enum Told {
    Report(Report),
    Crash(CrashReport),
}

/// Reads an event; an error begins with the name of its field.
fn read_event(app: &App, claim: &ReportClaim, event: DeviceEvent, now: i64) -> Result<Told, String> {
    let kind: DeviceEventKind = event.kind.checked().map_err(|unknown| unknown.to_string())?;
    if event.update_id.parse() != Ok(claim.update_id) {
        return Err("updateId is not the update of the token".to_owned());
    }
    if from_rfc3339(&event.at).is_none() {
        return Err("at must be a time such as 2026-11-20T10:00:00.000Z".to_owned());
    }
    let reason = event.reason.unwrap_or_default();
    if reason.chars().count() > MAX_REASON {
        return Err(format!("reason must have at most {MAX_REASON} characters"));
    }
    // PostgreSQL cannot store a NUL in text.
    if reason.contains('\0') {
        return Err("reason must not contain a NUL character".to_owned());
    }
    let stack = Stack::new(event.stack.unwrap_or_default()).map_err(|problem| problem.to_string())?;
    let device = app.report_tokens.device(claim, kind);
    let Some(kind) = kind.counted() else {
        return Ok(Told::Crash(CrashReport {
            update_id: claim.update_id,
            device,
            at: now,
            stack,
        }));
    };
    let tells = matches!(kind, ReportKind::RolledBack | ReportKind::Failed);
    Ok(Told::Report(Report {
        update_id: claim.update_id,
        kind,
        device,
        unkeyed: claim.unkeyed,
        at: now,
        reason: (tells && !reason.is_empty()).then_some(reason),
    }))
}
