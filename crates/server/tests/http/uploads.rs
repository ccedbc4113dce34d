//! `/uploads` and the signed URLs that accept bytes.

mod clean_up;
mod downloads;
mod stores;

use launchway_blob::Key;
use launchway_domain::scope::Scope;
use launchway_domain::time::{DAY, HOUR, iso};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::stage::BUNDLE;
use crate::support::{Answer, Fields, NOBODY, START, TestApp, package};

const NOT_THESE: &str = "The uploaded bytes differ from the announced size or sha256. Upload the file again.";
const USED: &str = "This upload was already used. Upload the file again.";
const CLOSED: &str = "This upload was used or deleted. Create a new one.";

/// Announces these bytes; returns the response.
async fn announce(app: &TestApp, key: &str, bytes: &[u8]) -> Value {
    let body = json!({"fileName": "update.zip", "size": bytes.len(), "sha256": hex::encode(Sha256::digest(bytes))});
    app.post(key, "/uploads", body).await.created()
}

async fn publish(app: &TestApp, key: &str, upload: &Value, version: &str) -> Answer {
    let body = json!({"uploadId": upload["id"], "bundleId": BUNDLE, "platform": "ios", "version": version});
    app.post(key, "/update", body).await
}

fn url(value: &Value) -> &str {
    value.text("url")
}

/// The objects with a prefix.
async fn stored(app: &TestApp, prefix: &str) -> Vec<String> {
    let keys = app.app.blob.list(Some(&Key::new(prefix).unwrap())).await.unwrap();
    keys.iter().map(|key| key.as_str().to_owned()).collect()
}

#[tokio::test]
async fn any_scope_may_announce_and_is_told_where_to_send() {
    let app = TestApp::start().await;
    let (org, _) = app.org_with_key().await;
    for scope in Scope::ALL {
        let key = app.key(org, &[scope]).await;
        let mut upload = announce(&app, &key, b"bytes").await;
        let fields = upload.as_object_mut().unwrap();
        let (id, url) = (fields.remove("id").unwrap(), fields.remove("url").unwrap());
        assert!(id.as_str().unwrap().starts_with("upload_"), "{id}");
        assert!(url.as_str().unwrap().starts_with(&app.origin), "{url}");
        let expected = json!({"status": "pending", "method": "PUT", "headers": {}, "expiresAt": iso(START + HOUR)});
        assert_eq!(upload, expected);
    }
}

#[tokio::test]
async fn a_wrong_announcement_is_400_and_names_its_field() {
    let (app, key) = TestApp::with_key().await;
    let good = json!({"fileName": "a.zip", "size": 10, "sha256": "a".repeat(64)});
    let announce = async |field: &str, value: Value| {
        let mut body = good.clone();
        body[field] = value;
        app.post(&key, "/uploads", body).await
    };
    for (field, value) in [
        ("fileName", json!("")),
        ("fileName", json!("a/b.zip")),
        ("fileName", json!("..\\b.zip")),
        ("fileName", json!("a\nb.zip")),
        ("fileName", json!("x".repeat(256))),
        ("fileName", json!(1)),
        ("fileName", Value::Null),
        ("size", json!(0)),
        ("size", json!(-1)),
        ("size", json!(1.5)),
        ("size", json!("10")),
        ("size", json!((2_i64 << 30) + 1)),
        ("size", json!(i64::MAX)),
        ("size", json!(u64::MAX)),
        ("sha256", json!("a".repeat(63))),
        ("sha256", json!("a".repeat(65))),
        ("sha256", json!("g".repeat(64))),
        ("sha256", json!("")),
        ("sha256", Value::Null),
        ("url", json!("http://elsewhere.example")),
    ] {
        let answer = announce(field, value.clone()).await;
        let message = answer.refusal(400);
        assert!(message.contains(field), "{field} = {value}: {message}");
    }
    for (field, value) in [
        ("fileName", json!("日本 語.zip")),
        ("fileName", json!("é".repeat(255))),
        ("size", json!(2_i64 << 30)),
        ("sha256", json!("A".repeat(64))),
    ] {
        announce(field, value).await.created();
    }
}

