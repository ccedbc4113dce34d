//! `key`: a new key is printed once, alone, on standard output.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, page};

const ID: &str = "key_01kb0000000000000000000002";
/// Not the key of the caller, which must never be displayed.
const NEW: &str = "lw_new_key_of_this_test";

/// A key in the form of the API, with these fields replaced.
pub fn key(changed: Value) -> Value {
    let mut key = json!({
        "id": ID,
        "status": "active",
        "name": "CI",
        "prefix": "lw_new_key_o",
        "scopes": ["build", "update"],
        "createdAt": "2026-11-01T08:00:00.000Z",
        "createdBy": "user_01kb0000000000000000000001",
        "lastUsedAt": null,
        "expiresAt": "2027-02-01T08:00:00.000Z",
    });
    let fields = key.as_object_mut().expect("an object");
    fields.extend(changed.as_object().expect("an object").clone());
    key
}

const CREATE: [&str; 7] = [
    "key",
    "create",
    "CI",
    "--scopes",
    "build,update",
    "--expires-in-days",
    "90",
];

#[tokio::test]
async fn every_command() {
    let old = json!({"id": "key_01kb0000000000000000000001", "status": "revoked", "name": "old", "expiresAt": null,
        "lastUsedAt": "2026-11-20T10:00:00.000Z", "scopes": ["admin"]});
    let server = FakeServer::start([
        Reply::new(200, page(&[key(json!({})), key(old)], 2, 0)),
        Reply::new(201, key(json!({"key": NEW})).to_string()),
        Reply::new(200, json!({"id": ID, "status": "revoked"}).to_string()),
    ])
    .await;
    let stage = Stage::with(&server);
    let mut text = stage.run(&["key", "list"]).await;
    text.push_str(&stage.run(&CREATE).await);
    text.push_str(&stage.run(&["key", "revoke", ID, "--yes"]).await);
    assert_snapshot!(text);
    let asked = [
        "GET /api/api-keys?limit=10&offset=0",
        "POST /api/api-keys",
        &format!("DELETE /api/api-keys?id={ID}"),
    ];
    assert_eq!(server.lines(), asked);
    let wanted = json!({"name": "CI", "scopes": ["build", "update"], "expiresInDays": 90});
    assert_eq!(server.seen()[1].json(), wanted);
}

#[tokio::test]
async fn a_new_key_can_be_piped_away() {
    let made = key(json!({"key": NEW}));
    let server = FakeServer::start((0..2).map(|_| Reply::new(201, made.to_string()))).await;
    let stage = Stage::with(&server);
    let mut quiet = CREATE.to_vec();
    quiet.push("--quiet");
    let output = stage.command(&quiet).output().await.expect("the command starts");
    assert_eq!(output.stdout, format!("{NEW}\n").into_bytes());
    assert!(output.stderr.is_empty());
    let mut json = CREATE.to_vec();
    json.push("--json");
    assert_eq!(stage.json(&json).await, made);
}

#[tokio::test]
async fn a_key_whose_answer_was_lost_is_named_for_its_revocation() {
    let server = FakeServer::start([Reply::new(201, key(json!({})).to_string())]).await;
    assert_snapshot!(Stage::with(&server).run(&CREATE).await);
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let server = FakeServer::start([Reply::error(403, "Forbidden", "API key does not have 'admin' scope")]).await;
    let stage = Stage::with(&server);
    let rows: [&[&str]; 4] = [
        &["key", "list"],
        &["key", "create", "CI"],
        &["key", "create", "CI", "--scopes", "admin"],
        &["key", "revoke", ID],
    ];
    let mut text = String::new();
    for arguments in rows {
        text.push_str(&stage.run(arguments).await);
    }
    assert_snapshot!(text);
}
