//! The commands on published updates, except `rollback`.

use insta::assert_snapshot;
use serde_json::json;

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, page, update};

const OTHER: &str = "update_01kb0000000000000000000001";

#[tokio::test]
async fn list() {
    let other = json!({"id": OTHER, "version": "1.0.0", "buildNumber": "1", "status": "paused", "configuration": null,
        "rollout": 5, "platform": "visionos"});
    let updates = page(&[update(json!({})), update(other)], 25, 10);
    let server = FakeServer::start([Reply::new(200, updates)]).await;
    let arguments = [
        "update",
        "list",
        "--bundle-id",
        "com.example.app",
        "--platform",
        "ios",
        "--limit",
        "2",
        "--offset",
        "10",
    ];
    let more = ["--configuration", "staging", "--status", "paused"];
    assert_snapshot!(Stage::with(&server).run(&[&arguments[..], &more].concat()).await, @r#"
    $ launchway update list --bundle-id com.example.app --platform ios --limit 2 --offset 10 --configuration staging --status paused
    --- standard output
    ID                                 STATUS     APP              PLATFORM  VERSION  BUILD  CONFIGURATION  ROLLOUT  PUBLISHED
    update_01kb0000000000000000000002  published  com.example.app  android   1.0.1    2      production     100 %    2026-11-20 10:00
    update_01kb0000000000000000000001  paused     com.example.app  visionos  1.0.0    1      all            5 %      2026-11-20 10:00
    --- standard error
    2 of 25 updates; --offset 12 shows the next
    --- exit 0
    "#);
    let asked = "GET /api/update?bundleId=com.example.app&platform=ios&configuration=staging&status=paused&limit=2\
                 &offset=10";
    assert_eq!(server.lines(), [asked]);
}

#[tokio::test]
async fn list_as_json_or_of_nothing() {
    let one = page(&[update(json!({}))], 1, 0);
    let server = FakeServer::start([Reply::new(200, one.clone()), Reply::new(200, page(&[], 0, 0))]).await;
    let stage = Stage::with(&server);
    assert_eq!(
        stage.json(&["update", "--json", "list", "--quiet"]).await.to_string(),
        one
    );
    assert_snapshot!(stage.run(&["update", "list"]).await, @r#"
    $ launchway update list
    --- standard error
    No updates
    --- exit 0
    "#);
}

#[tokio::test]
async fn show() {
    let reports = json!({
        "downloaded": 41, "installed": 40, "confirmed": 38, "rolledBack": 1, "failed": 1,
        "reasons": [
            {"type": "failed", "at": "2026-11-20T11:00:00.000Z", "reason": "no space \u{1b}[31mleft"},
            {"type": "rolled_back", "at": "2026-11-20T10:30:00.000Z", "reason": "crashed at start"},
        ],
        "crashes": [
            {
                "devices": 1024, "firstSeenAt": "2026-11-20T10:30:00.000Z", "lastSeenAt": "2026-11-20T12:00:00.000Z",
                "firstLine": "TypeError: x is not a function",
                "stack": format!("TypeError: x is not a \u{1b}[31mfunction\r\n\n{}", "    at f (app.js:1:20)\n".repeat(12)),
            },
            {
                "devices": 1, "firstSeenAt": "2026-11-20T11:00:00.000Z", "lastSeenAt": "2026-11-20T11:00:00.000Z",
                "firstLine": "", "stack": "",
            },
        ],
    });
    let shown = json!({"reports": reports, "buildId": "build_1", "sourceUpdateId": OTHER, "fingerprint": "abc",
        "releaseNotes": "One.\nTwo.", "mandatory": true});
    let server = FakeServer::start([Reply::new(200, update(shown).to_string())]).await;
    assert_snapshot!(Stage::with(&server).run(&["update", "show", "update_1"]).await, @r#"
    $ launchway update show update_1
    --- standard output
    Id             update_01kb0000000000000000000002
    Status         published
    App            com.example.app
    Platform       android
    Version        1.0.1 (build 2)
    Configuration  production
    Fingerprint    abc
    Rollout        100 %
    Mandatory      yes
    Package        1.18 MiB, 12 files
    SHA-256        9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    Same bytes as  update_01kb0000000000000000000001
    Build          build_1
    Published      2026-11-20T10:00:00.000Z by key_01kb0000000000000000000001
    Notes          One.
                   Two.

    Reports of devices
    Downloaded   41
    Installed    40
    Confirmed    38
    Rolled back  1
    Failed       1
    failed  2026-11-20T11:00:00.000Z  no space [31mleft
    rolled_back  2026-11-20T10:30:00.000Z  crashed at start

    Crashes
    1024 devices or more  2026-11-20T12:00:00.000Z  TypeError: x is not a [31mfunction
                              at f (app.js:1:20)
                              at f (app.js:1:20)
                              at f (app.js:1:20)
                              at f (app.js:1:20)
                              at f (app.js:1:20)
                              at f (app.js:1:20)
                              at f (app.js:1:20)
                              at f (app.js:1:20)
                              at f (app.js:1:20)
                          … 3 more lines with --json
    1 device              2026-11-20T11:00:00.000Z  no stack
    --- exit 0
    "#);
    assert_eq!(server.lines(), ["GET /api/update?id=update_1"]);
}

#[tokio::test]
async fn pause_resume_withdraw_and_rollout() {
    let rows: [(&[&str], serde_json::Value); 4] = [
        (&["update", "pause", OTHER], json!({"status": "paused"})),
        (&["update", "resume", OTHER], json!({"status": "published"})),
        (&["update", "withdraw", OTHER, "--yes"], json!({"status": "withdrawn"})),
        (&["update", "rollout", OTHER, "50"], json!({"rollout": 50})),
    ];
    let mut text = String::new();
    for (arguments, change) in rows {
        let server = FakeServer::start([Reply::new(200, update(change.clone()).to_string())]).await;
        text.push_str(&Stage::with(&server).run(arguments).await);
        assert_eq!(server.lines(), [format!("PATCH /api/update?id={OTHER}")]);
        assert_eq!(server.seen()[0].json(), change);
    }
    assert_snapshot!(text, @r#"
    $ launchway update pause update_01kb0000000000000000000001
    --- standard output
    Id             update_01kb0000000000000000000002
    Status         paused
    App            com.example.app
    Platform       android
    Version        1.0.1 (build 2)
    Configuration  production
    Fingerprint    any
    Rollout        100 %
    Package        1.18 MiB, 12 files
    SHA-256        9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    Published      2026-11-20T10:00:00.000Z by key_01kb0000000000000000000001
    --- exit 0
    $ launchway update resume update_01kb0000000000000000000001
    --- standard output
    Id             update_01kb0000000000000000000002
    Status         published
    App            com.example.app
    Platform       android
    Version        1.0.1 (build 2)
    Configuration  production
    Fingerprint    any
    Rollout        100 %
    Package        1.18 MiB, 12 files
    SHA-256        9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    Published      2026-11-20T10:00:00.000Z by key_01kb0000000000000000000001
    --- exit 0
    $ launchway update withdraw update_01kb0000000000000000000001 --yes
    --- standard output
    Id             update_01kb0000000000000000000002
    Status         withdrawn
    App            com.example.app
    Platform       android
    Version        1.0.1 (build 2)
    Configuration  production
    Fingerprint    any
    Rollout        100 %
    Package        1.18 MiB, 12 files
    SHA-256        9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    Published      2026-11-20T10:00:00.000Z by key_01kb0000000000000000000001
    --- exit 0
    $ launchway update rollout update_01kb0000000000000000000001 50
    --- standard output
    Id             update_01kb0000000000000000000002
    Status         published
    App            com.example.app
    Platform       android
    Version        1.0.1 (build 2)
    Configuration  production
    Fingerprint    any
    Rollout        50 %
    Package        1.18 MiB, 12 files
    SHA-256        9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    Published      2026-11-20T10:00:00.000Z by key_01kb0000000000000000000001
    --- standard error
    Rollout 50%: only apps that send a device id with their check can get it
    --- exit 0
    "#);
}

#[tokio::test]
async fn notes_and_urgency_are_edited() {
    let rows: [(&[&str], serde_json::Value); 4] = [
        (&["--release-notes", "Safer."], json!({"releaseNotes": "Safer."})),
        (&["--release-notes", "@notes.txt"], json!({"releaseNotes": "Faster.\n"})),
        (&["--release-notes", ""], json!({"releaseNotes": ""})),
        (&["--mandatory", "false"], json!({"mandatory": false})),
    ];
    for (arguments, change) in rows {
        let server = FakeServer::start([Reply::new(200, update(change.clone()).to_string())]).await;
        let stage = Stage::with(&server);
        stage.file("notes.txt", "Faster.\n");
        let arguments = [&["update", "edit", OTHER, "--json"], arguments].concat();
        assert_eq!(stage.json(&arguments).await, update(change.clone()));
        assert_eq!(server.lines(), [format!("PATCH /api/update?id={OTHER}")]);
        assert_eq!(server.seen()[0].json(), change);
    }
    let text = Stage::new().run(&["update", "edit", OTHER]).await;
    assert!(
        text.ends_with("--- exit 2\n") && text.contains("--release-notes"),
        "{text}"
    );
}

#[tokio::test]
async fn what_is_not_there_or_not_allowed() {
    let replies = [
        Reply::error(404, "Not Found", "No such update"),
        Reply::error(403, "Forbidden", "API key does not have 'update' scope"),
        Reply::error(
            400,
            "Bad Request",
            "A withdrawn update stays withdrawn. Publish its bytes again with sourceUpdateId.",
        ),
    ];
    let server = FakeServer::start(replies).await;
    let stage = Stage::with(&server);
    let mut text = stage.run(&["update", "show", "update_1", "--json"]).await;
    text.push_str(&stage.run(&["update", "pause", "update_1"]).await);
    text.push_str(&stage.run(&["update", "resume", "update_1"]).await);
    text.push_str(&stage.run(&["update", "withdraw", "update_1"]).await);
    assert_snapshot!(text, @r#"
    $ launchway update show update_1 --json
    --- standard error
    {"error":"not_found","exitCode":3,"hint":null,"message":"No such update"}
    --- exit 3
    $ launchway update pause update_1
    --- standard error
    error: API key does not have 'update' scope
    hint: `launchway whoami` shows the scopes of the key
    --- exit 4
    $ launchway update resume update_1
    --- standard error
    error: A withdrawn update stays withdrawn. Publish its bytes again with `launchway update promote`.
    --- exit 1
    $ launchway update withdraw update_1
    --- standard error
    error: no terminal to prompt on
    hint: give --yes
    --- exit 2
    "#);
}

#[tokio::test]
async fn promote() {
    let source = update(
        json!({"id": OTHER, "configuration": "staging", "fingerprint": "abc", "releaseNotes": "New.",
        "mandatory": true, "buildNumber": "007"}),
    );
    let made = update(json!({"sourceUpdateId": OTHER, "rollout": 10, "fingerprint": "abc"}));
    let server = FakeServer::start([Reply::new(200, source.to_string()), Reply::new(201, made.to_string())]).await;
    let stage = Stage::with(&server);
    let arguments = [
        "update",
        "promote",
        OTHER,
        "--configuration",
        "production",
        "--rollout",
        "10",
    ];
    assert_snapshot!(stage.run(&arguments).await, @r#"
    $ launchway update promote update_01kb0000000000000000000001 --configuration production --rollout 10
    --- standard output
    Id             update_01kb0000000000000000000002
    Status         published
    App            com.example.app
    Platform       android
    Version        1.0.1 (build 2)
    Configuration  production
    Fingerprint    abc
    Rollout        10 %
    Package        1.18 MiB, 12 files
    SHA-256        9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    Same bytes as  update_01kb0000000000000000000001
    Published      2026-11-20T10:00:00.000Z by key_01kb0000000000000000000001

    To check like an app:
      curl 'http://server/api/update/check/com.example.app?currentVersion=0.0.0&currentBuild=0&platform=android&configuration=production&fingerprint=abc&deviceId=any-device'
    --- standard error
    Page: http://server/go/update_01kb0000000000000000000002
    Rollout 10%: only apps that send a device id with their check can get it
    --- exit 0
    "#);
    let expected = json!({
        "sourceUpdateId": OTHER, "bundleId": "com.example.app", "platform": "android", "version": "1.0.1",
        "buildNumber": "007", "configuration": "production", "fingerprint": "abc", "releaseNotes": "New.",
        "rollout": 10, "mandatory": true,
    });
    assert_eq!(server.seen()[1].json(), expected);
}
