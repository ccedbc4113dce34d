//! Files of updates by hash, for clients of Expo (`docs/reference/expo.md#assets`) and Capgo (`docs/reference/capgo.md#files`). A file is
//! served from its place in the package: packages compress files with Deflate, which is what gzip contains, so nothing is compressed
//! again.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use bytes::Bytes;
use flate2::{Decompress, FlushDecompress, Status};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use launchway_blob::BlobError;
use launchway_foreign::Place;
use launchway_foreign::capgo::FILES_PATH;
use launchway_foreign::expo::{ASSET_HEADERS, ASSET_PATH};
use launchway_ops::app::App;
use launchway_ota::StoredFile;
use serde_json::json;

use crate::http::capgo;
use crate::http::expo::{self, bundle_id};

const NO_FILE: &str = "no update of this app that is published has this file";
const STORAGE: &str = "the file cannot be read now, try again in a moment";
const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
/// What is at the address of a file never changes.
const KEPT: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const NOT_KEPT: HeaderValue = HeaderValue::from_static("private, max-age=0");
/// The start of a gzip stream (RFC 1952): no name, no time, an unknown system.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// Bytes that are unpacked at once.
const CHUNK: usize = 1 << 16;

type Pieces = BoxStream<'static, Result<Bytes, BlobError>>;

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
    });
    let Some(file) = found else {
        return refuse(StatusCode::NOT_FOUND, NO_FILE);
    };
    let is_gzip = file.place.is_deflated && accepts_gzip(&request.headers);
    let body = if request.method == Method::HEAD {
        Body::empty()
    } else {
        match content(app, &file, is_gzip).await {
            Ok(pieces) => Body::from_stream(pieces),
            // The package was deleted a moment ago.
            Err(BlobError::NotFound) => return refuse(StatusCode::NOT_FOUND, NO_FILE),
            Err(error) => {
                tracing::error!(%error, "cannot read a file of an update");
                return refuse(StatusCode::SERVICE_UNAVAILABLE, STORAGE);
            }
        }
    };
    respond(&file, is_gzip, body)
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

fn respond(file: &StoredFile, is_gzip: bool, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, KEPT);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.content_type));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length(file.place, is_gzip)));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_gzip {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
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

fn length(place: Place, is_gzip: bool) -> u64 {
    if is_gzip {
        place.length + GZIP_HEAD.len() as u64 + 8
    } else {
        place.size
    }
}

/// Whether a client unpacks gzip.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut codings = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','));
    codings.any(|coding| {
        let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = parameters.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>);
        name.trim().eq_ignore_ascii_case("gzip") && weight.is_ok_and(|weight| weight > 0.0)
    })
}

/// The bytes of the response.
async fn content(app: &App, file: &StoredFile, is_gzip: bool) -> Result<Pieces, BlobError> {
    let place = file.place;
    let data = app.blob.read(&file.blob_key, place.start, place.length).await?;
    Ok(match (place.is_deflated, is_gzip) {
        (false, _) => data,
        (true, true) => {
            let mut tail = Vec::with_capacity(8);
            tail.extend(place.checksum.to_le_bytes());
            // The size modulo 2^32.
            tail.extend((place.size as u32).to_le_bytes());
            let piece = |bytes: Bytes| stream::iter([Ok(bytes)]);
            let head = piece(Bytes::from_static(&GZIP_HEAD));
            head.chain(data).chain(piece(tail.into())).boxed()
        }
        (true, false) => unpacked(data),
    })
}

/// Unpacks a Deflate stream in constant memory.
fn unpacked(data: Pieces) -> Pieces {
    let state = (data, Bytes::new(), Decompress::new(false), false);
    let unpack = |(mut data, mut input, mut inflate, mut is_over): (Pieces, Bytes, Decompress, bool)| async move {
        loop {
            if is_over {
                return Ok(None);
            }
            if input.is_empty()
                && let Some(next) = data.try_next().await?
            {
                input = next;
            }
            let mut output = vec![0; CHUNK];
            let (taken, given) = (inflate.total_in(), inflate.total_out());
            let status = inflate
                .decompress(&input, &mut output, FlushDecompress::None)
                .map_err(|_| damaged())?;
            let progress = |now: u64, before: u64| usize::try_from(now - before).unwrap_or(0);
            let (taken, given) = (
                progress(inflate.total_in(), taken),
                progress(inflate.total_out(), given),
            );
            is_over = status == Status::StreamEnd;
            if !is_over && taken == 0 && given == 0 {
                return Err(damaged());
            }
            input = input.slice(taken..);
            if given > 0 {
                output.truncate(given);
                return Ok(Some((Bytes::from(output), (data, input, inflate, is_over))));
            }
        }
    };
    stream::try_unfold(state, unpack).boxed()
}

fn damaged() -> BlobError {
    BlobError::Unavailable {
        doing: "unpacking a file of a package",
        cause: "the package changed in the storage".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_who_asks_for_it() {
        for (field, expected) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip; q=0.0", false),
            ("gzip;q=x", false),
            ("br", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_str(field).unwrap())]);
            assert_eq!(accepts_gzip(&headers), expected, "{field}");
        }
    }

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
