//! What a store refuses is shown while it is tried again, and not for longer.

use launchway_app_store_simulator::{Fault, Kind, When};
use launchway_domain::time::MINUTE;
use launchway_os::clock::Clock;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::stage::app_stores::{APK, IPA, settings_with_encryption_answered};
use crate::support::{Fields, START};

fn fault(method: &'static str, path: &'static str, times: u32, kind: Kind) -> Fault {
    Fault { when: When::Matching { method: method.into(), path: path.into(), times }, kind }
}

#[tokio::test]
async fn what_is_wrong_is_shown_while_the_step_is_tried_again() {
    for (kind, code) in [(Kind::Status(401), "CREDENTIAL_INVALID"), (Kind::Status(503), "STORE_UNAVAILABLE")] {
        let mut stage = Stage::new().app_stores().await;
        stage.stores().order(fault("POST", "/edits", 2, kind));
        let id = stage.submitted("app.apk", APK, json!({"destination": "internal"})).await;
        stage.until_so(id, |record| record.work.failures > 0).await;
        let view = stage.read(id).await;
        assert_eq!((&view["status"], &view["error"]["code"]), (&json!("validating"), &json!(code)), "{view:#}");
        assert!(view["retryAt"].is_string() && view["error"].text("fix").len() > 10, "{view:#}");
        let listed = stage.get(&stage.key, "/submit").await.ok();
        assert_eq!(listed["items"][0]["error"]["code"], code, "{listed:#}");
        let told = view["events"].to_string().contains("The step is retried");
        assert_eq!(told, code == "CREDENTIAL_INVALID", "an outage is an event from the third failure on: {view:#}");
        stage.succeeded(id).await.has(json!({"error": null, "retryAt": null}));
    }
}

#[tokio::test]
async fn a_refused_key_fails_a_submission_within_seconds() {
    let mut stage = Stage::new().app_stores().await;
    stage.stores().order(fault("GET", "/v1/apps", 100, Kind::Status(401)));
    let id = stage.submitted("App.ipa", IPA, json!({"destination": "testflight"})).await;
    let failed = stage.ended(id).await;
    assert_eq!(failed["error"]["code"], "CREDENTIAL_INVALID", "{failed:#}");
    assert_eq!(failed["retryAt"], Value::Null);
    assert!(stage.clock.now() - START < MINUTE);
}

#[tokio::test]
async fn metadata_that_a_person_must_fill_in_fails_at_once() {
    let mut stage = Stage::new().app_stores_with(settings_with_encryption_answered()).await;
    stage.stores().order(fault("POST", "/v1/reviewSubmissionItems", 1, Kind::MissingMetadata));
    let id = stage.submitted("App.ipa", IPA, json!({"destination": "app_store"})).await;
    let failed = stage.ended(id).await;
    assert_eq!(failed["error"]["code"], "METADATA_MISSING", "{failed:#}");
    assert!(failed["error"].text("message").contains("'description'"), "{failed:#}");
    stage.retry(id).await.ok();
    stage.succeeded(id).await;
}

/// The tries of the step do not count for the cancel.
#[tokio::test]
async fn a_cancel_has_its_own_tries() {
    let mut stage = Stage::new().app_stores().await;
    stage.stores().order(fault("PUT", "/tracks/", 2, Kind::Status(401)));
    stage.stores().order(fault("DELETE", "/edits", 2, Kind::Status(401)));
    let id = stage.submitted("app.apk", APK, json!({"destination": "internal"})).await;
    stage.until_so(id, |record| record.work.failures == 2).await;
    stage.cancel(id).await.ok();
    assert_eq!(stage.ended(id).await["status"], "canceled");
}
