//! The public repositories of signed updates (`docs/reference/trust.md#serving`): like the check, answered from memory,
//! with no query, lock or log line.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use launchway_domain::app::SIGNED_URL_SECONDS;
use launchway_domain::percent;
use launchway_domain::time::EpochMs;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Origin;
use launchway_ota::{Download, TrustQuery, TrustSet};

use crate::http::update_check::refuse;
use crate::query::Query;

/// The path of all repositories, before the bundle identifier.
pub const PREFIX: &str = "/tuf/";
/// The name of the answer that brings everything newer.
const TRUST: &str = "trust";
/// The name of the only file of metadata without a version.
const TIMESTAMP: &str = "timestamp.json";
/// What comes before the path of a target.
const TARGETS: &str = "targets/";

const SHORT: HeaderValue = HeaderValue::from_static("public, max-age=60");
/// For a day and not forever: versions of a role are used again after a reset, or after recovery from keys that used them
/// up.
const LONG: HeaderValue = HeaderValue::from_static("public, max-age=86400, immutable");
const NEVER: HeaderValue = HeaderValue::from_static("no-cache, no-store, must-revalidate");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// `GET` and `HEAD` of everything below [`PREFIX`].
pub async fn read(
    State(app): State<Arc<App>>,
    origin: axum::Extension<Origin>,
    request: Request,
) -> axum::response::Response {
    let path = request.uri().path().strip_prefix(PREFIX).unwrap_or_default();
    let query = request.uri().query().unwrap_or_default();
    answer(&app, path, query, request.headers(), origin.0.address).map(axum::body::Body::from)
}

/// Answers one request. `path` is what follows [`PREFIX`], still percent-encoded; `query` is the text after `?`.
pub fn answer(app: &App, path: &str, query: &str, headers: &HeaderMap, address: IpAddr) -> Response<Bytes> {
    let now = app.clock.now();
    let counted = app.addresses.count(address, now).map_err(ApiError::RateLimited);
    let answered = counted.and_then(|()| find(app, path, query, headers, now));
    answered.unwrap_or_else(|failure| refuse(&failure))
}

fn find(app: &App, path: &str, query: &str, headers: &HeaderMap, now: EpochMs) -> Result<Response<Bytes>, ApiError> {
    let (bundle_id, name) = parse(path).ok_or(ApiError::NoSuchPath)?;
    let found = app.index.read_trust(&bundle_id, |set| {
        if name == TRUST {
            return one_trip(set, query, headers);
        }
        if let Some(target) = name.strip_prefix(TARGETS) {
            let download = set.download(target).ok_or(ApiError::NoSuchPath)?;
            return redirect(app, download, now);
        }
        let file = set.file(&name).ok_or(ApiError::NoSuchPath)?;
        let cache = if name == TIMESTAMP { SHORT } else { LONG };
        respond(&file.etag, cache, headers, || file.bytes.clone())
    });
    found.unwrap_or(Err(ApiError::NoSuchPath))
}

/// The bundle identifier and the name of a path. An escaped slash separates nothing.
fn parse(path: &str) -> Option<(String, String)> {
    let (bundle_id, name) = path.split_once('/')?;
    let segments: Option<Vec<String>> = name.split('/').map(segment).collect();
    Some((segment(bundle_id)?, segments?.join("/")))
}

fn segment(encoded: &str) -> Option<String> {
    percent::decode(encoded).filter(|decoded| !decoded.contains('/'))
}

/// Everything that is newer than what the client has.
fn one_trip(set: &TrustSet, query: &str, headers: &HeaderMap) -> Result<Response<Bytes>, ApiError> {
    let query = Query::parse(query);
    let version = |name: &str| query.parsed::<u64>(name, "a whole number");
    let has = TrustQuery {
        root: version("root")?.unwrap_or(0),
        snapshot: version("snapshot")?.unwrap_or(0),
        configuration: query.get("configuration")?,
    };
    respond(set.etag(), SHORT, headers, || set.answer(&has).into())
}

/// The bytes, or 304 if the client has them.
fn respond(
    etag: &str,
    cache: HeaderValue,
    headers: &HeaderMap,
    body: impl FnOnce() -> Bytes,
) -> Result<Response<Bytes>, ApiError> {
    let etag = HeaderValue::from_str(etag).map_err(|error| ApiError::Internal(error.to_string()))?;
    let mut response = if is_known(headers, &etag) {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        let mut response = Response::new(body());
        response.headers_mut().insert(header::CONTENT_TYPE, JSON);
        response
    };
    let headers = response.headers_mut();
    headers.insert(header::ETAG, etag);
    headers.insert(header::CACHE_CONTROL, cache);
    allow_any_origin(headers);
    Ok(response)
}

/// The redirect to a signed URL of the package.
fn redirect(app: &App, download: &Download, now: EpochMs) -> Result<Response<Bytes>, ApiError> {
    let Download { blob_key, file_name } = download;
    let url = app.blob.presign_get(blob_key, file_name, now, SIGNED_URL_SECONDS).url;
    let url = HeaderValue::try_from(url).map_err(|error| ApiError::Internal(error.to_string()))?;
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::FOUND;
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, url);
    headers.insert(header::CACHE_CONTROL, NEVER);
    allow_any_origin(headers);
    Ok(response)
}

fn allow_any_origin(headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("ETag"));
}

/// Whether `If-None-Match` names this version.
fn is_known(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let lines = headers.get_all(header::IF_NONE_MATCH).into_iter();
    let mut tags = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','));
    tags.any(|tag| {
        let tag = tag.trim();
        tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == etag.as_bytes()
    })
}
