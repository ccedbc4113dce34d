//! Connections of checks, on their bytes and over real sockets.

use std::sync::{Arc, Mutex};

use bytes::Bytes;

use super::*;

/// Path, query and body of a request.
type Seen = (String, String, Option<String>);

/// Remembers the requests that it answered.
#[derive(Clone, Default)]
struct Reading(Arc<Mutex<Vec<Seen>>>);

impl Client for Reading {
    fn prefetch_place(&self, _: &str) -> Option<Place> {
        None
    }

    fn prefetch_bundles(&self, _: &[Place]) {}

    fn answer(&self, request: &PlainRequest<'_>, output: &mut Output) -> bool {
        let body = request.body.map(|body| String::from_utf8(body.to_vec()).unwrap());
        let seen = (request.path.to_owned(), request.query.to_owned(), body);
        self.0.lock().unwrap().push(seen);
        output.bytes.extend_from_slice(b"answer");
        true
    }

    fn take_over(self, _: std::net::TcpStream, _: Vec<u8>) {}
}

/// The plain requests at the start of a text.
fn read_all(text: &str) -> Vec<Seen> {
    let reading = Reading::default();
    answer_all(text.as_bytes(), None, &mut Output::default(), &reading);
    let seen = reading.0.lock().unwrap();
    seen.clone()
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
        format!("POST {path} HTTP/1.1\r\nHost: a\r\n\r\n"),
        format!("GET {path} HTTP/1.0\r\nHost: a\r\n\r\n"),
        format!("GET {path} HTTP/1.1\r\nHost: a\r\n"),
        format!("GET {path} HTTP/1.1\r\nHost : a\r\n\r\n"),
        format!("GET {path} HTTP/1.1\r\n\r\n"),
        format!("GET {path} HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"),
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

/// Gives large answers.
struct Large;

impl Client for Large {
    fn prefetch_place(&self, _: &str) -> Option<Place> {
        None
    }

    fn prefetch_bundles(&self, _: &[Place]) {}

    fn answer(&self, _: &PlainRequest<'_>, output: &mut Output) -> bool {
        output.push_body(&Bytes::from(vec![0; 1 << 20]));
        true
    }

    fn take_over(self, _: std::net::TcpStream, _: Vec<u8>) {}
}

/// A client that reads nothing would make the service keep them all.
#[test]
fn a_large_answer_is_the_last_before_the_client_reads() {
    let request = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut output = Output::default();
    let answered = answer_all(request.repeat(9).as_bytes(), None, &mut output, &Large);
    assert_eq!((answered, output.len()), (request.len(), 1 << 20));
    assert_eq!(answer_all(request.as_bytes(), None, &mut output, &Large), 0);
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
