//! The commands on submissions: list, show, logs, rollout, halt, resume, retry, cancel, delete.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, page, submission};
use crate::submit::{ID, events};

const OTHER: &str = "submission_01kb0000000000000000000002";

fn found(changed: Value) -> Reply {
    Reply::new(200, submission(changed).to_string())
}

#[tokio::test]
async fn list() {
    let other = json!({"id": OTHER, "status": "in_review", "platform": "ios", "store": "app_store", "destination": "testflight",
        "version": null, "buildNumber": null});
    let all = [
        submission(json!({"rollout": 20, "status": "rolling_out"})),
        submission(other),
    ];
    let server = FakeServer::start([Reply::new(200, page(&all, 12, 0))]).await;
    let arguments = [
        "submit",
        "list",
        "--status",
        "in_review",
        "--platform",
        "ios",
        "--bundle-id",
        "com.example.app",
        "--build",
        "build_1",
        "--limit",
        "2",
        "--offset",
        "4",
    ];
    assert_snapshot!(Stage::with(&server).run(&arguments).await);
    let asked =
        "GET /api/submit?status=in_review&platform=ios&bundleId=com.example.app&buildId=build_1&limit=2&offset=4";
    assert_eq!(server.lines(), [asked]);
}

#[tokio::test]
async fn show() {
    let shown = json!({
        "status": "rejected", "cancelRequested": false, "rollout": 20, "destination": "production",
        "external": {"editId": "0123"},
        "releaseNotes": [{"locale": "en-US", "text": "Faster\u{1b}[31m red\nand better"}, {"locale": "de-DE", "text": "Schneller"}],
        "options": {"draft": true, "priority": 3, "countries": ["DE"], "releaseName": "Autumn", "changesNotSentForReview": true,
            "symbols": [{"kind": "mapping", "uploadId": "upload_1"}]},
        "error": {"code": "REJECTED", "message": "Google Play review rejected the release", "fix": "Read the store's message.",
            "retryable": true},
        "events": events(&[("uploading", "The binary is uploaded"), ("rejected", "Google Play review rejected the release")]),
        "finishedAt": "2026-11-20T11:00:00.000Z",
    });
    let server = FakeServer::start([
        found(shown),
        found(json!({"status": "in_review", "cancelRequested": true})),
    ])
    .await;
    let stage = Stage::with(&server);
    assert_snapshot!(stage.run(&["submit", "show", ID]).await + &stage.run(&["submit", "show", ID]).await);
    assert_eq!(server.lines()[0], format!("GET /api/submit?id={ID}"));
}

#[tokio::test]
async fn a_step_that_is_tried_again_says_why() {
    let error = json!({"code": "CREDENTIAL_INVALID", "message": "Google refused a token", "fix": "Replace the key", "retryable": true});
    let server = FakeServer::start([found(
        json!({"status": "uploading", "error": error, "retryAt": "2026-11-20T11:05:00.000Z"}),
    )])
    .await;
    let shown = Stage::with(&server).run(&["submit", "show", ID]).await;
    for part in [
        "uploading, tries again at 2026-11-20 11:05",
        "CREDENTIAL_INVALID: Google refused a token",
        "Replace the key",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[tokio::test]
async fn logs() {
    let happened = [
        ("validating", "The binary fits."),
        ("uploading", "The upload is\nannounced.\u{1b}[2J"),
        ("success", "Live."),
    ];
    let server = FakeServer::start([
        found(json!({"status": "uploading", "events": events(&happened[..2])})),
        found(json!({"status": "uploading", "events": events(&happened[..2])})),
        found(json!({"status": "success", "events": events(&happened)})),
        found(json!({"status": "uploading", "events": events(&happened[..1])})),
        found(json!({"status": "canceled", "events": events(&happened[..2])})),
    ])
    .await;
    let stage = Stage::with(&server);
    let text = stage.run(&["submit", "logs", ID]).await
        + &stage.run(&["submit", "logs", "-f", ID]).await
        + &stage.run(&["submit", "logs", "-f", ID, "--json"]).await;
    assert_snapshot!(text);
}

#[tokio::test]
async fn changes() {
    let server = FakeServer::start([
        found(json!({"status": "rolling_out", "rollout": 20})),
        found(json!({"status": "rolling_out", "rollout": 20})),
        found(json!({"status": "halted", "rollout": 20})),
        found(json!({"status": "processing", "cancelRequested": true})),
        Reply::error(
            400,
            "Bad Request",
            "The submission is already released. Halt its rollout instead.",
        ),
        found(json!({"status": "queued"})),
        found(json!({"status": "success"})),
        Reply::new(200, json!({"id": ID, "status": "deleted"}).to_string()),
    ])
    .await;
    let stage = Stage::with(&server);
    let mut text = String::new();
    let rows: [&[&str]; 8] = [
        &["rollout", ID, "50"],
        &["halt", ID, "--json"],
        &["resume", ID, "--json"],
        &["cancel", ID, "--json"],
        &["cancel", ID],
        &["retry", ID, "--json"],
        &["delete", ID],
        &["delete", ID, "--yes"],
    ];
    for arguments in rows {
        text.push_str(&stage.run(&[&["submit"], arguments].concat()).await);
    }
    assert_snapshot!(text);
    let calls = [
        format!("PATCH /api/submit?id={ID}"),
        format!("PATCH /api/submit?id={ID}"),
        format!("PATCH /api/submit?id={ID}"),
        format!("POST /api/submit/cancel?id={ID}"),
        format!("POST /api/submit/cancel?id={ID}"),
        format!("POST /api/submit/retry?id={ID}"),
        format!("GET /api/submit?id={ID}"),
        format!("DELETE /api/submit?id={ID}"),
    ];
    assert_eq!(server.lines(), calls);
    let bodies: Vec<Value> = server.seen()[..3].iter().map(|seen| seen.json()).collect();
    assert_eq!(
        bodies,
        [
            json!({"rollout": 50}),
            json!({"status": "halted"}),
            json!({"status": "rolling_out"})
        ]
    );
}
