//! `/build/log/stream`: the log of a build and its changes of state, live, as server-sent events
//! (`docs/reference/builds.md#following-the-log`).

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream;
use launchway_api::builds::{BuildView, LogEvent};
use launchway_api::error::ErrorBody;
use launchway_api::words::BuildStreamEvent;
use launchway_domain::build::{Build, BuildStatus};
use launchway_domain::id::{BuildId, OrgId};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::api_error::ApiError;
use crate::app::App;
use crate::build_log::LogReader;
use crate::build_news::StreamPlace;
use crate::caller::Caller;
use crate::http::build_log::{offset, remaining};
use crate::http::extract::Query;
use crate::ops::builds::view::view;

/// Another node tells this one nothing: it looks for itself.
const POLL: Duration = Duration::from_secs(1);
/// So often something is sent, or proxies would think the connection dead.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Then a stream ends and the client comes again, to be asked who it is.
const LONGEST: Duration = Duration::from_secs(5 * 60);
/// When an organization has too many streams open.
const COME_AGAIN: u64 = 10;

/// Follows a build: its log, its changes, its end. Resumes by `Last-Event-ID`.
///
/// `log` events carry a `LogEvent`; their id is the offset behind their bytes. `build` events carry the build, first as it is
/// and then whenever status, phase or the wish to cancel it changed. `end` is the last, with the build; a stream that ends
/// without it is to be opened again, which a browser's `EventSource` does by itself. It ends so within a second when the key,
/// the session or the membership that opened it is over.
#[utoipa::path(
    get,
    path = "/build/log/stream",
    tag = "Build",
    params(
        ("id" = String, Query, description = "The build"),
        ("offset" = Option<i64>, Query, description = "Bytes of the log to skip; `Last-Event-ID` wins", minimum = 0),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that came: the log goes on there"),
    ),
    responses(
        (status = 200, description = "Events until the build is over", body = String, content_type = "text/event-stream"),
        (status = 404, description = "No build has this id", body = ErrorBody),
    )
)]
pub async fn follow(
    State(app): State<Arc<App>>,
    caller: Caller,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = query.id("build")?;
    let asked = offset(&query)?;
    let start = last_event(&headers)?.or(asked).unwrap_or(0);
    let (org, id) = (caller.home()?, id.get()?);
    // Heard from before it is read: no change falls in between.
    let news = app.build_news.follow(id);
    let build = app.db.read().await?.org(org).build(id).await?;
    remaining(build.ok_or(ApiError::NoSuch("build"))?.log_size, start)?;
    let place = app
        .build_news
        .open_stream(org)
        .ok_or(ApiError::RateLimited(COME_AGAIN))?;
    let now = Instant::now();
    let follower = Follower {
        log: LogReader::new(app.clone(), org, id, start),
        app,
        caller,
        org,
        id,
        news,
        torn: Bytes::new(),
        shown: None,
        heartbeat: now + HEARTBEAT,
        until: now + LONGEST,
        ended: false,
        _place: place,
    };
    let events = stream::try_unfold(follower, async |mut follower| {
        let event = follower.next().await.map_err(|failure| failure.to_string())?;
        Ok::<_, axum::BoxError>(event.map(|event| (event, follower)))
    });
    Ok(event_stream(Body::from_stream(events)))
}

/// An answer that goes on as a stream of events.
pub fn event_stream(events: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        // A proxy that gathers bytes would hold back what is new.
        (
            HeaderName::from_static("x-accel-buffering"),
            HeaderValue::from_static("no"),
        ),
    ];
    (headers, events).into_response()
}

fn last_event(headers: &HeaderMap) -> Result<Option<i64>, ApiError> {
    let Some(value) = headers.get("last-event-id").filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let offset = value.to_str().ok().and_then(|text| text.parse().ok());
    match offset.filter(|offset: &i64| *offset >= 0) {
        Some(offset) => Ok(Some(offset)),
        None => Err(ApiError::bad("Last-Event-ID must be the id of an event of this stream")),
    }
}

/// One open stream. It makes an event when one is asked for, so a slow client holds one piece of the log at most.
struct Follower {
    app: Arc<App>,
    /// Who follows: asked for again before each event.
    caller: Caller,
    org: OrgId,
    id: BuildId,
    log: LogReader,
    news: watch::Receiver<()>,
    /// The beginning of a character whose end has not come yet.
    torn: Bytes,
    /// What the last `build` event was of.
    shown: Option<Shown>,
    heartbeat: Instant,
    until: Instant,
    ended: bool,
    _place: StreamPlace,
}

/// What a `build` event is sent for.
#[derive(PartialEq, Eq)]
struct Shown(BuildStatus, u32, Option<String>, bool);

