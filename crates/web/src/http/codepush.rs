//! The routes of CodePush's clients (`docs/reference/codepush.md`). Checks are answered from memory like the public check, with no
//! query, lock or log line.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::to_bytes;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use launchway_domain::ota::{Abilities, NativeCode, ReleaseCaller};
use launchway_domain::percent;
use launchway_domain::release::{ForeignId, Format, Protocol};
use launchway_domain::time::EpochMs;
use launchway_foreign::codepush::{
    Answer, CurrentPackage, Form, MAX_REPORT_BYTES, REPORT_ANSWER, Refusal, Report, UpdateCheck, choose, current,
};
use launchway_ops::app::App;
use launchway_ops::caller::Origin;
use launchway_ota::{Deployment, ForeignBundle, ForeignRelease, NamedRelease};

use crate::http::foreign;

/// The path of all apps, before the bundle identifier.
pub const PREFIX: &str = "/codepush/";
const CHECK: &str = "v0.1/public/codepush/update_check";
const OLD_CHECK: &str = "updateCheck";
const DEPLOYED: [&str; 2] = ["v0.1/public/codepush/report_status/deploy", "reportStatus/deploy"];
const DOWNLOADED: [&str; 2] = ["v0.1/public/codepush/report_status/download", "reportStatus/download"];

const ABILITIES: Abilities = Abilities {
    leaves_withdrawn: true,
    // A stock client cannot.
    returns_to_built_in: false,
};
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const NEVER: HeaderValue = HeaderValue::from_static("no-cache, no-store, must-revalidate");
const NO_PATH: &str =
    "There is no such path. Compare the server address in your app with the one in the documentation.";
const TOO_MANY: &str = "Too many requests. Try again later.";
const BUSY: &str = "Reports cannot be accepted now. Try again in a moment.";

/// `GET` and `HEAD` of everything below [`PREFIX`].
pub async fn read(
    State(app): State<Arc<App>>,
    origin: Extension<Origin>,
    request: Request,
) -> axum::response::Response {
    let path = request.uri().path().strip_prefix(PREFIX).unwrap_or_default();
    let query = request.uri().query().unwrap_or_default();
    answer(&app, path, query, origin.0.address).map(axum::body::Body::from)
}

/// Answers one check. `path` is what follows [`PREFIX`], still percent-encoded; `query` is the text after `?`.
pub fn answer(app: &App, path: &str, query: &str, address: IpAddr) -> Response<Bytes> {
    let now = app.clock.now();
    if let Err(seconds) = app.addresses.count(address, now) {
        return too_many(seconds);
    }
    let Some((bundle_id, rest)) = split(path) else {
        return respond(StatusCode::NOT_FOUND, TEXT, NO_PATH);
    };
    let form = match rest {
        CHECK => Form::Snake,
        OLD_CHECK => Form::Camel,
        _ => return respond(StatusCode::NOT_FOUND, TEXT, NO_PATH),
    };
    match check(app, &bundle_id, form, query, now) {
        Ok(body) => respond(StatusCode::OK, JSON, body),
        Err(refusal) => {
            let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST);
            respond(status, TEXT, refusal.to_string())
        }
    }
}

/// The bundle identifier of a path, and what follows it.
fn split(path: &str) -> Option<(String, &str)> {
    let (bundle_id, rest) = path.split_once('/')?;
    let bundle_id = percent::decode(bundle_id).filter(|decoded| !decoded.contains('/'))?;
    Some((bundle_id, rest))
}

fn check(app: &App, bundle_id: &str, form: Form, query: &str, now: EpochMs) -> Result<Vec<u8>, Refusal> {
    let check = UpdateCheck::read(form, query)?;
    let body = app.index.foreign().check(bundle_id, |bundle| {
        let deployment = bundle.deployment(&check.deployment_key)?;
        Some(decide(app, bundle, deployment, &check, now))
    });
    body.flatten().ok_or(Refusal::UnknownDeploymentKey)
}

