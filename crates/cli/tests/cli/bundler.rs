//! `update` runs the bundler of the framework, unless it is told where the content is. The bundlers are stand-ins.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::publish::nothing_yet;
use crate::stage::{KEY, Stage, update};

/// Records how it was called, and writes a bundle with an asset.
const METRO: &str = r#"#!/bin/sh
echo "$@" >> calls.txt
echo "key ${LAUNCHWAY_API_KEY:-none}" >> calls.txt
echo "bundling"
mkdir -p "$LAUNCHWAY_BUNDLE_DIR/assets"
echo "run()" > "$LAUNCHWAY_BUNDLE_DIR/index.android.bundle"
echo "picture" > "$LAUNCHWAY_BUNDLE_DIR/assets/one.png"
"#;

/// A React Native app with a program in the place of `npx`, and a server that takes an update of it.
async fn stage(npx: &str) -> (FakeServer, Stage) {
    let server = FakeServer::start(nothing_yet()).await;
    let upload = json!({
        "id": "upload_01kb0000000000000000000001", "status": "pending", "method": "PUT", "headers": {},
        "url": format!("{}/objects/1", server.url()), "expiresAt": "2026-11-20T10:00:00.000Z",
    });
    server.then([
        Reply::new(201, upload.to_string()),
        Reply::new(200, ""),
        Reply::new(201, update(json!({})).to_string()),
    ]);
    let stage = app(npx, &server);
    (server, stage)
}

fn app(npx: &str, server: &FakeServer) -> Stage {
    let mut stage = Stage::with(server);
    let programs = stage.project().parent().expect("a directory").join("home/bin");
    fs::create_dir_all(&programs).expect("space");
    fs::write(programs.join("npx"), npx).expect("space");
    fs::set_permissions(programs.join("npx"), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display());
    stage.set("PATH", &path);
    stage
        .file("package.json", r#"{"dependencies": {"react-native": "0.80.0"}}"#)
        .file("package-lock.json", "{}")
        .file(
            "node_modules/react-native/package.json",
            r#"{"name": "react-native", "version": "0.80.0"}"#,
        )
        .file("index.js", "start()\n")
        .file("android/settings.gradle", "include ':app'\n")
        .file("android/app/src/main/AndroidManifest.xml", "<manifest/>\n");
    stage
}

const PUBLISH: [&str; 8] = [
    "update",
    "android",
    "--bundle-id",
    "com.example.app",
    "--version",
    "1.0.1",
    "--configuration",
    "production",
];

/// The names of the files that were uploaded.
fn uploaded(server: &FakeServer) -> Vec<String> {
    let seen = server.seen().into_iter().find(|seen| seen.line == "PUT /objects/1");
    let bytes = seen.expect("an upload").body;
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).expect("a ZIP");
    let mut names: Vec<String> = archive
        .file_names()
        .map(|name| name.expect("UTF-8").into_owned())
        .collect();
    names.sort();
    if let Ok(mut bundle) = archive.by_name("index.android.bundle") {
        let mut text = String::new();
        bundle.read_to_string(&mut text).expect("text");
        assert_eq!(text, "run()\n");
    }
    names
}

#[tokio::test]
async fn the_bundle_of_react_native_is_published() {
    let (server, stage) = stage(METRO).await;
    let shown = stage.run(&PUBLISH).await;
    assert!(shown.ends_with("--- exit 0\n"), "{shown}");
    let (results, said) = shown.split_once("--- standard error").expect("it says what it does");
    assert!(
        said.contains("Running the bundler of React Native for android\nbundling\n"),
        "{shown}"
    );
    assert!(
        said.contains("Packed 2 files of the bundle") && !results.contains("bundling"),
        "{shown}"
    );
    assert_eq!(uploaded(&server), ["assets/one.png", "index.android.bundle"]);
    let calls = fs::read_to_string(stage.project().join("calls.txt")).expect("it was called");
    let (call, rest) = calls.split_once('\n').expect("a line");
    let expected = "react-native bundle --entry-file index.js --platform android --dev false --bundle-output ";
    assert!(call.starts_with(expected), "{call}");
    assert_eq!(
        rest,
        "key none\n",
        "no script of the project gets the key {}",
        &KEY[..3]
    );
    assert_eq!(stage.left_over(), [] as [std::path::PathBuf; 0]);
}

#[tokio::test]
async fn a_folder_that_is_named_is_published_without_it() {
    let in_file = "[update]\ndir = 'dist'\n";
    for (settings, arguments) in [("", &["--dir", "dist"][..]), (in_file, &[])] {
        let (server, stage) = stage("#!/bin/sh\nexit 9\n").await;
        stage
            .file("dist/index.android.bundle", "run()\n")
            .file("launchway.toml", settings);
        let shown = stage.run(&[&PUBLISH[..], arguments].concat()).await;
        assert!(shown.ends_with("--- exit 0\n"), "{shown}");
        assert_eq!(uploaded(&server), ["index.android.bundle"]);
    }
}

#[tokio::test]
async fn a_dry_run_bundles_too() {
    let (server, stage) = stage(METRO).await;
    let planned: Value = stage
        .json(&[&PUBLISH[..], &["--dry-run", "--json", "--quiet"]].concat())
        .await;
    assert_eq!(planned["fileCount"], 2);
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn what_keeps_the_bundler_from_running_is_said() {
    let server = FakeServer::start((0..3).flat_map(|_| nothing_yet())).await;
    let stage = app("#!/bin/sh\necho 'no module' >&2\nexit 9\n", &server);
    let shown = stage.run(&PUBLISH).await;
    let failed = "no module\nerror: the bundler of React Native failed (exit status: 9)\n";
    assert!(shown.contains(failed) && shown.contains("--dir DIR"), "{shown}");
    assert!(shown.ends_with("--- exit 1\n"), "{shown}");
    stage.file("launchway.toml", "[update]\ndir = 'dist'\n");
    let shown = stage.run(&PUBLISH).await;
    assert!(shown.contains("error: dist is not a directory\nhint: "), "{shown}");
    assert!(shown.contains("remove dir under [update]"), "{shown}");
    stage.file("launchway.toml", "");
    fs::remove_file(stage.project().join("index.js")).expect("it was there");
    let shown = stage.run(&PUBLISH).await;
    assert!(
        shown.contains("error: no index.js found for the bundler of React Native\nhint: "),
        "{shown}"
    );
    assert!(
        server.lines().iter().all(|line| line.starts_with("GET ")),
        "{:?}",
        server.lines()
    );
}
