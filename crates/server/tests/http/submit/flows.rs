//! Each destination, until it is live.

use launchway_app_store_simulator::Outcome;
use launchway_domain::platform::Platform;
use launchway_domain::time::HOUR;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::stage::app_stores::{AAB, APK, IPA, PURPOSE, VISION, counts, id_of, settings};
use crate::support::{Fields, START, Setup};
use launchway_os::clock::Clock;

/// The statuses of a submission's events, each once in a row.
fn statuses(view: &Value) -> Vec<String> {
    let mut all: Vec<String> =
        view["events"].as_array().unwrap().iter().map(|event| event.text("status").to_owned()).collect();
    all.dedup();
    all
}

fn notes() -> Value {
    json!([{"locale": "en-US", "text": "Faster."}, {"locale": "de-DE", "text": "Schneller."}])
}

async fn testflight(mut stage: Stage) {
    let fields = json!({
        "destination": "testflight", "releaseNotes": notes(),
        "options": {"groups": ["Team", "Outside"], "usesNonExemptEncryption": false},
    });
    let id = stage.submitted("App.ipa", IPA, fields).await;
    let done = stage.succeeded(id).await;
    assert_eq!(statuses(&done), ["queued", "validating", "uploading", "processing", "in_review", "success"]);
    done.has(json!({"store": "app_store", "version": "1.2.3", "buildNumber": "42", "platform": "ios"}));
    let ledger = stage.ledger();
    let what = ["upload", "build", "group", "beta_review", "beta_released", "version"];
    assert_eq!(counts(&ledger, what), [1, 1, 2, 1, 1, 0], "{ledger:?}");
    for name in ["appId", "buildUploadId", "buildUploadFileId", "buildId"] {
        assert!(done["external"][name].is_string(), "{name}: {done:#}");
    }
    assert_eq!((&done["error"], done["finishedAt"].is_string()), (&Value::Null, true));
    let kinds: Vec<String> = stage.events(stage.org).await.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["submission.started", "submission.succeeded"]);
    let objects = stage.app.blob.list(None).await.unwrap();
    assert_eq!(objects, [], "the app is not kept when it is there");
    // The secrets were opened once, and the audit log says so.
    let opened = stage.audit(stage.org).await;
    let opened = opened.iter().filter(|line| line.action == "secret.open");
    assert!((1..=2).contains(&opened.count()));
}

#[tokio::test]
async fn a_build_goes_to_testflights_groups_with_what_to_test() {
    testflight(Stage::new().app_stores().await).await;
}

#[tokio::test]
async fn on_postgres_too() {
    testflight(Stage::new().with(Setup::on_postgres()).app_stores().await).await;
}

#[tokio::test]
async fn a_version_goes_to_the_app_store_by_a_phased_release() {
    let mut stage = Stage::new().app_stores().await;
    let fields = json!({
        "destination": "app_store", "rollout": 1, "releaseNotes": notes(), "options": {"usesNonExemptEncryption": true},
    });
    let id = stage.submitted("App.ipa", IPA, fields).await;
    let done = stage.succeeded(id).await;
    assert_eq!(
        statuses(&done),
        ["queued", "validating", "uploading", "processing", "in_review", "rolling_out", "success"]
    );
    let ledger = stage.ledger();
    assert_eq!(counts(&ledger, ["upload", "build", "version", "review", "release"]), [1; 5], "{ledger:?}");
    assert!(stage.clock.now() - START > 7 * HOUR);
}

#[tokio::test]
async fn visionos_goes_to_the_app_store_for_everybody() {
    let mut stage = Stage::new().app_stores().await;
    let mut stores = settings();
    stores.app_store[0].answers_encryption = true;
    stage.open_stores(stores);
    let id = stage.submitted("Vision.ipa", VISION, json!({"destination": "app_store"})).await;
    stage.ended(id).await.has(json!({"status": "success", "platform": "visionos"}));
}

#[tokio::test]
async fn a_testflight_build_reaches_the_app_store_without_an_upload() {
    let mut stage = Stage::new().app_stores().await;
    let build = stage.built(Platform::Ios, &[("App.ipa", IPA)]).await;
    for fields in [
        json!({"buildId": build, "destination": "testflight", "options": {"usesNonExemptEncryption": false}}),
        json!({"buildId": build, "destination": "app_store"}),
    ] {
        let made = stage.submit(fields).await.created();
        assert_eq!(made["buildId"], build);
        let done = stage.ended(id_of(&made)).await;
        assert_eq!(done["status"], "success", "{done:#}");
    }
    assert_eq!(counts(&stage.ledger(), ["upload", "release"]), [1, 1]);
}

