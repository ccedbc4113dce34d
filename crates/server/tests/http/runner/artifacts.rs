//! Artifacts: announced, uploaded, checked, downloaded.

use launchway_domain::time::MINUTE;
use launchway_jobs::expire_leases::expire_leases;
use reqwest::Method;
use serde_json::json;

use crate::support::{Fields, TestApp};

const APK: &[u8] = include_bytes!("../../../../binaries/tests/fixtures/v2.apk");

#[tokio::test]
async fn what_was_sent_is_checked_and_read() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &[]).await;
    let id = app.queue(org, |_| ()).await;
    let held = app.take(&runner).await;
    // Announced twice, as by a runner whose first attempt was interrupted: the second counts.
    let first = held.announce("app.apk", APK).await.created();
    first.has(json!({"status": "pending", "cancel": false}));
    let apk = held.send("app.apk", APK, APK).await;
    let late = app.request(Method::PUT, first.text("url"));
    assert_eq!(late.body(APK).send().await.unwrap().status(), 403);
    let map = held.send("mapping.txt", b"a -> b", b"a -> b").await;
    let broken = held.send("broken.aab", b"PK no archive", b"PK no archive").await;
    held.finish(json!({"artifacts": [apk, map, broken]})).await.ok();
    let mut tx = app.app.db.read().await.unwrap();
    let mut artifacts = tx.org(org).artifacts(id).await.unwrap();
    artifacts.sort_by(|a, b| a.kind.cmp(&b.kind).then(a.name.cmp(&b.name)));
    assert_eq!(artifacts.len(), 3);
    assert!(artifacts.iter().all(|artifact| artifact.is_stored && artifact.blob_key.starts_with("artifacts/")));
    let facts = artifacts[0].facts.as_ref().unwrap();
    facts.has(json!({"bundleId": "com.example.app", "version": "1.2.3"}));
    assert_eq!((&artifacts[1].facts, &artifacts[2].facts), (&None, &None));
    drop(tx);
    let build = app.build(id).await;
    // The app's metadata supplies what the build did not specify.
    assert_eq!(build.spec.version.as_deref(), Some("1.2.3"));
    assert_eq!(build.spec.build_number.as_deref(), Some("42"));
    assert_eq!(build.warnings.len(), 1, "{:?}", build.warnings);
    assert!(build.warnings[0].starts_with("broken.aab: "));
    // The bytes exist, and the first upload is gone.
    let keys = app.app.blob.list(None).await.unwrap();
    assert_eq!(keys.len(), 3, "{keys:?}");
    let late = app.request(Method::PUT, first.text("url"));
    assert_eq!(late.body(APK).send().await.unwrap().status(), 403);
}

#[tokio::test]
async fn another_app_than_was_asked_for_is_a_warning() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &[]).await;
    let id = app
        .queue(org, |build| {
            build.bundle_id = "com.example.other".to_owned();
            build.spec.version = Some("2.0.0".to_owned());
        })
        .await;
    let held = app.take(&runner).await;
    let apk = held.send("app.apk", APK, APK).await;
    held.finish(json!({"artifacts": [apk]})).await.ok();
    let build = app.build(id).await;
    assert_eq!(build.spec.version.as_deref(), Some("2.0.0"));
    assert_eq!(
        build.warnings,
        [
            "app.apk: The APK has the bundle id com.example.app instead of the requested com.example.other",
            "app.apk: The APK has the version 1.2.3 instead of the requested 2.0.0",
        ]
    );
}

#[tokio::test]
async fn bytes_that_are_not_the_announced_ones_end_no_build() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &[]).await;
    let id = app.queue(org, |_| ()).await;
    app.advance(1);
    let other = app.queue(org, |_| ()).await;
    let held = app.take(&runner).await;
    let of_other = app.take(&runner).await;
    assert_eq!(of_other.id, other.to_string());
    let foreign = of_other.send("other.apk", APK, APK).await;
    let announced = held.announce("app.apk", APK).await.created()["id"].clone();
    let finish = async |ids: serde_json::Value| held.finish(json!({"artifacts": ids})).await;
    finish(json!([announced]))
        .await
        .refused(400, "The artifact app.apk is not uploaded yet. Upload it to its url first.");
    let mut wrong = APK.to_vec();
    wrong[100] ^= 1;
    let sent = held.send("app.apk", APK, &wrong).await;
    finish(json!([sent])).await.refused(400, "The artifact app.apk differs from its announcement in size or sha256");
    let message = format!("This attempt did not announce the artifact {foreign}");
    finish(json!([foreign])).await.refused(400, &message);
    let keys = app.app.blob.list(Some(&"artifacts".parse().unwrap())).await.unwrap();
    assert!(keys.is_empty(), "{keys:?}");
    let right = held.send("app.apk", APK, APK).await;
    finish(json!([right])).await.ok();
    assert!(app.build(id).await.finished_at.is_some());
}

#[tokio::test]
async fn the_artifacts_of_an_attempt_that_is_over_are_dropped() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &[]).await;
    let id = app.queue(org, |_| ()).await;
    let held = app.take(&runner).await;
    let apk = held.send("app.apk", APK, APK).await;
    let target = held.announce("second.apk", APK).await.created();
    app.advance(2 * MINUTE);
    expire_leases(&app.app).await.unwrap();
    assert!(app.app.blob.list(None).await.unwrap().is_empty());
    let put = app.request(Method::PUT, target.text("url"));
    assert_eq!(put.body(APK).send().await.unwrap().status(), 403);
    let again = app.take(&runner).await;
    let message = format!("This attempt did not announce the artifact {apk}");
    again.finish(json!({"artifacts": [apk]})).await.refused(400, &message);
    assert_eq!(app.app.db.read().await.unwrap().org(org).artifacts(id).await.unwrap(), []);
}