fn decide(
    app: &App,
    bundle: &ForeignBundle,
    deployment: &Deployment,
    check: &UpdateCheck<'_>,
    now: EpochMs,
) -> Vec<u8> {
    let named = running(bundle, deployment, check);
    let caller = ReleaseCaller {
        platform: deployment.platform,
        configuration: deployment.configuration.as_deref(),
        format: Format::Codepush,
        runtime_version: None,
        binary_version: Some(&check.version),
        native_code: NativeCode::Unsaid,
        current: current(check, named.map(|named| (named.held(), named.content_id()))),
        abilities: ABILITIES,
    };
    let url = |release: &ForeignRelease| foreign::package_url(app, release, now);
    let answer: Answer<'_> = choose(check, &caller, bundle.offered(), url);
    answer.body(check)
}

/// The release that a client says it runs.
fn running<'b>(
    bundle: &'b ForeignBundle,
    deployment: &Deployment,
    check: &UpdateCheck<'_>,
) -> Option<&'b NamedRelease> {
    let (CurrentPackage::Label(id) | CurrentPackage::Hash(id)) = check.current() else {
        return None;
    };
    let fits = |named: &&NamedRelease| {
        check
            .package_hash
            .as_deref()
            .is_none_or(|hash| hash == named.content_id())
    };
    let all = labels(deployment, id);
    let mut found = all
        .iter()
        .filter_map(|id| bundle.named(Protocol::Codepush, deployment.platform, id.as_str()));
    found.find(fits)
}

/// The ids that a label or hash may be: of the deployment's configuration, or of an update for every configuration.
fn labels(deployment: &Deployment, id: &str) -> Vec<ForeignId> {
    let within = |configuration| ForeignId::within(configuration, id).ok();
    let own = deployment
        .configuration
        .as_deref()
        .and_then(|label| within(Some(label)));
    own.into_iter().chain(within(None)).collect()
}

/// `POST` of everything below [`PREFIX`]: what happened to an update on a device. Everything is answered with `OK`, because a client
/// keeps a report that was answered otherwise and sends it again at each start. Only while reports cannot be stored it should.
pub async fn report(
    State(app): State<Arc<App>>,
    origin: Extension<Origin>,
    request: Request,
) -> axum::response::Response {
    let path = request.uri().path().strip_prefix(PREFIX).unwrap_or_default().to_owned();
    let Some((bundle_id, rest)) = split(&path) else {
        return respond(StatusCode::NOT_FOUND, TEXT, NO_PATH).map(axum::body::Body::from);
    };
    let read: fn(&[u8]) -> Option<Report> = match rest {
        rest if DEPLOYED.contains(&rest) => Report::of_deployment,
        rest if DOWNLOADED.contains(&rest) => Report::of_download,
        _ => return respond(StatusCode::NOT_FOUND, TEXT, NO_PATH).map(axum::body::Body::from),
    };
    let is_counted = app.addresses.count(origin.0.address, app.clock.now()).is_ok();
    let body = to_bytes(request.into_body(), MAX_REPORT_BYTES).await;
    let report = body.ok().filter(|_| is_counted).and_then(|body| read(&body));
    let response = match report {
        Some(report) if store(&app, &bundle_id, &report).await.is_err() => {
            respond(StatusCode::SERVICE_UNAVAILABLE, TEXT, BUSY)
        }
        _ => respond(StatusCode::OK, TEXT, REPORT_ANSWER),
    };
    response.map(axum::body::Body::from)
}

/// Counts a report of a device that names itself, about an update that its deployment key reaches.
async fn store(app: &App, bundle_id: &str, report: &Report) -> Result<(), launchway_ops::api_error::ApiError> {
    let update_id = app.index.foreign().read(bundle_id, |bundle| {
        let deployment = bundle.deployment(&report.deployment_key)?;
        let all = labels(deployment, &report.label);
        let named = all
            .iter()
            .find_map(|id| bundle.named(Protocol::Codepush, deployment.platform, id.as_str()));
        Some(named?.update_id)
    });
    let (Some(update_id), Some(device)) = (update_id.flatten(), report.client_unique_id.as_deref()) else {
        return Ok(());
    };
    let stored = foreign::report(app, update_id, device, report.kind, None, app.clock.now());
    app.reports.count(vec![stored]).await.map(drop)
}

fn too_many(seconds: u64) -> Response<Bytes> {
    let mut response = respond(StatusCode::TOO_MANY_REQUESTS, TEXT, TOO_MANY);
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

fn respond(status: StatusCode, content_type: HeaderValue, body: impl Into<Bytes>) -> Response<Bytes> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, content_type);
    headers.insert(header::CACHE_CONTROL, NEVER);
    response
}
