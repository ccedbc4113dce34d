//! Events of App Store Connect over HTTP: a signed event makes the affected submissions poll the store now; any other
//! has no effect.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_app_stores::app_store::webhook::{MAX_EVENT, SIGNATURE_HEADER, WebhookSecret};
use launchway_domain::id::SubmissionId;
use launchway_domain::webhook::OLD_SECRET_LIFE;
use launchway_os::clock::Clock;
use reqwest::Method;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::stage::Stage;
use crate::stage::app_stores::{IPA, P8};
use crate::support::{Answer, TestApp};

const NOT_PROVEN: &str = "The signature is not valid for this address. Check the webhook's secret.";

/// The URL for events, and the secret that signs them.
struct Place {
    credential: String,
    url: String,
    secret: WebhookSecret,
}

impl Place {
    /// The webhook of a new credential.
    async fn new(app: &TestApp, key: &str) -> Place {
        let body = json!({
            "kind": "app_store_connect_key", "content": BASE64_STANDARD.encode(P8), "keyId": "ABCDE12345",
        });
        let made = app.post(key, "/credentials", body).await.created();
        let text = |of: &Value| of.as_str().unwrap().to_owned();
        Place {
            credential: text(&made["id"]),
            url: text(&made["storeEvents"]["url"]),
            secret: WebhookSecret::new(Zeroizing::new(text(&made["storeEvents"]["secret"]))),
        }
    }

    /// Sends an event that is accepted.
    async fn tell(&self, app: &TestApp, event: &str) {
        let answer = self.send(app, event).await;
        assert_eq!((answer.status.as_u16(), answer.text()), (200, String::new()));
    }

    async fn send(&self, app: &TestApp, event: &str) -> Answer {
        send(app, &self.url, Some(&self.secret.sign(event.as_bytes())), event).await
    }
}

async fn send(app: &TestApp, url: &str, signature: Option<&str>, event: &str) -> Answer {
    let mut request = app.request(Method::POST, url).body(event.to_owned());
    if let Some(signature) = signature {
        request = request.header(SIGNATURE_HEADER, signature);
    }
    Answer::to(request).await
}

/// The event of a changed build upload.
fn event(upload: &str) -> String {
    let subject = json!({"type": "buildUploads", "id": upload});
    let data = json!({
        "type": "buildUploadStateUpdated", "id": "7c813492", "version": 1, "relationships": {"instance": {"data": subject}},
    });
    json!({"data": data}).to_string()
}

/// A submission whose upload the store is processing, and the id of that upload.
async fn processing(stage: &mut Stage) -> (SubmissionId, String) {
    let fields = json!({"destination": "testflight", "options": {"usesNonExemptEncryption": false}});
    let id = stage.submitted("App.ipa", IPA, fields).await;
    stage.work().await;
    let upload = stage.read(id).await["external"]["buildUploadId"].clone();
    (id, upload.as_str().expect("the upload was made").to_owned())
}

/// The number of milliseconds until the next step is due.
async fn due_in(stage: &Stage, id: SubmissionId) -> i64 {
    let record = stage.record(id).await.unwrap();
    record.work.due_at.expect("something comes next") - stage.clock.now()
}

#[tokio::test]
async fn what_it_concerns_looks_at_the_store_now() {
    let mut stage = Stage::new().app_stores().await;
    let (id, upload) = processing(&mut stage).await;
    let place = Place::new(&stage, &stage.key).await;
    let wait = due_in(&stage, id).await;
    assert!(wait > 0, "{wait}");

    place.tell(&stage, &event("another")).await;
    assert_eq!(due_in(&stage, id).await, wait, "an event of something else");
    place.tell(&stage, &event(&upload)).await;
    assert_eq!(due_in(&stage, id).await, 0);
    let calls = stage.calls();
    stage.work().await;
    assert!(stage.calls() > calls, "it looked");

    // Repeating the event, now and after the end, costs at most one poll.
    place.tell(&stage, &event(&upload)).await;
    assert_eq!(stage.ended(id).await["status"], "success");
    place.tell(&stage, &event(&upload)).await;
    let calls = stage.calls();
    stage.work().await;
    assert_eq!(stage.calls(), calls);
    assert_eq!(stage.ledger().count("upload"), 1);
}

