//! The messages when the project, the network or the server has a problem.

use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::json;

use crate::build::taking;
use crate::fake_server::{FakeServer, Reply};
use crate::project::{capacitor, description};
use crate::session::caller;
use crate::stage::{KEY, Stage, update};

/// The findings of `doctor` about the project, without those about server and tools.
async fn project_findings(stage: &Stage) -> String {
    let output = stage
        .command(&["doctor", "--json"])
        .output()
        .await
        .expect("the command starts");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut text = "$ launchway doctor\n".to_owned();
    for finding in told["findings"].as_array().expect("findings") {
        if ["packages", "project", "native"]
            .map(|check| json!(check))
            .contains(&finding["check"])
        {
            let fix = finding["fix"]
                .as_str()
                .map(|fix| format!("\n    → {fix}"))
                .unwrap_or_default();
            text.push_str(&format!(
                "{}: {}{fix}\n",
                finding["status"].as_str().expect("a word"),
                finding["message"].as_str().expect("a text")
            ));
        }
    }
    text
}

#[tokio::test]
async fn a_project_whose_packages_are_not_installed() {
    let stage = Stage::new();
    capacitor(&stage);
    std::fs::remove_dir_all(stage.project().join("node_modules")).expect("it is ours");
    let mut text = project_findings(&stage).await;
    text.push_str(&stage.run(&["fingerprint", "android"]).await);
    assert_snapshot!(text);
}

#[tokio::test]
async fn a_broken_lockfile_or_manifest() {
    let stage = Stage::new();
    capacitor(&stage);
    stage.file("package-lock.json", "{\n  \"name\": \"app\",\n<<<<<<< HEAD\n");
    let mut text = project_findings(&stage).await;
    text.push_str(&stage.run(&["fingerprint", "android"]).await);
    stage.file("package-lock.json", "{\"name\":");
    text.push_str(&project_findings(&stage).await);
    stage.file("package.json", "{\"dependencies\": {\"@capacitor/core\": \"8\"},}");
    text.push_str(&project_findings(&stage).await);
    text.push_str(&stage.run(&["build", "android", "--plan-only"]).await);
    text.push_str(&stage.run(&["fingerprint", "android"]).await);
    assert_snapshot!(text);
}

