//! What `build <platform>` sends, what it refuses before it sends anything, and its plan.

use insta::assert_snapshot;
use serde_json::json;

use crate::build::{PROJECT, created, taking};
use crate::fake_server::FakeServer;
use crate::stage::{KEY, Stage};

#[tokio::test]
async fn a_git_repository_instead_of_the_folder() {
    let server = FakeServer::start([created()]).await;
    let stage = Stage::with(&server);
    let arguments = [
        "build",
        "ios",
        "--git",
        "https://git.example.com/app.git",
        "--ref",
        "v1.4.0",
        "--no-wait",
        "--quiet",
    ];
    let told = [
        "--bundle-id",
        "com.example.app",
        "--profile",
        "beta",
        "--build-type",
        "debug",
        "--version",
        "1.4.0",
    ];
    let shown = stage.run(&[&arguments[..], &told].concat()).await;
    assert!(shown.ends_with("--- exit 0\n"), "{shown}");
    let expected = json!({
        "bundleId": "com.example.app", "platform": "ios", "profile": "beta", "buildType": "debug", "version": "1.4.0",
        "source": {"git": {"url": "https://git.example.com/app.git", "ref": "v1.4.0"}},
    });
    assert_eq!(server.seen()[0].json(), expected);
}

#[tokio::test]
async fn the_folder_in_a_clone_is_built_of_its_repository() {
    let stage = Stage::new();
    stage.file("apps/mobile/launchway.toml", "[app]\nbundle_id = 'com.example.app'\n");
    let git = |words: &[&str]| {
        let done = std::process::Command::new("git")
            .args(words)
            .current_dir(stage.project())
            .output();
        assert!(done.expect("git").status.success());
    };
    git(&["init", "--quiet"]);
    git(&["remote", "add", "origin", "git@git.example.com:team/shop.git"]);
    for (folder, url, named, expected) in [
        (
            "apps/mobile",
            "https://git.example.com/team/shop",
            &[][..],
            Some("apps/mobile"),
        ),
        ("apps/mobile", "https://git.example.com/team/other.git", &[], None),
        (
            "apps/mobile",
            "https://git.example.com/team/shop",
            &["--directory", "."],
            None,
        ),
        (
            ".",
            "https://git.example.com/team/shop",
            &["--bundle-id", "com.example.app"],
            None,
        ),
        (
            "apps/mobile",
            "https://git.example.com/team/other.git",
            &["--directory", "apps/web/"],
            Some("apps/web"),
        ),
    ] {
        let server = FakeServer::start([created()]).await;
        let arguments = ["build", "android", "--git", url, "--ref", "main", "--no-wait"];
        let mut command = stage.command(&[&arguments[..], named].concat());
        command.env("LAUNCHWAY_URL", server.url()).env("LAUNCHWAY_API_KEY", KEY);
        let output = command
            .current_dir(stage.project().join(folder))
            .output()
            .await
            .expect("it starts");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}");
        let mut git = json!({"url": url, "ref": "main"});
        if let Some(directory) = expected {
            git["directory"] = json!(directory);
            assert!(
                told.contains(&format!("Builds {directory} of the repository\n")),
                "{told}"
            );
        }
        assert_eq!(server.seen()[0].json()["source"], json!({"git": git}), "{folder} {url}");
    }
}

#[tokio::test]
async fn what_it_is_natively_is_sent_where_that_can_be_known() {
    let (server, stage) = taking([created()]).await;
    stage
        .file("settings.gradle", "include ':app'\n")
        .file("app/build.gradle", "plugins { id 'com.android.application' }\n");
    let shown = stage.run(&["build", "android", "--no-wait"]).await;
    assert!(shown.ends_with("--- exit 0\n"), "{shown}");
    let asked = server.seen()[2].json();
    let local = stage.json(&["fingerprint", "android", "--json"]).await;
    assert_eq!(asked["fingerprint"], local["document"]);
    assert_eq!(asked["fingerprint"]["framework"], "native");

    let (server, stage) = taking([created()]).await;
    stage
        .file("capacitor.config.json", "{}")
        .file("package.json", "{\"dependencies\": {\"@capacitor/core\": \"7.0.0\"}}");
    let shown = stage.run(&["build", "android", "--no-wait"]).await;
    let note = "The fingerprint is not known yet: ";
    assert!(shown.contains(note) && shown.ends_with("--- exit 0\n"), "{shown}");
    assert_eq!(server.seen()[2].json().get("fingerprint"), None);
}

