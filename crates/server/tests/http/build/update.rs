//! `buildId` in `POST /update`: the fingerprint of the update is that of the build.

use launchway_domain::build::Outcome;
use serde_json::{Value, json};

use crate::stage::builds::{Play, build, built, id_of, runner};
use crate::support::{Fields, TestApp};

#[tokio::test]
async fn an_update_takes_the_fingerprint_of_its_build() {
    let (app, key) = TestApp::with_key().await;
    let id = built(&app, &key, json!({"fingerprint": "hash-1"})).await.to_string();
    for (number, fields) in [json!({}), json!({"fingerprint": "hash-1"})].into_iter().enumerate() {
        let mut fields = fields;
        fields["buildId"] = json!(id);
        fields["buildNumber"] = json!(number + 1);
        app.published(&key, fields).await.has(json!({"buildId": id, "fingerprint": "hash-1"}));
    }
    // The same for an update whose bytes are published again.
    let other = app.published(&key, json!({"buildNumber": 7, "fingerprint": "old"})).await;
    let body = json!({
        "sourceUpdateId": other["id"], "bundleId": "com.example.app", "platform": "android", "version": "1.0.1",
        "buildNumber": 8, "buildId": id,
    });
    let again = app.post(&key, "/update", body).await.created();
    assert_eq!(again["fingerprint"], "hash-1");
    let offer = app.checked("com.example.app", "currentVersion=1.0.0&fingerprint=hash-2&platform=android").await;
    assert_eq!(offer["requiresStoreUpdate"], true);
    let refused = app.publish(&key, json!({"buildId": id, "fingerprint": "hash-2"})).await;
    refused.refused(400, "fingerprint differs from that of the build; omit it to use the build's");
}

#[tokio::test]
async fn a_build_of_another_app_or_platform_is_refused() {
    let (app, key) = TestApp::with_key().await;
    for fields in [json!({"bundleId": "com.example.other"}), json!({"platform": "ios"})] {
        let made = build(&app, &key, fields).await.created();
        let refused = app.publish(&key, json!({"buildId": made["id"]})).await;
        refused.refused(400, "buildId is a build of another app or platform");
    }
    for id in ["", "nonsense", "build_01h455vb4pex5vsknk084sn02q"] {
        app.publish(&key, json!({"buildId": id})).await.refused(404, "No build has this id");
    }
}

#[tokio::test]
async fn a_build_whose_fingerprint_may_still_come_is_waited_for() {
    let (app, org, key) = TestApp::with_org().await;
    let id = id_of(&build(&app, &key, json!({})).await.created());
    let publish = async |fields: Value| {
        let mut fields = fields;
        fields["buildId"] = json!(id.to_string());
        app.publish(&key, fields).await
    };
    let waits =
        |status: &str| format!("The build is {status} and its fingerprint is not known yet. Wait for it to end.");
    publish(json!({})).await.refused(400, &waits("queued"));
    let play = Play { app: &app, org, id };
    play.leased(runner(&app, None, &[]).await).await;
    publish(json!({"fingerprint": "x"})).await.refused(400, &waits("running"));
    play.ends(Outcome::Success).await;
    // The build will never have one: then the fingerprint of the request counts.
    let update = publish(json!({"fingerprint": "x"})).await.created();
    update.has(json!({"fingerprint": "x", "buildId": id.to_string()}));
    assert_eq!(publish(json!({"buildNumber": 9})).await.created()["fingerprint"], Value::Null);
}
