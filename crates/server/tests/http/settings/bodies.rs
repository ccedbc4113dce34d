//! Bodies are UTF-8 JSON; a wrong type, an unknown field or malformed JSON is 400 and the message names it.

use reqwest::Method;
use serde_json::json;

use super::raw;
use crate::support::{Answer, Fields, Says, TestApp};

const LIMIT: usize = 1 << 20;

async fn send(app: &TestApp, key: &str, kind: Option<&str>, body: impl Into<reqwest::Body>) -> Answer {
    let mut request = app.request(Method::POST, "/apps").bearer_auth(key).body(body);
    if let Some(kind) = kind {
        request = request.header("content-type", kind);
    }
    Answer::to(request).await
}

#[tokio::test]
async fn a_body_is_of_the_type_json() {
    let (app, key) = TestApp::with_key().await;
    for kind in
        [None, Some(""), Some("text/plain"), Some("text/json"), Some("application/jsonx"), Some("application/xml")]
    {
        let answer = send(&app, &key, kind, r#"{"bundleId": "com.example.app"}"#).await;
        answer.refused(400, "Content-Type must be application/json");
    }
    for (number, kind) in
        ["application/json", "Application/JSON; charset=utf-8", "application/json ; charset=UTF-8"].iter().enumerate()
    {
        let body = json!({"bundleId": format!("com.example.app{number}")}).to_string();
        send(&app, &key, Some(kind), body).await.created();
    }
}

#[tokio::test]
async fn a_wrong_body_is_told_where() {
    let (app, key) = TestApp::with_key().await;
    let deep = "[".repeat(100_000);
    for (path, body, named) in [
        ("/apps", "", "EOF"),
        ("/apps", "{", "EOF"),
        ("/apps", "nonsense", "expected"),
        ("/apps", "null", "invalid type: null"),
        ("/apps", "[]", "The body must be a JSON object, not an array"),
        ("/apps", "\"com.example.app\"", "invalid type: string"),
        ("/apps", deep.as_str(), "The body must be a JSON object, not an array"),
        ("/apps", "{}", "missing field `bundleId`"),
        ("/apps", r#"{"bundleId": "a"} x"#, "The JSON body is followed by more data"),
        ("/apps", r#"{"bundleId": "a", "bundleID": "b"}"#, "bundleID: unknown field `bundleID`"),
        ("/apps", r#"{"bundleId": "a", "bundleId": "b"}"#, "duplicate field `bundleId`"),
        ("/apps", r#"{"bundleId": 1}"#, "bundleId: invalid type"),
        ("/apps", r#"{"bundleId": null}"#, "bundleId: invalid type: null"),
        ("/apps", r#"{"bundleId": "a", "name": []}"#, "name: invalid type"),
        ("/apps", r#"{"bundleId": "\ud800"}"#, "bundleId"),
        ("/api-keys", r#"{"name": "a", "scopes": ["build", 7]}"#, "scopes[1]: invalid type"),
        ("/orgs/invitations", r#"{"email": {}}"#, "email: invalid type"),
        ("/uploads", r#"{"fileName": "a", "size": "1", "sha256": "b"}"#, "size: invalid type"),
        ("/uploads", r#"{"fileName": "a", "size": 1, "sha256": "b", "mode": 7}"#, "mode: unknown field `mode`"),
        ("/update", r#"{"rollout": "all"}"#, "rollout: invalid type"),
        ("/update", r#"{"mandatory": 1}"#, "mandatory: invalid type"),
        ("/auth/sign-in", r#"{"email": "a", "password": "b", "remember": true}"#, "remember: unknown field `remember`"),
        ("/auth/setup", r#"{"token": []}"#, "token: invalid type"),
    ] {
        let request = app.request(Method::POST, path).bearer_auth(&key).header("content-type", "application/json");
        let answer = Answer::to(request.body(body.to_owned())).await;
        let error = answer.expect(400);
        let message = error.text("message");
        let start: String = body.chars().take(60).collect();
        assert!(message.contains(named), "{path} {start}: {message}");
        assert!(message.len() < 300 && !message.contains("line 1"), "{path} {start}: {message}");
    }
    let bytes: &[u8] = b"{\"bundleId\": \"\xff\"}";
    let error = send(&app, &key, Some("application/json"), bytes).await.expect(400);
    assert_eq!(error["error"], "Bad Request");
    let list = app.get(&key, "/apps").await.ok();
    assert_eq!(list["total"], 0);
}

#[tokio::test]
async fn a_compressed_body_is_named() {
    let (app, key) = TestApp::with_key().await;
    let body = r#"{"bundleId": "com.example.app"}"#;
    let send = async |encoding: &str| {
        let request = app.request(Method::POST, "/apps").bearer_auth(&key).header("content-type", "application/json");
        Answer::to(request.header("content-encoding", encoding).body(body)).await
    };
    for (encoding, named) in [("gzip", "gzip"), ("identity, BR", "BR"), (" zstd", "zstd")] {
        let message = format!("Content-Encoding {named} is not supported. Send the body without compression.");
        send(encoding).await.refused(400, &message);
    }
    send("identity").await.created();
}

#[tokio::test]
async fn a_body_has_at_most_a_mebibyte() {
    let (app, key) = TestApp::with_key().await;
    let mut largest = r#"{"bundleId": "com.example.app"}"#.to_owned();
    largest += &" ".repeat(LIMIT - largest.len());
    send(&app, &key, Some("application/json"), largest).await.created();

    // If the size is announced, it is refused before it is sent; if chunked, as soon as it is too large.
    let head = format!(
        "POST /api/apps HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
    );
    let announced = format!("{head}Content-Length: {}\r\n\r\n", LIMIT + 1);
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", LIMIT + 1);
    let body = vec![b' '; LIMIT + 1];
    for parts in [vec![announced.as_bytes()], vec![chunked.as_bytes(), &body]] {
        let answer = raw(&app, &parts).await;
        assert!(answer.starts_with("HTTP/1.1 413 Payload Too Large\r\n"), "{answer}");
        answer.says("\r\nx-request-id: ");
        let expected = json!({"error": "Payload Too Large", "message": "The body may have at most 1048576 bytes"});
        assert!(answer.ends_with(&format!("\r\n\r\n{expected}")), "{answer}");
    }
}

/// Unauthorized callers are refused before the body is checked.
#[tokio::test]
async fn a_body_of_a_stranger_is_not_read() {
    let app = TestApp::start().await;
    let head =
        "POST /api/apps HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n";
    let answer = raw(&app, &[head.as_bytes()]).await;
    assert!(answer.starts_with("HTTP/1.1 401 Unauthorized\r\n"), "{answer}");
}
