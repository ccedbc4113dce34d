//! The body of a request as it arrives. A body that arrives too slowly fails for every reader; one that is not read to
//! its end is noted, so that its connection closes gracefully.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::BoxError;
use axum::body::Body as HttpBody;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use launchway_ops::api_error::ApiError;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::connection::{Timeouts, Unread};

/// The characters of a header that a message repeats.
const MAX_WORD: usize = 40;

/// The client sends the body of its request too slowly.
#[derive(Debug, thiserror::Error)]
#[error("the body arrived too slowly")]
pub struct BodyTimeoutError;

/// A body with deadlines. Only the time that the service waits for the client counts, not its own processing time.
pub struct RequestBody<B: Body> {
    body: B,
    timeouts: Timeouts,
    unread: Unread,
    received: u64,
    waited: Duration,
    /// When it started to wait for the next bytes, and when it gives up.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
    is_whole: bool,
}

impl<B: Body> RequestBody<B> {
    /// The body of a request on a connection.
    pub fn new(body: B, timeouts: Timeouts, unread: Unread) -> RequestBody<B> {
        RequestBody {
            is_whole: body.is_end_stream(),
            body,
            timeouts,
            unread,
            received: 0,
            waited: Duration::ZERO,
            waiting: None,
        }
    }

    /// How long the next bytes may take: bounded for a single wait and for everything received so far.
    fn time_left(&self) -> Duration {
        let earned = Duration::from_secs_f64(self.received as f64 / f64::from(self.timeouts.body_rate.max(1)));
        let in_all = (self.timeouts.body + earned).saturating_sub(self.waited);
        in_all.min(self.timeouts.body_idle)
    }
}

impl<B> Body for RequestBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            if let Some((since, _)) = this.waiting.take() {
                this.waited += since.elapsed();
            }
            match &frame {
                Some(Ok(frame)) => {
                    this.received += frame.data_ref().map_or(0, Bytes::len) as u64;
                    this.is_whole = this.body.is_end_stream();
                }
                Some(Err(_)) => {}
                None => this.is_whole = true,
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let left = this.time_left();
        let (_, given_up) = this.waiting.get_or_insert_with(|| {
            let now = Instant::now();
            (now, Box::pin(sleep_until(now + left)))
        });
        ready!(given_up.as_mut().poll(cx));
        Poll::Ready(Some(Err(BodyTimeoutError.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B: Body> Drop for RequestBody<B> {
    fn drop(&mut self) {
        match self.is_whole {
            true => self.unread.end_request(),
            false => self.unread.note(),
        }
    }
}

/// Reads a body to its end, at most `limit` bytes; a larger one fails with `too_large`. An announced size is checked
/// before anything is read.
pub async fn whole_body(headers: &HeaderMap, body: HttpBody, limit: usize, too_large: &str) -> Result<Bytes, ApiError> {
    if let Some(encoding) = content_encoding(headers) {
        return Err(ApiError::bad(format!(
            "Content-Encoding {encoding} is not supported. Send the body without compression."
        )));
    }
    let refused = || ApiError::TooLarge(too_large.to_owned());
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|size| size > limit as u64) {
        return Err(refused());
    }
    match Limited::new(body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(refused()),
        Err(error) if is_too_slow(&*error) => Err(ApiError::BodyTimeoutError),
        Err(_) => Err(ApiError::bad("The body ended early")),
    }
}

/// The encoding of a body that is not sent as it is.
fn content_encoding(headers: &HeaderMap) -> Option<String> {
    let encodings = headers.get_all(header::CONTENT_ENCODING).iter();
    let words = encodings.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let mut words = words.map(|word| {
        String::from_utf8_lossy(word)
            .trim()
            .chars()
            .take(MAX_WORD)
            .collect::<String>()
    });
    words.find(|word| !word.is_empty() && !word.eq_ignore_ascii_case("identity"))
}

/// Whether an error was caused by a body that came too slowly.
fn is_too_slow(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<BodyTimeoutError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::{Stream, StreamExt, stream};
    use http_body_util::StreamBody;

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(30);

    /// A body of pieces that arrive at this interval, and then ends.
    fn pieces(every: Duration, size: usize, count: usize) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> {
        stream::iter(0..count).then(move |_| async move {
            tokio::time::sleep(every).await;
            Ok(Frame::data(Bytes::from(vec![0; size])))
        })
    }

    /// Reads a body whose client is granted a second for each 1000 bytes.
    async fn read(
        body: impl Stream<Item = Result<Frame<Bytes>, Infallible>> + Send + 'static,
    ) -> Result<usize, ApiError> {
        let timeouts = Timeouts {
            body_idle: TIMEOUT,
            body: TIMEOUT,
            body_rate: 1000,
            ..Timeouts::default()
        };
        let body = RequestBody::new(StreamBody::new(Box::pin(body)), timeouts, Unread::default());
        let whole = whole_body(&HeaderMap::new(), HttpBody::new(body), 1 << 20, "too large").await;
        whole.map(|bytes| bytes.len())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_may_take_long_that_comes_fast_enough() {
        let hour = pieces(Duration::from_secs(10), 10_000, 100);
        assert_eq!(read(hour).await.expect("whole"), 1_000_000);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stands_still_fails() {
        let started = Instant::now();
        let begun = pieces(Duration::ZERO, 500_000, 1).chain(stream::pending());
        assert!(matches!(read(begun).await, Err(ApiError::BodyTimeoutError)));
        assert_eq!(started.elapsed().as_secs(), TIMEOUT.as_secs());
        assert!(matches!(read(stream::pending()).await, Err(ApiError::BodyTimeoutError)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_trickles_fails() {
        let started = Instant::now();
        let drops = pieces(Duration::from_secs(1), 1, 1 << 20);
        assert!(matches!(read(drops).await, Err(ApiError::BodyTimeoutError)));
        assert_eq!(started.elapsed().as_secs(), TIMEOUT.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_that_the_service_takes_does_not_count() {
        let body = StreamBody::new(Box::pin(pieces(Duration::from_secs(1), 10, 20)));
        let mut body = RequestBody::new(body, Timeouts::default(), Unread::default());
        let mut size = 0;
        while let Some(frame) = body.frame().await {
            size += frame.expect("a piece").data_ref().map_or(0, Bytes::len);
            tokio::time::sleep(Duration::from_secs(3600)).await;
        }
        assert_eq!(size, 200);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_is_not_read_to_its_end_is_noted() {
        for (frames, is_noted) in [(0, true), (1, true), (2, false)] {
            let unread = Unread::default();
            let body = StreamBody::new(Box::pin(pieces(Duration::ZERO, 1, 1)));
            let mut body = RequestBody::new(body, Timeouts::default(), unread.clone());
            for _ in 0..frames {
                body.frame().await;
            }
            drop(body);
            assert_eq!(unread.is_noted(), is_noted, "{frames}");
        }
    }
}
