//! `build <platform>`: its requests, its output while the build runs, and its exit codes.

use insta::assert_snapshot;
use launchway_api::builds::CreateBuild;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, build};

pub const ID: &str = "build_01kb0000000000000000000001";
pub const PROJECT: &str = "\
[app]
bundle_id = 'com.example.app'

[build.production]
configuration = 'production'
distribution = 'internal'
labels = ['java=21']
steps = [{ name = 'compile', run = \"./gradlew assembleRelease\" }]
artifacts = [{ path = 'out/*.apk' }]
";

/// A server that accepts an upload and then returns these responses, and a project for it.
pub async fn taking(answers: impl IntoIterator<Item = Reply>) -> (FakeServer, Stage) {
    let server = FakeServer::start([]).await;
    let upload = json!({
        "id": "upload_01kb0000000000000000000001",
        "status": "pending",
        "method": "PUT",
        "url": format!("{}/objects/1?signature=secret", server.url()),
        "headers": {},
        "expiresAt": "2026-11-20T10:00:00.000Z",
    });
    server.then([Reply::new(201, upload.to_string()), Reply::new(200, "")]);
    server.then(answers);
    let stage = Stage::with(&server);
    project(&stage);
    (server, stage)
}

/// Adds a project with its own steps to the stage.
pub fn project(stage: &Stage) {
    stage
        .file("launchway.toml", PROJECT)
        .file("src/main.kt", "fun main() {}\n")
        .file("node_modules/x/index.js", "x");
}

/// A stream of these events. Every event but `log` is a build with these fields.
pub fn stream(events: &[(&str, Value)]) -> String {
    let mut text = String::from(": hello\n\n");
    let mut offset = 0;
    for (name, data) in events {
        let data = match *name {
            "log" => {
                let from = offset;
                offset += data.as_str().expect("a text").len();
                json!({"offset": from, "text": data})
            }
            _ => build(data.clone()),
        };
        text.push_str(&format!("event: {name}\nid: {offset}\ndata: {data}\n\n"));
    }
    text
}

pub fn created() -> Reply {
    Reply::new(201, build(json!({})).to_string())
}

fn success() -> Value {
    json!({
        "status": "success", "version": "1.2.0", "queuePosition": null, "runner": "box", "phase": "artifacts",
        "phases": [
            {"name": "source", "startedAt": "2026-11-20T10:00:01.000Z", "finishedAt": "2026-11-20T10:00:02.500Z", "seconds": 1.5, "exitCode": null},
            {"name": "compile", "startedAt": "2026-11-20T10:00:02.500Z", "finishedAt": "2026-11-20T10:01:02.500Z", "seconds": 60.0, "exitCode": 0},
        ],
        "artifacts": [artifact("app.apk", b"an app")],
        "install": {"url": "https://launchway.example.com/install/x", "expiresAt": "2026-11-27T10:00:00.000Z"},
        "startedAt": "2026-11-20T10:00:01.000Z", "finishedAt": "2026-11-20T10:01:03.000Z",
    })
}

pub fn artifact(name: &str, bytes: &[u8]) -> Value {
    json!({"id": "artifact_01kb0000000000000000000001", "kind": "apk", "name": name, "size": bytes.len(),
        "sha256": hex::encode(Sha256::digest(bytes)), "facts": null, "url": "https://storage.example/1?signature=secret",
        "expiresAt": "2026-11-20T11:00:00.000Z"})
}

fn whole() -> Vec<(&'static str, Value)> {
    vec![
        (
            "build",
            json!({"waitingFor": "Waiting for a runner with java=21: none is connected."}),
        ),
        (
            "build",
            json!({"status": "running", "runner": "box", "phase": "source"}),
        ),
        ("log", json!("==> source\n==> compile\n\u{1b}[32mBUILD")),
        ("log", json!(" SUCCESSFUL\u{1b}[0m\n==> success\n")),
        ("end", success()),
    ]
}

#[tokio::test]
async fn packs_uploads_and_follows_to_the_end() {
    let (server, stage) = taking([created(), Reply::new(200, stream(&whole()))]).await;
    assert_snapshot!(stage.run(&["build", "android", "--build-number", "auto", "--priority", "-5"]).await, @r#"
    $ launchway build android --build-number auto --priority -5
    --- standard output
    Id             build_01kb0000000000000000000001
    Status         success
    App            com.example.app
    Platform       android
    Version        1.2.0 (build 7)
    Kind           release, internal
    Profile        production
    Configuration  production
    Runner         box
    Created        2026-11-20T10:00:00.000Z by key_01kb0000000000000000000001
    Started        2026-11-20T10:00:01.000Z
    Finished       2026-11-20T10:01:03.000Z
    Install        https://launchway.example.com/install/x

    Phases
    source   1.5 s
    compile  60.0 s

    Artifacts
    app.apk  apk, 6 B
             66e93a7c5a2576c34833f10761ca00fadbd40b36eff79f1e0969652f607b0b43
    --- standard error
    Packed 2 files (249 B) into 312 B
    build_01kb0000000000000000000001 is queued
    Page: http://server/go/build_01kb0000000000000000000001
    Waiting for a runner with java=21: none is connected.
    build_01kb0000000000000000000001 runs on box
    ==> source
    ==> compile
    BUILD SUCCESSFUL
    ==> success
    To download it: launchway build download build_01kb0000000000000000000001
    --- exit 0
    "#);
    assert_eq!(
        server.lines(),
        [
            "POST /api/uploads".to_owned(),
            "PUT /objects/1?signature=secret".to_owned(),
            "POST /api/build".to_owned(),
            format!("GET /api/build/log/stream?id={ID}"),
        ]
    );
    let seen = server.seen();
    assert_eq!(seen[0].json()["fileName"], "source.tar.zst");
    assert_eq!(seen[0].json()["sha256"], hex::encode(Sha256::digest(&seen[1].body)));
    let mut archive = tar::Archive::new(zstd::Decoder::new(seen[1].body.as_slice()).expect("zstd"));
    let names: Vec<_> = archive
        .entries()
        .expect("an archive")
        .map(|entry| entry.expect("an entry").path().expect("a name").display().to_string())
        .collect();
    assert_eq!(names, ["launchway.toml", "src/main.kt"]);
    let asked: CreateBuild = serde_json::from_slice(&seen[2].body).expect("only fields the server knows");
    assert_eq!(asked.plan.expect("a plan").steps[0].run, "./gradlew assembleRelease");
    let mut asked = seen[2].json();
    asked.as_object_mut().expect("an object").remove("plan");
    let expected = json!({
        "bundleId": "com.example.app", "platform": "android", "source": {"uploadId": "upload_01kb0000000000000000000001"},
        "profile": "production", "configuration": "production", "buildType": "release", "distribution": "internal",
        "buildNumber": "auto", "priority": -5,
    });
    assert_eq!(asked, expected);
    assert_eq!(seen[2].header("idempotency-key").len(), 32);
    assert_eq!(stage.left_over(), [] as [std::path::PathBuf; 0]);
}

#[tokio::test]
async fn json_is_one_build_at_the_end() {
    let (_server, stage) = taking([created(), Reply::new(200, stream(&whole()))]).await;
    assert_eq!(stage.json(&["build", "android", "--json"]).await, build(success()));
}

#[tokio::test]
async fn quiet_shows_no_log() {
    let (_server, stage) = taking([created(), Reply::new(200, stream(&whole()))]).await;
    let output = stage
        .command(&["build", "android", "--quiet"])
        .output()
        .await
        .expect("it starts");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
}

#[tokio::test]
async fn it_ends_with_what_became_of_the_build() {
    let failed = |code: &str, phase: Option<&str>, message: &str| json!({"status": "failed", "queuePosition": null, "error": {"code": code, "phase": phase, "message": message}});
    let rows = [
        failed(
            "STEP_FAILED",
            Some("compile"),
            "The step `compile` ended with exit code 1. See the log for the reason.",
        ),
        failed("TIMED_OUT", Some("compile"), "The build took longer than 3600 s."),
        failed("EXPIRED", None, "No runner took it for 24 hours."),
        json!({"status": "canceled", "queuePosition": null}),
    ];
    let mut text = String::new();
    for end in rows {
        let (_server, stage) = taking([created(), Reply::new(200, stream(&[("end", end)]))]).await;
        let shown = stage.run(&["build", "android"]).await;
        text.push_str(shown.split_once("--- standard error\n").expect("prose").1);
    }
    assert_snapshot!(text, @r#"
    Packed 2 files (249 B) into 312 B
    build_01kb0000000000000000000001 is queued
    Page: http://server/go/build_01kb0000000000000000000001
    error: build_01kb0000000000000000000001 failed in 'compile' (STEP_FAILED): The step `compile` ended with exit code 1. See the log for the reason.
    hint: to see why: launchway build logs build_01kb0000000000000000000001
    --- exit 11
    Packed 2 files (249 B) into 312 B
    build_01kb0000000000000000000001 is queued
    Page: http://server/go/build_01kb0000000000000000000001
    error: build_01kb0000000000000000000001 failed in 'compile' (TIMED_OUT): The build took longer than 3600 s.
    hint: to build it again: launchway build retry build_01kb0000000000000000000001
    --- exit 13
    Packed 2 files (249 B) into 312 B
    build_01kb0000000000000000000001 is queued
    Page: http://server/go/build_01kb0000000000000000000001
    error: build_01kb0000000000000000000001 failed (EXPIRED): No runner took it for 24 hours.
    hint: to build it again: launchway build retry build_01kb0000000000000000000001
    --- exit 13
    Packed 2 files (249 B) into 312 B
    build_01kb0000000000000000000001 is queued
    Page: http://server/go/build_01kb0000000000000000000001
    error: build_01kb0000000000000000000001 was canceled
    --- exit 12
    "#);
}

#[tokio::test]
async fn it_is_not_waited_for_with_no_wait() {
    let (server, stage) = taking([created()]).await;
    assert_snapshot!(stage.run(&["build", "android", "--no-wait"]).await, @r#"
    $ launchway build android --no-wait
    --- standard output
    Id             build_01kb0000000000000000000001
    Status         queued
    App            com.example.app
    Platform       android
    Version        build 7
    Kind           release, internal
    Profile        production
    Configuration  production
    Created        2026-11-20T10:00:00.000Z by key_01kb0000000000000000000001
    --- standard error
    Packed 2 files (249 B) into 312 B
    Page: http://server/go/build_01kb0000000000000000000001
    To follow it: launchway build logs -f build_01kb0000000000000000000001
    --- exit 0
    "#);
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_connection_that_breaks_is_taken_up_where_it_was() {
    let all = stream(&whole());
    let (first, rest) = all.split_at(all.find(" SUCCESSFUL").expect("the second part of the log"));
    let rest = format!("event: log\nid: 60\ndata: {{\"offset\":33,\"text\":\"{rest}");
    let (server, stage) = taking([
        created(),
        Reply::new(200, first).cut(),
        Reply::error(503, "Service Unavailable", "The server starts"),
        Reply::new(200, rest),
    ])
    .await;
    let shown = stage.run(&["build", "android"]).await;
    assert!(
        shown.contains("BUILD SUCCESSFUL\n") && shown.ends_with("--- exit 0\n"),
        "{shown}"
    );
    let ids: Vec<_> = server.seen()[3..]
        .iter()
        .map(|seen| seen.header("last-event-id").to_owned())
        .collect();
    assert_eq!(ids, ["", "33", "33"]);
}

#[tokio::test]
async fn interrupted_it_says_how_to_go_on() {
    let running = stream(&[("log", json!("==> compile\n"))]);
    for (flag, signal) in [(None, Signal::INT), (Some("--cancel-on-interrupt"), Signal::TERM)] {
        let (server, stage) = taking([created(), Reply::new(200, running.clone()).open()]).await;
        server.then([Reply::new(200, build(json!({"status": "canceled"})).to_string())]);
        let arguments: Vec<_> = ["build", "android"].into_iter().chain(flag).collect();
        let mut child = stage.command(&arguments).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        while lines.next_line().await.expect("UTF-8").expect("it shows the log") != "==> compile" {}
        let id = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
            .expect("it runs");
        kill_process(id, signal).expect("it is ours");
        let mut said = Vec::new();
        while let Some(line) = lines.next_line().await.expect("UTF-8") {
            said.push(line);
        }
        assert_eq!(child.wait().await.expect("it ends").code(), Some(130));
        let last = server.lines().pop().expect("a request");
        if flag.is_some() {
            assert_eq!(said, ["", &format!("interrupted; {ID} is canceled")]);
            assert_eq!(last, format!("POST /api/build/cancel?id={ID}"));
        } else {
            let expected = [
                "",
                &format!("interrupted; {ID} continues"),
                &format!("to follow it: launchway build logs -f {ID}"),
                &format!("to cancel it: launchway build cancel {ID}"),
            ];
            assert_eq!(said, expected);
            assert_eq!(last, format!("GET /api/build/log/stream?id={ID}"));
        }
    }
}

#[tokio::test]
async fn a_wait_can_be_limited() {
    let (_server, stage) = taking([created(), Reply::new(200, stream(&[])).open()]).await;
    assert_snapshot!(stage.run(&["build", "android", "--timeout", "1s"]).await, @r#"
    $ launchway build android --timeout 1s
    --- standard error
    Packed 2 files (249 B) into 312 B
    build_01kb0000000000000000000001 is queued
    Page: http://server/go/build_01kb0000000000000000000001
    error: build_01kb0000000000000000000001 did not end within 1 s, and continues
    hint: to follow it: launchway build logs -f build_01kb0000000000000000000001
          to cancel it: launchway build cancel build_01kb0000000000000000000001
    --- exit 13
    "#);
}
