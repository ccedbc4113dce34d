//! Clean-up: what it removes, when, and what it never touches.

use launchway_blob::Key;
use launchway_domain::time::{DAY, HOUR};
use launchway_jobs::clean_up::clean_up;
use serde_json::{Value, json};

use super::{BUNDLE, announce, publish, stored, url};
use crate::support::{Fields, NOBODY, TestApp, package};

async fn clean(app: &TestApp) {
    clean_up(&app.app).await.unwrap();
}

async fn delete(app: &TestApp, key: &str, update: &Value) {
    app.delete(key, &format!("/update?id={}", update.id())).await.ok();
}

/// `docs/reference/uploads.md#unused-uploads`
#[tokio::test]
async fn an_unused_upload_lives_for_a_day() {
    let (app, key) = TestApp::with_key().await;
    let bytes = package("a", b"a");
    let (first, second) = (announce(&app, &key, &bytes).await, announce(&app, &key, &bytes).await);
    let unsent = announce(&app, &key, &bytes).await;
    for upload in [&first, &second] {
        app.put_bytes(url(upload), &bytes).await;
    }
    app.advance(DAY - 1);
    clean(&app).await;
    assert_eq!(stored(&app, "uploads").await.len(), 2);
    publish(&app, &key, &first, "1.0.0").await.created();
    app.advance(1);
    for upload in [&second, &unsent] {
        publish(&app, &key, upload, "1.0.1").await.refused(404, "No upload has this id");
    }
    clean(&app).await;
    assert_eq!(stored(&app, "uploads").await, Vec::<String>::new());
    publish(&app, &key, &second, "1.0.1").await.refused(404, "No upload has this id");
    let offer = app.checked(BUNDLE, "currentVersion=0.1.0").await;
    assert_eq!(app.get(NOBODY, url(&offer)).await.bytes, bytes, "what became of a used one stays");
}

#[tokio::test]
async fn unused_copies_go_with_their_upload_and_the_used_one_stays() {
    let (app, key) = TestApp::with_key().await;
    let bytes = package("a", b"a");
    let upload = announce(&app, &key, &bytes).await;
    app.put_bytes(url(&upload), &bytes).await;
    // Left over from a process that died between the copy and the commit.
    let id = upload.id();
    let orphan = Key::new(&format!("packages/{id}/orphan")).unwrap();
    app.app.blob.copy(&Key::new(&format!("uploads/{id}")).unwrap(), &orphan).await.unwrap();
    publish(&app, &key, &upload, "1.0.0").await.created();
    app.advance(DAY - 1);
    clean(&app).await;
    assert_eq!(stored(&app, "packages").await.len(), 2);
    app.advance(1);
    clean(&app).await;
    assert_eq!(stored(&app, "packages").await.len(), 1);
    let offer = app.checked(BUNDLE, "currentVersion=0.1.0").await;
    assert_eq!(app.get(NOBODY, url(&offer)).await.bytes, bytes);
}

#[tokio::test]
async fn a_deleted_updates_bytes_outlive_every_link_and_then_go() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    let offer = app.checked(BUNDLE, "currentVersion=0.1.0").await;
    delete(&app, &key, &update).await;
    clean(&app).await;
    app.advance(HOUR - 1);
    clean(&app).await;
    assert_eq!(app.get(NOBODY, url(&offer)).await.status, 200, "a phone may be downloading");
    app.advance(HOUR);
    clean(&app).await;
    assert_eq!(stored(&app, "packages").await.len(), 1, "the grace is not over");
    app.advance(1);
    clean(&app).await;
    assert_eq!(stored(&app, "packages").await, Vec::<String>::new());
    clean(&app).await;
}

#[tokio::test]
async fn bytes_that_an_update_names_are_never_removed() {
    let (app, key) = TestApp::with_key().await;
    let first = app.published(&key, json!({})).await;
    let body = json!({"sourceUpdateId": first["id"], "bundleId": BUNDLE, "platform": "android", "version": "1.0.2"});
    let second = app.post(&key, "/update", body).await.created();
    let path = format!("/update?id={}", second.id());
    delete(&app, &key, &first).await;
    for status in ["paused", "published", "withdrawn"] {
        app.patch(&key, &path, json!({"status": status})).await.ok();
        app.advance(10 * DAY);
        clean(&app).await;
        assert_eq!(stored(&app, "packages").await.len(), 1, "{status}");
    }
    delete(&app, &key, &second).await;
    app.advance(DAY);
    clean(&app).await;
    assert_eq!(stored(&app, "packages").await, Vec::<String>::new());
}

/// Two updates with the same package, deleted at different times: the grace period starts with the last deletion.
#[tokio::test]
async fn the_grace_counts_from_the_last_update_of_the_bytes() {
    let (app, key) = TestApp::with_key().await;
    let first = app.published(&key, json!({})).await;
    let body = json!({"sourceUpdateId": first["id"], "bundleId": BUNDLE, "platform": "android", "version": "1.0.2"});
    let second = app.post(&key, "/update", body).await.created();
    delete(&app, &key, &first).await;
    app.advance(DAY);
    delete(&app, &key, &second).await;
    clean(&app).await;
    assert_eq!(stored(&app, "packages").await.len(), 1);
    app.advance(DAY);
    clean(&app).await;
    assert_eq!(stored(&app, "packages").await, Vec::<String>::new());
}

#[tokio::test]
async fn an_object_that_cannot_be_removed_holds_up_nothing_else() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    delete(&app, &key, &update).await;
    let stuck = announce(&app, &key, &package("a", b"a")).await;
    // A directory in place of the object.
    let place = app.objects().join("uploads").join(stuck.id());
    std::fs::create_dir_all(place.join("folder")).unwrap();
    app.advance(2 * DAY);
    assert!(clean_up(&app.app).await.is_err());
    assert_eq!(stored(&app, "packages").await, Vec::<String>::new());
    std::fs::remove_dir_all(&place).unwrap();
    clean(&app).await;
}
