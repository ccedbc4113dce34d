//! Files of updates by hash, for clients of Expo (`docs/reference/expo.md#assets`) and Capgo (`docs/reference/capgo.md#files`).

mod content;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, Response, StatusCode, header};
use launchway_blob::BlobError;
use launchway_foreign::capgo::FILES_PATH;
use launchway_foreign::expo::{ASSET_HEADERS, ASSET_PATH};
use launchway_ops::app::App;
use launchway_ota::StoredFile;
use serde_json::json;

use crate::http::accept_encoding::{Accepted, Coding};
use crate::http::capgo;
use crate::http::expo::{self, bundle_id};
use content::{code, content};

const NO_FILE: &str = "no update of this app that is published has this file";
const STORAGE: &str = "the file cannot be read now, try again in a moment";
const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
/// What is at the address of a file never changes.
const KEPT: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const NOT_KEPT: HeaderValue = HeaderValue::from_static("private, max-age=0");

/// `GET` and `HEAD` of a file of an update of Expo.
pub async fn read_asset(State(app): State<Arc<App>>, request: Request) -> Response<Body> {
    let mut response = read(&app, request, expo::PREFIX, ASSET_PATH).await;
    for (name, value) in ASSET_HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// `GET` and `HEAD` of a file of an update of Capgo.
pub async fn read_file(State(app): State<Arc<App>>, request: Request) -> Response<Body> {
    read(&app, request, capgo::PREFIX, FILES_PATH).await
}

/// Answers a request whose path is the prefix, the bundle identifier, `below` and a hash.
async fn read(app: &App, request: Request, prefix: &str, below: &str) -> Response<Body> {
    let (request, _) = request.into_parts();
    let path = request.uri.path().strip_prefix(prefix).unwrap_or_default();
    let found = split(path, below).and_then(|(bundle_id, sha256)| {
        let foreign = app.index.foreign();
        foreign
            .read(&bundle_id, |bundle| bundle.files().get(&sha256).cloned())
            .flatten()
            .map(|file| (sha256, file))
    });
    let Some((sha256, file)) = found else {
        return refuse(StatusCode::NOT_FOUND, NO_FILE);
    };
    let served = async {
        let coded = code(app, sha256, &file, Accepted::read(&request.headers)).await?;
        let (coding, length) = (coded.coding(), coded.length(file.place));
        let body = match request.method == Method::HEAD {
            true => Body::empty(),
            false => Body::from_stream(content(app, &file, coded).await?),
        };
        Ok((coding, length, body))
    };
    match served.await {
        Ok((coding, length, body)) => respond(&file, coding, length, body),
        // The package was deleted a moment ago.
        Err(BlobError::NotFound) => refuse(StatusCode::NOT_FOUND, NO_FILE),
        Err(error) => {
            tracing::error!(%error, "cannot read a file of an update");
            refuse(StatusCode::SERVICE_UNAVAILABLE, STORAGE)
        }
    }
}

/// The bundle identifier and the hash in a path.
fn split(path: &str, below: &str) -> Option<(String, [u8; 32])> {
    let (bundle, rest) = path.split_once('/')?;
    Some((bundle_id(bundle)?, sha256(rest.strip_prefix(below)?)?))
}

/// A hash in lower-case hexadecimal.
fn sha256(text: &str) -> Option<[u8; 32]> {
    let is_lower = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let mut sha256 = [0; 32];
    (is_lower && hex::decode_to_slice(text, &mut sha256).is_ok()).then_some(sha256)
}

/// The answer to a request for which there is no file.
fn refuse(status: StatusCode, message: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(json!({ "error": message }).to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, JSON);
    headers.insert(header::CACHE_CONTROL, NOT_KEPT);
    response
}

fn respond(file: &StoredFile, coding: Coding, length: u64, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, KEPT);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.content_type));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    let coding = match coding {
        Coding::Identity => None,
        Coding::Gzip => Some("gzip"),
        Coding::Brotli => Some("br"),
    };
    if let Some(coding) = coding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    // Users supply these bytes, so no browser may display or run them.
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("sandbox; default-src 'none'"),
    );
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_has_64_lower_case_digits() {
        assert_eq!(sha256(&"0a".repeat(32)), Some([10; 32]));
        for other in [
            "0A".repeat(32),
            "0a".repeat(31),
            "0a".repeat(33),
            String::new(),
            "zz".repeat(32),
        ] {
            assert_eq!(sha256(&other), None, "{other}");
        }
    }
}
