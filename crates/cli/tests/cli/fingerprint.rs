//! `fingerprint` and `native-needed`, on a small Capacitor project.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, page, update};

pub const BUILD: &str = "build_01kb0000000000000000000003";
pub const UPDATE: &str = "update_01kb0000000000000000000002";

/// Adds a project to the stage: Android, one plugin.
pub fn project(stage: &Stage) {
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

/// Installs the camera plugin.
pub fn camera(stage: &Stage, version: &str) {
    let manifest =
        format!(r#"{{"name": "@capacitor/camera", "version": "{version}", "capacitor": {{"android": {{}}}}}}"#);
    stage.file("node_modules/@capacitor/camera/package.json", manifest);
}

/// The fingerprint of the stage's project.
async fn hash(stage: &Stage) -> String {
    hash_and_document(stage).await.0
}

/// The fingerprint of the stage's project, and its document.
pub async fn hash_and_document(stage: &Stage) -> (String, Value) {
    let mut found = stage.json(&["fingerprint", "android", "--json"]).await;
    let hash = found["fingerprint"].as_str().expect("a hash").to_owned();
    (hash, found["document"].take())
}

/// The server's data on a build or an update.
pub fn told(id: &str, fingerprint: Option<&str>, document: Option<&Value>) -> Reply {
    let status = if id.starts_with("build_") {
        "success"
    } else {
        "published"
    };
    let body = json!({
        "id": id, "status": status, "bundleId": "com.example.app", "platform": "android", "configuration": null,
        "version": "1.0.0", "buildNumber": "1", "fingerprint": fingerprint, "document": document,
    });
    Reply::new(200, body.to_string())
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
    let stage = Stage::new();
    project(&stage);
    camera(&stage, "8.1.0");
    let (old, document) = hash_and_document(&stage).await;
    camera(&stage, "8.2.0");
    let hash = hash(&stage).await;
    let server = FakeServer::start([
        told(UPDATE, Some(&hash), None),
        told(UPDATE, Some("other"), None),
        told(BUILD, Some(&old), Some(&document)),
        told(UPDATE, None, None),
        Reply::error(404, "Not Found", "No build or update has this id"),
    ])
    .await;
    let stage = Stage::with(&server);
    project(&stage);
    let mut text = String::new();
    for id in [UPDATE, UPDATE, BUILD, UPDATE, BUILD] {
        text.push_str(&stage.run(&["fingerprint", "diff", id, "here"]).await);
    }
    assert_snapshot!(text);
    assert_eq!(server.lines()[0], format!("GET /api/fingerprints?id={UPDATE}"));
}

#[tokio::test]
async fn the_profile_says_where_the_app_is() {
    let stage = Stage::new();
    stage
        .file(
            "launchway.toml",
            "[build.production]\n[build.phone]\ndirectory = 'apps/phone'\nframework = 'gradle'\n",
        )
        .file("apps/phone/settings.gradle", "include ':app'\n")
        .file("apps/phone/app/build.gradle", "versionCode 1\n")
        .file("apps/phone/app/src/main/AndroidManifest.xml", "<manifest/>\n");
    let mut text = String::new();
    let rows: [&[&str]; 5] = [
        &["fingerprint"],
        &["fingerprint", "--profile", "phone"],
        &["fingerprint", "android", "--profile", "phone"],
        &["fingerprint", "embed", "--profile", "phone"],
        &["fingerprint", "--profile", "tablet"],
    ];
    for arguments in rows {
        text.push_str(&stage.run(arguments).await);
    }
    stage.file(
        "launchway.toml",
        "[build.tablet]\n[build.phone]\ndirectory = 'apps/phone'\nframework = 'gradle'\n",
    );
    text.push_str(&stage.run(&["fingerprint"]).await);
    assert_snapshot!(text);
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

/// A trust file with a root of `com.example.app` that its key signed, from the vectors for other clients.
pub fn trust_file() -> String {
    let text = include_str!("../../../../sdk/vectors/trust/workflow.json");
    let vectors: Value = serde_json::from_str(text).expect("JSON");
    vectors["scenarios"][0]["embedded"].to_string()
}

#[tokio::test]
async fn embed_writes_the_committed_root_too() {
    let stage = Stage::new();
    project(&stage);
    stage.file("launchway.trust.json", trust_file());
    let before = hash(&stage).await;
    let path = "android/app/src/main/assets/launchway.trust.json";
    for (command, changed) in [
        (&["embed", "--json"][..], true),
        (&["fingerprint", "embed", "--json"], false),
    ] {
        let told = stage.json(command).await;
        assert_eq!(
            told["items"][0]["trust"],
            json!({ "path": "launchway.trust.json", "root": 1 }),
            "{told}"
        );
        assert_eq!(
            told["items"][0]["files"][1],
            json!({ "path": path, "changed": changed }),
            "{told}"
        );
    }
    let written = std::fs::read_to_string(stage.project().join(path)).expect("it was written");
    let (written, committed): (Value, Value) = (
        serde_json::from_str(&written).expect("JSON"),
        serde_json::from_str(&trust_file()).expect("JSON"),
    );
    assert_eq!(written, committed);
    assert_eq!(hash(&stage).await, before, "it is outside the fingerprint");
}

#[tokio::test]
async fn embed_without_a_valid_root_fails() {
    let stage = Stage::new();
    project(&stage);
    let text = stage.run(&["embed"]).await;
    assert!(
        text.contains("error: launchway.trust.json does not exist, so the app would take unsigned updates\n"),
        "{text}"
    );
    stage.file("launchway.trust.json", "{}");
    for command in [&["embed"][..], &["fingerprint", "embed"]] {
        let text = stage.run(command).await;
        assert!(
            text.contains("error: launchway.trust.json is not a trust file: "),
            "{text}"
        );
    }
    let written = stage.project().join("android/app/src/main");
    assert!(
        !written.join("res").exists() && !written.join("assets").exists(),
        "nothing was written"
    );
    stage.file(
        "launchway.trust.json",
        trust_file().replace("com.example.app", "com.example.tv"),
    );
    let text = stage.run(&["embed"]).await;
    assert!(text.contains("is signed by 0 of the 1 keys that must sign"), "{text}");
}

#[tokio::test]
async fn embed_warns_of_the_root_of_another_app() {
    let stage = Stage::new();
    project(&stage);
    stage.file("launchway.toml", "[app]\nbundle_id = 'com.example.app.debug'\n");
    stage.file("launchway.trust.json", trust_file());
    let text = stage.run(&["embed"]).await;
    let warning = "warning: launchway.trust.json is for com.example.app: com.example.app.debug will take no updates\n";
    assert!(text.contains(warning) && text.ends_with("--- exit 0\n"), "{text}");
}

/// Makes the stage's project use the SDK.
fn use_sdk(stage: &Stage) {
    let manifest = r#"{"dependencies": {"@capacitor/core": "8", "@capacitor/android": "8", "@capacitor/camera": "8",
        "@launchway/capacitor": "0.1.0"}}"#;
    let package = r#"{"name": "@launchway/capacitor", "version": "0.1.0", "capacitor": {"android": {}}}"#;
    stage
        .file("package.json", manifest)
        .file("node_modules/@launchway/capacitor/package.json", package);
}

#[tokio::test]
async fn embed_writes_the_settings_of_the_sdk_too() {
    let stage = Stage::new();
    project(&stage);
    use_sdk(&stage);
    let before = hash(&stage).await;
    let text = stage.run(&["fingerprint", "embed"]).await;
    let missing = "error: the app contains the SDK, but launchway.toml does not name its server; set url under [server], \
                   or server_url under [sdk], such as https://launchway.example.com\n--- exit 1\n";
    assert!(text.ends_with(missing), "{text}");
    let path = "android/app/src/main/assets/launchway.json";
    assert!(
        !stage.project().join("android/app/src/main/res").exists(),
        "nothing was written"
    );
    stage.file(
        "launchway.toml",
        "[server]\nurl = 'https://launchway.example.com'\n[build.production]\nconfiguration = 'production'\n\
         [build.staging]\nconfiguration = 'staging'\n[sdk]\ncheck_on = 'resume'\n",
    );
    let rows: [(&[&str], &str, &str); 3] = [
        (&["fingerprint", "embed"], "production", "written"),
        (&["fingerprint", "embed", "android"], "production", "unchanged"),
        (&["fingerprint", "embed", "--profile", "staging"], "staging", "written"),
    ];
    for (command, configuration, outcome) in rows {
        let text = stage.run(command).await;
        let line = format!(
            "\nandroid  settings of the SDK for {configuration} on https://launchway.example.com/api  {path} {outcome}\n"
        );
        assert!(text.contains(&line) && text.ends_with("--- exit 0\n"), "{text}");
    }
    let expected = json!({
        "serverUrl": "https://launchway.example.com/api",
        "configuration": "staging",
        "checkOn": "resume",
    });
    let written = std::fs::read_to_string(stage.project().join(path)).expect("it was written");
    assert_eq!(serde_json::from_str::<Value>(&written).expect("JSON"), expected);
    let told = stage
        .json(&["fingerprint", "embed", "--profile", "staging", "--json"])
        .await;
    assert_eq!(told["items"][0]["sdk"], expected, "{told}");
    assert_eq!(hash(&stage).await, before, "it is outside the fingerprint");
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
    let none = || Reply::error(404, "Not Found", "No successful build has a fingerprint");
    let server = FakeServer::start([
        told(UPDATE, Some(&hash), None),
        told(UPDATE, Some("other"), None),
        told(BUILD, Some("other"), None),
        told(BUILD, Some(&hash), None),
        none(),
        Reply::new(200, page(&updates, 3, 0)),
        told(UPDATE, Some(&hash), None),
        none(),
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
        "GET /api/fingerprints/latest?bundleId=com.example.app&platform=android"
    );
    assert_eq!(
        asked[5],
        "GET /api/update?bundleId=com.example.app&platform=android&status=published&limit=100&offset=0"
    );
}
