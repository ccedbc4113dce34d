//! The route of hot-updater's clients (`docs/reference/hot-updater.md`), answered from memory like the public check, with no query,
//! lock or log line.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use launchway_domain::percent;
use launchway_domain::release::Protocol;
use launchway_domain::time::EpochMs;
use launchway_foreign::hot_updater::{Answer, Refusal, UpdateCheck, caller, choose, current, knows_up_to_date};
use launchway_ops::app::App;
use launchway_ops::caller::Origin;
use launchway_ota::{ForeignBundle, ForeignRelease, NamedRelease};

use crate::http::foreign::{self, Headers};

/// The path of all apps, before the bundle identifier.
pub const PREFIX: &str = "/hot-updater/";

const SDK_VERSION: &str = "hot-updater-sdk-version";
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const NEVER: HeaderValue = HeaderValue::from_static("no-store");
const TOO_MANY: &str = r#"{"error":"Too many requests. Try again later."}"#;

/// `GET` and `HEAD` of everything below [`PREFIX`].
pub async fn read(State(app): State<Arc<App>>, origin: Extension<Origin>, request: Request) -> Response<Body> {
    let path = request.uri().path().strip_prefix(PREFIX).unwrap_or_default();
    answer(&app, path, request.headers(), origin.0.address).map(Body::from)
}

/// Answers one check. `path` is what follows [`PREFIX`], still percent-encoded.
pub fn answer(app: &App, path: &str, headers: &impl Headers, address: IpAddr) -> Response<Bytes> {
    let now = app.clock.now();
    if let Err(seconds) = app.addresses.count(address, now) {
        let mut response = respond(StatusCode::TOO_MANY_REQUESTS, TOO_MANY);
        let seconds = HeaderValue::from(seconds);
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
        return response;
    }
    let sdk_version = headers.value(SDK_VERSION).and_then(|value| str::from_utf8(value).ok());
    match check(app, path, knows_up_to_date(sdk_version), now) {
        Ok(body) => respond(StatusCode::OK, body),
        Err(refusal) => {
            let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST);
            respond(status, refusal.body())
        }
    }
}

fn check(app: &App, path: &str, knows_up_to_date: bool, now: EpochMs) -> Result<Vec<u8>, Refusal> {
    let (bundle_id, rest) = path.split_once('/').ok_or(Refusal::NotFound)?;
    let bundle_id = percent::decode(bundle_id).ok_or(Refusal::NotFound)?;
    let check = UpdateCheck::read(rest)?;
    let body = app.index.foreign().check(&bundle_id, |bundle| {
        decide(app, bundle, &check, now).body(knows_up_to_date)
    });
    // Nothing is known of the bundle, so nothing is taken from its apps.
    Ok(body.unwrap_or_else(|| Answer::UpToDate.body(knows_up_to_date)))
}

fn decide<'b>(app: &App, bundle: &'b ForeignBundle, check: &UpdateCheck<'_>, now: EpochMs) -> Answer<'b> {
    let named = bundle.named(Protocol::HotUpdater, check.platform, check.current_bundle_id.as_str());
    let caller = caller(check, current(check, named.map(NamedRelease::held)));
    let file_url = |release: &ForeignRelease| foreign::package_url(app, release, now);
    choose(check, &caller, bundle.offered(), file_url)
}

fn respond(status: StatusCode, body: impl Into<Bytes>) -> Response<Bytes> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, JSON);
    headers.insert(header::CACHE_CONTROL, NEVER);
    response
}
