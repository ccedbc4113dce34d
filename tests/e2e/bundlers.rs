//! `launchway update` with the real bundlers from npm: Metro of React Native, and webpack as NativeScript's command line runs it. What
//! they make reaches a phone. Other tests of the bundlers use stand-ins.

use std::fs;
use std::path::Path;
use std::process::Command;

use base64::prelude::{BASE64_STANDARD, Engine};
use launchway_testing::says::Fields;
use tempfile::TempDir;

use crate::cli::Cli;
use crate::deployment::{Deployment, Ground};
use crate::packages::{Files, files_below};
use crate::phone::BUNDLE;
use crate::projects::root;

/// A PNG of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A copy of a project of this repository with its packages.
fn installed(name: &str) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    let copied = Command::new("cp")
        .arg("-R")
        .arg(root().join("tests/projects").join(name).join("."))
        .arg(copy.path())
        .status();
    assert!(copied.unwrap().success());
    npm(copy.path(), &["ci"]);
    copy
}

fn npm(project: &Path, words: &[&str]) {
    let output = Command::new("npm")
        .args(words)
        .arg("--loglevel=error")
        .current_dir(project)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "npm {words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Publishes an update of the project, and returns what a phone runs after it installed it. `entry` is the file that the app starts from.
async fn bundled(project: &Path, entry: &str, more: impl FnOnce(Cli) -> Cli) -> Files {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let (origin, key) = (deployment.node().origin(), deployment.team().key);
    let cli = more(
        Cli::new()
            .with("LAUNCHWAY_URL", &origin)
            .with("LAUNCHWAY_API_KEY", &key),
    );
    let app = ["--bundle-id", BUNDLE, "--configuration", "production"];
    // Not every one of these projects has native code to compare.
    let publish = [
        "update",
        "android",
        "--version",
        "1.0.1",
        "--allow-incompatible",
        "--json",
    ];
    let update = cli.run_in(project, [&publish[..], &app].concat()).json();

    let phone = tempfile::tempdir().unwrap();
    let device = |words: &[&str]| {
        let place = ["device", "--json", "--dir", phone.path().to_str().unwrap()];
        cli.run([&place[..], words].concat()).json()
    };
    let mut init = vec![
        "init",
        "android",
        "--url",
        &origin,
        "--version",
        "1.0.0",
        "--build",
        "1",
        "--entry-file",
        entry,
    ];
    init.extend(app);
    if let Some(fingerprint) = update["fingerprint"].as_str() {
        init.extend(["--fingerprint", fingerprint]);
    }
    device(&init);
    let installed = device(&["install"]);
    assert_eq!(installed["runs"], update["id"], "{installed}");
    let files = files_below(Path::new(installed.text("folder")));
    println!("summary: {} files in {} bytes", files.len(), update["size"]);
    files
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn the_bundle_of_metro_reaches_a_phone() {
    let project = installed("react-native-metro");
    // An image, so that there is an asset beside the bundle.
    fs::write(project.path().join("logo.png"), BASE64_STANDARD.decode(PIXEL).unwrap()).unwrap();
    let app = fs::read_to_string(project.path().join("index.js")).unwrap();
    fs::write(
        project.path().join("index.js"),
        format!("{app}\nglobalThis.logo = require('./logo.png');\n"),
    )
    .unwrap();
    let files = bundled(project.path(), "index.android.bundle", |cli| cli).await;
    let script = &files["index.android.bundle"];
    assert!(script.len() > 300_000, "React Native is in it: {} bytes", script.len());
    let assets: Vec<_> = files.keys().filter(|name| name.ends_with("logo.png")).collect();
    assert_eq!(assets.len(), 1, "{:?}", files.keys());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn the_bundle_of_nativescript_reaches_a_phone() {
    let project = installed("nativescript-webpack");
    npm(project.path(), &["install", "--save-dev", "nativescript@9.1"]);
    // Its command line looks for the folders of an Android SDK, and uses nothing of it for the content.
    let sdk = tempfile::tempdir().unwrap();
    for folder in ["platforms/android-35", "build-tools/35.0.0", "platform-tools"] {
        fs::create_dir_all(sdk.path().join(folder)).unwrap();
    }
    let files = bundled(project.path(), "package.json", |cli| {
        cli.with("ANDROID_HOME", sdk.path().to_str().unwrap())
    })
    .await;
    let manifest: serde_json::Value = serde_json::from_slice(&files["package.json"]).unwrap();
    assert_eq!(manifest.text("main"), "bundle");
    assert!(
        files.keys().any(|name| name.starts_with("bundle.")),
        "{:?}",
        files.keys()
    );
}