#[tokio::test]
async fn several_lockfiles_and_configurations() {
    let stage = Stage::new();
    capacitor(&stage);
    stage.file("yarn.lock", "# yarn lockfile v1\n").file(
        "capacitor.config.ts",
        "export default { appId: 'com.example.other', webDir: 'out' };\n",
    );
    let mut text = project_findings(&stage).await;
    text.push_str(&stage.run(&["init", "--yes"]).await);
    let expo = Stage::new();
    expo.file("package.json", r#"{"dependencies": {"expo": "54"}}"#)
        .file("package-lock.json", "{}")
        .file("node_modules/expo/package.json", "{}")
        .file("app.json", "{}")
        .file("app.config.js", "")
        .file("app.config.ts", "");
    text.push_str(&project_findings(&expo).await);
    assert_snapshot!(text);
}

#[tokio::test]
async fn what_launchway_toml_says_of_the_project_counts() {
    let stage = Stage::new();
    stage.file(
        "launchway.toml",
        "[build.production]\nsteps = [{ name = 'make', run = 'make' }]\n",
    );
    let mut text = project_findings(&stage).await;
    stage
        .file("launchway.toml", "[build.production]\ndirectory = 'apps/mobile'\n")
        .file("package-lock.json", "{}")
        .file(
            "apps/mobile/package.json",
            r#"{"dependencies": {"react-native": "0.85.0"}}"#,
        )
        .file("apps/mobile/ios/Podfile", "");
    text.push_str(&project_findings(&stage).await);
    assert_snapshot!(text, @r"
    $ launchway doctor
    ok: launchway.toml defines the steps of builds
    $ launchway doctor
    ok: the framework is React Native
    problem: no node_modules found: the plugins' fingerprints and versions are read from it
        → run `npm ci`
    ok: native projects: ios
    ");
}

#[tokio::test]
async fn a_link_out_of_the_project() {
    let (server, stage) = taking([]).await;
    stage.file("dist/index.html", "<p>hello</p>");
    for place in ["link", "dist/link"] {
        std::os::unix::fs::symlink("/etc/passwd", stage.project().join(place)).expect("space");
    }
    let mut text = stage.run(&["build", "android"]).await;
    text.push_str(&stage.run(&PUBLISH).await);
    assert_snapshot!(text);
    assert!(server.seen().is_empty(), "{:?}", server.lines());
}

const PUBLISH: [&str; 9] = [
    "update",
    "ios",
    "--dir",
    "dist",
    "--bundle-id",
    "com.example.app",
    "--version",
    "1.0.0",
    "--all-configurations",
];

/// Runs a command to which file modes apply, even when the test runs as root.
#[cfg(target_os = "linux")]
async fn run_without_the_rights_of_root(stage: &Stage, arguments: &[&str]) -> String {
    let command = stage.command(arguments);
    let command = command.as_std();
    let mut wrapped = tokio::process::Command::new("setpriv");
    wrapped.arg("--bounding-set=-dac_override,-dac_read_search");
    wrapped.arg(command.get_program()).args(command.get_args());
    wrapped.current_dir(stage.project()).env_clear();
    wrapped.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    wrapped.env("PATH", "/usr/bin:/bin");
    wrapped
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let root = rustix::process::geteuid().is_root();
    let child = if root {
        wrapped.spawn()
    } else {
        stage.command(arguments).spawn()
    };
    stage.shown(arguments, child.expect("the command starts")).await
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn files_that_cannot_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let close = |stage: &Stage, place: &str| {
        let path = stage.project().join(place);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).expect("it is ours");
    };
    let (server, stage) = taking([]).await;
    stage.file("dist/index.html", "<p>hello</p>").file("src/secret.kt", "");
    for place in ["src/secret.kt", "dist/index.html"] {
        close(&stage, place);
    }
    let mut text = String::new();
    for arguments in [&["build", "android"][..], &PUBLISH] {
        text.push_str(&run_without_the_rights_of_root(&stage, arguments).await);
    }
    close(&stage, "launchway.toml");
    for arguments in [&["whoami"][..], &["doctor"]] {
        text.push_str(&run_without_the_rights_of_root(&stage, arguments).await);
    }
    let project = Stage::new();
    capacitor(&project);
    for place in ["package-lock.json", "android/app/build.gradle"] {
        close(&project, place);
    }
    text.push_str(&run_without_the_rights_of_root(&project, &["fingerprint", "android"]).await);
    assert!(server.seen().is_empty(), "{:?}", server.lines());
    assert_snapshot!(text);
}

#[tokio::test]
async fn unknown_keys_of_launchway_toml() {
    let rows = [
        "[app]\nbundelId = 'a.b'\n",
        "[sever]\nurl = 'https://a.example'\n",
        "[build.production]\nbuildtype = 'debug'\n",
        "[build.production]\nbuild_type = 'relase'\n",
        "[update]\nfolder = 'dist'\n",
        "[update]\ndir = 7\n",
        "[update\n",
    ];
    let stage = Stage::new();
    let mut text = String::new();
    for file in rows {
        stage.file("launchway.toml", file);
        text.push_str(&stage.run(&["whoami"]).await);
    }
    assert_snapshot!(text);
}

#[tokio::test]
async fn a_server_of_another_version() {
    let server = FakeServer::start([
        description("9.0.0"),
        Reply::new(200, caller(json!({})).to_string()),
        Reply::new(200, r#"{"items": [{"identifier": 7}], "total": 1}"#),
        Reply::error(
            404,
            "Not Found",
            "There is nothing at this path. The API is described at /docs.",
        ),
        Reply::new(
            200,
            update(json!({"status": "sleeping", "platform": "watchos"})).to_string(),
        ),
    ])
    .await;
    let stage = Stage::with(&server);
    let shown = stage.run(&["doctor"]).await;
    let about = shown.lines().skip_while(|line| !line.contains("version")).take(2);
    let mut text = format!("$ launchway doctor\n{}\n", about.collect::<Vec<_>>().join("\n"));
    text.push_str(&stage.run(&["update", "list"]).await);
    text.push_str(&stage.run(&["usage"]).await);
    text.push_str(&stage.run(&["update", "show", "update_1"]).await);
    assert_snapshot!(text);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_network() {
    let mut stage = Stage::new();
    stage
        .set("LAUNCHWAY_API_KEY", KEY)
        .set("LAUNCHWAY_URL", "http://127.0.0.1:9");
    let mut text = stage.run(&["whoami"]).await;
    text.push_str(&stage.run(&["login", "--browser"]).await);
    assert_snapshot!(text);
}

#[tokio::test]
async fn a_key_that_is_over() {
    let refused = || Reply::error(401, "Unauthorized", "Invalid or expired API key");
    let server = FakeServer::start([refused(), description(env!("CARGO_PKG_VERSION")), refused(), refused()]).await;
    let stage = Stage::with(&server);
    let mut text = stage.run(&["update", "list"]).await;
    let shown = stage.run(&["doctor"]).await;
    let about = shown.lines().skip_while(|line| !line.contains("expired")).take(2);
    text.push_str(&format!(
        "$ launchway doctor\n{}\n",
        about.collect::<Vec<_>>().join("\n")
    ));
    text.push_str(&stage.run_with(&["login", "--url", &server.url()], KEY).await);
    assert_snapshot!(text);
    assert!(!stage.login_file().exists());
}

#[tokio::test]
#[ignore = "long run"]
async fn a_hundred_thousand_files() {
    let created = Reply::new(201, crate::stage::build(json!({})).to_string());
    let (_server, stage) = taking([created]).await;
    for folder in 0..200 {
        for file in 0..500 {
            stage.file(
                &format!("assets/{folder}/{file}.json"),
                format!("{{\"number\": {file}}}"),
            );
        }
    }
    let start = std::time::Instant::now();
    let shown = stage.run(&["build", "android", "--no-wait"]).await;
    assert!(
        shown.ends_with("--- exit 0\n") && shown.contains("Packed 100002 files"),
        "{shown}"
    );
    println!(
        "summary: 100,000 files were packed and sent in {:.1} s",
        start.elapsed().as_secs_f64()
    );
}
