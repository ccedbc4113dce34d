//! The check of clients of Expo Updates (`docs/reference/expo.md`), answered from memory like the public check, with no query, lock or
//! log line. Only a client that names updates which failed waits until that is stored.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Extension, Request as HttpRequest, State};
use axum::http::{HeaderMap, HeaderValue, Response as HttpResponse, StatusCode};
use bytes::Bytes;
use launchway_domain::id::UpdateId;
use launchway_domain::percent;
use launchway_domain::release::Protocol as Client;
use launchway_domain::report::ReportKind;
use launchway_foreign::expo::{Answer, Choice, Protocol, Refusal, Request, Response, Running, Served, choose};
use launchway_ops::app::App;
use launchway_ops::caller::Origin;
use launchway_ota::{ExpoIssue, ForeignBundle, ForeignRelease, NamedRelease};

use crate::http::foreign::{self, Headers};

/// The path of all apps, before the bundle identifier.
pub const PREFIX: &str = "/expo/";
/// The header with updates that failed.
const FAILED: &str = "expo-recent-failed-update-ids";
const NO_APP: &str = "this server has no updates for clients of Expo of this app";
const NO_PATH: &str = "there is no such path; compare updates.url in your app with the one in the documentation";
const TOO_MANY: &str = "too many requests, try again later";

/// `GET` and `HEAD` of an app.
pub async fn read(
    State(app): State<Arc<App>>,
    origin: Extension<Origin>,
    request: HttpRequest,
) -> axum::response::Response {
    let (parts, _) = request.into_parts();
    let path = parts.uri.path().strip_prefix(PREFIX).unwrap_or_default();
    let allowed = app.addresses.count(origin.0.address, app.clock.now());
    if allowed.is_ok() {
        report(&app, path, &parts.headers).await;
    }
    respond(&app, path, &parts.headers, allowed).map(axum::body::Body::from)
}

/// Whether a request is answered without waiting: it is a check, and names no update that failed.
pub fn needs_no_waiting(path: &str, headers: &impl Headers) -> bool {
    !path.contains('/') && headers.value(FAILED).is_none()
}

/// Answers one check. `path` is what follows [`PREFIX`], still percent-encoded.
pub fn answer(app: &App, path: &str, headers: &impl Headers, address: IpAddr) -> HttpResponse<Bytes> {
    respond(app, path, headers, app.addresses.count(address, app.clock.now()))
}

/// The response to a check. One that is not `allowed` has the seconds that its client must wait.
fn respond(app: &App, path: &str, headers: &impl Headers, allowed: Result<(), u64>) -> HttpResponse<Bytes> {
    let request = Request::read(|name| headers.value(name));
    let protocol = request.as_ref().map_or(Protocol::V1, |request| request.protocol);
    if let Err(retry_after) = allowed {
        let message = TOO_MANY.to_owned();
        return http(Refusal::TooManyRequests { message, retry_after }.respond(protocol));
    }
    let Some(bundle_id) = bundle_id(path) else {
        return http(Refusal::NotFound(NO_PATH.to_owned()).respond(protocol));
    };
    let request = match request {
        Ok(request) => request,
        Err(error) => return http(error.refusal().respond(protocol)),
    };
    let answered = app.index.foreign().check(&bundle_id, |bundle| decide(bundle, &request));
    answered.unwrap_or_else(|| http(Refusal::NotFound(NO_APP.to_owned()).respond(protocol)))
}

/// The bundle identifier of a path.
pub fn bundle_id(path: &str) -> Option<String> {
    let decoded = percent::decode(path)?;
    (!path.is_empty() && !path.contains('/') && !decoded.contains('/')).then_some(decoded)
}

/// The releases that a client says could not be started.
fn failed(bundle: &ForeignBundle, request: &Request<'_>) -> Vec<UpdateId> {
    let issues = request.failed.iter();
    let known = issues.filter_map(|id| bundle.expo().issue(request.platform, *id));
    known.map(|issue| issue.update_id).collect()
}

fn decide(bundle: &ForeignBundle, request: &Request<'_>) -> HttpResponse<Bytes> {
    let expo = bundle.expo();
    let runs = request.current.filter(|_| !request.runs_embedded());
    let named = runs.and_then(|id| bundle.named(Client::Expo, request.platform, &id.to_string()));
    let issue = runs.and_then(|id| expo.issue(request.platform, id));
    let running = Running::of(
        request,
        named.map(NamedRelease::held),
        issue.map(|issue| issue.created_at),
    );
    let failed = failed(bundle, request);
    let offered_at = |release: &ForeignRelease| {
        let offer = expo.offer(release.update_id)?;
        (!failed.contains(&release.update_id)).then_some(offer.created_at)
    };
    let previous = issue.and_then(|issue| expo.undo_of(issue).0);
    let leads_back_to =
        |release: &ForeignRelease| previous.is_some_and(|(update_id, _)| *update_id == release.update_id);
    let respond = |served: Option<&Served>| {
        let answer = served.map_or(Answer::Nothing, Answer::Served);
        http(answer.respond(request))
    };
    match choose(request, &running, bundle.offered(), offered_at, leads_back_to) {
        Choice::Keep => respond(None),
        Choice::Offer(release) => respond(expo.offer(release.update_id).map(|offer| &offer.served)),
        Choice::Previous(_) => respond(previous.map(|(_, served)| served)),
        Choice::BuiltIn => match (issue.and_then(|issue| expo.undo_of(issue).1), issue) {
            (Some(signed), _) => respond(Some(signed)),
            (None, issue) => respond(issue.map(ExpoIssue::roll_back).as_ref()),
        },
    }
}

/// Stores which updates failed on a device that names itself. A check is answered all the same if they cannot be stored: the
/// client names them again.
async fn report(app: &App, path: &str, headers: &HeaderMap) {
    let Ok(request) = Request::read(|name| headers.value(name)) else {
        return;
    };
    let (Some(bundle_id), Some(device)) = (bundle_id(path), request.device_id) else {
        return;
    };
    let failed = app.index.foreign().read(&bundle_id, |bundle| failed(bundle, &request));
    let mut failed = failed.unwrap_or_default();
    failed.sort_unstable();
    failed.dedup();
    if failed.is_empty() {
        return;
    }
    let now = app.clock.now();
    let reports = failed.into_iter().map(|update_id| {
        let reason = request.fatal_error.as_deref().map(reason);
        foreign::report(app, update_id, device, ReportKind::Failed, reason, now)
    });
    // The queue counts and logs what it could not store.
    let _ = app.reports.count(reports.collect()).await;
}

/// A client's error without characters that cannot be stored.
fn reason(error: &str) -> String {
    error.replace('\0', " ")
}

/// The response as HTTP has it.
fn http(response: Response) -> HttpResponse<Bytes> {
    let mut answer = HttpResponse::new(response.body);
    *answer.status_mut() = StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in response.headers {
        if let Ok(value) = HeaderValue::try_from(value) {
            answer.headers_mut().insert(name, value);
        }
    }
    answer
}
