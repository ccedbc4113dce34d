//! The shortcut of a connection: checks, also those of other services' clients, are answered from the bytes themselves, in front of the
//! HTTP implementation, which gets the connection with the first request that is anything else.

mod plain_request;

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, UNIX_EPOCH};

use axum::http::{Response, StatusCode};
use bytes::Bytes;
use httparse::Status;
use launchway_domain::time::{EpochMs, SECOND};
use launchway_ops::api_error::ApiError;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::io::poll_read_buf;
use tokio_util::sync::CancellationToken;

use crate::connection::{Connection, Unread};
use crate::http::update_check;

pub use self::plain_request::PlainRequest;

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

/// Answers checks until there is another request, the client is gone or silent for `limit`, or the server stops. `answer`
/// writes the answer to one check, or returns false for another request.
pub async fn serve(
    connection: &mut Connection,
    unread: &Unread,
    limit: Duration,
    stopping: &CancellationToken,
    answer: impl Fn(&PlainRequest<'_>, &mut Vec<u8>) -> bool,
) -> Next {
    let mut stopped = pin!(stopping.cancelled());
    let mut silence = Silence::new(limit);
    let (mut input, mut output) = (Vec::with_capacity(READ), Vec::new());
    loop {
        input.clear();
        let read = poll_fn(|cx| {
            let read = poll_read_buf(Pin::new(&mut *connection), cx, &mut input);
            if read.is_pending() && (stopped.as_mut().poll(cx).is_ready() || silence.is_over(cx)) {
                return Poll::Ready(Ok(0));
            }
            read
        });
        if !matches!(read.await, Ok(count) if count > 0) {
            return Next::Closed;
        }
        silence.restart();
        let answered = answer_all(&input, &mut output, &answer);
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

/// Writes the answers to all checks at the start of `input`; returns how many bytes these have.
fn answer_all(input: &[u8], output: &mut Vec<u8>, answer: &impl Fn(&PlainRequest<'_>, &mut Vec<u8>) -> bool) -> usize {
    output.clear();
    let mut rest = input;
    while !rest.is_empty() {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let Ok(Status::Complete(length)) = request.parse(rest) else {
            break;
        };
        let Some(plain) = PlainRequest::of(&request, &rest[length..]) else {
            break;
        };
        if !answer(&plain, output) {
            break;
        }
        rest = &rest[length + plain.body.map_or(0, <[u8]>::len)..];
    }
    input.len() - rest.len()
}

/// Writes the answer to a check, with the id of its request, and returns its status.
pub fn push_answer(output: &mut Vec<u8>, result: Result<Bytes, ApiError>, id: &[u8], now: EpochMs) -> StatusCode {
    match result {
        Ok(body) => {
            output.extend_from_slice(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                  cache-control: no-cache, no-store, must-revalidate\r\naccess-control-allow-origin: *\r\n",
            );
            push_end(output, id, body.len(), now);
            output.extend_from_slice(&body);
            StatusCode::OK
        }
        Err(failure) => {
            let response = update_check::refuse(&failure);
            push_response(output, &response, id, now);
            response.status()
        }
    }
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
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    let mut rest = length;
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    output.extend_from_slice(&digits[first..]);
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

/// Notices when a client sends nothing for too long. The timer is not moved with each request, only when it fires.
struct Silence {
    limit: Duration,
    since: Instant,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Silence {
    fn new(limit: Duration) -> Silence {
        Silence {
            limit,
            since: Instant::now(),
            timer: None,
        }
    }

    fn restart(&mut self) {
        self.since = Instant::now();
    }

    fn is_over(&mut self, cx: &mut std::task::Context<'_>) -> bool {
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(self.limit)));
        while timer.as_mut().poll(cx).is_ready() {
            let end = self.since + self.limit;
            if Instant::now() >= end {
                return true;
            }
            timer.as_mut().reset(end);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Path, query and body of the plain requests at the start of a text.
    fn read_all(text: &str) -> Vec<(String, String, Option<String>)> {
        let read = std::cell::RefCell::new(Vec::new());
        answer_all(text.as_bytes(), &mut Vec::new(), &|request, _| {
            let body = request.body.map(|body| String::from_utf8(body.to_vec()).unwrap());
            read.borrow_mut()
                .push((request.path.to_owned(), request.query.to_owned(), body));
            true
        });
        read.into_inner()
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
    fn a_date_has_the_form_of_headers() {
        for _ in 0..2 {
            assert_eq!(&date(784_111_777_999), b"Sun, 06 Nov 1994 08:49:37 GMT");
            assert_eq!(&date(0), b"Thu, 01 Jan 1970 00:00:00 GMT");
        }
    }
}
