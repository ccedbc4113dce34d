//! `submit <platform>`: its requests, its output while the store processes the app, and its exit codes.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, build, page, submission};

pub const ID: &str = "submission_01kb0000000000000000000001";
const BUILD: &str = "build_01kb0000000000000000000001";
const PROJECT: &str = "\
[app]
bundle_id = 'com.example.app'

[submit.production.android]
destination = 'production'
rollout = 20
credential_id = 'credential_1'
priority = 3
countries = ['DE', 'FR']
release_notes = { 'de-DE' = 'Schneller.', 'en-US' = 'Faster.' }

[submit.production.ios]
destination = 'testflight'
groups = ['Friends', 'Press']
uses_non_exempt_encryption = false

[submit.staging.android]
destination = 'internal'
";

fn found(changed: Value) -> Reply {
    Reply::new(200, submission(changed).to_string())
}

fn created(changed: Value) -> Reply {
    Reply::new(201, submission(changed).to_string())
}

/// Events, oldest first.
pub fn events(list: &[(&str, &str)]) -> Value {
    let events = list.iter().enumerate().map(|(minute, (status, message))| {
        json!({"at": format!("2026-11-20T10:{minute:02}:00.000Z"), "status": status, "message": message})
    });
    events.collect()
}

/// The server's responses to the announcement of an upload, and to the upload.
fn taken(server: &FakeServer) -> [Reply; 2] {
    let upload = json!({
        "id": "upload_01kb0000000000000000000001", "status": "pending", "method": "PUT",
        "url": format!("{}/objects/1?signature=secret", server.url()), "headers": {},
        "expiresAt": "2026-11-20T10:00:00.000Z",
    });
    [Reply::new(201, upload.to_string()), Reply::new(200, "")]
}

#[tokio::test]
async fn the_latest_build_is_submitted_and_waited_for() {
    let internal = build(json!({"id": "build_01kb0000000000000000000009", "status": "success"}));
    let for_store = build(json!({"status": "success", "distribution": "store", "version": "1.2.0"}));
    let happened = [
        ("validating", "The binary fits."),
        ("uploading", "The binary is uploaded"),
        ("processing", "The release is committed"),
        ("in_review", "Google Play looks at it."),
    ];
    let server = FakeServer::start([
        Reply::new(200, page(&[internal, for_store], 2, 0)),
        created(json!({"destination": "production", "rollout": 20})),
        found(json!({"status": "queued"})),
        found(json!({"status": "uploading", "events": events(&happened[..1])})),
        Reply::error(503, "Service Unavailable", "The server starts"),
        found(json!({"status": "processing", "events": events(&happened[..3])})),
        found(
            json!({"status": "in_review", "destination": "production", "rollout": 20, "events": events(&happened),
            "external": {"editId": "01"}}),
        ),
    ])
    .await;
    let stage = Stage::with(&server);
    stage.file("launchway.toml", PROJECT);
    assert_snapshot!(stage.run(&["submit", "android", "--latest"]).await);
    let lines = [
        "GET /api/build?status=success&platform=android&bundleId=com.example.app&limit=100&offset=0".to_owned(),
        "POST /api/submit".to_owned(),
    ];
    assert_eq!(server.lines()[..2], lines);
    assert!(
        server.lines()[2..]
            .iter()
            .all(|line| *line == format!("GET /api/submit?id={ID}"))
    );
    let wanted = json!({
        "buildId": BUILD, "destination": "production", "rollout": 20, "credentialId": "credential_1",
        "releaseNotes": [{"locale": "de-DE", "text": "Schneller."}, {"locale": "en-US", "text": "Faster."}],
        "options": {"priority": 3, "countries": ["DE", "FR"]},
    });
    assert_eq!(server.seen()[1].json(), wanted);
}

#[tokio::test]
async fn a_file_is_uploaded_and_followed_until_it_is_live() {
    let server = FakeServer::start([]).await;
    server.then(taken(&server));
    let ios = json!({"platform": "ios", "store": "app_store", "destination": "app_store", "buildId": null});
    let with = |more: Value| {
        let mut fields = ios.clone();
        fields
            .as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        fields
    };
    server.then([
        created(ios.clone()),
        found(with(json!({"status": "in_review"}))),
        found(with(json!({"status": "rolling_out", "rollout": 1,
            "external": {"appId": "1000", "buildId": "b", "appStoreVersionId": "v"},
            "options": {"groups": ["A", "B"], "usesNonExemptEncryption": false, "manualRelease": true}}))),
    ]);
    let stage = Stage::with(&server);
    stage
        .file("launchway.toml", PROJECT)
        .file("App.ipa", "an app")
        .file("notes.txt", "Much\nfaster.");
    let arguments = [
        "submit",
        "ios",
        "--path",
        "App.ipa",
        "--destination",
        "app_store",
        "--group",
        "A",
        "--group",
        "B",
        "--rollout",
        "1",
        "--release-notes",
        "@notes.txt",
        "--locale",
        "en-GB",
        "--manual-release",
        "--wait",
        "live",
    ];
    assert_snapshot!(stage.run(&arguments).await);
    let seen = server.seen();
    assert_eq!(seen[0].json()["fileName"], "App.ipa");
    assert_eq!(seen[1].body, b"an app");
    let wanted = json!({
        "uploadId": "upload_01kb0000000000000000000001", "destination": "app_store", "rollout": 1,
        "releaseNotes": [{"locale": "en-GB", "text": "Much\nfaster."}],
        "options": {"groups": ["A", "B"], "usesNonExemptEncryption": false, "manualRelease": true},
    });
    assert_eq!(seen[2].json(), wanted);
}