#[tokio::test]
async fn the_url_takes_exactly_the_announced_number_of_bytes() {
    let (app, key) = TestApp::with_key().await;
    let bytes = package("a", b"a");
    let upload = announce(&app, &key, &bytes).await;
    let chunked = |bytes: &[u8]| {
        let chunks: Vec<std::io::Result<Vec<u8>>> = bytes.chunks(7).map(|chunk| Ok(chunk.to_vec())).collect();
        let body = reqwest::Body::wrap_stream(futures::stream::iter(chunks));
        app.request(Method::PUT, url(&upload)).body(body)
    };
    let (short, long) = (&bytes[1..], [&bytes[..], b"x"].concat());
    for (wrong, status) in [(short, 400), (&long, 413), (b"", 400)] {
        for answer in [app.put_bytes(url(&upload), wrong).await, Answer::to(chunked(wrong)).await] {
            let message = answer.expect(status).text("message").to_owned();
            answer.refused(status, &message);
        }
        let unsent = "The upload has not received its bytes yet. Send them to its url first.";
        publish(&app, &key, &upload, "1.0.0").await.refused(400, unsent);
    }
    Answer::to(chunked(&bytes)).await.is(200);
    publish(&app, &key, &upload, "1.0.0").await.created();
}

/// The signature covers every part of a signed URL.
#[tokio::test]
async fn a_changed_or_expired_url_is_refused() {
    let (app, key) = TestApp::with_key().await;
    let bytes = package("a", b"a");
    let (upload, other) = (announce(&app, &key, &bytes).await, announce(&app, &key, &bytes).await);
    let good = url(&upload);
    let (path, query) = good.split_once('?').unwrap();
    let other_path = url(&other).split_once('?').unwrap().0;
    let without = |name: &str| {
        let kept: Vec<_> = query.split('&').filter(|pair| !pair.starts_with(name)).collect();
        format!("{path}?{}", kept.join("&"))
    };
    for changed in [
        path.to_owned(),
        without("size="),
        without("expires="),
        without("signature="),
        format!("{other_path}?{query}"),
        good.replace("expires=", "expires=9"),
        good.replace("size=", "size=1"),
        good.replace("signature=", "signature=0"),
        format!("{good}&size={}", bytes.len()),
        good.replace("/uploads/", "/packages/"),
        good.replace("/files/uploads/", "/files/uploads/../uploads/%2e%2e/"),
    ] {
        let answer = app.put_bytes(&changed, &bytes).await;
        assert_eq!(answer.status, 403, "{changed}: {}", answer.text());
        let message = answer.json().text("message").to_owned();
        answer.refused(403, &message);
    }
    assert_eq!(app.get(NOBODY, good).await.status, 403, "an upload URL serves nothing");
    for method in [Method::POST, Method::DELETE, Method::PATCH] {
        let answer = Answer::to(app.request(method, good).body(bytes.clone())).await;
        answer.refused(405, "A signed link supports GET and HEAD, or PUT");
        assert!(answer.header("allow").contains("PUT"));
    }
    assert_eq!(stored(&app, "uploads").await, Vec::<String>::new());
    app.advance(HOUR - 1);
    let answer = app.put_bytes(good, &bytes).await;
    assert_eq!((answer.status.as_u16(), answer.header("access-control-allow-origin")), (200, ""));
    app.advance(1);
    app.put_bytes(good, &bytes).await.refused(403, "This link has expired. Ask for a new one.");
    publish(&app, &key, &upload, "1.0.0").await.created();
}

#[tokio::test]
async fn a_url_may_be_used_again_until_its_upload_is_and_never_after() {
    let (app, key) = TestApp::with_key().await;
    let good = package("a", b"a");
    let upload = announce(&app, &key, &good).await;
    for bytes in [vec![0; good.len()], vec![1; good.len()], good.clone()] {
        app.put_bytes(url(&upload), &bytes).await.is(200);
    }
    publish(&app, &key, &upload, "1.0.0").await.created();
    app.put_bytes(url(&upload), &good).await.refused(403, CLOSED);
    publish(&app, &key, &upload, "1.0.1").await.refused(400, USED);
    assert_eq!(stored(&app, "uploads").await, Vec::<String>::new(), "what was used is not kept twice");
}

