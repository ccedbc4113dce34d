//! `app`, and the common behavior of all resource commands: JSON, prompts and rejections.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, page};

const ID: &str = "app_01kb0000000000000000000001";

/// An app in the form of the API, with these fields replaced.
pub fn app(changed: Value) -> Value {
    let mut app = json!({
        "id": ID,
        "status": "active",
        "bundleId": "com.example.app",
        "name": "Example",
        "createdAt": "2026-11-01T08:00:00.000Z",
    });
    let fields = app.as_object_mut().expect("an object");
    fields.extend(changed.as_object().expect("an object").clone());
    app
}

fn deleted() -> Reply {
    Reply::new(200, json!({"id": ID, "status": "deleted"}).to_string())
}

#[tokio::test]
async fn every_command() {
    let other = json!({"id": "app_01kb0000000000000000000002", "bundleId": "com.example.Other", "name": "Other"});
    let apps = || Reply::new(200, page(&[app(other.clone()), app(json!({}))], 2, 0));
    let one = || Reply::new(200, app(json!({})).to_string());
    let server = FakeServer::start([
        apps(),
        one(),
        apps(),
        one(),
        Reply::new(201, app(json!({})).to_string()),
        apps(),
        deleted(),
    ])
    .await;
    let stage = Stage::with(&server);
    let rows: [&[&str]; 5] = [
        &["app", "list", "--limit", "5"],
        &["app", "show", ID],
        &["app", "show", "COM.example.app"],
        &["app", "create", "com.example.app", "--name", "Example"],
        &["app", "delete", "com.example.app", "--yes"],
    ];
    let mut text = String::new();
    for arguments in rows {
        text.push_str(&stage.run(arguments).await);
    }
    assert_snapshot!(text);
    let asked = [
        "GET /api/apps?limit=5&offset=0".to_owned(),
        format!("GET /api/apps?id={ID}"),
        "GET /api/apps?limit=100&offset=0".to_owned(),
        format!("GET /api/apps?id={ID}"),
        "POST /api/apps".to_owned(),
        "GET /api/apps?limit=100&offset=0".to_owned(),
        format!("DELETE /api/apps?id={ID}"),
    ];
    assert_eq!(server.lines(), asked);
    assert_eq!(
        server.seen()[4].json(),
        json!({"bundleId": "com.example.app", "name": "Example"})
    );
}

#[tokio::test]
async fn json_is_what_the_server_wrote() {
    let written = page(&[app(json!({"newerThanThisClient": true}))], 1, 0);
    let server = FakeServer::start([Reply::new(200, written.clone()), deleted()]).await;
    let stage = Stage::with(&server);
    assert_eq!(stage.json(&["app", "list", "--json"]).await.to_string(), written);
    let gone = stage.json(&["app", "delete", ID, "--yes", "--json"]).await;
    assert_eq!(gone, json!({"id": ID, "status": "deleted"}));
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let server = FakeServer::start([
        Reply::new(200, page(&[], 0, 0)),
        Reply::error(403, "Forbidden", "com.example.app belongs to another organization"),
        Reply::error(404, "Not Found", "No app has this id"),
        Reply::error(400, "Bad Request", "This organization has com.example.app already"),
    ])
    .await;
    let stage = Stage::with(&server);
    let rows: [&[&str]; 7] = [
        &["app", "show", "com.example.unknown"],
        &["app", "create", "com.example.app"],
        &["app", "delete", ID, "--yes"],
        &["app", "create", "com.example.app"],
        &["app", "delete", ID],
        &["app", "create", "not a bundle id"],
        &["app"],
    ];
    let mut text = String::new();
    for arguments in rows {
        text.push_str(&stage.run(arguments).await);
    }
    assert_snapshot!(text);
    assert_eq!(server.seen().len(), 4, "nothing is sent that is not confirmed");
}
