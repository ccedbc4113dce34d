//! The shortcut of a connection: checks, also those of other services' clients, are answered from the bytes themselves, in front of the
//! HTTP implementation, which gets the connection with the first request that is anything else.

mod plain_request;
mod waiting;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, UNIX_EPOCH};

use axum::http::{Response, StatusCode};
use bytes::Bytes;
use httparse::Status;
use launchway_domain::time::{EpochMs, SECOND};
use launchway_ops::api_error::ApiError;
use launchway_ota::Place;
use tokio::io::AsyncWriteExt;
use tokio::task::yield_now;
use tokio_util::io::poll_read_buf;

use crate::connection::{Connection, Unread};
use crate::http::update_check;

pub use plain_request::PlainRequest;
pub use waiting::Stopping;
use waiting::Waiting;

/// Bytes that are read at once. A longer request is not answered here.
const READ: usize = 2 << 10;
/// The headers that a request may have here.
const HEADERS: usize = 32;
/// The length of a date in a header.
const DATE: usize = 29;

/// What becomes of a connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// It is over.
    Closed,
    /// The HTTP implementation continues, with the bytes that the connection returns first.
    Http,
}

/// Who answers the checks of a connection.
pub trait Checks {
    /// Begins to fetch the place of this bundle, still percent-encoded.
    fn prefetch_place(&self, bundle: &str) -> Option<Place>;

    /// Begins to fetch the bundle at this place.
    fn prefetch_bundle(&self, place: Place);

