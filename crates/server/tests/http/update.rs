//! `/update`: publishes from an upload, and what the check then offers.

mod archives;
mod change;
mod forms;
mod identity;
mod lineage;
mod list;
pub mod waiting;

use launchway_domain::scope::Scope;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::iso;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::stage::BUNDLE;
use crate::support::{Fields, NOBODY, START, TestApp, package};

/// The path that names an update.
fn of(update: &Value) -> String {
    format!("/update?id={}", update.id())
}

async fn key_id(app: &TestApp, key: &str) -> Value {
    app.get(key, "/auth/session").await.ok()["id"].clone()
}

#[tokio::test]
async fn a_publish_answers_the_whole_record_as_reading_it_does() {
    let (app, key) = TestApp::with_key().await;
    let bytes = package("index.html", b"<h1>hello</h1>");
    let fields = json!({
        "bundleId": "com.Example.app", "platform": "visionos", "version": "1.0", "buildNumber": "007",
        "configuration": "Production", "fingerprint": "n-1", "releaseNotes": "New", "rollout": 20, "mandatory": true,
    });
    let update = app.published(&key, fields).await;
    let hash = |bytes: &[u8]| hex::encode(Sha256::digest(bytes));
    let file = json!({"path": "index.html", "sha256": hash(b"<h1>hello</h1>"), "size": 14});
    let list = json!({"alg": "lwfl-1", "files": [file]}).to_string();
    let expected = json!({
        "id": update["id"], "status": "published", "bundleId": "com.Example.app", "platform": "visionos",
        "version": "1.0", "buildNumber": "007", "configuration": "Production", "fingerprint": "n-1", "buildId": null,
        "sourceUpdateId": null, "releaseNotes": "New", "mandatory": true, "rollout": 20, "size": bytes.len(),
        "sha256": hash(&bytes), "fileCount": 1, "createdBy": key_id(&app, &key).await,
        "createdAt": iso(START), "manifest": hash(list.as_bytes()), "trustRole": null,
        "kind": "update", "format": "archive", "sequence": 1, "runtimeVersion": null, "binaryRange": null,
    });
    assert_eq!(update, expected);
    let id = update.id();
    assert!(id.starts_with("update_") && id.len() == "update_".len() + 26, "{id}");
    let mut read = app.get(&key, &of(&update)).await.ok();
    for counted in ["reports", "callers", "foreignIds"] {
        read.as_object_mut().unwrap().remove(counted).unwrap();
    }
    assert_eq!(read, expected);
}

#[tokio::test]
async fn what_is_not_said_has_its_default() {
    let (app, key) = TestApp::with_key().await;
    let absent = app.published(&key, json!({})).await;
    let fields = json!({
        "buildNumber": null, "configuration": null, "fingerprint": null, "releaseNotes": null, "rollout": null,
        "mandatory": null, "sourceUpdateId": null, "buildId": null,
    });
    let null = app.published(&key, fields).await;
    for (update, build) in [(absent, "1"), (null, "2")] {
        let defaults = json!({
            "buildNumber": build, "configuration": null, "fingerprint": null, "releaseNotes": "", "rollout": 100,
            "mandatory": false, "sourceUpdateId": null, "buildId": null,
        });
        for (field, value) in defaults.as_object().unwrap() {
            assert_eq!(&update[field], value, "{field}");
        }
    }
}

/// 201 means that phones can be served: `docs/reference/updates.md#publishing-an-update`.
#[tokio::test]
async fn when_it_is_answered_a_check_is_offered_the_very_bytes() {
    let (app, key) = TestApp::with_key().await;
    for number in 1..=5 {
        let bytes = package("index.html", format!("<h1>{number}</h1>").as_bytes());
        let upload = app.upload(&key, &bytes).await;
        let body =
            json!({"uploadId": upload, "bundleId": BUNDLE, "platform": "ios", "version": format!("1.{number}.0")});
        let update = app.post(&key, "/update", body).await.created();
        let offer = app.checked(BUNDLE, "currentVersion=1.0.0&currentUpdateId=x").await;
        assert_eq!(offer["id"], update["id"]);
        let served = app.get(NOBODY, offer.text("url")).await;
        assert_eq!(served.bytes, bytes);
    }
}

#[tokio::test]
async fn a_member_publishes_with_a_session_and_a_key_needs_the_scope() {
    let (app, org, key) = TestApp::with_org().await;
    let cookie = app.user(org, "member@example.com", Role::Member).await;
    let upload = app.upload(&key, &package("a", b"a")).await;
    let body = json!({"uploadId": upload, "bundleId": BUNDLE, "platform": "ios", "version": "1.0.0"});
    for scope in [Scope::Build, Scope::Submit, Scope::Admin] {
        let other = app.key(org, &[scope]).await;
        app.post(&other, "/update", body.clone()).await.refused(403, "API key does not have 'update' scope");
    }
    let update = app.post(&cookie, "/update", body).await.created();
    let session = app.get(&cookie, "/auth/session").await.ok();
    assert_eq!(update["createdBy"], session["user"]["id"]);
}

