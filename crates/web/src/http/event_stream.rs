//! Responses that stream server-sent events: of builds, and of the live parts of pages.

use std::time::Duration;

use axum::BoxError;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::Stream;

/// Proxies close connections that are idle for longer.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A response that streams events, with a comment whenever there was none for long.
pub fn event_stream(events: impl Stream<Item = Result<Event, BoxError>> + Send + 'static) -> Response {
    respond(events, KeepAlive::new().text("nothing new"))
}

/// Like [`event_stream`], for a script of a page. Scripts cannot see comments, so the event `beat` takes their place: without
/// it a script could not tell a part that does not change from a dead connection.
pub fn page_stream(events: impl Stream<Item = Result<Event, BoxError>> + Send + 'static) -> Response {
    respond(
        events,
        KeepAlive::new().event(Event::default().event("beat").data("beat")),
    )
}

fn respond(events: impl Stream<Item = Result<Event, BoxError>> + Send + 'static, heartbeat: KeepAlive) -> Response {
    let headers = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        // A buffering proxy would delay new events.
        (
            HeaderName::from_static("x-accel-buffering"),
            HeaderValue::from_static("no"),
        ),
    ];
    let heartbeat = heartbeat.interval(HEARTBEAT);
    (headers, Sse::new(events).keep_alive(heartbeat)).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use futures::stream;
    use http_body_util::BodyExt;
    use tokio::time::{Instant, sleep};

    use super::*;

    /// The bytes of a stream of one event.
    async fn bytes(event: Event) -> String {
        let response = event_stream(stream::iter([Ok(event)]));
        let bytes = to_bytes(response.into_body(), 1000).await.expect("a body");
        String::from_utf8(bytes.to_vec()).expect("a text")
    }

    async fn frame(body: &mut Body) -> Option<String> {
        let frame = body.frame().await?.expect("a frame").into_data().expect("data");
        Some(String::from_utf8(frame.to_vec()).expect("a text"))
    }

    #[tokio::test]
    async fn proxies_and_browsers_keep_no_events() {
        let response = event_stream(stream::empty());
        for (name, value) in [
            ("content-type", "text/event-stream"),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("x-accel-buffering", "no"),
        ] {
            let values: Vec<_> = response.headers().get_all(name).iter().collect();
            assert_eq!(values, [value], "{name}");
        }
    }

    #[tokio::test]
    async fn no_line_of_a_text_breaks_out_of_its_event() {
        let attack = "a\nevent: x\r\rid: 1\r\n\r\ndata: y";
        let sent = bytes(Event::default().data(attack)).await;
        let sent = sent.strip_suffix("\n\n").expect("an empty line at the end");
        let lines: Vec<_> = sent.split(['\n', '\r']).collect();
        assert!(lines.iter().all(|line| line.starts_with("data: ")), "{lines:?}");
        let text: Vec<_> = lines.iter().map(|line| &line[6..]).collect();
        assert_eq!(text, attack.split(['\n', '\r']).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn an_event_is_written_as_the_reference_shows() {
        let event = Event::default().id("5").event("log").data("{}");
        assert_eq!(bytes(event).await, "id: 5\nevent: log\ndata: {}\n\n");
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_stream_beats_and_ends_with_its_source() {
        let start = Instant::now();
        let late = async {
            sleep(Duration::from_secs(40)).await;
            Ok(Event::default().data("late"))
        };
        let mut body = event_stream(stream::once(late)).into_body();
        for seconds in [15, 30] {
            assert_eq!(frame(&mut body).await.as_deref(), Some(": nothing new\n\n"));
            assert_eq!(start.elapsed().as_secs(), seconds);
        }
        assert_eq!(frame(&mut body).await.as_deref(), Some("data: late\n\n"));
        assert_eq!(frame(&mut body).await, None);
        assert_eq!(start.elapsed().as_secs(), 40);
    }

    /// Browsers dispatch no event without data.
    #[tokio::test(start_paused = true)]
    async fn a_page_hears_the_beats() {
        let mut body = page_stream(stream::pending()).into_body();
        for _ in 0..2 {
            assert_eq!(frame(&mut body).await.as_deref(), Some("event: beat\ndata: beat\n\n"));
        }
    }
}
