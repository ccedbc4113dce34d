//! `update` computes the fingerprint, and rejects an update that the newest build cannot run.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::fingerprint::{BUILD, UPDATE, camera, hash_and_document, project, told};
use crate::stage::{Stage, page, update};

const MINIMUM: [&str; 8] = [
    "update",
    "android",
    "--dir",
    "dist",
    "--version",
    "1.0.1",
    "--configuration",
    "production",
];

/// A stage with a project and something to publish, and a server with these responses.
async fn stage(replies: impl IntoIterator<Item = Reply>) -> (FakeServer, Stage) {
    let server = FakeServer::start([]).await;
    server.then(replies);
    let stage = Stage::with(&server);
    project(&stage);
    stage.file("dist/index.html", "<p>hello</p>");
    (server, stage)
}

/// The responses to an upload and a publication.
fn taking(server: &FakeServer) -> [Reply; 3] {
    let upload = json!({
        "id": "upload_01kb0000000000000000000001", "status": "pending", "method": "PUT", "headers": {},
        "url": format!("{}/objects/1?signature=secret", server.url()), "expiresAt": "2026-11-20T10:00:00.000Z",
    });
    [
        Reply::new(201, upload.to_string()),
        Reply::new(200, ""),
        Reply::new(201, update(json!({})).to_string()),
    ]
}