    /// Writes the answer to one check, or returns false for another request.
    fn answer(&self, request: &PlainRequest<'_>, output: &mut Vec<u8>) -> bool;
}

/// Answers checks until there is another request, the client is gone or silent for `limit`, or the server stops.
pub async fn serve(
    connection: &mut Connection,
    unread: &Unread,
    limit: Duration,
    stopping: &Stopping,
    checks: &(impl Checks + Sync),
) -> Next {
    let mut waiting = Waiting::new(limit, stopping);
    let (mut input, mut output) = (Vec::with_capacity(READ), Vec::new());
    loop {
        input.clear();
        let mut is_known_to_go_on = waiting.restart();
        let read = poll_fn(|cx| {
            let read = poll_read_buf(Pin::new(&mut *connection), cx, &mut input);
            if read.is_pending() && !std::mem::take(&mut is_known_to_go_on) && waiting.is_over(cx) {
                return Poll::Ready(None);
            }
            read.map(Some)
        });
        let read = match read.await {
            Some(read) => read,
            None => read_last(connection, &mut input).await,
        };
        if !matches!(read, Ok(count) if count > 0) {
            return Next::Closed;
        }
        let answered = answer_all(&input, &mut output, checks);
        if answered > 0 {
            unread.begin_request();
            unread.end_request();
            if connection.write_all(&output).await.is_err() {
                return Next::Closed;
            }
        }
        if answered < input.len() {
            input.drain(..answered);
            connection.put_back(input);
            return Next::Http;
        }
    }
}

/// Reads what the client sent before its connection was over: the runtime may not have noticed it yet.
async fn read_last(connection: &mut Connection, input: &mut Vec<u8>) -> io::Result<usize> {
    // Now it does.
    yield_now().await;
    poll_fn(|cx| {
        let read = poll_read_buf(Pin::new(&mut *connection), cx, input);
        Poll::Ready(match read {
            Poll::Ready(read) => read,
            Poll::Pending => Ok(0),
        })
    })
    .await
}

/// The bundle in the path of the check that `input` begins with.
fn bundle_of(input: &[u8]) -> Option<&str> {
    let rest = input
        .strip_prefix(b"GET ")?
        .strip_prefix(update_check::PREFIX.as_bytes())?;
    let end = rest.iter().position(|byte| matches!(byte, b'?' | b' '))?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// Writes the answers to all checks at the start of `input`; returns how many bytes these have.
fn answer_all(input: &[u8], output: &mut Vec<u8>, checks: &impl Checks) -> usize {
    output.clear();
    let mut rest = input;
    while !rest.is_empty() {
        // The processor fetches the one while the request is parsed, and the other while its query is.
        let place = bundle_of(rest).and_then(|bundle| checks.prefetch_place(bundle));
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let parsed = request.parse(rest);
        if let Some(place) = place {
            checks.prefetch_bundle(place);
        }
        let Ok(Status::Complete(length)) = parsed else {
            break;
        };
        let Some(plain) = PlainRequest::of(&request, &rest[length..]) else {
            break;
        };
        if !checks.answer(&plain, output) {
            break;
        }
        rest = &rest[length + plain.body.map_or(0, <[u8]>::len)..];
    }
    input.len() - rest.len()
}

/// Writes the answer to a check, with the id of its request, and returns its status. `write_body` writes its body.
pub fn push_answer(
    output: &mut Vec<u8>,
    write_body: impl FnOnce(&mut Vec<u8>) -> Result<(), ApiError>,
    id: &[u8],
    now: EpochMs,
) -> StatusCode {
    // The head has the length of the body. A buffer of each connection would take memory from those that wait.
    thread_local! {
        static BODY: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    BODY.with_borrow_mut(|body| {
        body.clear();
        if let Err(failure) = write_body(body) {
            let response = update_check::refuse(&failure);
            push_response(output, &response, id, now);
            return response.status();
        }
        output.extend_from_slice(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
              cache-control: no-cache, no-store, must-revalidate\r\naccess-control-allow-origin: *\r\n",
        );
        push_end(output, id, body.len(), now);
        output.extend_from_slice(body);
        StatusCode::OK
    })
}

/// Writes a response with all of its headers.
pub fn push_response(output: &mut Vec<u8>, response: &Response<Bytes>, id: &[u8], now: EpochMs) {
    let status = response.status();
    for part in [
        "HTTP/1.1 ",
        status.as_str(),
        " ",
        status.canonical_reason().unwrap_or_default(),
        "\r\n",
    ] {
        output.extend_from_slice(part.as_bytes());
    }
    for (name, value) in response.headers() {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            output.extend_from_slice(part);
        }
    }
    if status == StatusCode::NO_CONTENT {
        // It has no body, and says nothing about one.
        push_id(output, id);
        push_date(output, now);
        return;
    }
    push_end(output, id, response.body().len(), now);
    output.extend_from_slice(response.body());
}

/// Writes the last headers.
fn push_end(output: &mut Vec<u8>, id: &[u8], length: usize, now: EpochMs) {
    push_id(output, id);
    output.extend_from_slice(b"content-length: ");
    output.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
    output.extend_from_slice(b"\r\n");
    push_date(output, now);
}

fn push_id(output: &mut Vec<u8>, id: &[u8]) {
    output.extend_from_slice(b"x-request-id: ");
    output.extend_from_slice(id);
    output.extend_from_slice(b"\r\n");
}

fn push_date(output: &mut Vec<u8>, now: EpochMs) {
    output.extend_from_slice(b"date: ");
    output.extend_from_slice(&date(now));
    output.extend_from_slice(b"\r\n\r\n");
}

/// The time as in a `Date` header. It is written once a second.
fn date(now: EpochMs) -> [u8; DATE] {
    thread_local! {
        static WRITTEN: Cell<(i64, [u8; DATE])> = const { Cell::new((i64::MIN, [b' '; DATE])) };
    }
    let second = now.div_euclid(SECOND);
    let (written, text) = WRITTEN.get();
    if written == second {
        return text;
    }
    let time = UNIX_EPOCH + Duration::from_secs(u64::try_from(second).unwrap_or(0));
    let mut text = [b' '; DATE];
    let formatted = httpdate::fmt_http_date(time);
    for (to, from) in text.iter_mut().zip(formatted.bytes()) {
        *to = from;
    }
    WRITTEN.set((second, text));
    text
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::sync::Mutex;

    use tokio::net::TcpStream;

    use super::*;
    use crate::connection::Timeouts;
    use crate::connection_slots::ConnectionSlots;

    /// Path, query and body of each request.
    #[derive(Default)]
    struct Reading(Mutex<Vec<(String, String, Option<String>)>>);

    impl Checks for Reading {
        fn prefetch_place(&self, _: &str) -> Option<Place> {
            None
        }

        fn prefetch_bundle(&self, _: Place) {}

        fn answer(&self, request: &PlainRequest<'_>, output: &mut Vec<u8>) -> bool {
            let body = request.body.map(|body| String::from_utf8(body.to_vec()).unwrap());
            let read = (request.path.to_owned(), request.query.to_owned(), body);
            self.0.lock().unwrap().push(read);
            output.extend_from_slice(b"answer");
            true
        }
    }

    /// The plain requests at the start of a text.
    fn read_all(text: &str) -> Vec<(String, String, Option<String>)> {
        let reading = Reading::default();
        answer_all(text.as_bytes(), &mut Vec::new(), &reading);
        reading.0.into_inner().unwrap()
    }

    fn read(request: &str) -> Option<(String, String)> {
        let first = read_all(request).into_iter().next();
        first.map(|(path, query, _)| (path, query))
    }

    #[test]
    fn only_plain_checks_are_read() {
        let check = |target: &str, more: &str| read(&format!("GET {target} HTTP/1.1\r\nHost: a\r\n{more}\r\n"));
        let path = "/api/update/check/com.example.app?currentVersion=1.0.0&deviceId=%20";
        let found = Some((
            "/api/update/check/com.example.app".to_owned(),
            "currentVersion=1.0.0&deviceId=%20".to_owned(),
        ));
        assert_eq!(check(path, ""), found);
        assert_eq!(
            check(path, "Connection: Keep-Alive\r\nX-Forwarded-For: 192.0.2.1\r\n"),
            found
        );
        assert_eq!(
            check("/api/update/check/", ""),
            Some(("/api/update/check/".to_owned(), String::new()))
        );
        for more in [
            "Content-Length: 0\r\n",
            "content-length: 5\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Connection: close\r\n",
            "Connection: upgrade\r\nUpgrade: h2c\r\n",
            "Expect: 100-continue\r\n",
        ] {
            assert_eq!(check(path, more), None, "{more:?}");
        }
        for target in [
            "/api/update/check/a#b",
            "/api/update/check/a\"",
            "http://a/api/update/check/a",
            "*",
        ] {
            assert_eq!(check(target, ""), None, "{target:?}");
        }
        for request in [
            format!("POST {path} HTTP/1.1\r\n\r\n"),
            format!("GET {path} HTTP/1.0\r\n\r\n"),
            format!("GET {path} HTTP/1.1\r\nHost: a\r\n"),
            format!("GET {path} HTTP/1.1\r\nHost : a\r\n\r\n"),
        ] {
            assert_eq!(read(&request), None, "{request:?}");
        }
    }

    #[test]
    fn a_body_is_read_if_all_of_it_has_arrived() {
        let post = |more: &str, body: &str| format!("POST /capgo/updates HTTP/1.1\r\nHost: a\r\n{more}\r\n{body}");
        let get = "GET /expo/a HTTP/1.1\r\nHost: a\r\n\r\n";
        let whole = post("Content-Length: 2\r\n", "{}");
        let found = |body: &str| ("/capgo/updates".to_owned(), String::new(), Some(body.to_owned()));
        let next = ("/expo/a".to_owned(), String::new(), None);
        assert_eq!(read_all(&whole), [found("{}")]);
        assert_eq!(
            read_all(&format!("{whole}{get}{whole}")),
            [found("{}"), next, found("{}")]
        );
        assert_eq!(read_all(&post("content-length: 0\r\n", "")), [found("")]);
        // What is incomplete is left to the HTTP implementation, and so is what follows it.
        assert_eq!(
            read_all(&format!("{whole}{}", post("Content-Length: 3\r\n", "{}"))),
            [found("{}")]
        );
        for more in [
            "",
            "Content-Length: +2\r\n",
            "Content-Length: 2, 2\r\n",
            "Content-Length: 2\r\nContent-Length: 2\r\n",
            "Content-Length: 000002\r\n",
            "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
            "Content-Length: 2\r\nExpect: 100-continue\r\n",
            "Transfer-Encoding: chunked\r\n",
        ] {
            assert_eq!(read_all(&post(more, "{}")), [], "{more:?}");
        }
    }

    #[test]
    fn an_answer_without_content_says_nothing_about_it() {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let mut output = Vec::new();
        push_response(&mut output, &response, b"1", 0);
        let expected = "HTTP/1.1 204 No Content\r\nx-request-id: 1\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n";
        assert_eq!(String::from_utf8(output).unwrap(), expected);
    }

    #[test]
    fn the_bundle_is_read_before_the_rest_of_a_check() {
        for (input, bundle) in [
            (
                "GET /api/update/check/com.example.app?currentVersion=1 HTTP/1.1\r\n",
                Some("com.example.app"),
            ),
            ("GET /api/update/check/com.example.app HTTP", Some("com.example.app")),
            ("GET /api/update/check/?a", Some("")),
            ("GET /api/update/check/com.exam", None),
            ("POST /api/update/check/com.example.app ", None),
            ("GET /healthz HTTP/1.1\r\n\r\n", None),
            ("", None),
        ] {
            assert_eq!(bundle_of(input.as_bytes()), bundle, "{input:?}");
        }
        assert_eq!(bundle_of(b"GET /api/update/check/\xff?"), None);
    }

    /// A thread that starts late finds a new connection, its request and the end of the server at once.
    #[tokio::test]
    async fn a_request_that_came_before_the_end_is_answered() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, peer) = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        client
            .write_all(b"GET /api/update/check/com.example.app HTTP/1.1\r\nHost: a\r\n\r\n")
            .unwrap();
        let (stopping, unread) = (Stopping::default(), Unread::default());
        stopping.set();

        let slot = ConnectionSlots::new(1, 1).take(peer.ip(), false).unwrap();
        let stream = TcpStream::from_std(stream).unwrap();
        let mut connection = Connection::new(stream, Timeouts::default(), unread.clone(), slot);
        let reading = Reading::default();
        let next = serve(&mut connection, &unread, Duration::MAX, &stopping, &reading).await;
        assert_eq!(next, Next::Closed);
        drop(connection);
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "answer");
    }

    #[test]
    fn a_date_has_the_form_of_headers() {
        for _ in 0..2 {
            assert_eq!(&date(784_111_777_999), b"Sun, 06 Nov 1994 08:49:37 GMT");
            assert_eq!(&date(0), b"Thu, 01 Jan 1970 00:00:00 GMT");
        }
    }
}