impl Shown {
    fn of(build: &Build) -> Shown {
        let phase = build.phases.last().map(|phase| phase.name.clone());
        let state = &build.state;
        Shown(state.status, state.attempt, phase, state.cancel_requested)
    }
}

impl Follower {
    /// The next event; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            if self.ended || self.app.stopping.is_cancelled() || Instant::now() >= self.until {
                return Ok(None);
            }
            self.news.borrow_and_update();
            let mut tx = self.app.db.read().await?;
            if !self.caller.is_let_in(&mut tx, self.app.clock.now()).await? {
                return Ok(None);
            }
            let build = tx.org(self.org).build(self.id).await?;
            drop(tx);
            // Deleted meanwhile.
            let Some(build) = build else { return Ok(None) };
            if self.shown.as_ref() != Some(&Shown::of(&build)) && !build.state.status.is_final() {
                self.shown = Some(Shown::of(&build));
                return self.build_event(BuildStreamEvent::Build, &build).await.map(Some);
            }
            let is_over = build.state.status.is_final();
            if let Some(event) = self.log_event(is_over && self.log.offset() >= build.log_size).await? {
                return Ok(Some(event));
            }
            if is_over && self.log.offset() >= build.log_size {
                if !self.torn.is_empty() {
                    continue;
                }
                self.ended = true;
                return self.build_event(BuildStreamEvent::End, &build).await.map(Some);
            }
            if let Some(event) = self.wait().await {
                return Ok(Some(event));
            }
        }
    }

    /// The next piece of the log. What ends in the midst of a character waits for the rest, unless nothing more comes.
    async fn log_event(&mut self, is_all: bool) -> Result<Option<Bytes>, ApiError> {
        let start = self.log.offset() - self.torn.len() as i64;
        let piece = match self.log.next().await? {
            Some(piece) => piece,
            None if is_all && !self.torn.is_empty() => Bytes::new(),
            None => return Ok(None),
        };
        let mut bytes = [std::mem::take(&mut self.torn), piece].concat();
        if !is_all {
            self.torn = Bytes::copy_from_slice(&bytes[whole_characters(&bytes)..]);
            bytes.truncate(bytes.len() - self.torn.len());
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let log = LogEvent {
            offset: start,
            text: String::from_utf8_lossy(&bytes).into_owned(),
        };
        self.heartbeat = Instant::now() + HEARTBEAT;
        let id = start + bytes.len() as i64;
        event(&format!("id: {id}\nevent: {}", BuildStreamEvent::Log), &log).map(Some)
    }

    async fn build_event(&mut self, name: BuildStreamEvent, build: &Build) -> Result<Bytes, ApiError> {
        let mut tx = self.app.db.read().await?;
        let shown: BuildView = view(&self.app, &mut tx.org(self.org), build).await?;
        self.heartbeat = Instant::now() + HEARTBEAT;
        event(&format!("event: {name}"), &shown)
    }

    /// Waits for something to happen; gives what is sent when nothing does for long.
    async fn wait(&mut self) -> Option<Bytes> {
        let stopping = self.app.stopping.clone();
        tokio::select! {
            _ = self.news.changed() => {}
            () = tokio::time::sleep(POLL) => {}
            () = stopping.cancelled() => {}
        }
        (Instant::now() >= self.heartbeat).then(|| {
            self.heartbeat = Instant::now() + HEARTBEAT;
            Bytes::from_static(b": nothing new\n\n")
        })
    }
}

fn event(head: &str, data: &impl Serialize) -> Result<Bytes, ApiError> {
    // JSON has no line ends outside of its texts, where they are escaped.
    let data = serde_json::to_string(data).map_err(|error| ApiError::Internal(error.to_string()))?;
    Ok(Bytes::from(format!("{head}\ndata: {data}\n\n")))
}

/// How many of these bytes come before a character whose end is missing.
fn whole_characters(bytes: &[u8]) -> usize {
    let torn = bytes
        .utf8_chunks()
        .last()
        .map(|chunk| chunk.invalid())
        .filter(|torn| std::str::from_utf8(torn).is_err_and(|error| error.error_len().is_none()));
    bytes.len() - torn.map_or(0, <[u8]>::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_not_torn() {
        let text = "aé漢🚀".as_bytes();
        for (cut, whole) in [
            (0, 0),
            (1, 1),
            (2, 1),
            (3, 3),
            (4, 3),
            (5, 3),
            (6, 6),
            (7, 6),
            (8, 6),
            (9, 6),
            (10, 10),
        ] {
            assert_eq!(whole_characters(&text[..cut]), whole, "{cut}");
        }
        // What can be no beginning of a character does not wait for an end.
        for bytes in [&b"a\xff"[..], b"\xe6\x41", b"\xf0\x80", b"\x80", b"\xed\xa0"] {
            assert_eq!(whole_characters(bytes), bytes.len(), "{bytes:?}");
        }
    }
}
