//! Cancels, as the record tells them: what is taken back in the store, what stays, and that nothing goes to a review.

use launchway_app_store_simulator::{Fault, Kind, When};
use launchway_domain::id::SubmissionId;
use launchway_domain::submission::Submission;
use launchway_domain::time::DAY;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::stage::app_stores::{APK, IPA, counts, settings_with_encryption_answered};
use crate::support::{Fields, Says};

async fn stage() -> Stage {
    Stage::new().app_stores_with(settings_with_encryption_answered()).await
}

fn last_event(view: &Value) -> &str {
    view["events"].as_array().unwrap().last().unwrap().text("message")
}

/// Cancels, and works until nothing of the cancel is left to do.
async fn canceled(stage: &mut Stage, id: SubmissionId) -> Value {
    stage.cancel(id).await.ok();
    stage.until_so(id, |record| !record.state.cancel_requested).await;
    stage.read(id).await
}

fn a_day_later(stage: &Stage) {
    stage.advance(DAY);
    stage.stores().take_deliveries();
}

#[tokio::test]
async fn a_canceled_build_leaves_the_groups_of_testflight() {
    let mut stage = stage().await;
    let fields = json!({"destination": "testflight", "options": {"groups": ["Team", "Outside"]}});
    let id = stage.submitted("App.ipa", IPA, fields).await;
    stage.until(id, "in_review").await;
    let view = canceled(&mut stage, id).await;
    assert_eq!((&view["status"], &view["error"]), (&json!("canceled"), &Value::Null), "{view:#}");
    let told = last_event(&view);
    for part in ["The submission is canceled", "no longer have the build", "The build 42 stays"] {
        told.says(part);
    }
    a_day_later(&stage);
    assert_eq!(counts(&stage.ledger(), ["group", "group_removed", "beta_released"]), [2, 2, 0]);
}

#[tokio::test]
async fn an_approved_version_is_not_said_to_be_canceled() {
    let mut stage = stage().await;
    let fields = json!({"destination": "app_store", "options": {"manualRelease": true}});
    let id = stage.submitted("App.ipa", IPA, fields).await;
    let is_approved = |record: &Submission| record.events.last().unwrap().message.contains("waits for its release");
    stage.until_so(id, is_approved).await;
    let view = canceled(&mut stage, id).await;
    view.has(json!({"status": "in_review", "cancelRequested": false}));
    last_event(&view).says("Cancel This Release");
    stage.change(id, json!({"status": "rolling_out"})).await.ok();
    stage.succeeded(id).await;
}

/// The store refuses to let go of the version before its review: the work ends there all the same.
#[tokio::test]
async fn a_cancel_that_the_store_refuses_sends_nothing_to_review() {
    let mut stage = stage().await;
    let fault = |method: &'static str, path: &'static str, status| Fault {
        when: When::Matching { method: method.into(), path: path.into(), times: 1000 },
        kind: Kind::Status(status),
    };
    stage.stores().order(fault("PATCH", "/relationships/build", 503));
    let id = stage.submitted("App.ipa", IPA, json!({"destination": "app_store"})).await;
    let is_prepared =
        |record: &Submission| record.external.contains_key("appStoreVersionId") && record.work.failures > 0;
    stage.until_so(id, is_prepared).await;
    stage.stores().order(fault("GET", "/v1/appStoreVersions/", 403));
    let view = canceled(&mut stage, id).await;
    view.has(json!({"status": "failed"}));
    assert_eq!(view["error"]["code"], "CREDENTIAL_FORBIDDEN", "{view:#}");
    a_day_later(&stage);
    assert_eq!(counts(&stage.ledger(), ["review", "release"]), [0, 0]);
}

#[tokio::test]
async fn a_commit_to_google_play_goes_on_and_says_so() {
    let mut stage = stage().await;
    let id = stage.submitted("app.apk", APK, json!({"destination": "production"})).await;
    stage.until(id, "in_review").await;
    let view = canceled(&mut stage, id).await;
    view.has(json!({"status": "in_review", "cancelRequested": false}));
    last_event(&view).says("The release is committed, which Google Play cannot undo");
    stage.succeeded(id).await;
}

/// A retry waits to be continued, and what its first attempt left is in the store.
#[tokio::test]
async fn a_retry_that_waits_is_taken_back_too() {
    let mut stage = stage().await;
    stage.stores().order(Fault {
        when: When::Matching { method: "POST".into(), path: "/v1/reviewSubmissionItems".into(), times: 1 },
        kind: Kind::MissingMetadata,
    });
    let id = stage.submitted("App.ipa", IPA, json!({"destination": "app_store"})).await;
    assert_eq!(stage.ended(id).await["status"], "failed");
    stage.retry(id).await.ok();
    let view = stage.cancel(id).await.ok();
    view.has(json!({"status": "queued", "cancelRequested": true}));
    stage.ended(id).await.has(json!({"status": "canceled", "cancelRequested": false}));
    let log = stage.stores().log();
    let changes = log.iter().filter(|call| call.starts_with("PATCH") && call.ends_with("/relationships/build"));
    assert_eq!(changes.count(), 2, "the build was attached and detached: {log:?}");
    assert_eq!(counts(&stage.ledger(), ["version", "version_deleted", "review"]), [1, 0, 0]);
}
