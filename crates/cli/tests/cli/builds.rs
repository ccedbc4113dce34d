//! The commands on builds: list, show, cancel, retry, delete, plan.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::build::{ID, artifact, stream};
use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, build, page};

pub const OTHER: &str = "build_01kb0000000000000000000002";

pub fn found(changed: Value) -> Reply {
    Reply::new(200, build(changed).to_string())
}

#[tokio::test]
async fn list() {
    let other = json!({"id": OTHER, "status": "success", "version": "1.2.0", "git": {"commit": "0123456789abcdef",
        "branch": "main", "message": "First", "dirty": false}});
    let server = FakeServer::start([Reply::new(200, page(&[build(json!({})), build(other)], 12, 0))]).await;
    let arguments = [
        "build",
        "list",
        "--status",
        "running",
        "--platform",
        "ios",
        "--bundle-id",
        "com.example.app",
    ];
    let more = [
        "--configuration",
        "staging",
        "--branch",
        "main",
        "--limit",
        "2",
        "--offset",
        "4",
    ];
    assert_snapshot!(Stage::with(&server).run(&[&arguments[..], &more].concat()).await, @r#"
    $ launchway build list --status running --platform ios --bundle-id com.example.app --configuration staging --branch main --limit 2 --offset 4
    --- standard output
    ID                                STATUS   APP              PLATFORM  VERSION  BUILD  PROFILE     BRANCH  CREATED
    build_01kb0000000000000000000001  queued   com.example.app  android            7      production          2026-11-20 10:00
    build_01kb0000000000000000000002  success  com.example.app  android   1.2.0    7      production  main    2026-11-20 10:00
    --- standard error
    2 of 12 builds; --offset 2 shows the next
    --- exit 0
    "#);
    let asked = "GET /api/build?status=running&platform=ios&bundleId=com.example.app&configuration=staging&branch=main\
                 &limit=2&offset=4";
    assert_eq!(server.lines(), [asked]);
}

#[tokio::test]
async fn show() {
    let shown = json!({
        "status": "running", "phase": "compile", "attempt": 2, "priority": 5, "runner": "box", "parentId": OTHER,
        "git": {"commit": "0123456789abcdef0123456789abcdef01234567", "branch": "main", "message": "Faster \u{1b}[31mred\n\nmore", "dirty": true},
        "phases": [
            {"name": "source", "startedAt": "", "finishedAt": "", "seconds": 1.25, "exitCode": null},
            {"name": "compile", "startedAt": "", "finishedAt": null, "seconds": null, "exitCode": null},
        ],
        "warnings": ["The bundle id of app.apk is com.example.other."],
        "artifacts": [artifact("app.apk", b"an app")],
    });
    let server = FakeServer::start([found(shown)]).await;
    assert_snapshot!(Stage::with(&server).run(&["build", "show", ID]).await, @r#"
    $ launchway build show build_01kb0000000000000000000001
    --- standard output
    Id             build_01kb0000000000000000000001
    Status         running (compile)
    App            com.example.app
    Platform       android
    Version        build 7
    Kind           release, internal
    Profile        production
    Configuration  production
    Source         main, 0123456789ab, with uncommitted changes, Faster [31mred
    Priority       5
    Attempt        2
    Runner         box
    Retry of       build_01kb0000000000000000000002
    Created        2026-11-20T10:00:00.000Z by key_01kb0000000000000000000001
    Warnings       The bundle id of app.apk is com.example.other.

    Phases
    source   1.2 s
    compile  runs

    Artifacts
    app.apk  apk, 6 B
             66e93a7c5a2576c34833f10761ca00fadbd40b36eff79f1e0969652f607b0b43
    --- exit 0
    "#);
    assert_eq!(server.lines(), [format!("GET /api/build?id={ID}")]);
}

#[tokio::test]
async fn cancel_retry_and_delete() {
    let canceling = json!({"status": "running", "cancelRequested": true});
    let again = json!({"id": OTHER, "parentId": ID});
    let ended = json!({"id": OTHER, "parentId": ID, "status": "success"});
    let server = FakeServer::start([
        found(canceling),
        Reply::new(201, build(again.clone()).to_string()),
        Reply::new(200, stream(&[("end", ended)])),
        Reply::new(201, build(again).to_string()),
        Reply::new(200, json!({"id": ID, "status": "deleted"}).to_string()),
        Reply::error(404, "Not Found", "No such build"),
    ])
    .await;
    let stage = Stage::with(&server);
    let mut text = String::new();
    let rows: [&[&str]; 6] = [
        &["cancel", ID, "--json"],
        &["retry", ID],
        &["retry", ID, "--no-wait", "--json"],
        &["delete", ID],
        &["delete", ID, "--yes"],
        &["delete", ID, "--yes"],
    ];
    for arguments in rows {
        text.push_str(&stage.run(&[&["build"], arguments].concat()).await);
    }
    assert_snapshot!(text, @r#"
    $ launchway build cancel build_01kb0000000000000000000001 --json
    --- standard output
    {"artifacts":[],"attempt":1,"buildNumber":"7","buildType":"release","bundleId":"com.example.app","cancelRequested":true,"configuration":"production","createdAt":"2026-11-20T10:00:00.000Z","createdBy":"key_01kb0000000000000000000001","distribution":"internal","error":null,"fingerprint":null,"finishedAt":null,"git":null,"id":"build_01kb0000000000000000000001","install":null,"logSize":0,"parentId":null,"phase":null,"phases":[],"platform":"android","priority":0,"profile":"production","queuePosition":0,"runner":null,"startedAt":null,"status":"running","version":null,"waitingFor":null,"warnings":[]}
    --- standard error
    Its runner stops it within a few seconds
    --- exit 0
    $ launchway build retry build_01kb0000000000000000000001
    --- standard output
    Id             build_01kb0000000000000000000002
    Status         success
    App            com.example.app
    Platform       android
    Version        build 7
    Kind           release, internal
    Profile        production
    Configuration  production
    Retry of       build_01kb0000000000000000000001
    Created        2026-11-20T10:00:00.000Z by key_01kb0000000000000000000001
    --- standard error
    build_01kb0000000000000000000002 is queued
    Page: http://server/go/build_01kb0000000000000000000002
    --- exit 0
    $ launchway build retry build_01kb0000000000000000000001 --no-wait --json
    --- standard output
    {"artifacts":[],"attempt":1,"buildNumber":"7","buildType":"release","bundleId":"com.example.app","cancelRequested":false,"configuration":"production","createdAt":"2026-11-20T10:00:00.000Z","createdBy":"key_01kb0000000000000000000001","distribution":"internal","error":null,"fingerprint":null,"finishedAt":null,"git":null,"id":"build_01kb0000000000000000000002","install":null,"logSize":0,"parentId":"build_01kb0000000000000000000001","phase":null,"phases":[],"platform":"android","priority":0,"profile":"production","queuePosition":0,"runner":null,"startedAt":null,"status":"queued","version":null,"waitingFor":null,"warnings":[]}
    --- standard error
    Page: http://server/go/build_01kb0000000000000000000002
    To follow it: launchway build logs -f build_01kb0000000000000000000002
    --- exit 0
    $ launchway build delete build_01kb0000000000000000000001
    --- standard error
    error: no terminal to prompt on
    hint: give --yes
    --- exit 2
    $ launchway build delete build_01kb0000000000000000000001 --yes
    --- standard output
    build_01kb0000000000000000000001 is deleted.
    --- exit 0
    $ launchway build delete build_01kb0000000000000000000001 --yes
    --- standard error
    error: No such build
    --- exit 3
    "#);
    let calls = [
        format!("POST /api/build/cancel?id={ID}"),
        format!("POST /api/build/retry?id={ID}"),
        format!("GET /api/build/log/stream?id={OTHER}"),
        format!("POST /api/build/retry?id={ID}"),
        format!("DELETE /api/build?id={ID}"),
        format!("DELETE /api/build?id={ID}"),
    ];
    assert_eq!(server.lines(), calls);
}

/// The plan of a build in the form of the API.
pub fn plan() -> Value {
    let plan = json!({
        "labels": ["os=linux", "java=21"], "env": {"A": "1", "B": "2"},
        "steps": [{"name": "install", "run": "npm ci"}, {"name": "build", "run": "cd android\n./gradlew x\n", "timeoutSeconds": 600}],
        "artifacts": [{"path": "out/*.apk", "kind": "apk"}],
        "cache": [{"key": "npm-{{ hash \"package-lock.json\" }}", "paths": ["~/.npm", "node_modules"]}],
    });
    json!({"id": ID, "status": "running", "plan": plan, "origin": "capacitor"})
}

#[tokio::test]
async fn the_plan_of_a_build() {
    let server = FakeServer::start([
        Reply::new(200, plan().to_string()),
        Reply::new(
            200,
            json!({"id": ID, "status": "queued", "plan": null, "origin": null}).to_string(),
        ),
    ])
    .await;
    let stage = Stage::with(&server);
    let text = stage.run(&["build", "plan", ID]).await + &stage.run(&["build", "plan", ID]).await;
    assert_snapshot!(text, @r#"
    $ launchway build plan build_01kb0000000000000000000001
    --- standard output
    Build  build_01kb0000000000000000000001, running
    From   capacitor
    Runner       os=linux, java=21
    Time         3600 s
    Environment  A=1
                 B=2

    1. install
       npm ci

    2. build (at most 600 s)
       cd android
       ./gradlew x

    Artifacts
    apk  out/*.apk

    Caches
    npm-{{ hash "package-lock.json" }}  ~/.npm, node_modules
    --- exit 0
    $ launchway build plan build_01kb0000000000000000000001
    --- standard output
    Build  build_01kb0000000000000000000001, queued
    --- standard error
    The plan comes from the source, which no runner has read yet
    --- exit 0
    "#);
}