#[tokio::test]
async fn a_named_build_with_symbols_and_no_waiting() {
    let server = FakeServer::start([Reply::new(200, build(json!({"status": "success"})).to_string())]).await;
    server.then(taken(&server));
    server.then(taken(&server));
    server.then([created(json!({}))]);
    let stage = Stage::with(&server);
    stage.file("mapping.txt", "a -> b").file("symbols.zip", "symbols");
    let arguments = [
        "submit",
        "android",
        "--id",
        BUILD,
        "--destination",
        "Unsere Tester",
        "--draft",
        "--release-name",
        "Autumn",
        "--changes-not-sent-for-review",
        "--mapping",
        "mapping.txt",
        "--native-symbols",
        "symbols.zip",
        "--no-wait",
        "--json",
    ];
    assert_snapshot!(stage.run(&arguments).await);
    let seen = server.seen();
    let last = seen.last().expect("a request").json();
    let upload = "upload_01kb0000000000000000000001";
    let wanted = json!({
        "buildId": BUILD, "destination": "Unsere Tester",
        "options": {"draft": true, "releaseName": "Autumn", "changesNotSentForReview": true,
            "symbols": [{"kind": "mapping", "uploadId": upload}, {"kind": "native", "uploadId": upload}]},
    });
    assert_eq!(last, wanted);
}

#[tokio::test]
async fn what_it_ends_with_is_the_exit_code() {
    let error = |retryable: bool| {
        json!({"code": "BUILD_NUMBER_USED", "message": "The store has a binary with that build number.",
            "fix": "Raise the build number.", "retryable": retryable})
    };
    let endings = [
        json!({"status": "success"}),
        json!({"status": "halted"}),
        json!({"status": "failed", "error": error(false)}),
        json!({"status": "failed", "error": error(true)}),
        json!({"status": "rejected", "error": error(true)}),
        json!({"status": "rejected"}),
        json!({"status": "canceled"}),
    ];
    let server = FakeServer::start([]).await;
    let stage = Stage::with(&server);
    let mut text = String::new();
    for ending in endings {
        server.then([
            Reply::new(200, build(json!({})).to_string()),
            created(json!({})),
            found(ending),
        ]);
        let arguments = [
            "submit",
            "android",
            "--id",
            BUILD,
            "--destination",
            "beta",
            "--wait",
            "live",
            "--json",
        ];
        let ended = stage.run(&arguments).await;
        // The record is the same as above.
        let said = ended
            .lines()
            .filter(|line| !line.starts_with(['{', '$']) || line.starts_with("{\"error\""))
            .filter(|line| !line.starts_with("--- standard"));
        text.extend(said.flat_map(|line| [line, "\n"]));
    }
    assert_snapshot!(text);
}

#[tokio::test]
async fn who_does_not_wait_any_more_is_told_how_to_go_on() {
    let server = FakeServer::start([
        Reply::new(200, build(json!({})).to_string()),
        created(json!({})),
        found(json!({"status": "processing"})),
        Reply::silence(),
    ])
    .await;
    let stage = Stage::with(&server);
    let arguments = [
        "submit",
        "android",
        "--id",
        BUILD,
        "--destination",
        "beta",
        "--timeout",
        "1s",
    ];
    assert_snapshot!(stage.run(&arguments).await);
}

#[tokio::test]
async fn what_is_wrong_is_said_before_anything_is_sent() {
    let server = FakeServer::start([]).await;
    let stage = Stage::with(&server);
    stage
        .file("launchway.toml", PROJECT)
        .file("App.zip", "x")
        .file("App.aab", "")
        .file("Good.aab", "x")
        .file("Good.ipa", "x");
    let mut text = String::new();
    let rows: [&[&str]; 16] = [
        &["android"],
        &["web", "--latest"],
        &["android", "list"],
        &["android", "--latest", "--id", BUILD],
        &["android", "--latest", "--no-wait", "--wait", "live"],
        &["android", "--latest", "--rollout", "0"],
        &["android", "--latest", "--locale", "de-DE"],
        &["android", "--latest", "--profile", "beta"],
        &["android", "--latest", "--destination", "testflight"],
        &["visionos", "--latest"],
        &["ios", "--path", "App.zip"],
        &["android", "--path", "Missing.aab"],
        &["android", "--path", "App.aab"],
        &[
            "android",
            "--path",
            "Good.aab",
            "--release-notes",
            "Faster.",
            "--locale",
            "en",
        ],
        &[
            "ios",
            "--path",
            "Good.ipa",
            "--release-notes",
            "Schneller.",
            "--locale",
            "de",
        ],
        &["rollout", ID, "101"],
    ];
    for arguments in rows {
        text.push_str(&stage.run(&[&["submit"], arguments].concat()).await);
    }
    assert_snapshot!(text);
    assert_eq!(server.lines(), [] as [&str; 0]);
}

#[tokio::test]
async fn a_build_that_does_not_fit_is_not_submitted() {
    let server = FakeServer::start([
        Reply::new(200, page(&[build(json!({"status": "success"}))], 1, 0)),
        Reply::new(200, build(json!({"platform": "ios"})).to_string()),
        Reply::error(404, "Not Found", "No such build"),
    ])
    .await;
    let stage = Stage::with(&server);
    stage.file("launchway.toml", PROJECT);
    let mut text = String::new();
    for arguments in [&["--latest"][..], &["--id", BUILD], &["--id", BUILD]] {
        text.push_str(&stage.run(&[&["submit", "android"], arguments].concat()).await);
    }
    assert_snapshot!(text);
}
