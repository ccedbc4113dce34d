//! Serves the signed URLs of the local directory: downloads with Range and ETag, and uploads
//! (`docs/reference/uploads.md#signed-urls-of-the-local-directory`).
//!
//! Errors have the service's JSON form, `{error, message}`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method as HttpMethod, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use serde_json::json;

use super::local::{Access, CHUNK, Directory, Grant, GrantError, Method};
use super::range::{self, Selection};
use super::{BlobError, disposition};

/// Returns the time in epoch milliseconds.
pub type Now = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Serves `/{key}`; nest it at the base URL that the directory was opened with. It logs only failures, and sets no
/// limit on bodies: each URL carries its own size.
pub fn router(directory: Arc<Directory>, now: Now) -> Router {
    Router::new()
        .route("/{*key}", any(answer))
        .with_state(Files { directory, now })
}

#[derive(Clone)]
struct Files {
    directory: Arc<Directory>,
    now: Now,
}

/// Why a request was not served.
enum Problem {
    Refused(GrantError),
    Storage(BlobError),
    Method,
}

async fn answer(State(files): State<Files>, request: Request) -> Response {
    let (request, body) = request.into_parts();
    let mut response = match request.method {
        HttpMethod::GET | HttpMethod::HEAD => download(&files, &request).await,
        HttpMethod::PUT => upload(&files, &request, body).await,
        HttpMethod::OPTIONS => Ok(preflight()),
        _ => Err(Problem::Method),
    }
    .unwrap_or_else(IntoResponse::into_response);
    if request.method != HttpMethod::PUT {
        // Signed downloads answer any origin, uploads do not: `docs/reference/conventions.md#cors`.
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        let exposed = "Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag";
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(exposed));
    }
    response
}

impl Files {
    /// Uses the raw path: a key needs no escapes, so an escaped path is not a key.
    fn verify(&self, method: Method, request: &Parts, now_ms: i64) -> Result<Grant, Problem> {
        let path = request.uri.path();
        let key = path.strip_prefix('/').unwrap_or(path);
        let query = request.uri.query().unwrap_or_default();
        self.directory
            .verify(method, key, query, now_ms)
            .map_err(Problem::Refused)
    }
}

async fn upload(files: &Files, request: &Parts, body: Body) -> Result<Response, Problem> {
    let grant = files.verify(Method::Put, request, (files.now)())?;
    let Access::Put { size } = grant.access else {
        return Err(Problem::Refused(GrantError::Signature));
    };
    // Answered before the first byte is read, so that a client that sends `Expect: 100-continue` need not send the body
    // in vain.
    match content_length(&request.headers) {
        Some(length) if length > size => return Err(BlobError::TooLarge { limit: size }.into()),
        Some(length) if length < size => return Err(BlobError::TooShort { size, got: length }.into()),
        _ => {}
    }
    files
        .directory
        .put_stream(&grant.key, size, body.into_data_stream())
        .await?;
    Ok(StatusCode::OK.into_response())
}

async fn download(files: &Files, request: &Parts) -> Result<Response, Problem> {
    let now_ms = (files.now)();
    let grant = files.verify(Method::Get, request, now_ms)?;
    let Access::Get { file_name } = &grant.access else {
        return Err(Problem::Refused(GrantError::Signature));
    };
    let opened = files.directory.read(&grant.key).await?;
    let (size, etag) = (opened.size, HeaderValue::from_str(&opened.etag));
    let etag = etag.map_err(|error| unavailable("naming the version of an object", &error))?;
    let mut headers = download_headers(file_name, &etag, (grant.expires_at_ms - now_ms) / 1000);
    if is_known(&request.headers, &etag) {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let (status, first, count) = match selection(&request.headers, &etag, size) {
        Selection::Whole => (StatusCode::OK, 0, size),
        Selection::Part { first, last } => {
            headers.insert(header::CONTENT_RANGE, text(format!("bytes {first}-{last}/{size}")));
            (StatusCode::PARTIAL_CONTENT, first, last + 1 - first)
        }
        Selection::Unsatisfiable => return Ok(unsatisfiable(size)),
    };
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(count));
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/octet-stream"),
    );
    let body = if request.method == HttpMethod::HEAD {
        Body::empty()
    } else {
        Body::from_stream(opened.stream(first, count, CHUNK)?)
    };
    Ok((status, headers, body).into_response())
}

