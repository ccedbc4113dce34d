//! The answers to checks as bytes of HTTP.

use std::cell::{Cell, RefCell};
use std::time::{Duration, UNIX_EPOCH};

use axum::http::{Response, StatusCode};
use bytes::Bytes;
use launchway_domain::time::{EpochMs, SECOND};
use launchway_ops::api_error::ApiError;

use super::Output;
use crate::http::update_check;

/// The length of a date in a header.
const DATE: usize = 29;

/// Writes the answer to a check, with the id of its request, and returns its status. `write_body` writes its body.
pub fn push_answer(
    output: &mut Output,
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
        let output = &mut output.bytes;
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
pub fn push_response(output: &mut Output, response: &Response<Bytes>, id: &[u8], now: EpochMs) {
    push_head(&mut output.bytes, response, id, now);
    if response.status() != StatusCode::NO_CONTENT {
        output.push_body(response.body());
    }
}

fn push_head(output: &mut Vec<u8>, response: &Response<Bytes>, id: &[u8], now: EpochMs) {
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
    use super::*;

    #[test]
    fn an_answer_without_content_says_nothing_about_it() {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let mut output = Output::default();
        push_response(&mut output, &response, b"1", 0);
        let expected = "HTTP/1.1 204 No Content\r\nx-request-id: 1\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n";
        assert_eq!(String::from_utf8(output.bytes).unwrap(), expected);
    }

    #[test]
    fn a_date_has_the_form_of_headers() {
        for _ in 0..2 {
            assert_eq!(&date(784_111_777_999), b"Sun, 06 Nov 1994 08:49:37 GMT");
            assert_eq!(&date(0), b"Thu, 01 Jan 1970 00:00:00 GMT");
        }
    }
}
