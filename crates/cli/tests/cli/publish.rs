//! `update <platform>`: its requests and its output.

use std::io::Read;

use insta::assert_snapshot;
use launchway_api::updates::CreateUpdate;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, page, update};

/// A server that accepts an upload and then returns this response to the publication.
pub async fn taking(published: Reply) -> (FakeServer, Stage) {
    taking_after([], published).await
}

/// The responses of a server without builds and updates of the app.
pub fn nothing_yet() -> [Reply; 3] {
    let none = || Reply::new(200, page(&[], 0, 0));
    let no_build = Reply::error(404, "Not Found", "No successful build has a fingerprint");
    [no_build, none(), none()]
}

/// The same after these responses.
async fn taking_after(before: impl IntoIterator<Item = Reply>, published: Reply) -> (FakeServer, Stage) {
    let server = FakeServer::start(before).await;
    let upload = json!({
        "id": "upload_01kb0000000000000000000001",
        "status": "pending",
        "method": "PUT",
        "url": format!("{}/objects/1?signature=secret", server.url()),
        "headers": {},
        "expiresAt": "2026-11-20T10:00:00.000Z",
    });
    server.then([Reply::new(201, upload.to_string()), Reply::new(200, ""), published]);
    let stage = Stage::with(&server);
    stage
        .file("dist/index.html", "<p>hello</p>")
        .file("dist/assets/app.js", "go()");
    (server, stage)
}

fn created(changed: Value) -> Reply {
    Reply::new(201, update(changed).to_string())
}

/// The body of the last request, parsed as the server parses it.
pub fn asked(server: &FakeServer) -> Value {
    let last = server.seen().pop().expect("a request");
    assert_eq!(last.line, "POST /api/update");
    let known: Result<CreateUpdate, _> = serde_json::from_slice(&last.body);
    known.expect("only fields the server knows");
    last.json()
}

pub const MINIMUM: [&str; 10] = [
    "update",
    "android",
    "--dir",
    "dist",
    "--bundle-id",
    "com.example.app",
    "--version",
    "1.0.1",
    "--configuration",
    "production",
];

#[tokio::test]
async fn packs_uploads_and_publishes() {
    let (server, stage) = taking(created(json!({}))).await;
    assert_snapshot!(stage.run(&MINIMUM).await, @r#"
    $ launchway update android --dir dist --bundle-id com.example.app --version 1.0.1 --configuration production
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

    To check like an app:
      curl 'http://server/api/update/check/com.example.app?currentVersion=0.0.0&currentBuild=0&platform=android&configuration=production'
    --- standard error
    No app project found here, so the update has no fingerprint: apps get it whatever their native code
    Packed 2 files of dist (16 B) into 240 B
    Page: http://server/go/update_01kb0000000000000000000002
    --- exit 0
    "#);

    let seen = server.seen();
    assert_eq!(
        server.lines(),
        [
            "POST /api/uploads",
            "PUT /objects/1?signature=secret",
            "POST /api/update"
        ]
    );
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(&seen[1].body)).expect("a ZIP");
    let mut text = String::new();
    archive
        .by_name("index.html")
        .expect("it was packed")
        .read_to_string(&mut text)
        .expect("good data");
    assert_eq!((archive.len(), text.as_str()), (2, "<p>hello</p>"));
    let upload = seen[0].json();
    assert_eq!(upload["size"], json!(seen[1].body.len()));
    assert_eq!(upload["sha256"], json!(sha256(&seen[1].body)));
    assert_eq!(seen[1].header("authorization"), "", "object storage is not ours");
    let expected = json!({
        "uploadId": "upload_01kb0000000000000000000001",
        "bundleId": "com.example.app",
        "platform": "android",
        "version": "1.0.1",
        "configuration": "production",
    });
    assert_eq!(asked(&server), expected);
    assert_eq!(stage.left_over(), [] as [std::path::PathBuf; 0]);
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    hex::encode(sha2::Sha256::digest(bytes))
}

#[tokio::test]
async fn json_is_the_update_as_the_server_wrote_it() {
    let (_server, stage) = taking(created(json!({ "newerThanThisClient": 1 }))).await;
    let arguments = [&MINIMUM[..], &["--json"]].concat();
    assert_eq!(
        stage.json(&arguments).await,
        update(json!({ "newerThanThisClient": 1 }))
    );
}

