//! `sourceUpdateId`: publishes the same bytes again, to promote an update or to roll back.

use serde_json::{Value, json};

use super::{BUNDLE, of};
use crate::support::{Answer, Fields, NOBODY, TestApp, package};

async fn again(app: &TestApp, key: &str, source: &Value, fields: Value) -> Answer {
    let mut body =
        json!({"sourceUpdateId": source["id"], "bundleId": BUNDLE, "platform": "android", "version": "1.0.1"});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    app.post(key, "/update", body).await
}

#[tokio::test]
async fn a_promotion_serves_the_same_bytes_to_another_configuration() {
    let (app, key) = TestApp::with_key().await;
    let fields = json!({
        "configuration": "staging", "fingerprint": "n-1", "releaseNotes": "New", "mandatory": true, "rollout": 10,
    });
    let source = app.published(&key, fields).await;
    let promoted = again(&app, &key, &source, json!({"configuration": "production"})).await.created();
    for field in ["size", "sha256", "fileCount", "fingerprint", "releaseNotes"] {
        assert_eq!(promoted[field], source[field], "{field}");
    }
    promoted.has(json!({"sourceUpdateId": source["id"], "rollout": 100}));
    assert_ne!(promoted["id"], source["id"]);
    let offer = app.checked(BUNDLE, "currentVersion=1.0.0&configuration=production").await;
    let served = app.get(NOBODY, offer.text("url")).await;
    assert_eq!(served.bytes, package("index.html", b"<h1>hello</h1>"));
    let fields = json!({"configuration": "eu", "fingerprint": "n-2", "releaseNotes": ""});
    let changed = again(&app, &key, &source, fields).await.created();
    changed.has(json!({"fingerprint": "n-2", "releaseNotes": ""}));
}

#[tokio::test]
async fn a_roll_back_serves_earlier_bytes_under_a_higher_number() {
    let (app, key) = TestApp::with_key().await;
    let good = app.published(&key, json!({"version": "1.1.0"})).await;
    let upload = app.upload(&key, &package("index.html", b"broken")).await;
    let bad = app.published(&key, json!({"uploadId": upload, "version": "1.2.0"})).await;
    let back = again(&app, &key, &good, json!({"version": "1.2.0", "buildNumber": "auto"})).await.created();
    back.has(json!({"version": "1.2.0", "buildNumber": "3"}));
    assert_eq!((back["sha256"] == good["sha256"], back["sha256"] == bad["sha256"]), (true, false));
    for installed in ["currentVersion=1.1.0&currentBuild=1", "currentVersion=1.2.0&currentBuild=2"] {
        let offer = app.checked(BUNDLE, &format!("{installed}&currentUpdateId=x")).await;
        assert_eq!(offer["id"], back["id"], "{installed}");
    }
}

#[tokio::test]
async fn a_source_may_be_paused_or_withdrawn_but_not_deleted() {
    let (app, key) = TestApp::with_key().await;
    let source = app.published(&key, json!({})).await;
    for (build, status) in [(2, "paused"), (3, "withdrawn")] {
        app.patch(&key, &of(&source), json!({"status": status})).await.ok();
        again(&app, &key, &source, json!({"buildNumber": build})).await.created();
    }
    let wrong = "sourceUpdateId is an update of another app or platform";
    again(&app, &key, &source, json!({"platform": "ios"})).await.refused(400, wrong);
    again(&app, &key, &source, json!({"bundleId": "com.example.app2"})).await.refused(400, wrong);
    again(&app, &key, &source, json!({"bundleId": "COM.example.app"})).await.created();
    let claimed = app.get(&key, "/apps").await.ok();
    assert_eq!(claimed["total"], 1, "a publish that failed claims no app");
    app.delete(&key, &of(&source)).await.ok();
    again(&app, &key, &source, json!({"buildNumber": 9})).await.refused(404, "No update has this id");
}

#[tokio::test]
async fn one_source_must_be_named_and_only_one() {
    let (app, key) = TestApp::with_key().await;
    let source = app.published(&key, json!({})).await;
    let upload = app.upload(&key, &package("a", b"a")).await;
    let refused = again(&app, &key, &source, json!({"uploadId": upload})).await;
    refused.refused(400, "Specify either uploadId or sourceUpdateId");
    again(&app, &key, &json!({}), json!({})).await.refused(400, "Specify either uploadId or sourceUpdateId");
}