#[tokio::test]
async fn what_is_not_signed_for_this_address_is_refused() {
    let mut stage = Stage::new().app_stores().await;
    let (id, upload) = processing(&mut stage).await;
    let wait = due_in(&stage, id).await;
    let place = Place::new(&stage, &stage.key).await;
    let other = Place::new(&stage, &stage.key).await;
    let event = event(&upload);
    let right = place.secret.sign(event.as_bytes());
    let nobodys = place.url.replace(&place.credential, &other.credential);
    let malformed = place.url.replace(&place.credential, "credential_x");
    for (url, signature, body) in [
        (&place.url, None, event.as_str()),
        (&place.url, Some(""), &event),
        (&place.url, Some("hmacsha256=00"), &event),
        (&place.url, Some(&*right), &event[1..]),
        (&nobodys, Some(&*right), &event),
        (&malformed, Some(&*right), &event),
    ] {
        send(&stage, url, signature, body).await.refused(401, NOT_PROVEN);
    }
    // Deleting the credential ends its events.
    stage.delete(&stage.key, &format!("/credentials?id={}", place.credential)).await.ok();
    place.send(&stage, &event).await.refused(401, NOT_PROVEN);
    assert_eq!(due_in(&stage, id).await, wait);
}

#[tokio::test]
async fn a_rotated_secret_is_valid_for_one_day_more() {
    let mut stage = Stage::new().app_stores().await;
    let (_, upload) = processing(&mut stage).await;
    let place = Place::new(&stage, &stage.key).await;
    let path = format!("/credentials/rotate-events-secret?id={}", place.credential);
    let rotated = stage.post(&stage.key, &path, ()).await.ok();
    assert_eq!((&rotated["id"], &rotated["storeEvents"]["url"]), (&json!(place.credential), &json!(place.url)));
    let secret = rotated["storeEvents"]["secret"].as_str().unwrap().to_owned();
    let new =
        Place { secret: WebhookSecret::new(Zeroizing::new(secret.clone())), ..Place::new(&stage, &stage.key).await };
    let new = Place { credential: place.credential.clone(), url: place.url.clone(), ..new };
    let event = event(&upload);
    place.tell(&stage, &event).await;
    new.tell(&stage, &event).await;
    stage.advance(OLD_SECRET_LIFE);
    place.send(&stage, &event).await.refused(401, NOT_PROVEN);
    new.tell(&stage, &event).await;
    // Neither the record nor the audit log shows it.
    let shown = stage.get(&stage.key, &format!("/credentials?id={}", place.credential)).await.ok().to_string();
    let audit = stage.get(&stage.key, "/audit?action=credential.rotate_events_secret").await.ok();
    assert_eq!(audit["total"], 1);
    assert!(!(shown + &audit.to_string()).contains(&secret));
}

#[tokio::test]
async fn only_a_key_of_app_store_connect_has_events() {
    let stage = Stage::new().app_stores().await;
    let all = stage.get(&stage.key, "/credentials").await.ok();
    let google = all["items"].as_array().unwrap().iter().find(|one| one["kind"] == "google_service_account");
    let path = format!("/credentials/rotate-events-secret?id={}", google.unwrap()["id"].as_str().unwrap());
    stage.post(&stage.key, &path, ()).await.refused(
        400,
        "Only a credential of the kind app_store_connect_key has events of its store, but this one is \
         google_service_account",
    );
}

#[tokio::test]
async fn another_organization_moves_nothing() {
    let mut stage = Stage::new().app_stores().await;
    let (id, upload) = processing(&mut stage).await;
    let wait = due_in(&stage, id).await;
    let (_, key) = stage.org_with_key().await;
    let theirs = Place::new(&stage, &key).await;
    theirs.tell(&stage, &event(&upload)).await;
    assert_eq!(due_in(&stage, id).await, wait);
}

#[tokio::test]
async fn what_is_no_event_is_refused() {
    let stage = Stage::new().app_stores().await;
    let place = Place::new(&stage, &stage.key).await;
    let no_event = "The body is not an event of App Store Connect";
    place.send(&stage, "{}").await.refused(400, no_event);
    let large = " ".repeat(MAX_EVENT + 1);
    place.send(&stage, &large).await.refused(413, &format!("An event has at most {MAX_EVENT} bytes"));
    let ping = r#"{"data":{"type":"webhookPingCreated","id":"9","version":1}}"#;
    place.tell(&stage, ping).await;
    Answer::to(stage.request(Method::GET, &place.url)).await.is(405);
}
