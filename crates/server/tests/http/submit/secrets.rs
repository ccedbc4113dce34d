//! The secrets of a submission: the store's keys, and the URL of a running upload.

use crate::support::{Fields, Says};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_app_store_simulator::{ADDRESS, Fault, Kind, When};
use launchway_domain::time::HOUR;
use serde_json::json;

use crate::stage::Stage;
use crate::stage::app_stores::{ACCOUNT, APK};

#[tokio::test]
async fn the_address_of_an_upload_is_sealed_and_never_shown() {
    let mut stage = Stage::new().app_stores().await;
    stage.stores().order(Fault {
        when: When::Matching { method: "PUT".into(), path: "/simulator/sessions/".into(), times: 1 },
        kind: Kind::Status(503),
    });
    let id = stage.submitted("app.apk", APK, json!({"destination": "internal"})).await;
    stage.work().await;
    let log = stage.stores().log();
    let address = log.iter().find(|line| line.contains("/simulator/sessions/"));
    let session = address.expect("the upload was begun").rsplit('/').next().unwrap().to_owned();
    assert!(session.len() > 3, "{session}");
    let record = stage.record(id).await.unwrap();
    let sealed = record.work.sealed_progress.clone().expect("it has reached something");
    sealed.lacks("stage");
    sealed.lacks("sessions");
    let shown = stage.read(id).await.to_string() + &format!("{:?}", stage.audit(stage.org).await);
    shown.lacks("sessions/");
    assert_eq!(stage.ended(id).await["status"], "success");
}

#[tokio::test]
async fn a_service_account_cannot_steer_the_servers_calls() {
    let stage = Stage::new().app_stores().await;
    let add = async |place: &str| {
        let account = String::from_utf8_lossy(ACCOUNT).replace("https://oauth2.googleapis.com", place);
        let body = json!({"kind": "google_service_account", "content": BASE64_STANDARD.encode(account)});
        stage.post(&stage.key, "/credentials", body).await
    };
    let known = stage.get(&stage.key, "/credentials").await.ok()["total"].clone();
    for place in [
        "https://169.254.169.254",
        "https://10.0.0.1",
        "https://localhost",
        "https://[::1]:8443",
        "http://127.0.0.1:8790",
    ] {
        let told = add(place).await.refusal(400);
        assert!(told.starts_with("content: the token_uri of the service account must be"), "{place}: {told}");
    }
    assert_eq!(stage.get(&stage.key, "/credentials").await.ok()["total"], known);
    // Those of the configured store are taken.
    add(ADDRESS).await.created();
    assert_eq!(stage.calls(), 0);
}

#[tokio::test]
async fn a_key_is_opened_once_an_hour_and_not_after_its_deletion() {
    let mut stage = Stage::new().app_stores().await;
    let fields = json!({"destination": "production", "rollout": 20});
    let id = stage.submitted("app.apk", APK, fields).await;
    stage.until(id, "rolling_out").await;
    let opened = async |stage: &Stage| {
        let lines = stage.audit(stage.org).await;
        lines.iter().filter(|line| line.action == "secret.open").count()
    };
    let before = opened(&stage).await;
    stage.work().await;
    assert_eq!(opened(&stage).await, before);
    stage.advance(HOUR);
    stage.work().await;
    assert_eq!(opened(&stage).await, before + 1);
    let credential = stage.read(id).await.text("credentialId").to_owned();
    stage.delete(&stage.key, &format!("/credentials?id={credential}")).await.ok();
    stage.advance(HOUR / 2);
    stage.work().await;
    let failed = stage.read(id).await;
    assert_eq!(failed["error"]["message"], "The credential of this submission was deleted", "{failed:#}");
    let path = format!("/submit/retry?id={id}");
    let refused = stage.post(&stage.key, &path, ()).await.expect(400);
    assert!(refused.text("message").contains("POST /credentials"), "{refused}");
    stage.store_credentials(&stage.key).await;
    // Another one has replaced it.
    stage.post(&stage.key, &path, ()).await.ok();
    stage.until(id, "rolling_out").await;
    stage.change(id, json!({"rollout": 100})).await.ok();
    assert_eq!(stage.ended(id).await["status"], "success");
}
