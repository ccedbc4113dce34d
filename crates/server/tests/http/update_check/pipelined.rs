//! Two readers answer checks, the one in front of the HTTP implementation and the one behind it: a client cannot tell
//! which of them answered.

use std::collections::BTreeMap;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::TestApp;

/// A response as a client sees it. The id of the request and the date are different in each, so only their presence counts.
#[derive(Debug, PartialEq, Eq)]
struct Response {
    status: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Response {
    /// Takes the first response from the bytes of a connection.
    fn take(bytes: &mut Vec<u8>) -> Response {
        let end = bytes.windows(4).position(|part| part == b"\r\n\r\n").expect("a head") + 4;
        let head = String::from_utf8(bytes.drain(..end).collect()).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().to_owned();
        let mut headers: BTreeMap<_, _> = lines
            .map(|line| line.split_once(": ").expect("a header"))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        for name in ["x-request-id", "date"] {
            let value = headers.get_mut(name).expect("a header of every response");
            assert!(!value.is_empty());
            value.clear();
        }
        let length: usize = headers["content-length"].parse().unwrap();
        let body = bytes.drain(..length).collect();
        Response { status, headers, body }
    }
}

/// Sends requests at once on one connection and returns the responses.
async fn pipeline(app: &TestApp, requests: &[String]) -> Vec<Response> {
    let mut stream = TcpStream::connect(app.origin.strip_prefix("http://").unwrap()).await.unwrap();
    let mut sent = requests.concat();
    sent += "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    stream.write_all(sent.as_bytes()).await.unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).await.unwrap();
    let responses = requests.iter().map(|_| Response::take(&mut received)).collect();
    let last = Response::take(&mut received);
    assert_eq!((last.status.as_str(), received), ("HTTP/1.1 200 OK", Vec::new()));
    responses
}

/// A check. The HTTP implementation answers those with `TE`, whose meaning the other reader does not know.
fn check(target: &str, more: &str) -> String {
    format!("GET /api/update/check/{target} HTTP/1.1\r\nHost: a\r\n{more}\r\n")
}

#[tokio::test]
async fn both_readers_of_a_connection_answer_alike() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({"fingerprint": "native-1", "releaseNotes": "\"quoted\" 🚀"})).await;
    for target in [
        "com.example.app?currentVersion=1.0.0",
        "com.example.app?currentVersion=1.0.0&deviceId=d&platform=android",
        "com.example.app?currentVersion=1.0.0&fingerprint=native-0",
        "com.example.app?currentVersion=1.0.1",
        "COM.example%2Eapp?currentVersion=1&currentUpdateId=x",
        "com.example.none?currentVersion=1.0.0",
        "com.example.app",
        "?currentVersion=1.0.0",
        "com.example.app?currentVersion=one",
        "com.example.app?currentVersion=1.0.0&platform=symbian",
        "com.example.app?currentVersion=1.0.0&currentVersion=1.0.1",
        "%ff%fe?currentVersion=1.0.0",
        "com.example.app?currentVersion=1.0.0&deviceId=%ff",
    ] {
        let responses = pipeline(&app, &[check(target, ""), check(target, "TE: trailers\r\n")]).await;
        assert_eq!(responses[0], responses[1], "{target}");
    }
}

#[tokio::test]
async fn many_checks_at_once_are_answered_in_their_order() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({})).await;
    let targets = ["com.example.app?currentVersion=1.0.0", "com.example.app?currentVersion=x"];
    let requests: Vec<_> = (0..300).map(|number| check(targets[number % 2], "")).collect();
    let responses = pipeline(&app, &requests).await;
    for (number, response) in responses.iter().enumerate() {
        let expected = ["HTTP/1.1 200 OK", "HTTP/1.1 400 Bad Request"][number % 2];
        assert_eq!(response.status, expected, "{number}");
    }
}

#[tokio::test]
async fn both_readers_refuse_one_check_too_many_alike() {
    let app = TestApp::with(settings!(check_limit = "2")).await;
    let target = "com.example.app?currentVersion=1.0.0";
    let requests = ["", "", "", "TE: trailers\r\n"].map(|more| check(target, more));
    let responses = pipeline(&app, &requests).await;
    assert_eq!(responses[2].status, "HTTP/1.1 429 Too Many Requests");
    assert!(responses[2].headers.contains_key("retry-after"));
    assert_eq!(responses[2], responses[3]);
}
