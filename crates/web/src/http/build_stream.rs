//! `/build/log/stream`: a build's log and state changes, live, as server-sent events
//! (`docs/reference/builds.md#following-the-log`).

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::response::sse::Event;
use bytes::Bytes;
use futures::stream;
use launchway_api::builds::{BuildView, LogEvent};
use launchway_api::error::ErrorBody;
use launchway_api::words::BuildStreamEvent;
use launchway_domain::build::{Build, BuildStatus};
use launchway_domain::id::{BuildId, OrgId};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::build_log::LogReader;
use launchway_ops::build_news::StreamPlace;
use launchway_ops::builds::view::view;
use launchway_ops::caller::Caller;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::http::build_logs::{offset, remaining};
use crate::http::event_stream::event_stream;
use crate::query::Query;

/// Other nodes do not notify this one, so it polls.
const POLL: Duration = Duration::from_secs(1);
/// A stream ends after this time. The client reconnects and is authenticated again.
const MAX_STREAM_TIME: Duration = Duration::from_secs(5 * 60);
/// `Retry-After` in seconds if an organization has too many streams open.
const RETRY_AFTER_SECONDS: u64 = 10;

/// Streams a build: its log, its changes and its end. `Last-Event-ID` resumes the stream.
///
/// `log` events carry a `LogEvent`, and their id is the offset after their bytes. `build` events carry the build: once
/// at the start, and whenever its status, its phase or `cancelRequested` changes. The last event is `end`, with the
/// build. If a stream ends without it, open it again; a browser's `EventSource` does so by itself. Within a second
/// after the key, session or membership that opened a stream ends, the stream ends this way.
#[utoipa::path(
    get,
    path = "/build/log/stream",
    tag = "Build",
    params(
        ("id" = String, Query, description = "The build"),
        ("offset" = Option<i64>, Query, description = "The number of bytes of the log to skip; `Last-Event-ID` takes precedence", minimum = 0),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last received event, after which the log continues"),
    ),
    responses(
        (status = 200, description = "Events until the build ends", body = String, content_type = "text/event-stream"),
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
    let (org, id) = (caller.org_id()?, id.get()?);
    // Subscribes before the first read, so that no change in between is missed.
    let news = app.build_news.follow(id);
    let build = app.db.read().await?.org(org).build(id).await?;
    remaining(build.ok_or(ApiError::NoSuch("build"))?.log_size, start)?;
    let place = app
        .build_news
        .open_stream(org)
        .ok_or(ApiError::RateLimited(RETRY_AFTER_SECONDS))?;
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
        until: now + MAX_STREAM_TIME,
        ended: false,
        _place: place,
    };
    let events = stream::try_unfold(follower, async |mut follower| {
        let event = follower.next().await.map_err(|failure| failure.to_string())?;
        Ok::<_, axum::BoxError>(event.map(|event| (event, follower)))
    });
    Ok(event_stream(events))
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

/// An open stream. It creates events on demand, so a slow client occupies the memory of at most one piece of the log.
struct Follower {
    app: Arc<App>,
    /// The caller, whose access is checked again before each event.
    caller: Caller,
    org: OrgId,
    id: BuildId,
    log: LogReader,
    news: watch::Receiver<()>,
    /// The beginning of a character that is still incomplete.
    torn: Bytes,
    /// The state in the last `build` event.
    shown: Option<ShownState>,
    until: Instant,
    ended: bool,
    _place: StreamPlace,
}

/// The state whose changes cause a `build` event.
#[derive(PartialEq, Eq)]
struct ShownState(BuildStatus, u32, Option<String>, bool);

impl ShownState {
    fn of(build: &Build) -> ShownState {
        let phase = build.phases.last().map(|phase| phase.name.clone());
        let state = &build.state;
        ShownState(state.status, state.attempt, phase, state.cancel_requested)
    }
}

impl Follower {
    /// The next event; `None` at the end.
    async fn next(&mut self) -> Result<Option<Event>, ApiError> {
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
            if self.shown.as_ref() != Some(&ShownState::of(&build)) && !build.state.status.is_final() {
                self.shown = Some(ShownState::of(&build));
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
            self.wait().await;
        }
    }

    /// The next piece of the log. An incomplete character waits for the rest, unless the log has ended.
    async fn log_event(&mut self, is_all: bool) -> Result<Option<Event>, ApiError> {
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
        let id = start + bytes.len() as i64;
        event(Event::default().id(id.to_string()), BuildStreamEvent::Log, &log).map(Some)
    }

    async fn build_event(&mut self, name: BuildStreamEvent, build: &Build) -> Result<Event, ApiError> {
        let mut tx = self.app.db.read().await?;
        let shown: BuildView = view(&self.app, &mut tx.org(self.org), build).await?;
        event(Event::default(), name, &shown)
    }

    /// Waits for a change.
    async fn wait(&mut self) {
        let stopping = self.app.stopping.clone();
        tokio::select! {
            _ = self.news.changed() => {}
            () = tokio::time::sleep(POLL) => {}
            () = stopping.cancelled() => {}
        }
    }
}

fn event(event: Event, name: BuildStreamEvent, data: &impl Serialize) -> Result<Event, ApiError> {
    let event = event.event(name.as_str()).json_data(data);
    event.map_err(|error| ApiError::Internal(error.to_string()))
}

/// The length of these bytes without an incomplete character at the end.
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
        // Bytes that cannot begin a character are not withheld.
        for bytes in [&b"a\xff"[..], b"\xe6\x41", b"\xf0\x80", b"\x80", b"\xed\xa0"] {
            assert_eq!(whole_characters(bytes), bytes.len(), "{bytes:?}");
        }
    }
}