#[tokio::test]
async fn a_publish_that_fails_leaves_the_upload_to_be_used() {
    let (app, key) = TestApp::with_key().await;
    let good = package("a", b"a");
    let taken = announce(&app, &key, &good).await;
    app.put_bytes(url(&taken), &good).await;
    publish(&app, &key, &taken, "1.0.0").await.created();

    let upload = announce(&app, &key, &good).await;
    app.put_bytes(url(&upload), &vec![0; good.len()]).await.is(200);
    publish(&app, &key, &upload, "1.0.1").await.refused(400, NOT_THESE);
    app.put_bytes(url(&upload), &good).await.is(200);
    let body =
        json!({"uploadId": upload["id"], "bundleId": BUNDLE, "platform": "ios", "version": "1.0.0", "buildNumber": 1});
    assert_eq!(app.post(&key, "/update", body).await.status, 400, "the identity is taken");
    assert_eq!(stored(&app, "packages").await.len(), 1, "copies that came to nothing are gone");
    publish(&app, &key, &upload, "1.0.1").await.created();
}

#[tokio::test]
async fn simultaneous_uses_of_one_upload_are_one() {
    let (app, key) = TestApp::with_key().await;
    let bytes = package("a", b"a");
    let upload = announce(&app, &key, &bytes).await;
    app.put_bytes(url(&upload), &bytes).await;
    let versions = ["1.0.0", "1.0.1", "1.0.2", "1.0.3"];
    let answers = futures::future::join_all(versions.map(|version| publish(&app, &key, &upload, version))).await;
    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 400, 400, 400]);
    assert_eq!(stored(&app, "packages").await.len(), 1);
    let update = answers.iter().find(|answer| answer.status == 201).unwrap().json();
    let offer = app.checked(BUNDLE, "currentVersion=0.1.0&currentUpdateId=x").await;
    assert_eq!(offer["id"], update["id"]);
    assert_eq!(app.get(NOBODY, url(&offer)).await.bytes, bytes);
}

/// An upload key is never trusted twice (`docs/reference/uploads.md#using-an-upload`): bytes that arrive while the upload is
/// used change nothing.
#[tokio::test]
async fn bytes_that_arrive_late_reach_nobody() {
    let (app, key) = TestApp::with_key().await;
    let bytes = package("a", b"a");
    let upload = announce(&app, &key, &bytes).await;
    app.put_bytes(url(&upload), &bytes).await;
    let address = app.origin.strip_prefix("http://").unwrap();
    let path = url(&upload).strip_prefix(&app.origin).unwrap();
    let mut late = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!(
        "PUT {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        bytes.len()
    );
    late.write_all(head.as_bytes()).await.unwrap();
    late.write_all(&bytes[..10]).await.unwrap();
    publish(&app, &key, &upload, "1.0.0").await.created();
    late.write_all(&vec![0; bytes.len() - 10]).await.unwrap();
    let mut answer = String::new();
    late.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") || answer.starts_with("HTTP/1.1 403"), "{answer}");
    let offer = app.checked(BUNDLE, "currentVersion=0.1.0").await;
    assert_eq!(app.get(NOBODY, url(&offer)).await.bytes, bytes);
    app.advance(DAY);
    launchway_jobs::clean_up::clean_up(&app.app).await.unwrap();
    assert_eq!(stored(&app, "uploads").await, Vec::<String>::new());
}

#[tokio::test]
async fn an_upload_that_breaks_off_leaves_nothing() {
    let (app, key) = TestApp::with_key().await;
    let bytes = package("a", b"a");
    let upload = announce(&app, &key, &bytes).await;
    let address = app.origin.strip_prefix("http://").unwrap();
    let path = url(&upload).strip_prefix(&app.origin).unwrap();
    let mut broken = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!("PUT {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n", bytes.len());
    broken.write_all(head.as_bytes()).await.unwrap();
    broken.write_all(&bytes[..bytes.len() - 1]).await.unwrap();
    broken.shutdown().await.unwrap();
    let mut answer = Vec::new();
    // The server may answer 400 or just close the connection: either way it has finished with the request.
    let _ = broken.read_to_end(&mut answer).await;
    let unsent = "The upload has not received its bytes yet. Send them to its url first.";
    publish(&app, &key, &upload, "1.0.0").await.refused(400, unsent);
    assert_eq!(stored(&app, "uploads").await, Vec::<String>::new());
    app.put_bytes(url(&upload), &bytes).await;
    publish(&app, &key, &upload, "1.0.0").await.created();
}
