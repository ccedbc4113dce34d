//! `update rollback`: which bytes are published again, and that confirmation is required.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, page, update};

const GOOD: &str = "update_01kb0000000000000000000001";
const BAD: &str = "update_01kb0000000000000000000002";

fn good() -> Value {
    update(
        json!({"id": GOOD, "version": "1.0.0", "buildNumber": "1", "sha256": "00", "releaseNotes": "The good one.",
        "mandatory": true}),
    )
}

fn bad() -> Value {
    update(json!({ "id": BAD }))
}

fn made() -> Reply {
    let made = json!({"id": "update_01kb0000000000000000000003", "buildNumber": "3", "sourceUpdateId": GOOD});
    Reply::new(201, update(made).to_string())
}

fn asked_for() -> Value {
    json!({
        "sourceUpdateId": GOOD, "bundleId": "com.example.app", "platform": "android", "version": "1.0.1",
        "buildNumber": "auto", "configuration": "production", "releaseNotes": "The good one.", "mandatory": true,
    })
}

#[tokio::test]
async fn of_a_named_update() {
    let replies = [
        Reply::new(200, bad().to_string()),
        Reply::new(200, page(&[bad(), good()], 2, 0)),
        made(),
    ];
    let server = FakeServer::start(replies).await;
    assert_snapshot!(Stage::with(&server).run(&["update", "rollback", BAD, "--yes"]).await, @r#"
    $ launchway update rollback update_01kb0000000000000000000002 --yes
    --- standard output
    Id             update_01kb0000000000000000000003
    Status         published
    App            com.example.app
    Platform       android
    Version        1.0.1 (build 3)
    Configuration  production
    Fingerprint    any
    Rollout        100 %
    Package        1.18 MiB, 12 files
    SHA-256        9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    Same bytes as  update_01kb0000000000000000000001
    Published      2026-11-20T10:00:00.000Z by key_01kb0000000000000000000001

    To check like an app:
      curl 'http://server/api/update/check/com.example.app?currentVersion=1.0.1&currentBuild=2&platform=android&configuration=production'
    --- standard error
    Bad:    update_01kb0000000000000000000002 1.0.1 (build 2), published
    Before: update_01kb0000000000000000000001 1.0.0 (build 1), published
    Only phones that send currentBuild or currentUpdateId with their check get it. For a phone that sends neither, 1.0.1 is not newer than 1.0.1.
    Page: http://server/go/update_01kb0000000000000000000003
    --- exit 0
    "#);
    let listed = "GET /api/update?bundleId=com.example.app&platform=android&limit=100&offset=0";
    assert_eq!(
        server.lines(),
        [&format!("GET /api/update?id={BAD}"), listed, "POST /api/update"]
    );
    assert_eq!(server.seen()[2].json(), asked_for());
}

/// Facts where the server has them.
#[tokio::test]
async fn it_is_said_how_many_cannot_see_it() {
    let mut bad = bad();
    for (checks, without, said) in [(7, 0, false), (7, 2, true)] {
        bad["callers"] = json!({"checks": checks, "withoutBuild": without});
        let replies = [
            Reply::new(200, bad.to_string()),
            Reply::new(200, page(&[bad.clone(), good()], 2, 0)),
            made(),
        ];
        let server = FakeServer::start(replies).await;
        let text = Stage::with(&server).run(&["update", "rollback", BAD, "--yes"]).await;
        assert_eq!(text.contains("warning: 2 of the 7 checks of this app"), said, "{text}");
    }
}

#[tokio::test]
async fn of_the_newest_found_through_several_pages() {
    let other = update(json!({"id": "update_other", "configuration": "staging", "version": "9.0.0"}));
    let first: Vec<Value> = std::iter::repeat_n(other, 100).collect();
    let replies = [
        Reply::new(200, page(&first, 102, 0)),
        Reply::new(200, page(&[bad(), good()], 102, 100)),
        made(),
    ];
    let server = FakeServer::start(replies).await;
    let arguments = [
        "update",
        "rollback",
        "--bundle-id",
        "com.example.app",
        "--platform",
        "android",
    ];
    let more = ["--configuration", "production", "-y", "--json"];
    let answer = Stage::with(&server).json(&[&arguments[..], &more].concat()).await;
    assert_eq!(answer["buildNumber"], "3");
    assert_eq!(server.seen()[2].json(), asked_for());
}

#[tokio::test]
async fn to_a_chosen_update_of_other_native_code() {
    let mut old = good();
    old["fingerprint"] = json!("old");
    let replies =
        || [bad().to_string(), page(&[bad(), old.clone()], 2, 0), old.to_string()].map(|body| Reply::new(200, body));
    let server = FakeServer::start(replies()).await;
    server.then([made()]);
    let stage = Stage::with(&server);
    let text = stage.run(&["update", "rollback", BAD, "--to", GOOD, "--yes"]).await;
    assert!(text.contains("warning: the native code of the two differs"), "{text}");
    assert_eq!(server.seen()[3].json()["fingerprint"], "old");
}

/// The server's response about the difference between two updates.
fn difference(same: bool) -> Reply {
    let side = |id: &str, fingerprint: &str| {
        json!({"id": id, "status": "published", "bundleId": "com.example.app", "platform": "android", "configuration": null,
            "version": null, "buildNumber": null, "fingerprint": fingerprint, "document": null})
    };
    let told =
        json!({"from": side(GOOD, "old"), "to": side(BAD, "new"), "same": same, "reason": null, "changes": null});
    Reply::new(200, told.to_string())
}

#[tokio::test]
async fn the_server_knows_which_fingerprints_are_natively_the_same() {
    let (mut good, mut bad) = (good(), bad());
    good["fingerprint"] = json!("old");
    bad["fingerprint"] = json!("new");
    let updates = || {
        [
            Reply::new(200, bad.to_string()),
            Reply::new(200, page(&[bad.clone(), good.clone()], 2, 0)),
        ]
    };
    let server = FakeServer::start(updates()).await;
    server.then([difference(true), made()]);
    let stage = Stage::with(&server);
    let text = stage.run(&["update", "rollback", BAD, "--yes"]).await;
    assert!(
        text.ends_with("--- exit 0\n") && !text.contains("the native code of the two differs"),
        "{text}"
    );
    assert_eq!(
        server.lines()[2],
        format!("GET /api/fingerprints/diff?from={GOOD}&to={BAD}")
    );
    assert_eq!(server.seen()[3].json()["sourceUpdateId"], GOOD);

    server.then(updates());
    server.then([difference(false)]);
    let text = stage.run(&["update", "rollback", BAD, "--yes"]).await;
    assert!(
        text.contains("runs on all of its devices") && text.ends_with("--- exit 3\n"),
        "{text}"
    );
}

#[tokio::test]
async fn the_same_files_under_another_version_are_no_way_back() {
    let mut same = good();
    same["sha256"] = bad()["sha256"].clone();
    let server = FakeServer::start([
        Reply::new(200, bad().to_string()),
        Reply::new(200, page(&[bad(), same], 2, 0)),
    ])
    .await;
    let text = Stage::with(&server).run(&["update", "rollback", BAD, "--yes"]).await;
    let message = format!("every published update before {BAD} has the same files");
    assert!(text.contains(&message), "{text}");
}

#[tokio::test]
async fn what_cannot_be_rolled_back() {
    let server = FakeServer::start([]).await;
    let stage = Stage::with(&server);
    let mut text = stage.run(&["update", "rollback", BAD]).await;
    let line = [
        "update",
        "rollback",
        "--bundle-id",
        "com.example.app",
        "--platform",
        "android",
        "--yes",
    ];
    text.push_str(&stage.run(&line).await);
    assert!(server.seen().is_empty());
    server.then([Reply::new(200, page(&[], 0, 0))]);
    text.push_str(&stage.run(&[&line[..], &["--all-configurations"]].concat()).await);
    server.then([
        Reply::new(200, bad().to_string()),
        Reply::new(200, page(&[bad()], 1, 0)),
    ]);
    text.push_str(&stage.run(&["update", "rollback", BAD, "--yes"]).await);
    let foreign = update(json!({"id": GOOD, "bundleId": "com.example.other"})).to_string();
    server.then([bad().to_string(), page(&[bad()], 1, 0), foreign].map(|body| Reply::new(200, body)));
    text.push_str(&stage.run(&["update", "rollback", BAD, "--to", GOOD, "--yes"]).await);
    assert_snapshot!(text, @r#"
    $ launchway update rollback update_01kb0000000000000000000002
    --- standard error
    error: no terminal to prompt on
    hint: give --yes
    --- exit 2
    $ launchway update rollback --bundle-id com.example.app --platform android --yes
    --- standard error
    error: no configuration specified
    hint: give --configuration NAME, or --all-configurations for updates without one
    --- exit 2
    $ launchway update rollback --bundle-id com.example.app --platform android --yes --all-configurations
    --- standard error
    error: com.example.app has no android update for all configurations
    --- exit 3
    $ launchway update rollback update_01kb0000000000000000000002 --yes
    --- standard error
    error: no published update before update_01kb0000000000000000000002 runs on all of its devices
    hint: choose one with --to ID, or pause this one: launchway update pause update_01kb0000000000000000000002
    --- exit 3
    $ launchway update rollback update_01kb0000000000000000000002 --to update_01kb0000000000000000000001 --yes
    --- standard error
    error: update_01kb0000000000000000000001 is an update of com.example.other for android
    --- exit 2
    "#);
    assert!(server.lines().iter().all(|line| line.starts_with("GET ")));
}