#[tokio::test]
async fn what_git_says_is_sent() {
    let (server, mut stage) = taking([created()]).await;
    stage
        .set("GITHUB_SHA", "0123456789abcdef0123456789abcdef01234567")
        .set("GITHUB_REF_NAME", "main");
    stage.run(&["build", "android", "--no-wait"]).await;
    let git = &server.seen()[2].json()["git"];
    assert_eq!(
        (&git["branch"], &git["commit"]),
        (&json!("main"), &json!("0123456789abcdef0123456789abcdef01234567"))
    );
}

#[tokio::test]
async fn what_is_wrong_is_said_before_anything_is_sent() {
    let server = FakeServer::start([]).await;
    let stage = Stage::with(&server);
    stage.file("launchway.toml", PROJECT).file("src/main.kt", "");
    std::os::unix::fs::symlink("../../secret", stage.project().join("src/link")).expect("space");
    let mut text = stage.run(&["build", "android"]).await;
    let rows: [&[&str]; 9] = [
        &["android", "--profile", "prod"],
        &["web"],
        &["android", "list"],
        &["android", "--git", "https://git.example.com/app.git"],
        &["android", "--timeout", "soon"],
        &["android", "--no-wait", "--download"],
        &["android", "--local", "--git", "x", "--ref", "y"],
        &["android", "--build-type", "fast"],
        &["plan"],
    ];
    for arguments in rows {
        text.push_str(&stage.run(&[&["build"], arguments].concat()).await);
    }
    assert_snapshot!(text, @r#"
    $ launchway build android
    --- standard error
    error: src/link links to ../../secret, outside the source
    hint: add it to .launchwayignore if the build does not need it
    --- exit 1
    $ launchway build android --profile prod
    --- standard error
    error: launchway.toml: there is no [build.prod]; the profiles are production
    --- exit 2
    $ launchway build web
    --- standard error
    error: invalid value 'web' for '<PLATFORM>'
      [possible values: ios, android, visionos]

      tip: commands on builds: list, show, cancel, retry, delete, download, logs, plan, help

    For more information, try '--help'.
    --- exit 2
    $ launchway build android list
    --- standard error
    error: start a build or use one of the commands on builds, not both

    Usage: launchway build <PLATFORM> [OPTIONS]
           launchway build <COMMAND>

    For more information, try '--help'.
    --- exit 2
    $ launchway build android --git https://git.example.com/app.git
    --- standard error
    error: the following required arguments were not provided:
      --ref <REF>

    Usage: launchway build <PLATFORM> [OPTIONS]
           launchway build <COMMAND>

    For more information, try '--help'.
    --- exit 2
    $ launchway build android --timeout soon
    --- standard error
    error: invalid value 'soon' for '--timeout <TIME>': must be a duration such as 90s, 30m or 2h

    For more information, try '--help'.
    --- exit 2
    $ launchway build android --no-wait --download
    --- standard error
    error: the argument '--no-wait' cannot be used with '--download[=<DIR>]'

    Usage: launchway build <PLATFORM> [OPTIONS]
           launchway build <COMMAND>

    For more information, try '--help'.
    --- exit 2
    $ launchway build android --local --git x --ref y
    --- standard error
    error: the argument '--local' cannot be used with '--git <URL>'

    Usage: launchway build <PLATFORM> [OPTIONS]
           launchway build <COMMAND>

    For more information, try '--help'.
    --- exit 2
    $ launchway build android --build-type fast
    --- standard error
    error: invalid value 'fast' for '--build-type <TYPE>'
      [possible values: debug, release]

    For more information, try '--help'.
    --- exit 2
    $ launchway build plan
    --- standard error
    error: the following required arguments were not provided:
      <ID>

    Usage: launchway build plan <ID>
           launchway build plan --local <PLATFORM> [OPTIONS]

    For more information, try '--help'.
    --- exit 2
    "#);
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn the_plan_of_the_project() {
    let stage = Stage::new();
    stage.file("launchway.toml", PROJECT);
    let mut text = stage.run(&["build", "android", "--plan-only"]).await;
    text.push_str(
        &stage
            .run(&["build", "plan", "--local", "ios", "--build-type", "debug", "--json"])
            .await,
    );
    assert_snapshot!(text, @r#"
    $ launchway build android --plan-only
    --- standard output
    From           launchway.toml
    Profile        production
    Kind           release, internal
    Configuration  production
    Runner  java=21
    Time    3600 s

    1. compile
       ./gradlew assembleRelease

    Artifacts
    apk  out/*.apk
    --- exit 0
    $ launchway build plan --local ios --build-type debug --json
    --- standard output
    {"buildType":"debug","configuration":"production","distribution":"internal","origin":"launchway.toml","plan":{"artifacts":[{"kind":"apk","path":"out/*.apk"}],"cache":[],"env":{},"labels":["java=21"],"steps":[{"name":"compile","run":"./gradlew assembleRelease"}]},"profile":"production"}
    --- exit 0
    "#);
}
