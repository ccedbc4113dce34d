//! `org`, `audit` and `usage`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::session::caller;
use crate::stage::{KEY, Stage, page};

const ID: &str = "org_01kb0000000000000000000001";

/// An organization in the form of the API.
pub fn org() -> Value {
    json!({"id": ID, "status": "active", "name": "Example Apps", "tier": "pro", "role": null,
        "createdAt": "2026-11-01T08:00:00.000Z"})
}

/// The usage of a month in the form of the API.
pub fn month(id: &str, builds: Value) -> Value {
    json!({"id": id, "status": "running", "tier": "pro", "builds": 12, "buildMinutes": 80, "submissions": 1,
        "updates": 30, "checks": 123_456, "bytes": 45_000_000, "quotas": {"builds": builds, "buildMinutes": null,
        "submissions": null, "updates": null, "bytes": 1_073_741_824}})
}

/// A member in the form of the API.
pub fn member() -> Value {
    json!({"id": "user_01kb0000000000000000000001", "status": "active", "email": "ada@example.com", "role": "owner",
        "createdAt": "2026-11-01T08:00:00.000Z"})
}

/// An audit log entry in the form of the API.
pub fn audit_line() -> Value {
    json!({"seq": 7, "at": "2026-11-20T10:00:00.000Z", "actor": "user_01kb0000000000000000000001",
        "action": "key.revoke", "resource": "key_01kb0000000000000000000001", "before": null, "after": null,
        "address": "192.0.2.1", "requestId": "req-1", "hash": "00"})
}

#[tokio::test]
async fn organizations_and_members() {
    let server = FakeServer::start([
        Reply::new(200, page(&[org()], 1, 0)),
        Reply::new(200, caller(json!({})).to_string()),
        Reply::new(200, org().to_string()),
        Reply::new(200, page(&[member()], 1, 0)),
    ])
    .await;
    let stage = Stage::with(&server);
    let mut text = String::new();
    for command in ["list", "show", "members"] {
        text.push_str(&stage.run(&["org", command]).await);
    }
    assert_snapshot!(text);
    let asked = [
        "GET /api/orgs?limit=10&offset=0",
        "GET /api/auth/session",
        &format!("GET /api/orgs?id={ID}"),
        "GET /api/orgs/members?limit=10&offset=0",
    ];
    assert_eq!(server.lines(), asked);
}

#[tokio::test]
async fn a_chosen_organization_is_kept_with_the_login() {
    let server = FakeServer::start([
        Reply::new(200, caller(json!({})).to_string()),
        Reply::new(200, org().to_string()),
        Reply::new(200, caller(json!({})).to_string()),
        Reply::error(404, "Not Found", "No organization has this id"),
        Reply::new(200, caller(json!({})).to_string()),
        Reply::new(200, caller(json!({})).to_string()),
    ])
    .await;
    let mut stage = Stage::new();
    stage.hide(&server);
    let url = server.url();
    stage.run_with(&["login", "--url", &url], KEY).await;
    let mut text = stage.run(&["org", "use", ID]).await;
    stage.run(&["whoami"]).await;
    text.push_str(&stage.run(&["org", "use", "org_01kb0000000000000000000009"]).await);
    // Another login may be for another organization.
    stage.run_with(&["login", "--url", &url], KEY).await;
    stage.run(&["whoami"]).await;
    assert_eq!(
        server.lines(),
        [
            "GET /api/auth/session".to_owned(),
            format!("GET /api/orgs?id={ID}"),
            format!("GET /api/auth/session?orgId={ID}"),
            "GET /api/orgs?id=org_01kb0000000000000000000009".to_owned(),
            "GET /api/auth/session".to_owned(),
            "GET /api/auth/session".to_owned(),
        ]
    );
    stage.set("LAUNCHWAY_API_KEY", KEY);
    text.push_str(&stage.run(&["org", "use", ID]).await);
    assert_snapshot!(text);
}

#[tokio::test]
async fn the_audit_log() {
    let service = json!({"seq": 6, "at": "2026-11-20T09:00:00.000Z", "actor": "service", "action": "upload.expire",
        "resource": "upload_01kb0000000000000000000001", "before": null, "after": null, "address": null,
        "requestId": null, "hash": "00"});
    let server = FakeServer::start([
        Reply::new(200, page(&[audit_line(), service], 2, 0)),
        Reply::error(
            400,
            "Bad Request",
            "since must be a time such as 2026-11-20T10:00:00.000Z",
        ),
    ])
    .await;
    let stage = Stage::with(&server);
    let narrowed = [
        "audit",
        "list",
        "--action",
        "key.revoke",
        "--since",
        "2026-11-01T00:00:00Z",
    ];
    let mut text = stage.run(&narrowed).await;
    text.push_str(&stage.run(&["audit", "list", "--since", "yesterday"]).await);
    assert_snapshot!(text);
    let asked = "GET /api/audit?action=key.revoke&since=2026-11-01T00%3A00%3A00Z&limit=10&offset=0";
    assert_eq!(server.lines()[0], asked);
}

#[tokio::test]
async fn usage() {
    let server = FakeServer::start([
        Reply::new(
            200,
            page(&[month("2026-11", json!(100)), month("2026-10", json!(100))], 2, 0),
        ),
        Reply::new(200, month("2026-11", json!(100)).to_string()),
        Reply::error(404, "Not Found", "No month has this id"),
    ])
    .await;
    let stage = Stage::with(&server);
    let mut text = stage.run(&["usage"]).await;
    text.push_str(&stage.run(&["usage", "2026-11"]).await);
    text.push_str(&stage.run(&["usage", "2020-01"]).await);
    text.push_str(&stage.run(&["usage", "2020-01", "--limit", "2"]).await);
    assert_snapshot!(text);
    assert_eq!(
        server.lines()[..2],
        ["GET /api/usage?limit=10&offset=0", "GET /api/usage?id=2026-11"]
    );
}