fn with(more: &[&'static str]) -> Vec<&'static str> {
    [&MINIMUM[..], more].concat()
}

/// The fingerprint of the last publication.
fn published(server: &FakeServer) -> Value {
    let last = server.seen().pop().expect("a request");
    let path = last.line.split('?').next();
    assert_eq!(path, Some("POST /api/update"));
    last.json()["fingerprint"].take()
}

/// The output of `update` besides the update itself.
fn errors(shown: &str) -> &str {
    shown.split_once("--- standard error").map_or("", |(_, rest)| rest)
}

#[tokio::test]
async fn the_document_is_published_unless_the_newest_build_differs() {
    let (server, stage) = stage([]).await;
    let (hash, document) = hash_and_document(&stage).await;
    server.then([told(BUILD, Some(&hash), Some(&document))]);
    server.then(taking(&server));
    let shown = stage.run(&MINIMUM).await;
    assert!(shown.contains("--- exit 0"), "{shown}");
    assert_eq!(published(&server), document);
    assert_eq!(
        server.lines()[0],
        "GET /api/fingerprints/latest?bundleId=com.example.app&platform=android&configuration=production"
    );

    server.then([no_build(), no_updates(), no_updates()]);
    server.then(taking(&server));
    let shown = stage.run(&MINIMUM).await;
    assert_snapshot!(errors(&shown));
    assert_eq!(published(&server), document);
}

fn no_build() -> Reply {
    Reply::error(404, "Not Found", "No successful build has a fingerprint")
}

fn no_updates() -> Reply {
    Reply::new(200, page(&[], 0, 0))
}

/// `update` and `native-needed` must not disagree.
#[tokio::test]
async fn without_a_build_the_newest_update_counts() {
    let (server, stage) = stage([]).await;
    let (hash, document) = hash_and_document(&stage).await;
    let newest = |hash: &str| {
        let older = update(json!({ "id": "update_01kb0000000000000000000009", "fingerprint": "older" }));
        let newer = update(json!({ "id": UPDATE, "buildNumber": "10", "fingerprint": hash }));
        let other = json!({ "version": "9.0.0", "configuration": "staging", "fingerprint": "staging" });
        Reply::new(200, page(&[older, newer, update(other)], 3, 0))
    };
    let known = || [no_build(), newest(&hash), told(UPDATE, Some(&hash), Some(&document))];
    server.then(known());
    server.then(taking(&server));
    let shown = stage.run(&MINIMUM).await;
    let note = format!(
        "No successful build of this app has a fingerprint yet; the newest update, {UPDATE}, is for the same native code\n"
    );
    assert!(shown.contains(&note) && shown.ends_with("--- exit 0\n"), "{shown}");
    assert_eq!(
        server.lines()[1],
        "GET /api/update?bundleId=com.example.app&platform=android&configuration=production&status=published&limit=100&offset=0"
    );

    camera(&stage, "8.3.0");
    let needed = [
        "native-needed",
        "android",
        "--against",
        "latest",
        "--configuration",
        "production",
    ];
    let mut text = String::new();
    for command in [&MINIMUM[..], &needed] {
        server.then(known());
        text.push_str(&stage.run(command).await);
    }
    assert_snapshot!(text);
    server.then(known());
    server.then(taking(&server));
    let shown = stage.run(&with(&["--allow-incompatible"])).await;
    let warning = format!("warning: the newest update, {UPDATE}, is for other native code");
    assert!(shown.contains(&warning) && shown.ends_with("--- exit 0\n"), "{shown}");

    // Updates for every configuration count, too.
    let everybody = update(json!({ "id": UPDATE, "configuration": null, "fingerprint": hash }));
    let staging = update(json!({ "version": "9.0.0", "configuration": "staging", "fingerprint": "staging" }));
    server.then([no_build(), no_updates()]);
    server.then([
        Reply::new(200, page(&[staging, everybody], 2, 0)),
        told(UPDATE, Some(&hash), Some(&document)),
    ]);
    assert!(stage.run(&needed).await.ends_with("--- exit 10\n"));
}

#[tokio::test]
async fn a_fingerprint_that_is_not_the_projects_is_pointed_out() {
    let (server, stage) = stage([]).await;
    let (hash, _) = hash_and_document(&stage).await;
    let told_is = |hash: &str| told(BUILD, Some(hash), None);
    for (given, build, is_other) in [(hash.as_str(), hash.as_str(), false), ("abc", "abc", true)] {
        server.then([told_is(build)]);
        server.then(taking(&server));
        let shown = stage.run(&with_value("--fingerprint", given)).await;
        let warning = format!(
            "warning: --fingerprint is not the fingerprint of this project, {hash}: apps built from it are not offered the update\n"
        );
        assert_eq!(shown.contains(&warning), is_other, "{shown}");
        assert_eq!(published(&server), given);
    }
    std::fs::remove_dir_all(stage.project().join("node_modules")).expect("it is there");
    server.then([told_is("abc")]);
    server.then(taking(&server));
    let shown = stage.run(&with_value("--fingerprint", "abc")).await;
    assert!(!shown.contains("warning") && shown.ends_with("--- exit 0\n"), "{shown}");
}

fn with_value<'a>(flag: &'a str, value: &'a str) -> Vec<&'a str> {
    [&MINIMUM[..], &[flag, value]].concat()
}

#[tokio::test]
async fn a_folder_is_no_update_of_a_flutter_app() {
    let server = FakeServer::start([]).await;
    let stage = Stage::with(&server);
    stage
        .file(
            "pubspec.yaml",
            "name: app\ndependencies:\n  flutter:\n    sdk: flutter\n",
        )
        .file("android/app/build.gradle", "applicationId \"com.example.app\"\n")
        .file("dist/index.html", "<p>hello</p>");
    let text = stage.run(&MINIMUM).await;
    assert!(server.lines().is_empty(), "nothing was asked");
    let message = "error: this is a Flutter app, which cannot run a folder as an update: its code is compiled into the app\n\
                   hint: send a new build to the store: `launchway build android`, then `launchway submit android`;\n";
    assert!(text.contains(message) && text.ends_with("--- exit 1\n"), "{text}");
    let file = [
        "update",
        "android",
        "--file",
        "data.zip",
        "--version",
        "1.0.1",
        "--configuration",
        "production",
    ];
    let text = stage.run(&file).await;
    assert!(
        !text.contains("Flutter app, which") && !text.ends_with("--- exit 0\n"),
        "{text}"
    );
}

#[tokio::test]
async fn what_the_newest_build_cannot_run_is_refused_unless_allowed() {
    let (server, stage) = stage([]).await;
    let (hash, document) = hash_and_document(&stage).await;
    camera(&stage, "8.3.0");
    let mut text = String::new();
    let known = || told(BUILD, Some(&hash), Some(&document));
    for arguments in [with(&[]), with(&["--json"])] {
        server.then([known()]);
        text.push_str(&stage.run(&arguments).await);
    }
    server.then([told(BUILD, Some("other"), None)]);
    text.push_str(&stage.run(&MINIMUM).await);
    server.then([known()]);
    text.push_str(&stage.run(&with(&["--fingerprint", "abc"])).await);
    assert!(
        server.lines().iter().all(|line| line.starts_with("GET ")),
        "nothing was sent"
    );
    server.then([known()]);
    server.then(taking(&server));
    let shown = stage.run(&with(&["--allow-incompatible"])).await;
    text.push_str(errors(&shown));
    assert_snapshot!(text);
    assert_ne!(published(&server), document);
}

#[tokio::test]
async fn a_project_without_a_fingerprint_is_not_published_unasked() {
    let (server, stage) = stage([]).await;
    std::fs::remove_dir_all(stage.project().join("node_modules")).expect("it is there");
    let mut text = stage.run(&MINIMUM).await;
    assert_eq!(server.lines(), [""; 0], "nothing was asked");
    server.then(taking(&server));
    let shown = stage.run(&with(&["--allow-incompatible"])).await;
    text.push_str(errors(&shown));
    assert_snapshot!(text);
    assert_eq!(published(&server), Value::Null);
}

/// The signing team and profile differ between machines; the native code does not.
#[tokio::test]
async fn a_build_that_differs_only_in_signing_can_run_the_update() {
    let (server, stage) = stage([]).await;
    let here = stage.json(&["fingerprint", "android", "--json"]).await;
    let lwfp2 = here["lwfp2"].as_str().expect("a hash");
    let build = |lwfp2: &str| {
        let view = json!({
            "id": BUILD, "status": "success", "bundleId": "com.example.app", "platform": "android", "configuration": null,
            "version": null, "buildNumber": null, "fingerprint": "other", "lwfp2": lwfp2, "document": null,
        });
        Reply::new(200, view.to_string())
    };
    server.then([build(lwfp2)]);
    server.then(taking(&server));
    let shown = stage.run(&MINIMUM).await;
    assert!(shown.ends_with("--- exit 0\n"), "{shown}");
    let last = server.seen().pop().expect("a request");
    assert_eq!(last.line, format!("POST /api/update?lwfp2={lwfp2}"));
    assert_eq!(last.json()["fingerprint"], here["document"]);
    assert_eq!(
        here["document"]["alg"], "lwfp-1",
        "apps and older servers know this one"
    );

    server.then([build("another")]);
    assert!(stage.run(&MINIMUM).await.ends_with("--- exit 5\n"));
    let needed = ["native-needed", "android", "--against", "latest"];
    server.then([build(lwfp2), build("another")]);
    assert!(stage.run(&needed).await.ends_with("--- exit 0\n"));
    assert!(stage.run(&needed).await.ends_with("--- exit 10\n"));
}
