//! `init`, `doctor` and `man`: commands on the local project.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use insta::assert_snapshot;
use launchway_runner::WorkDirectory;
use launchway_runner::executor::ProcessExecutor;
use launchway_runner::settings::Settings;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::session::caller;
use crate::stage::{KEY, Stage};

/// A complete Capacitor project.
pub fn capacitor(stage: &Stage) {
    stage
        .file(
            "package.json",
            json!({"dependencies": {"@capacitor/core": "8.0.0"}}).to_string(),
        )
        .file("package-lock.json", "{}")
        .file(
            "capacitor.config.json",
            json!({"appId": "com.example.app", "webDir": "www"}).to_string(),
        )
        .file(
            "android/app/build.gradle",
            "android {\n  defaultConfig {\n    applicationId \"com.example.app\"\n  }\n}\n",
        )
        .file("node_modules/@capacitor/core/package.json", "{}");
}

/// The description that a server of this version returns of itself.
pub fn description(version: &str) -> Reply {
    Reply::new(200, json!({"info": {"version": version}}).to_string())
}

/// A directory with only these programs, as the PATH.
fn with_tools(stage: &mut Stage, programs: &[&str]) {
    let tools = stage.project().join("../tools");
    std::fs::create_dir_all(&tools).expect("space");
    for program in programs {
        let place = tools.join(program);
        std::fs::write(&place, "").expect("space");
        make_executable(&place);
    }
    std::fs::write(tools.join("java"), "no program").expect("space");
    let tools = tools.canonicalize().expect("it is there");
    stage.set("PATH", tools.to_str().expect("a path of text"));
}

#[cfg(unix)]
fn make_executable(place: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
}

#[cfg(not(unix))]
fn make_executable(_place: &Path) {}

#[tokio::test]
async fn init_recognises_the_project_and_writes_a_readable_file() {
    let stage = Stage::new();
    capacitor(&stage);
    let mut text = stage
        .run(&["init", "--yes", "--url", "https://launchway.example.com"])
        .await;
    let written = std::fs::read_to_string(stage.project().join("launchway.toml")).expect("the file");
    text.push_str("--- launchway.toml\n");
    text.push_str(&written);
    text.push_str(&stage.run(&["init", "--yes", "--no-sdk"]).await);
    let same = std::fs::read_to_string(stage.project().join("launchway.toml")).expect("the file");
    assert_eq!(same, written, "a file that is there is never overwritten");
    assert_snapshot!(text);
}

#[tokio::test]
async fn init_in_an_empty_directory_leaves_unknowns_to_the_user() {
    let stage = Stage::new();
    let mut text = stage.run(&["init", "--json"]).await;
    text.push_str("--- launchway.toml\n");
    text.push_str(&std::fs::read_to_string(stage.project().join("launchway.toml")).expect("the file"));
    assert_snapshot!(text);
}

#[tokio::test]
async fn doctor_finds_nothing_wrong() {
    let server = FakeServer::start([
        description(env!("CARGO_PKG_VERSION")),
        Reply::new(200, caller(json!({})).to_string()),
    ])
    .await;
    let mut stage = Stage::with(&server);
    capacitor(&stage);
    let manifest =
        json!({"version": "1.0.0", "dependencies": {"@capacitor/core": "8.0.0", "@capacitor/android": "8.0.0"}});
    stage
        .file("package.json", manifest.to_string())
        .file("node_modules/@capacitor/android/package.json", "{}")
        .file("launchway.toml", "[update]\nconfiguration = 'production'\n");
    with_tools(&mut stage, &["git", "node"]);
    assert_snapshot!(stage.run(&["doctor"]).await);
    assert_eq!(server.lines(), ["GET /api/openapi.json", "GET /api/auth/session"]);
    let seen = server.seen();
    assert_eq!(
        seen[0].header("authorization"),
        "",
        "the key goes only where it is needed"
    );
    assert_eq!(seen[1].header("authorization"), format!("Bearer {KEY}"));
}

#[tokio::test]
async fn doctor_says_of_everything_how_to_mend_it() {
    let server = FakeServer::start([
        description("0.0.1"),
        Reply::error(401, "Unauthorized", "Invalid or expired API key"),
    ])
    .await;
    let mut stage = Stage::with(&server);
    stage
        .file(
            "package.json",
            json!({"dependencies": {"react-native": "0.85.0"}}).to_string(),
        )
        .file("yarn.lock", "# yarn lockfile v1\n");
    with_tools(&mut stage, &[]);
    assert_snapshot!(stage.run(&["doctor"]).await);
}

#[tokio::test]
async fn doctor_minds_settings_that_cannot_be_read() {
    let stage = Stage::new();
    stage.file("launchway.toml", "[app]\nbundel_id = 'com.example.app'\n");
    let mut text = stage.run(&["doctor"]).await;
    stage.file("launchway.toml", "");
    text.push_str(&stage.run(&["doctor", "--json"]).await);
    let nobody = ["doctor", "--url", "http://127.0.0.1:9"];
    let unreachable = stage.run(&nobody).await;
    assert!(
        unreachable.contains("problem  cannot reach http://127.0.0.1:9"),
        "{unreachable}"
    );
    let other = FakeServer::start([Reply::new(200, "<p>hello</p>")]).await;
    let shown = stage.run(&["doctor", "--url", &other.url()]).await;
    assert!(shown.contains("is not a Launchway server"), "{shown}");
    assert_snapshot!(text);
}

#[tokio::test]
async fn doctor_says_of_a_runner_what_is_open_to_builds() {
    let stage = Stage::new();
    // An empty directory has many other problems.
    let text = stage.run(&["doctor", "--runner", "--json"]).await;
    let line = text.lines().find(|line| line.starts_with('{')).expect("the findings");
    let told: Value = serde_json::from_str(line).expect("JSON");
    let findings = told["findings"].as_array().expect("a list").iter();
    let told: Vec<_> = findings.filter(|finding| finding["check"] == "sandbox").collect();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_launchway"));
    let executor = Arc::new(ProcessExecutor::through(program));
    let settings = Settings::new(std::env::temp_dir());
    let sandbox = WorkDirectory::inspect(settings, executor).await.expect("a trial");
    assert_eq!(told[0]["message"], sandbox.sentence());
    let shown: Vec<_> = told[1..]
        .iter()
        .map(|finding| (&finding["message"], &finding["fix"]))
        .collect();
    let openings = sandbox.openings();
    assert_eq!(shown.len(), openings.len(), "{shown:?}");
    for ((message, fix), opening) in shown.iter().zip(&openings) {
        assert_eq!(**message, opening.what);
        assert_eq!(fix.as_str(), opening.remedy);
    }
    assert!(!stage.run(&["doctor", "--json"]).await.contains("sandbox"));
}

#[tokio::test]
async fn a_manual_page_for_each_command() {
    let stage = Stage::new();
    assert_snapshot!(stage.run(&["man", "pages/man1"]).await);
    let pages = stage.project().join("pages/man1");
    for name in ["launchway.1", "launchway-env-set.1", "launchway-update-rollback.1"] {
        let page = std::fs::read_to_string(pages.join(name)).expect(name);
        assert!(page.contains(".TH"), "{name}");
    }
    stage.file("taken", "");
    assert!(stage.run(&["man", "taken/x"]).await.ends_with("--- exit 1\n"));
}