#[tokio::test]
async fn every_track_of_google_play_is_reached() {
    for track in ["internal", "alpha", "beta", "production", "friends"] {
        let mut stage = Stage::new().app_stores().await;
        let build = stage.built(Platform::Android, &[("app.apk", APK), ("mapping.txt", b"a.b.C -> a")]).await;
        let read = stage.get(&stage.key, &format!("/build?id={build}")).await.ok();
        let mapping =
            &read["artifacts"].as_array().unwrap().iter().find(|one| one["name"] == "mapping.txt").unwrap()["id"];
        let made = stage
            .submit(json!({
                "buildId": build, "destination": track, "releaseNotes": notes(),
                "options": {"priority": 3, "releaseName": "Autumn", "symbols": [{"kind": "mapping", "artifactId": mapping}]},
            }))
            .await
            .created();
        let done = stage.ended(id_of(&made)).await;
        assert_eq!(done["status"], "success", "{track}: {done:#}");
        assert!(done["external"]["editId"].is_string());
        let ledger = stage.ledger();
        assert_eq!(counts(&ledger, ["upload", "commit", "release"]), [1, 1, 1], "{track}: {ledger:?}");
    }
}

#[tokio::test]
async fn a_bundle_with_native_code_goes_to_production() {
    let mut stage = Stage::new().app_stores().await;
    let build = stage.built(Platform::Android, &[("app.aab", AAB)]).await;
    let made =
        stage.submit(json!({"buildId": build, "destination": "production", "releaseNotes": notes()})).await.created();
    stage.ended(id_of(&made)).await.has(json!({"status": "success", "buildNumber": "42"}));
    assert_eq!(counts(&stage.ledger(), ["upload", "commit", "release"]), [1, 1, 1]);
}

#[tokio::test]
async fn an_app_that_says_what_it_uses_the_camera_for_is_taken() {
    let mut stage = Stage::new().app_stores().await;
    let fields = json!({"destination": "testflight", "options": {"usesNonExemptEncryption": false}});
    let id = stage.submitted("App.ipa", PURPOSE, fields).await;
    stage.succeeded(id).await;
}

#[tokio::test]
async fn a_rejected_version_is_retried_without_another_upload() {
    let mut stage = Stage::new().app_stores().await;
    stage.stores().decide(&[Outcome::Reject]);
    let fields = json!({"destination": "app_store", "options": {"usesNonExemptEncryption": false}});
    let id = stage.submitted("App.ipa", IPA, fields).await;
    let rejected = stage.ended(id).await;
    assert_eq!(
        (&rejected["status"], &rejected["error"]["code"], &rejected["error"]["retryable"]),
        (&json!("rejected"), &json!("REJECTED"), &json!(true)),
        "{rejected:#}"
    );
    stage.advance(1);
    let again = stage.retry(id).await.ok();
    again.has(json!({"status": "queued", "error": null, "finishedAt": null}));
    stage.succeeded(id).await;
    assert_eq!(counts(&stage.ledger(), ["upload", "review", "release"]), [1, 2, 1]);
    let kinds: Vec<String> = stage.events(stage.org).await.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["submission.started", "submission.rejected", "submission.started", "submission.succeeded"]);
}

#[tokio::test]
async fn a_release_that_google_refused_is_sent_again_by_a_retry() {
    let mut stage = Stage::new().app_stores().await;
    stage.stores().decide(&[Outcome::Reject]);
    let id = stage.submitted("app.apk", APK, json!({"destination": "production"})).await;
    assert_eq!(stage.ended(id).await["status"], "rejected");
    stage.post(&stage.key, &format!("/submit/retry?id={id}"), ()).await.ok();
    stage.succeeded(id).await;
    assert_eq!(counts(&stage.ledger(), ["upload", "release"]), [1, 1]);
}

#[tokio::test]
async fn a_question_that_was_not_answered_is_told_with_what_to_do() {
    let mut stage = Stage::new().app_stores().await;
    let id = stage.submitted("App.ipa", IPA, json!({"destination": "testflight"})).await;
    let failed = stage.ended(id).await;
    assert_eq!(failed["error"]["code"], "EXPORT_COMPLIANCE_MISSING", "{failed:#}");
    assert!(failed["error"].text("fix").contains("ITSAppUsesNonExemptEncryption"));
    let kinds: Vec<String> = stage.events(stage.org).await.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["submission.started", "submission.failed"]);
}

#[tokio::test]
async fn submissions_of_an_app_go_one_after_the_other() {
    let mut stage = Stage::new().app_stores().await;
    let build = stage.built(Platform::Android, &[("app.apk", APK)]).await;
    let mut made = Vec::new();
    for track in ["internal", "alpha", "beta"] {
        let view = stage.submit(json!({"buildId": build, "destination": track})).await.created();
        made.push(id_of(&view));
    }
    for id in made {
        stage.succeeded(id).await;
    }
    assert_eq!(counts(&stage.ledger(), ["upload", "commit", "release"]), [1, 3, 3]);
}
