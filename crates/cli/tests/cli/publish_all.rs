//! `update all` and `update --dry-run`: several updates at once, and none.

use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::publish::nothing_yet;
use crate::stage::{Stage, update};

/// A Capacitor project for two platforms, whose content is built.
fn project(stage: &Stage) {
    let manifest = r#"{"dependencies": {"@capacitor/core": "8", "@capacitor/android": "8", "@capacitor/ios": "8"}}"#;
    stage
        .file("package.json", manifest)
        .file("capacitor.config.json", r#"{"appId": "com.example.app"}"#)
        .file(
            "launchway.toml",
            "[update]\nconfiguration = 'production'\ndir = 'dist'\n",
        )
        .file("android/settings.gradle", "include ':app'\n")
        .file("android/app/src/main/AndroidManifest.xml", "<manifest/>\n")
        .file("ios/App/App/Info.plist", "<plist version=\"1.0\"><dict/></plist>\n")
        .file("dist/index.html", "<p>hello</p>");
    for name in ["core", "android", "ios"] {
        let manifest = format!(r#"{{"name": "@capacitor/{name}", "version": "8.0.0"}}"#);
        stage.file(&format!("node_modules/@capacitor/{name}/package.json"), manifest);
    }
}

async fn stage(replies: impl IntoIterator<Item = Reply>) -> (FakeServer, Stage) {
    let server = FakeServer::start(replies).await;
    let stage = Stage::with(&server);
    project(&stage);
    (server, stage)
}

/// The responses to an upload and a publication.
fn taking(server: &FakeServer, changed: Value) -> [Reply; 3] {
    let upload = json!({
        "id": "upload_01kb0000000000000000000001", "status": "pending", "method": "PUT", "headers": {},
        "url": format!("{}/objects/1", server.url()), "expiresAt": "2026-11-20T10:00:00.000Z",
    });
    [
        Reply::new(201, upload.to_string()),
        Reply::new(200, ""),
        Reply::new(201, update(changed).to_string()),
    ]
}

/// The platforms that the requests to publish named.
fn published(server: &FakeServer) -> Vec<Value> {
    let seen = server.seen().into_iter();
    let publications =
        seen.filter(|seen| seen.line.starts_with("POST /api/update?") || seen.line == "POST /api/update");
    publications.map(|seen| seen.json()["platform"].clone()).collect()
}

#[tokio::test]
async fn all_platforms_of_the_project_are_published() {
    for arguments in [&["all"][..], &["--platform", "all"]] {
        let (server, stage) = stage(nothing_yet().into_iter().chain(nothing_yet())).await;
        server.then(taking(&server, json!({"platform": "ios"})));
        server.then(taking(&server, json!({})));
        let arguments = [&["update"], arguments, &["--version", "1.0.1", "--json"]].concat();
        let shown = stage.run(&arguments).await;
        assert!(shown.ends_with("--- exit 0\n"), "{shown}");
        assert_eq!(published(&server), ["ios", "android"]);
        let lines: Vec<&str> = shown.lines().filter(|line| line.starts_with('{')).collect();
        let platforms = lines
            .iter()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["platform"].clone());
        assert_eq!(platforms.collect::<Vec<_>>(), ["ios", "android"]);
    }
}

#[tokio::test]
async fn one_platform_is_an_option_too() {
    let (server, stage) = stage(nothing_yet()).await;
    server.then(taking(&server, json!({})));
    let shown = stage
        .run(&["update", "--platform", "android", "--version", "1.0.1"])
        .await;
    assert!(shown.ends_with("--- exit 0\n"), "{shown}");
    assert_eq!(published(&server), ["android"]);
}

#[tokio::test]
async fn nothing_is_published_unless_all_can_be() {
    let newest = json!({"id": "build_01kb0000000000000000000003", "status": "success", "bundleId": "com.example.app",
        "platform": "android", "configuration": "production", "version": "1.0.0", "buildNumber": "1",
        "fingerprint": "another", "document": null});
    let (server, stage) = stage(nothing_yet().into_iter().chain([Reply::new(200, newest.to_string())])).await;
    let shown = stage.run(&["update", "all", "--version", "1.0.1"]).await;
    assert!(
        shown.contains("cannot run this update") && shown.ends_with("--- exit 5\n"),
        "{shown}"
    );
    assert_eq!(published(&server), [] as [Value; 0]);
    assert_eq!(server.seen().len(), 4, "{:?}", server.lines());
}

#[tokio::test]
async fn what_fits_one_platform_is_not_for_all() {
    let (server, stage) = stage([]).await;
    let shown = stage
        .run(&["update", "all", "--version", "1.0.1", "--fingerprint", "abc"])
        .await;
    assert!(
        shown.contains("--fingerprint is that of one platform") && shown.ends_with("--- exit 2\n"),
        "{shown}"
    );
    let empty = Stage::with(&server);
    let shown = empty
        .run(&["update", "all", "--dir", "dist", "--version", "1.0.1"])
        .await;
    assert!(
        shown.contains("no app found here") && shown.ends_with("--- exit 1\n"),
        "{shown}"
    );
    let shown = stage
        .run(&["update", "android", "--platform", "ios", "--version", "1.0.1"])
        .await;
    assert!(shown.ends_with("--- exit 2\n"), "{shown}");
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_dry_run_shows_the_update_and_sends_nothing() {
    let (server, stage) = stage(nothing_yet()).await;
    let arguments = [
        "update",
        "android",
        "--version",
        "1.0.1",
        "--rollout",
        "20",
        "--release-notes",
        "New.",
        "--dry-run",
    ];
    let shown = stage.run(&arguments).await;
    let hash = stage.json(&["fingerprint", "android", "--json"]).await["fingerprint"].clone();
    let fingerprint = format!("\nFingerprint    {}\n", hash.as_str().expect("a hash"));
    for line in [
        "\nApp            com.example.app\n",
        "\nVersion        1.0.1 (next free build number)\n",
        "\nConfiguration  production\n",
        &fingerprint,
        "\nRollout        20 %\n",
        ", 1 file of 12 B\n",
        "\nNotes          New.\n",
        "\nRollout 20%: only apps that send a device id with their check can get it\n",
        "\nNothing was published, because of --dry-run\n--- exit 0\n",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert!(
        server.lines().iter().all(|line| line.starts_with("GET ")),
        "{:?}",
        server.lines()
    );
    assert_eq!(stage.left_over(), [] as [std::path::PathBuf; 0]);
}

#[tokio::test]
async fn a_dry_run_names_the_package_that_is_published() {
    let (server, stage) = stage(nothing_yet().into_iter().chain(nothing_yet())).await;
    let arguments = ["update", "android", "--version", "1.0.1", "--build-number", "7"];
    let planned = stage.json(&[&arguments[..], &["--dry-run", "--json"]].concat()).await;
    server.then(taking(&server, json!({})));
    stage.run(&arguments).await;
    let upload = server.seen().into_iter().find(|seen| seen.line == "POST /api/uploads");
    let upload = upload.expect("the second command publishes").json();
    assert_eq!(
        (&planned["sha256"], &planned["size"]),
        (&upload["sha256"], &upload["size"])
    );
    assert_eq!(
        (&planned["dryRun"], &planned["buildNumber"]),
        (&json!(true), &json!("7"))
    );
    assert_eq!(
        (&planned["fileCount"], &planned["unpackedSize"]),
        (&json!(1), &json!(12))
    );
}

#[tokio::test]
async fn a_dry_run_finds_what_phones_would_refuse() {
    let (_server, stage) = stage(nothing_yet()).await;
    stage.file("ready.zip", b"PK-whatever");
    let shown = stage
        .run(&[
            "update",
            "android",
            "--version",
            "1.0.1",
            "--file",
            "ready.zip",
            "--dry-run",
        ])
        .await;
    assert!(
        shown.contains("error: cannot read the package") && shown.ends_with("--- exit 1\n"),
        "{shown}"
    );
}
