//! `/build/log`: the log of a build as plain text (`docs/reference/builds.md#reading-the-log`).

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream;
use launchway_api::error::ErrorBody;
use launchway_blob::range::{self, Selection};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::build_log::LogReader;
use launchway_ops::caller::Caller;
use tokio::time::Instant;

use crate::query::Query;

/// How long a download runs before its caller's access is checked again.
const RECHECK: Duration = Duration::from_secs(1);
/// How many bytes a download sends at most before its caller's access is checked again.
const RECHECK_BYTES: u64 = 1 << 20;

/// Returns the current log of a build.
#[utoipa::path(
    get,
    path = "/build/log",
    tag = "Build",
    params(
        ("id" = String, Query, description = "The build"),
        ("offset" = Option<i64>, Query, description = "The number of bytes to skip, at most the size of the log", minimum = 0),
        ("Range" = Option<String>, Header, description = "A byte range of what follows `offset`, such as `bytes=-1000`"),
    ),
    responses(
        (status = 200, description = "The log", body = String, content_type = "text/plain"),
        (status = 206, description = "The bytes of the requested range", body = String, content_type = "text/plain"),
        (status = 404, description = "No build has this id", body = ErrorBody),
        (status = 416, description = "The log does not have the requested bytes", body = ErrorBody),
    )
)]
pub async fn read(
    State(app): State<Arc<App>>,
    caller: Caller,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = query.id("build")?;
    let offset = offset(&query)?.unwrap_or(0);
    let (org, id) = (caller.org_id()?, id.get()?);
    let build = app.db.read().await?.org(org).build(id).await?;
    let size = build.ok_or(ApiError::NoSuch("build"))?.log_size;
    let size = remaining(size, offset)?;
    let wanted = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let selection = wanted.map_or(Selection::Whole, |range| range::select(range, size));
    let mut answer = plain_text();
    let (status, first, count) = match selection {
        Selection::Whole => (StatusCode::OK, 0, size),
        Selection::Part { first, last } => {
            answer.insert(header::CONTENT_RANGE, text(format!("bytes {first}-{last}/{size}")));
            (StatusCode::PARTIAL_CONTENT, first, last + 1 - first)
        }
        Selection::Unsatisfiable => {
            let mut refusal = ApiError::NotSatisfiable(size).into_response();
            let range = text(format!("bytes */{size}"));
            refusal.headers_mut().insert(header::CONTENT_RANGE, range);
            return Ok(refusal);
        }
    };
    answer.insert(header::CONTENT_LENGTH, HeaderValue::from(count));
    let download = Download {
        reader: LogReader::new(app.clone(), org, id, offset + first as i64),
        left: count,
        app,
        caller,
        unchecked: 0,
        checked: Instant::now(),
    };
    Ok((status, answer, download.into_body()).into_response())
}

/// The `offset` of a query: bytes of a log to skip.
pub fn offset(query: &Query) -> Result<Option<i64>, ApiError> {
    query
        .parsed::<i64>("offset", OFFSET)?
        .map(|offset| Some(offset).filter(|offset| *offset >= 0))
        .map(|offset| offset.ok_or_else(|| ApiError::bad(format!("offset must be {OFFSET}"))))
        .transpose()
}

const OFFSET: &str = "a whole number from 0";

/// The number of bytes after `offset` in a log of `size` bytes.
pub fn remaining(size: i64, offset: i64) -> Result<u64, ApiError> {
    u64::try_from(size - offset).map_err(|_| ApiError::bad(format!("offset is too large: the log has {size} bytes")))
}

/// A log being downloaded: the bytes that existed when the request arrived, even if more are added meanwhile.
struct Download {
    reader: LogReader,
    left: u64,
    app: Arc<App>,
    caller: Caller,
    /// Bytes sent since the caller's access was last checked.
    unchecked: u64,
    /// When the caller's access was last checked.
    checked: Instant,
}

impl Download {
    fn into_body(self) -> Body {
        Body::from_stream(stream::try_unfold(self, async |mut download| {
            // Closing the connection tells the client that the log is incomplete.
            let piece = download.next().await.map_err(|failure| failure.to_string())?;
            Ok::<_, axum::BoxError>(piece.map(|piece| (piece, download)))
        }))
    }

    async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        if self.left == 0 {
            return Ok(None);
        }
        if self.checked.elapsed() >= RECHECK || self.unchecked >= RECHECK_BYTES {
            let mut tx = self.app.db.read().await?;
            if !self.caller.is_let_in(&mut tx, self.app.clock.now()).await? {
                return Err(ApiError::NoAuthentication);
            }
            (self.checked, self.unchecked) = (Instant::now(), 0);
        }
        let piece = self.reader.next().await?;
        let mut piece = piece.ok_or_else(|| ApiError::Internal("the log does not exist".to_owned()))?;
        piece.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= piece.len() as u64;
        self.unchecked += piece.len() as u64;
        Ok(Some(piece))
    }
}

/// A build's output is served as plain text only.
fn plain_text() -> HeaderMap {
    HeaderMap::from_iter([
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/plain; charset=utf-8"),
        ),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static("sandbox; default-src 'none'"),
        ),
        (header::ACCEPT_RANGES, HeaderValue::from_static("bytes")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // A buffering proxy would delay new output.
        (
            HeaderName::from_static("x-accel-buffering"),
            HeaderValue::from_static("no"),
        ),
    ])
}

fn text(value: String) -> HeaderValue {
    HeaderValue::try_from(value).unwrap_or(HeaderValue::from_static(""))
}