/// The first successful publish claims the bundle identifier, whatever its letter case:
/// `docs/reference/callers.md#claiming-a-bundle-identifier`.
#[tokio::test]
async fn a_bundle_id_belongs_to_its_first_publisher() {
    let (app, key) = TestApp::with_key().await;
    let (_, other) = app.org_with_key().await;
    let taken = "belongs to another organization. The operator of this server can transfer it.";
    app.published(&key, json!({"bundleId": "com.example.App"})).await;
    for bundle in ["com.example.App", "com.example.app", "COM.EXAMPLE.APP"] {
        app.publish(&other, json!({"bundleId": bundle})).await.refused(403, &format!("The bundle id {bundle} {taken}"));
    }
    let apps = app.get(&key, "/apps").await.ok();
    app.delete(&key, &format!("/apps?id={}", apps["items"][0].id())).await.ok();
    let refused = app.publish(&other, json!({"bundleId": "com.example.app"})).await;
    refused.refused(403, &format!("The bundle id com.example.app {taken}"));
    assert_eq!(app.get(&other, "/update").await.ok()["total"], 0);
    let update = app.published(&key, json!({"bundleId": "com.EXAMPLE.app"})).await;
    assert_eq!(update["buildNumber"], "2", "the owner goes on");
}

#[tokio::test]
async fn a_publish_that_fails_claims_nothing() {
    let (app, key) = TestApp::with_key().await;
    let (_, other) = app.org_with_key().await;
    let upload = app.upload(&key, b"no archive").await;
    let body = json!({"uploadId": upload, "bundleId": BUNDLE, "platform": "ios", "version": "1.0.0"});
    app.post(&key, "/update", body).await.is(400);
    app.published(&other, json!({})).await;
}

/// The names of the audit rows and events of an organization, oldest first.
async fn traces(app: &TestApp, org: launchway_domain::id::OrgId) -> (Vec<String>, Vec<String>) {
    let actions = app.audit(org).await.into_iter().map(|row| row.action).collect();
    (actions, app.events(org).await.into_iter().map(|(kind, _)| kind).collect())
}

/// Every transition writes its event and its audit row in its own transaction; failures and changes without effect
/// write none.
#[tokio::test]
async fn changes_leave_their_audit_rows_and_events() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Enterprise).await;
    let key = app.key(org, &[Scope::Update]).await;
    let (old_audit, old_events) = traces(&app, org).await;
    let change = async |update: &Value, change: Value| {
        app.advance(1);
        app.patch(&key, &of(update), change).await
    };
    let update = app.published(&key, json!({"buildNumber": 1})).await;
    app.publish(&key, json!({"buildNumber": 1})).await.is(400);
    change(&update, json!({"status": "paused"})).await.ok();
    change(&update, json!({"status": "paused"})).await.ok();
    change(&update, json!({})).await.ok();
    change(&update, json!({"rollout": 5, "releaseNotes": "more"})).await.ok();
    change(&update, json!({"status": "withdrawn"})).await.ok();
    change(&update, json!({"status": "published"})).await.is(400);
    app.advance(1);
    let second = app.published(&key, json!({"buildNumber": 2})).await;
    for update in [&update, &second] {
        app.advance(1);
        app.delete(&key, &of(update)).await.ok();
    }
    let (audit, events) = traces(&app, org).await;
    let expected = [
        "upload.create",
        "app.create",
        "update.publish",
        "upload.create",
        "update.change",
        "update.change",
        "update.withdraw",
        "upload.create",
        "update.publish",
        "update.delete",
        "update.delete",
    ];
    assert_eq!(audit[old_audit.len()..], expected);
    // Deleting a withdrawn update does not withdraw it again.
    let expected = [
        "update.published",
        "update.changed",
        "update.changed",
        "update.withdrawn",
        "update.published",
        "update.withdrawn",
    ];
    assert_eq!(events[old_events.len()..], expected);
}

#[tokio::test]
async fn an_audit_row_says_who_and_an_event_shows_the_update() {
    let (app, org, key) = TestApp::with_org().await;
    let update = app.published(&key, json!({})).await;
    let answer = app.patch(&key, &of(&update), json!({"rollout": 5})).await;
    let changed = answer.ok();
    let row = app.audit(org).await.pop().unwrap();
    let json = |text: &Option<String>| serde_json::from_str::<Value>(text.as_deref().unwrap()).unwrap();
    assert_eq!((row.at, row.action.as_str()), (START, "update.change"));
    assert_eq!(json!([row.actor, row.resource]), json!([key_id(&app, &key).await, update["id"]]));
    assert_eq!((json(&row.before), json(&row.after)), (update.clone(), changed.clone()));
    assert_eq!((row.address.as_str(), row.request_id.as_str()), ("127.0.0.1", answer.header("x-request-id")));
    let shown: Vec<Value> = app.events(org).await.into_iter().map(|(_, data)| data).collect();
    assert!(shown.contains(&update) && shown.contains(&changed));
}
