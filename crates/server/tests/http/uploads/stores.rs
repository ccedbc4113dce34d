//! The complete life of an update on each database with each object storage.

use launchway_blob::s3::Credentials;
use launchway_domain::time::DAY;
use launchway_jobs::clean_up::clean_up;
use launchway_testing::s3::S3Server;
use reqwest::Method;
use serde_json::{Value, json};

use super::{BUNDLE, announce, stored, url};
use crate::support::{Answer, Fields, NOBODY, START, Setup, TestApp, machine_time, package};

fn with_bucket(mut setup: Setup, bucket: &S3Server) -> Setup {
    setup.settings.storage_url = Some(bucket.storage_url());
    setup.credentials = Some(Credentials {
        access_key_id: bucket.access_key.clone(),
        secret_access_key: bucket.secret_key.clone(),
        ..Credentials::default()
    });
    setup
}

#[tokio::test]
async fn postgres_and_directory() {
    life(TestApp::with(Setup::on_postgres()).await).await;
}

#[tokio::test]
async fn sqlite_and_bucket() {
    let bucket = S3Server::start();
    let app = TestApp::with(with_bucket(Setup::default(), &bucket)).await;
    app.advance(machine_time() - START);
    life(app).await;
}

#[tokio::test]
async fn postgres_and_bucket() {
    let bucket = S3Server::start();
    let app = TestApp::with(with_bucket(Setup::on_postgres(), &bucket)).await;
    app.advance(machine_time() - START);
    life(app).await;
}

/// Every step that touches the database or the storage.
async fn life(app: TestApp) {
    let (_, key) = app.org_with_key().await;
    let bytes = package("index.html", b"<h1>one</h1>");
    let upload = announce(&app, &key, &bytes).await;
    for wrong in [&bytes[1..], &[&bytes[..], b"x"].concat()] {
        assert!(app.put_bytes(url(&upload), wrong).await.status.is_client_error());
    }
    let tampered = url(&upload).replace("uploads/", "uploads/x");
    assert!(app.put_bytes(&tampered, &bytes).await.status.is_client_error());
    let publish = async |upload: &Value, version: &str| {
        let body = json!({"uploadId": upload["id"], "bundleId": BUNDLE, "platform": "ios", "version": version});
        app.post(&key, "/update", body).await
    };
    assert_eq!(publish(&upload, "1.0.0").await.status, 400, "nothing was sent yet");
    assert!(app.put_bytes(url(&upload), &vec![0; bytes.len()]).await.status.is_success());
    assert_eq!(publish(&upload, "1.0.0").await.status, 400, "different bytes");
    assert!(app.put_bytes(url(&upload), &bytes).await.status.is_success());
    let first = publish(&upload, "1.0.0").await.created();
    assert_eq!(publish(&upload, "1.0.1").await.status, 400, "used twice");
    assert_eq!((stored(&app, "uploads").await.len(), stored(&app, "packages").await.len()), (0, 1));

    let offer = app.checked(BUNDLE, "currentVersion=0.1.0&deviceId=d").await;
    assert_eq!(offer["id"], first["id"]);
    let whole = app.get(NOBODY, url(&offer)).await;
    assert_eq!((whole.status.as_u16(), &whole.bytes), (200, &bytes));
    assert!(whole.header("content-disposition").starts_with("attachment"), "{:?}", whole.headers);
    let part = app.request(Method::GET, url(&offer)).header("range", "bytes=3-7").send().await.unwrap();
    let part = Answer::of(part).await;
    assert_eq!((part.status.as_u16(), part.bytes.as_slice()), (206, &bytes[3..8]));
    let tampered = url(&offer).replace("packages/", "packages/x");
    assert!(app.get(NOBODY, &tampered).await.status.is_client_error());

    let event = json!({"type": "installed", "updateId": offer["id"], "at": "2026-11-20T10:00:00Z"});
    let body = json!({"reportToken": offer["reportToken"], "events": [event]});
    let path = format!("/update/report/{BUNDLE}");
    assert_eq!(Answer::to(app.request(Method::POST, &path).json(&body)).await.ok()["counted"], 1);

    let path = |update: &Value| format!("/update?id={}", update.id());
    let body =
        json!({"sourceUpdateId": first["id"], "bundleId": BUNDLE, "platform": "ios", "version": "1.1.0", "rollout": 0});
    let second = app.post(&key, "/update", body).await.created();
    app.patch(&key, &path(&second), json!({"rollout": 100})).await.ok();
    let version = async || app.checked(BUNDLE, "currentVersion=0.1.0").await["version"].clone();
    assert_eq!(version().await, "1.1.0");
    app.patch(&key, &path(&second), json!({"status": "paused"})).await.ok();
    assert_eq!(version().await, "1.0.0");
    for update in [&first, &second] {
        app.delete(&key, &path(update)).await.ok();
    }
    assert_eq!(version().await, Value::Null);
    app.advance(2 * DAY);
    clean_up(&app.app).await.unwrap();
    assert_eq!((stored(&app, "uploads").await.len(), stored(&app, "packages").await.len()), (0, 0));
}
