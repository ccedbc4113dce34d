//! What commands bring from a build: its log, and its files.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::build::{ID, artifact, stream};
use crate::builds::{OTHER, found};
use crate::fake_server::{FakeServer, Reply};
use crate::stage::Stage;

#[tokio::test]
async fn logs_as_they_are() {
    let server = FakeServer::start([
        Reply::new(200, "one\n\u{1b}[32mtw").cut(),
        Reply::new(200, "o\u{1b}[0m\nthree").header("content-type", "text/plain"),
        Reply::error(416, "Range Not Satisfiable", "There is nothing behind the end"),
        Reply::error(404, "Not Found", "No such build"),
    ])
    .await;
    let stage = Stage::with(&server);
    let output = stage.command(&["build", "logs", ID]).output().await.expect("it starts");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "one\n\u{1b}[32mtwo\u{1b}[0m\nthree"
    );
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    let text = stage.run(&["build", "logs", ID, "--offset", "99"]).await + &stage.run(&["build", "logs", OTHER]).await;
    assert_snapshot!(text, @r#"
    $ launchway build logs build_01kb0000000000000000000001 --offset 99
    --- exit 0
    $ launchway build logs build_01kb0000000000000000000002
    --- standard error
    error: No such build
    --- exit 3
    "#);
    let asked = [(ID, 0), (ID, 11), (ID, 99), (OTHER, 0)];
    assert_eq!(
        server.lines(),
        asked.map(|(id, offset)| format!("GET /api/build/log?id={id}&offset={offset}"))
    );
}

