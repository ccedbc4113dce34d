//! Live parts of pages: sent again as server-sent events whenever their HTML changes.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use axum::response::sse::Event;
use futures::stream;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::build_news::StreamPlace;
use launchway_ops::caller::Caller;
use tokio::time::Instant;

use crate::http::event_stream::page_stream;

/// How often a part is rendered and compared.
const POLL: Duration = Duration::from_secs(1);
/// A stream ends after this time. The browser reconnects and is authenticated again.
const MAX_STREAM_TIME: Duration = Duration::from_secs(5 * 60);
/// `Retry-After` in seconds if an organization has too many streams open.
const RETRY_AFTER_SECONDS: u64 = 10;

/// A part of a page that can be rendered again.
pub trait Part: Send + 'static {
    /// Renders it: `None` if there is nothing to show any more.
    fn make(&self) -> impl Future<Output = Result<Option<RenderedPart>, ApiError>> + Send;
}

/// A rendered part.
pub struct RenderedPart {
    /// Its HTML.
    pub html: String,
    /// Whether it will not change any more.
    pub is_last: bool,
}

struct Follower<P> {
    app: Arc<App>,
    /// The caller, whose access is checked again before each event.
    caller: Caller,
    part: P,
    shown: Option<String>,
    /// Whether the browser must still be told that the stream is complete.
    closes: bool,
    ended: bool,
    until: Instant,
    _place: StreamPlace,
}

/// Streams a part: once at the start, then whenever it changed, as long as the caller has access.
pub fn follow(app: Arc<App>, caller: Caller, part: impl Part) -> Result<Response, ApiError> {
    let place = app
        .build_news
        .open_stream(caller.org_id()?)
        .ok_or(ApiError::RateLimited(RETRY_AFTER_SECONDS))?;
    let now = Instant::now();
    let follower = Follower {
        app,
        caller,
        part,
        shown: None,
        closes: false,
        ended: false,
        until: now + MAX_STREAM_TIME,
        _place: place,
    };
    let events = stream::try_unfold(follower, async |mut follower| {
        let event = follower.next().await.map_err(|failure| failure.to_string())?;
        Ok::<_, axum::BoxError>(event.map(|event| (event, follower)))
    });
    Ok(page_stream(events))
}

impl<P: Part> Follower<P> {
    async fn next(&mut self) -> Result<Option<Event>, ApiError> {
        loop {
            if std::mem::take(&mut self.closes) {
                self.ended = true;
                return Ok(Some(Event::default().event("over").data("over")));
            }
            if self.ended || self.app.stopping.is_cancelled() || Instant::now() >= self.until {
                return Ok(None);
            }
            let mut tx = self.app.db.read().await?;
            if !self.caller.is_let_in(&mut tx, self.app.clock.now()).await? {
                return Ok(None);
            }
            drop(tx);
            let Some(part) = self.part.make().await? else {
                return Ok(None);
            };
            self.closes = part.is_last;
            if self.shown.as_ref() != Some(&part.html) {
                let event = Event::default().data(&part.html);
                self.shown = Some(part.html);
                return Ok(Some(event));
            }
            if self.closes {
                continue;
            }
            let stopping = self.app.stopping.clone();
            tokio::select! {
                () = tokio::time::sleep(POLL) => {}
                () = stopping.cancelled() => {}
            }
        }
    }
}
