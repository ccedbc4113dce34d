//! `webhook`: receivers and their deliveries.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, page};

const ID: &str = "webhook_01kb0000000000000000000001";
const DELIVERY: &str = "delivery_01kb0000000000000000000001";

fn with(mut value: Value, changed: Value) -> Value {
    let fields = value.as_object_mut().expect("an object");
    fields.extend(changed.as_object().expect("an object").clone());
    value
}

/// A webhook in the form of the API, with these fields replaced.
pub fn webhook(changed: Value) -> Value {
    let webhook = json!({
        "id": ID,
        "status": "active",
        "disabledReason": null,
        "name": "Chat",
        "url": "https://hooks.example.com/launchway",
        "type": "generic",
        "events": ["update.published", "update.withdrawn"],
        "bundleIds": [],
        "createdAt": "2026-11-01T08:00:00.000Z",
        "lastDelivery": null,
    });
    with(webhook, changed)
}

/// A delivery in the form of the API, with these fields replaced.
pub fn delivery(changed: Value) -> Value {
    let delivery = json!({
        "id": DELIVERY,
        "status": "pending",
        "webhookId": ID,
        "eventId": "event_01kb0000000000000000000001",
        "type": "webhook.test",
        "createdAt": "2026-11-20T10:00:00.000Z",
        "nextAttemptAt": "2026-11-20T10:05:00.000Z",
        "reason": null,
        "attempts": [],
    });
    with(delivery, changed)
}

async fn transcript(replies: Vec<Reply>, rows: &[&[&str]]) -> (String, FakeServer) {
    let server = FakeServer::start(replies).await;
    let stage = Stage::with(&server);
    let mut text = String::new();
    for arguments in rows {
        text.push_str(&stage.run(arguments).await);
    }
    (text, server)
}

#[tokio::test]
async fn look_and_delete() {
    let disabled = json!({"status": "disabled", "disabledReason": "it failed for five days", "events": ["*"],
        "bundleIds": ["com.example.app"], "lastDelivery": delivery(json!({"status": "failed"}))});
    let tried = json!({"attempts": [
        {"at": "2026-11-20T10:00:00.000Z", "duration": 0.2, "responseStatus": 500, "error": "the receiver answered 500"},
        {"at": "2026-11-20T10:00:05.000Z", "duration": 15.0, "responseStatus": null, "error": "no answer within 15 s"},
    ]});
    let done = json!({"id": "delivery_01kb0000000000000000000002", "status": "succeeded", "nextAttemptAt": null,
        "type": "update.published", "attempts": [
        {"at": "2026-11-20T10:00:00.000Z", "duration": 0.2, "responseStatus": 204, "error": null}]});
    let replies = vec![
        Reply::new(200, page(&[webhook(disabled.clone()), webhook(json!({}))], 2, 0)),
        Reply::new(200, webhook(disabled).to_string()),
        Reply::new(200, page(&[delivery(done), delivery(tried)], 2, 0)),
        Reply::new(200, json!({"id": ID, "status": "deleted"}).to_string()),
    ];
    let rows: [&[&str]; 4] = [
        &["webhook", "list"],
        &["webhook", "show", ID],
        &["webhook", "deliveries", ID],
        &["webhook", "delete", ID, "--yes"],
    ];
    let (text, server) = transcript(replies, &rows).await;
    assert_snapshot!(text);
    let asked = [
        "GET /api/webhooks?limit=10&offset=0".to_owned(),
        format!("GET /api/webhooks?id={ID}"),
        format!("GET /api/webhooks/deliveries?id={ID}&limit=10&offset=0"),
        format!("DELETE /api/webhooks?id={ID}"),
    ];
    assert_eq!(server.lines(), asked);
}

#[tokio::test]
async fn make_change_and_try() {
    let secret = json!({"secret": "whsec_of_this_test"});
    let replies = vec![
        Reply::new(201, webhook(secret.clone()).to_string()),
        Reply::new(200, webhook(json!({"bundleIds": ["com.example.app"]})).to_string()),
        Reply::new(200, webhook(json!({"events": ["*"], "status": "disabled"})).to_string()),
        Reply::new(200, webhook(secret).to_string()),
        Reply::new(201, delivery(json!({})).to_string()),
        Reply::new(201, delivery(json!({"type": "update.published"})).to_string()),
    ];
    let to = "https://hooks.example.com/launchway";
    let rows: [&[&str]; 5] = [
        &[
            "webhook",
            "create",
            "Chat",
            "--to",
            to,
            "--event",
            "update.published",
            "--event",
            "update.withdrawn",
        ],
        &["webhook", "update", ID, "--event", "*", "--all-apps", "--disable"],
        &["webhook", "rotate-secret", ID],
        &["webhook", "test", ID],
        &["webhook", "redeliver", DELIVERY],
    ];
    let (text, server) = transcript(replies, &rows).await;
    assert_snapshot!(text);
    let seen = server.seen();
    let events = json!(["update.published", "update.withdrawn"]);
    assert_eq!(seen[0].json(), json!({"name": "Chat", "url": to, "events": events}));
    // The complete record, with the changes.
    let replaced = json!({"id": ID, "status": "disabled", "name": "Chat", "url": to, "events": ["*"], "type": "generic",
        "bundleIds": []});
    assert_eq!(seen[2].json(), replaced);
    let lines = server.lines();
    assert_eq!(lines[1], format!("GET /api/webhooks?id={ID}"));
    assert_eq!(lines[2], "PUT /api/webhooks");
    assert_eq!(lines[3], format!("POST /api/webhooks/rotate-secret?id={ID}"));
    assert_eq!(lines[4], format!("POST /api/webhooks/test?id={ID}"));
    assert_eq!(lines[5], format!("POST /api/webhooks/redeliver?id={DELIVERY}"));
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let replies = vec![
        Reply::new(201, webhook(json!({})).to_string()),
        Reply::error(400, "Bad Request", "url must be an https URL of a public host"),
        Reply::error(404, "Not Found", "No delivery has this id"),
    ];
    let rows: [&[&str]; 6] = [
        &["webhook", "create", "Chat", "--to", "https://hooks.example.com"],
        &["webhook", "create", "Chat", "--to", "http://10.0.0.1"],
        &["webhook", "redeliver", DELIVERY],
        &["webhook", "update", ID],
        &["webhook", "update", ID, "--enable", "--disable"],
        &["webhook", "delete", ID],
    ];
    assert_snapshot!(transcript(replies, &rows).await.0);
}
