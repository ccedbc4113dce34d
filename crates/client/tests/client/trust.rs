//! The calls for signed updates.

use std::sync::Arc;

use launchway_api::updates::UpdateView;
use launchway_client::Error;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::client_of;
use crate::fake_server::{FakeServer, Reply};

#[tokio::test]
async fn a_package_is_where_the_server_redirects_to() {
    let url = "https://storage.example.com/packages/1?signature=2";
    let server = FakeServer::start([Reply::new(302, "").header("location", url)]).await;
    let found = client_of(&server)
        .0
        .update_package_url("update_1")
        .await
        .expect("a URL");
    assert_eq!(found, url);
    assert_eq!(server.lines(), ["GET /api/update/package?id=update_1"]);
}

#[tokio::test]
async fn a_server_that_moved_is_no_package() {
    let moved = "https://new.example.com/api/update/package?id=update_1";
    let server = FakeServer::start([Reply::new(302, "").header("location", moved)]).await;
    let error = client_of(&server).0.update_package_url("update_1").await;
    assert!(
        matches!(&error, Err(Error::Redirected { location, .. }) if location == moved),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_public_file_is_fetched_without_the_key() {
    let server = FakeServer::start([
        Reply::new(503, ""),
        Reply::new(200, "a file"),
        Reply::error(404, "Not Found", "It is not here"),
        Reply::new(200, "too long"),
        Reply::error(400, "Bad Request", "no"),
    ])
    .await;
    let client = client_of(&server).0;
    let fetch = async || client.trust_file("com.example.app", "1.root.json", 6).await;
    assert_eq!(fetch().await.expect("a file after a retry"), Some(b"a file".to_vec()));
    assert_eq!(fetch().await.expect("an answer"), None);
    // One byte more than the limit, by which its reader knows that it is too long.
    assert_eq!(fetch().await.expect("a file"), Some(b"too lon".to_vec()));
    let error = fetch().await;
    assert!(matches!(error, Err(Error::Api { status: 400, .. })), "{error:?}");
    let seen = server.seen();
    assert_eq!(seen.len(), 5);
    for request in seen {
        assert_eq!(request.line, "GET /tuf/com.example.app/1.root.json");
        assert_eq!(request.header("authorization"), "");
    }
}

/// An update whose package is these bytes.
fn update_of(bytes: &[u8]) -> UpdateView {
    let sha256 = hex::encode(Sha256::digest(bytes));
    let update = json!({
        "id": "update_1", "status": "awaiting_signature", "bundleId": "com.example.app", "platform": "android",
        "version": "1.0.1", "buildNumber": "2", "configuration": "production", "fingerprint": null, "buildId": null,
        "sourceUpdateId": null, "releaseNotes": "", "mandatory": false, "rollout": 100, "size": bytes.len(),
        "sha256": sha256, "fileCount": 1, "createdBy": "key_1", "createdAt": "2026-11-20T10:00:00.000Z",
    });
    serde_json::from_value(update).expect("an update")
}

#[tokio::test]
async fn a_package_has_its_name_only_when_it_is_the_announced_one() {
    let server = FakeServer::start([]).await;
    let object = format!("{}/objects/1", server.url());
    let redirect = || Reply::new(302, "").header("location", object.clone());
    let directory = tempfile::tempdir().expect("a temporary directory");
    let to = directory.path().join("update.zip");
    let client = client_of(&server).0;
    let download = async || {
        let update = update_of(b"0123456789");
        client.download_package(&update, &to, Arc::new(|_| ())).await
    };
    // Each attempt asks for a new URL, and goes on after the bytes that came.
    server.then([
        redirect(),
        Reply::new(200, "0123").cut(),
        redirect(),
        Reply::new(206, "456789"),
    ]);
    download().await.expect("it comes");
    assert_eq!(std::fs::read(&to).expect("it is there"), b"0123456789");
    server.then([redirect(), Reply::new(200, "0123456789 and on and on")]);
    for _ in 0..4 {
        server.then([redirect(), Reply::new(200, "9876543210")]);
    }
    let refused = download().await;
    assert!(matches!(refused, Err(Error::Corrupt { .. })), "{refused:?}");
    assert_eq!(std::fs::read(&to).expect("the right one stays"), b"0123456789");
    assert_eq!(std::fs::read_dir(directory.path()).expect("it is there").count(), 1);
}
