//! `fingerprint` and `native-needed`, on a small project of Capacitor.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, page, update};

const BUILD: &str = "build_01kb0000000000000000000003";
const UPDATE: &str = "update_01kb0000000000000000000002";

/// Puts a project into the stage: Android, one plugin.
fn project(stage: &Stage) {
    let manifest = r#"{"dependencies": {"@capacitor/core": "8", "@capacitor/android": "8", "@capacitor/camera": "8"}}"#;
    stage
        .file("package.json", manifest)
        .file("capacitor.config.json", r#"{"appId": "com.example.app"}"#)
        .file("android/settings.gradle", "include ':app'\n")
        .file("android/app/build.gradle", "versionCode 1\n")
        .file("android/app/src/main/AndroidManifest.xml", "<manifest/>\n");
    for name in ["core", "android"] {
        let manifest = format!(r#"{{"name": "@capacitor/{name}", "version": "8.0.0"}}"#);
        stage.file(&format!("node_modules/@capacitor/{name}/package.json"), manifest);
    }
    camera(stage, "8.2.0");
}

/// Installs the camera.
fn camera(stage: &Stage, version: &str) {
    let manifest =
        format!(r#"{{"name": "@capacitor/camera", "version": "{version}", "capacitor": {{"android": {{}}}}}}"#);
    stage.file("node_modules/@capacitor/camera/package.json", manifest);
}

/// The stage's fingerprint.
async fn hash(stage: &Stage) -> String {
    let found = stage.json(&["fingerprint", "android", "--json"]).await;
    found["fingerprint"].as_str().expect("a hash").to_owned()
}

/// A finished build as the API writes it.
fn build(fingerprint: Option<&str>) -> Value {
    json!({
        "id": BUILD, "status": "success", "bundleId": "com.example.app", "platform": "android", "configuration": null,
        "profile": null, "buildType": "release", "distribution": "store", "version": "1.0.0", "buildNumber": "1",
        "fingerprint": fingerprint, "git": null, "priority": 0, "attempt": 1, "phase": null, "phases": [],
        "queuePosition": null, "waitingFor": null, "runner": null, "cancelRequested": false, "error": null,
        "warnings": [], "artifacts": [], "install": null, "logSize": 0, "parentId": null,
        "createdBy": "key_01kb0000000000000000000001", "createdAt": "2026-11-20T10:00:00.000Z", "startedAt": null,
        "finishedAt": null,
    })
}

#[tokio::test]
async fn help() {
    let stage = Stage::new();
    let mut text = String::new();
    let rows: [&[&str]; 4] = [
        &["fingerprint", "--help"],
        &["fingerprint", "diff", "--help"],
        &["fingerprint", "embed", "--help"],
        &["native-needed", "--help"],
    ];
    for arguments in rows {
        text.push_str(&stage.run(arguments).await);
    }
    assert_snapshot!(text);
}

#[tokio::test]
async fn the_fingerprint_is_shown() {
    let stage = Stage::new();
    project(&stage);
    let mut text = String::new();
    let rows: [&[&str]; 5] = [
        &["fingerprint"],
        &["fingerprint", "android"],
        &["fingerprint", "android", "--json"],
        &["fingerprint", "android", "--document"],
        &["fingerprint", "--json"],
    ];
    for arguments in rows {
        text.push_str(&stage.run(arguments).await);
    }
    assert_snapshot!(text);
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let mut text = String::new();
    let stage = Stage::new();
    text.push_str(&stage.run(&["fingerprint"]).await);
    text.push_str(&stage.run(&["fingerprint", "ios"]).await);
    project(&stage);
    let rows: [&[&str]; 8] = [
        &["fingerprint", "ios"],
        &["fingerprint", "web"],
        &["fingerprint", "--document"],
        &["fingerprint", "diff", "here", "here"],
        &["fingerprint", "diff", "none.json", "here"],
        &["fingerprint", "diff", "package.json", "here"],
        &["native-needed", "android"],
        &["native-needed", "--against", UPDATE],
    ];
    for arguments in rows {
        text.push_str(&stage.run(arguments).await);
    }
    std::fs::remove_dir_all(stage.project().join("node_modules")).expect("it is there");
    text.push_str(&stage.run(&["fingerprint", "android"]).await);
    stage.file("package.json", "{");
    text.push_str(&stage.run(&["fingerprint"]).await);
    assert_snapshot!(text);
}

#[tokio::test]
async fn diff() {
    let stage = Stage::new();
    project(&stage);
    let output = stage.command(&["fingerprint", "android", "--document"]).output().await;
    stage.file("old.json", output.expect("the command starts").stdout);
    let mut text = stage.run(&["fingerprint", "diff", "old.json", "here"]).await;
    camera(&stage, "8.3.0");
    let preferences = r#"{"version": "8.0.1", "capacitor": {"android": {}}}"#;
    let manifest = r#"{"dependencies": {"@capacitor/core": "8", "@capacitor/android": "8", "@capacitor/camera": "8",
        "@capacitor/preferences": "8"}}"#;
    stage
        .file("node_modules/@capacitor/preferences/package.json", preferences)
        .file("package.json", manifest)
        .file("android/app/src/main/res/values/strings.xml", "<resources/>");
    text.push_str(&stage.run(&["fingerprint", "diff", "old.json", "here"]).await);
    text.push_str(&stage.run(&["fingerprint", "diff", "here", "old.json", "--json"]).await);
    text.push_str(&stage.run(&["native-needed", "--against", "old.json"]).await);
    assert_snapshot!(text);
}

#[tokio::test]
async fn diff_with_the_server() {
    let same = |hash: &str| Reply::new(200, update(json!({ "fingerprint": hash })).to_string());
    let stage = Stage::new();
    project(&stage);
    let hash = hash(&stage).await;
    let server = FakeServer::start([
        same(&hash),
        same("other"),
        Reply::new(200, build(Some("other")).to_string()),
        Reply::new(200, update(json!({})).to_string()),
        Reply::error(404, "Not Found", "Build not found"),
    ])
    .await;
    let stage = Stage::with(&server);
    project(&stage);
    let mut text = String::new();
    for id in [UPDATE, UPDATE, BUILD, UPDATE, BUILD] {
        text.push_str(&stage.run(&["fingerprint", "diff", id, "here"]).await);
    }
    assert_snapshot!(text);
    assert_eq!(server.lines()[0], format!("GET /api/update?id={UPDATE}"));
    assert_eq!(server.lines()[2], format!("GET /api/build?id={BUILD}"));
}

#[tokio::test]
async fn embed() {
    let stage = Stage::new();
    project(&stage);
    let before = hash(&stage).await;
    let mut text = stage.run(&["fingerprint", "embed"]).await;
    text.push_str(&stage.run(&["fingerprint", "embed", "android"]).await);
    text.push_str(&stage.run(&["fingerprint", "embed", "--json"]).await);
    let written = stage
        .project()
        .join("android/app/src/main/res/values/launchway_fingerprint.xml");
    text.push_str(&std::fs::read_to_string(written).expect("it was written"));
    assert_snapshot!(text);
    assert_eq!(hash(&stage).await, before, "it does not count itself");
}

#[tokio::test]
async fn native_needed() {
    let stage = Stage::new();
    project(&stage);
    let hash = hash(&stage).await;
    let updates = [
        update(json!({ "id": "update_01kb0000000000000000000004", "version": "2.0.0", "fingerprint": null })),
        update(json!({ "version": "1.0.0", "fingerprint": "older" })),
        update(json!({ "version": "1.0.0", "buildNumber": "10", "fingerprint": hash })),
    ];
    let builds = |fingerprint| Reply::new(200, page(&[build(None), build(fingerprint)], 2, 0));
    let server = FakeServer::start([
        Reply::new(200, update(json!({ "fingerprint": hash })).to_string()),
        Reply::new(200, update(json!({ "fingerprint": "other" })).to_string()),
        builds(Some("other")),
        builds(Some(&hash)),
        builds(None),
        Reply::new(200, page(&updates, 3, 0)),
        builds(None),
        Reply::new(200, page(&[], 0, 0)),
    ])
    .await;
    let stage = Stage::with(&server);
    project(&stage);
    let mut text = String::new();
    let rows: [&[&str]; 6] = [
        &["native-needed", "--against", UPDATE],
        &["native-needed", "android", "--against", UPDATE],
        &["native-needed", "android", "--against", "latest", "--json"],
        &["native-needed", "--against", "latest"],
        &["native-needed", "--against", "latest"],
        &[
            "native-needed",
            "--against",
            "latest",
            "--bundle-id",
            "com.example.other",
        ],
    ];
    for arguments in rows {
        text.push_str(&stage.run(arguments).await);
    }
    assert_snapshot!(text);
    let asked = server.lines();
    assert_eq!(
        asked[2],
        "GET /api/build?status=success&platform=android&bundleId=com.example.app&limit=100"
    );
    assert_eq!(
        asked[5],
        "GET /api/update?bundleId=com.example.app&platform=android&status=published&limit=100"
    );
}