#[tokio::test]
async fn logs_to_the_end() {
    let failed = json!({"status": "failed", "error": {"code": "STEP_FAILED", "phase": "compile", "message": "It ended with 1."}});
    let events = stream(&[
        ("build", json!({"status": "running"})),
        ("news", json!({})),
        ("log", json!("==> compile\nerror: x\n")),
        ("end", failed),
    ]);
    let server = FakeServer::start([Reply::new(200, events.clone()), Reply::new(200, events)]).await;
    let stage = Stage::with(&server);
    let mut text = stage.run(&["build", "logs", "-f", ID]).await;
    text.push_str(
        &stage
            .run(&["build", "logs", "--follow", "--json", "--offset", "4", ID])
            .await,
    );
    assert_snapshot!(text, @r#"
    $ launchway build logs -f build_01kb0000000000000000000001
    --- standard output
    ==> compile
    error: x
    --- standard error
    error: build_01kb0000000000000000000001 failed in 'compile' (STEP_FAILED): It ended with 1.
    hint: to see why: launchway build logs build_01kb0000000000000000000001
    --- exit 11
    $ launchway build logs --follow --json --offset 4 build_01kb0000000000000000000001
    --- standard output
    {"event":"build","data":{"artifacts":[],"attempt":1,"buildNumber":"7","buildType":"release","bundleId":"com.example.app","cancelRequested":false,"configuration":"production","createdAt":"2026-11-20T10:00:00.000Z","createdBy":"key_01kb0000000000000000000001","distribution":"internal","error":null,"fingerprint":null,"finishedAt":null,"git":null,"id":"build_01kb0000000000000000000001","install":null,"logSize":0,"parentId":null,"phase":null,"phases":[],"platform":"android","priority":0,"profile":"production","queuePosition":0,"runner":null,"startedAt":null,"status":"running","version":null,"waitingFor":null,"warnings":[]}}
    {"event":"log","data":{"offset":0,"text":"==> compile\nerror: x\n"}}
    {"event":"end","data":{"artifacts":[],"attempt":1,"buildNumber":"7","buildType":"release","bundleId":"com.example.app","cancelRequested":false,"configuration":"production","createdAt":"2026-11-20T10:00:00.000Z","createdBy":"key_01kb0000000000000000000001","distribution":"internal","error":{"code":"STEP_FAILED","message":"It ended with 1.","phase":"compile"},"fingerprint":null,"finishedAt":null,"git":null,"id":"build_01kb0000000000000000000001","install":null,"logSize":0,"parentId":null,"phase":null,"phases":[],"platform":"android","priority":0,"profile":"production","queuePosition":0,"runner":null,"startedAt":null,"status":"failed","version":null,"waitingFor":null,"warnings":[]}}
    --- standard error
    {"error":"awaited_failed","exitCode":11,"hint":"to see why: launchway build logs build_01kb0000000000000000000001","message":"build_01kb0000000000000000000001 failed in 'compile' (STEP_FAILED): It ended with 1."}
    --- exit 11
    "#);
    assert_eq!(server.seen()[1].header("last-event-id"), "4");
}

#[tokio::test]
async fn download() {
    let server = FakeServer::start([]).await;
    let stage = Stage::with(&server);
    let mut one = artifact("../app.apk", b"an app");
    one["url"] = json!(format!("{}/objects/1?signature=secret", server.url()));
    let mut other = artifact("symbols.zip", b"symbols");
    other["id"] = json!("artifact_01kb0000000000000000000002");
    other["url"] = json!(format!("{}/objects/2?signature=secret", server.url()));
    let whole = || found(json!({"status": "success", "artifacts": [one, other]}));
    server.then([
        whole(),
        whole(),
        // The download breaks off, resumes, and arrives damaged; a download from the start succeeds.
        Reply::new(200, "an").cut(),
        whole(),
        Reply::new(206, " spy"),
        whole(),
        Reply::new(200, "an app"),
        whole(),
        Reply::new(200, "symbols"),
    ]);
    assert_snapshot!(stage.run(&["build", "download", ID, "--dir", "out"]).await, @r#"
    $ launchway build download build_01kb0000000000000000000001 --dir out
    --- standard output
    out/-app.apk
    out/symbols.zip
    --- standard error
    Downloaded out/-app.apk (6 B)
    Downloaded out/symbols.zip (7 B)
    --- exit 0
    "#);
    let files = || {
        let mut names: Vec<_> = fs::read_dir(stage.project().join("out"))
            .expect("it is there")
            .map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"))
            .collect();
        names.sort();
        names
    };
    assert_eq!(files(), ["-app.apk", "symbols.zip"]);
    assert_eq!(
        fs::read(stage.project().join("out/-app.apk")).expect("it is there"),
        b"an app"
    );
    let gets: Vec<_> = server
        .seen()
        .into_iter()
        .filter(|seen| seen.line.contains("/objects/"))
        .collect();
    let ranges: Vec<_> = gets.iter().map(|seen| seen.header("range")).collect();
    assert_eq!(ranges, ["", "bytes=2-", "", ""]);
    assert!(
        gets.iter().all(|seen| seen.header("authorization").is_empty()),
        "object storage is not ours"
    );

    server.then([whole()]);
    let mut text = stage.run(&["build", "download", ID, "--artifact", "ipa"]).await;
    server.then([
        whole(),
        whole(),
        Reply::new(200, "symbols"),
        found(json!({"status": "failed"})),
    ]);
    text.push_str(
        &stage
            .run(&["build", "download", ID, "--artifact", "symbols.zip", "--json"])
            .await,
    );
    text.push_str(&stage.run(&["build", "download", ID]).await);
    assert_snapshot!(text, @r#"
    $ launchway build download build_01kb0000000000000000000001 --artifact ipa
    --- standard error
    error: build_01kb0000000000000000000001 has no artifact ipa
    hint: its artifacts: ../app.apk, symbols.zip
    --- exit 3
    $ launchway build download build_01kb0000000000000000000001 --artifact symbols.zip --json
    --- standard output
    [{"id":"artifact_01kb0000000000000000000002","kind":"apk","name":"symbols.zip","path":"./symbols.zip","sha256":"1ea50a8caf6085042452db60307ec62662e096120714ddac4fbc471c9456b411","size":7}]
    --- standard error
    Downloaded ./symbols.zip (7 B)
    --- exit 0
    $ launchway build download build_01kb0000000000000000000001
    --- standard error
    error: build_01kb0000000000000000000001 has no artifacts; its status is failed
    --- exit 3
    "#);
}

#[tokio::test]
async fn a_download_goes_on_where_an_earlier_command_was_stopped() {
    let server = FakeServer::start([]).await;
    let stage = Stage::with(&server);
    let mut app = artifact("app.apk", b"an app");
    app["url"] = json!(format!("{}/objects/1", server.url()));
    let whole = || found(json!({"status": "success", "artifacts": [app]}));
    server.then([whole(), whole(), Reply::new(200, "an ").open()]);
    let mut child = stage.command(&["build", "download", ID]).spawn().expect("it starts");
    let part = || {
        let entries = fs::read_dir(stage.project()).expect("it is there");
        entries
            .map(|entry| entry.expect("readable").path())
            .find(|path| path.to_string_lossy().ends_with(".part"))
    };
    while part()
        .and_then(|path| fs::metadata(path).ok())
        .is_none_or(|about| about.len() < 3)
    {
        tokio::task::yield_now().await;
    }
    child.kill().await.expect("it runs");
    assert!(!stage.project().join("app.apk").exists());
    server.then([whole(), whole(), Reply::new(206, "app")]);
    let shown = stage.run(&["build", "download", ID]).await;
    assert!(shown.ends_with("--- exit 0\n"), "{shown}");
    assert_eq!(server.seen().last().expect("a request").header("range"), "bytes=3-");
    assert_eq!(
        fs::read(stage.project().join("app.apk")).expect("it is there"),
        b"an app"
    );
    assert_eq!(part(), None);
}