/// The headers of every answer with an object: users supply these bytes, so no browser may display or run them.
fn download_headers(file_name: &str, etag: &HeaderValue, seconds_left: i64) -> HeaderMap {
    let mut name = String::new();
    disposition::attachment(file_name, |piece| name.push_str(piece));
    let name = HeaderValue::try_from(name).unwrap_or(HeaderValue::from_static("attachment"));
    HeaderMap::from_iter([
        (header::CONTENT_DISPOSITION, name),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static("sandbox; default-src 'none'"),
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            HeaderValue::from_static("cross-origin"),
        ),
        (header::ACCEPT_RANGES, HeaderValue::from_static("bytes")),
        (
            header::CACHE_CONTROL,
            text(format!("private, max-age={}", seconds_left.max(0))),
        ),
        (header::ETAG, etag.clone()),
    ])
}

/// Whether the client already has these bytes: `If-None-Match` (RFC 9110 section 13.1.2).
fn is_known(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let lines = headers.get_all(header::IF_NONE_MATCH);
    lines
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .any(|tag| {
            let tag = tag.trim();
            tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == etag.as_bytes()
        })
}

/// The selected `Range`, unless `If-Range` names another version.
fn selection(headers: &HeaderMap, etag: &HeaderValue, size: u64) -> Selection {
    let same_version = headers.get(header::IF_RANGE).is_none_or(|wanted| wanted == etag);
    match headers.get(header::RANGE).and_then(|range| range.to_str().ok()) {
        Some(range) if same_version => range::select(range, size),
        _ => Selection::Whole,
    }
}

fn unsatisfiable(size: u64) -> Response {
    let mut response = problem_body(
        StatusCode::RANGE_NOT_SATISFIABLE,
        "Range Not Satisfiable",
        &format!("There are {size} bytes"),
    );
    response
        .headers_mut()
        .insert(header::CONTENT_RANGE, text(format!("bytes */{size}")));
    response
}

/// Allows pages of any origin to download, and nothing else (`docs/reference/conventions.md#cors`).
fn preflight() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "Range, If-None-Match, If-Range"),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
        (header::ALLOW, ALLOWED),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

const ALLOWED: &str = "GET, HEAD, PUT, OPTIONS";

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        match self {
            Problem::Refused(refusal) => problem_body(StatusCode::FORBIDDEN, "Forbidden", &refusal.to_string()),
            Problem::Method => {
                let message = "A signed link supports GET and HEAD, or PUT";
                let mut response = problem_body(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed", message);
                response
                    .headers_mut()
                    .insert(header::ALLOW, HeaderValue::from_static(ALLOWED));
                response
            }
            Problem::Storage(error) => storage_problem(&error),
        }
    }
}

fn storage_problem(error: &BlobError) -> Response {
    match error {
        BlobError::NotFound => problem_body(StatusCode::NOT_FOUND, "Not Found", "No file has this link"),
        BlobError::TooLarge { limit } => {
            let message = format!("This link accepts at most {limit} bytes");
            problem_body(StatusCode::PAYLOAD_TOO_LARGE, "Payload Too Large", &message)
        }
        BlobError::TooShort { size, got } => {
            let message = format!("This link accepts {size} bytes, but received {got}");
            problem_body(StatusCode::BAD_REQUEST, "Bad Request", &message)
        }
        BlobError::Interrupted(_) => problem_body(StatusCode::BAD_REQUEST, "Bad Request", "The upload was interrupted"),
        BlobError::Full => {
            tracing::error!("the disk of the object storage is full");
            let message = "The disk is full. The operator has to free up space.";
            problem_body(StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable", message)
        }
        BlobError::Exists | BlobError::Unavailable { .. } | BlobError::Settings(_) => {
            tracing::error!(%error, "the object storage failed");
            let message = "The object storage is not available. Try again in a moment.";
            problem_body(StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable", message)
        }
    }
}

fn problem_body(status: StatusCode, error: &str, message: &str) -> Response {
    let no_store = [(header::CACHE_CONTROL, "no-store")];
    (status, no_store, Json(json!({ "error": error, "message": message }))).into_response()
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// A header value from generated text, which is always ASCII.
fn text(value: String) -> HeaderValue {
    HeaderValue::try_from(value).expect("numbers and plain words are a header value")
}

fn unavailable(doing: &'static str, error: &dyn std::fmt::Display) -> BlobError {
    BlobError::Unavailable {
        doing,
        cause: error.to_string(),
    }
}

impl From<BlobError> for Problem {
    fn from(error: BlobError) -> Self {
        Problem::Storage(error)
    }
}

#[cfg(test)]
mod tests;