#[tokio::test]
async fn everything_that_can_be_told() {
    let published = json!({"rollout": 20, "mandatory": true, "fingerprint": "abc", "releaseNotes": "Faster.\nSafer."});
    let (server, stage) = taking_after(nothing_yet(), created(published)).await;
    stage.file("notes.txt", "Faster.\nSafer.");
    let more = [
        "--build-number",
        "7",
        "--fingerprint",
        "abc",
        "--release-notes",
        "@notes.txt",
        "--rollout",
        "20",
    ];
    let arguments = [&MINIMUM[..], &more, &["--mandatory"]].concat();
    assert_snapshot!(stage.run(&arguments).await, @r#"
    $ launchway update android --dir dist --bundle-id com.example.app --version 1.0.1 --configuration production --build-number 7 --fingerprint abc --release-notes @notes.txt --rollout 20 --mandatory
    --- standard output
    Id             update_01kb0000000000000000000002
    Status         published
    App            com.example.app
    Platform       android
    Version        1.0.1 (build 2)
    Configuration  production
    Fingerprint    abc
    Rollout        20 %
    Mandatory      yes
    Package        1.18 MiB, 12 files
    SHA-256        9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    Published      2026-11-20T10:00:00.000Z by key_01kb0000000000000000000001
    Notes          Faster.
                   Safer.

    To check like an app:
      curl 'http://server/api/update/check/com.example.app?currentVersion=0.0.0&currentBuild=0&platform=android&configuration=production&fingerprint=abc&deviceId=any-device'
    --- standard error
    No successful build of this app has a fingerprint yet, so compatibility is not checked
    Packed 2 files of dist (16 B) into 240 B
    Page: http://server/go/update_01kb0000000000000000000002
    Rollout 20%: only apps that send a device id with their check can get it
    --- exit 0
    "#);
    let asked = asked(&server);
    let told = ["buildNumber", "fingerprint", "releaseNotes", "rollout", "mandatory"].map(|name| asked[name].clone());
    assert_eq!(
        told,
        [
            json!("7"),
            json!("abc"),
            json!("Faster.\nSafer."),
            json!(20),
            json!(true)
        ]
    );
}

#[tokio::test]
async fn a_fingerprint_document_is_sent_as_one() {
    let (server, stage) = taking_after(nothing_yet(), created(json!({}))).await;
    let hash = "0".repeat(64);
    let document = json!({
        "alg": "lwfp-1", "framework": "native", "native": hash, "platform": "android", "plugins": {}, "resources": hash,
    });
    stage.file("fingerprint.json", document.to_string());
    let arguments = [&MINIMUM[..], &["--fingerprint", "@fingerprint.json"]].concat();
    stage.run(&arguments).await;
    assert_eq!(asked(&server)["fingerprint"], document);
    // An invalid one is not sent.
    stage.file("fingerprint.json", r#"{"alg": "lwfp-1", "plugins": {}}"#);
    let shown = stage.run(&arguments).await;
    assert!(
        shown.contains("error: the fingerprint document: ") && shown.ends_with("--- exit 2\n"),
        "{shown}"
    );
}

#[tokio::test]
async fn every_configuration_only_when_told() {
    let (server, stage) = taking(created(json!({ "configuration": null }))).await;
    stage.file("launchway.toml", "[update]\nconfiguration = 'production'\n");
    let arguments = [&MINIMUM[..8], &["--all-configurations", "--quiet"]].concat();
    assert_snapshot!(stage.run(&arguments).await, @r#"
    $ launchway update android --dir dist --bundle-id com.example.app --version 1.0.1 --all-configurations --quiet
    --- standard output
    Id             update_01kb0000000000000000000002
    Status         published
    App            com.example.app
    Platform       android
    Version        1.0.1 (build 2)
    Configuration  all
    Fingerprint    any
    Rollout        100 %
    Package        1.18 MiB, 12 files
    SHA-256        9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    Published      2026-11-20T10:00:00.000Z by key_01kb0000000000000000000001

    To check like an app:
      curl 'http://server/api/update/check/com.example.app?currentVersion=0.0.0&currentBuild=0&platform=android'
    --- exit 0
    "#);
    assert_eq!(asked(&server).get("configuration"), None);
}

#[tokio::test]
async fn project_and_native_code_say_what_flags_do_not() {
    let (server, stage) = taking(created(json!({ "version": "1.4.0", "buildNumber": "1" }))).await;
    stage.file(
        "launchway.toml",
        "[update]\nconfiguration = 'production'\ndir = 'dist'\n",
    );
    let gradle = "applicationId \"com.example.app\"\nversionCode 7\nversionName \"1.4.0\"\n";
    stage.file("android/app/build.gradle", gradle);
    assert_snapshot!(stage.run(&["update", "android"]).await, @r#"
    $ launchway update android
    --- standard output
    Id             update_01kb0000000000000000000002
    Status         published
    App            com.example.app
    Platform       android
    Version        1.4.0 (build 1)
    Configuration  production
    Fingerprint    any
    Rollout        100 %
    Package        1.18 MiB, 12 files
    SHA-256        9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    Published      2026-11-20T10:00:00.000Z by key_01kb0000000000000000000001

    To check like an app:
      curl 'http://server/api/update/check/com.example.app?currentVersion=0.0.0&currentBuild=0&platform=android&configuration=production'
    --- standard error
    App com.example.app comes from android/app/build.gradle
    Version 1.4.0 comes from android/app/build.gradle
    No app project found here, so the update has no fingerprint: apps get it whatever their native code
    Packed 2 files of dist (16 B) into 240 B
    Page: http://server/go/update_01kb0000000000000000000002
    warning: apps built from this project (1.4.0 build 7) will not get it: give a higher --version or --build-number
    --- exit 0
    "#);
    let asked = asked(&server);
    let told = ["bundleId", "version", "configuration"].map(|name| asked[name].clone());
    assert_eq!(told, [json!("com.example.app"), json!("1.4.0"), json!("production")]);
}

#[tokio::test]
async fn a_zip_is_sent_as_it_is() {
    let (server, stage) = taking(created(json!({}))).await;
    stage.file("ready.zip", b"PK-whatever");
    let mut arguments = MINIMUM.to_vec();
    arguments.splice(2..4, ["--file", "ready.zip"]);
    let text = stage.run(&arguments).await;
    assert!(text.ends_with("--- exit 0\n"), "{text}");
    assert_eq!(server.seen()[1].body, b"PK-whatever");
}
