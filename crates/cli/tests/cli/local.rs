//! `build <platform> --local`: executes the project's plan on this machine, without a server.

use std::fs;

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::stage::Stage;

/// A project whose build runs this command.
fn project(run: &str) -> Stage {
    let mut stage = Stage::new();
    // The environment of the tests determines where programs are.
    stage
        .set("PATH", "/usr/local/bin:/usr/bin:/bin")
        .set("JAVA_HOME", "/opt/java");
    let plan = format!(
        "[app]\nbundle_id = 'com.example.app'\n[build.production]\nlabels = ['gpu=yes']\nenv = {{ LEVEL = 'plan', WHO = 'plan' }}\n\
         steps = [{{ name = 'compile', run = '''{run}''' }}]\nartifacts = [{{ path = 'out/*.apk' }}]\n"
    );
    stage
        .file("launchway.toml", plan)
        .file("src/main.kt", "fun main() {}\n");
    stage
}

#[tokio::test]
async fn the_sample_build_of_the_readme_needs_no_toolchain() {
    let repository = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(repository.join("README.md")).expect("it is there");
    assert!(readme.contains("(cd examples/sample-build && launchway build android --download)"));
    let mut stage = Stage::new();
    stage.set("PATH", "/usr/bin:/bin");
    for name in ["launchway.toml", "www/index.html"] {
        let bytes = fs::read(repository.join("examples/sample-build").join(name)).expect(name);
        stage.file(name, bytes);
    }
    let shown = stage.run(&["build", "android", "--local"]).await;
    assert!(shown.contains("launchway-out/sample-app.tar.gz (web, "), "{shown}");
    assert!(shown.ends_with("--- exit 0\n"), "{shown}");
}

#[tokio::test]
async fn tools_find_the_proxy_and_the_certificates() {
    let names = "HTTP_PROXY http_proxy HTTPS_PROXY https_proxy NO_PROXY no_proxy ALL_PROXY all_proxy SSL_CERT_FILE \
                 SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO JAVA_TOOL_OPTIONS";
    let script =
        format!("mkdir out; for name in {names} OTHER; do eval \"echo \\$name=\\${{$name:-}}\"; done | tee out/a.apk");
    let mut stage = project(&script);
    for name in names.split_whitespace() {
        stage.set(name, &format!("/value/of/{name}"));
    }
    stage
        .set("HTTPS_PROXY", "http://ada:hunter2@proxy.example:3128")
        .set("OTHER", "x");
    let shown = stage.run(&["build", "android", "--local"]).await;
    assert!(shown.ends_with("--- exit 0\n"), "{shown}");
    let seen = fs::read_to_string(stage.project().join("launchway-out/a.apk")).expect("it is there");
    for name in names.split_whitespace().filter(|name| *name != "HTTPS_PROXY") {
        assert!(seen.contains(&format!("{name}=/value/of/{name}\n")), "{name}: {seen}");
    }
    assert!(
        seen.contains("HTTPS_PROXY=http://ada:hunter2@proxy.example:3128\n"),
        "{seen}"
    );
    assert!(seen.contains("OTHER=\n"), "{seen}");
    assert!(!shown.contains("hunter2"), "the log hides the password: {shown}");
}

#[tokio::test]
async fn builds_a_copy_of_the_source_and_brings_the_artifacts_back() {
    let script = "echo \"$LEVEL $WHO $JAVA_HOME $LAUNCHWAY_BUILD_TYPE $LAUNCHWAY_VERSION\"\nmkdir out; cp src/main.kt out/app.apk; touch src/made";
    let stage = project(script);
    stage.file("more.env", "# more\nexport WHO='the file'\n");
    let arguments = [
        "build",
        "android",
        "--local",
        "--env-file",
        "more.env",
        "--version",
        "1.2.3",
    ];
    let shown = stage.run(&arguments).await;
    let lines: Vec<_> = shown.lines().filter(|line| !line.contains("Packed")).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    $ launchway build android --local --env-file more.env --version 1.2.3
    --- standard output
    launchway-out/app.apk (apk, 14 B)
    --- standard error
    warning: the plan requires a runner with gpu=yes, which this machine may not have
    ==> source
    ==> compile
    plan the file /opt/java release 1.2.3
    ==> artifacts
    ==> success
    --- exit 0
    "#);
    let made = fs::read(stage.project().join("launchway-out/app.apk")).expect("it is there");
    assert_eq!(made, b"fun main() {}\n");
    assert!(!stage.project().join("src/made").exists(), "it builds a copy");
    assert_eq!(stage.left_over(), [] as [std::path::PathBuf; 0]);

    let again: Value = stage
        .json(&["build", "android", "--local", "--out", "other", "--json", "--quiet"])
        .await;
    assert_eq!(
        (&again["status"], &again["artifacts"][0]["kind"]),
        (&json!("success"), &json!("apk"))
    );
    assert!(
        again["artifacts"][0]["path"]
            .as_str()
            .expect("a path")
            .ends_with("project/other/app.apk")
    );
    let work = stage
        .project()
        .parent()
        .expect("a directory")
        .join("home/.cache/launchway/builds/builds");
    assert_eq!(
        fs::read_dir(work).expect("it is there").count(),
        0,
        "no workspace is left"
    );
}

#[tokio::test]
async fn says_what_failed() {
    let mut text = String::new();
    for script in ["echo no; exit 3", "true"] {
        let stage = project(script);
        text.push_str(&stage.run(&["build", "android", "--local", "--quiet"]).await);
        assert!(!stage.project().join("launchway-out").exists());
    }
    let stage = project("true");
    let rows: [&[&str]; 4] = [
        &["--build-number", "auto"],
        &["--env-file", "gone"],
        &["--env-file", "launchway.toml"],
        &["--timeout", "5m"],
    ];
    for arguments in rows {
        text.push_str(&stage.run(&[&["build", "android", "--local"], arguments].concat()).await);
    }
    assert_snapshot!(text, @r#"
    $ launchway build android --local --quiet
    --- standard error
    warning: the plan requires a runner with gpu=yes, which this machine may not have
    error: the build failed in 'compile' (STEP_FAILED): The step `compile` ended with exit code 3. See the log for the reason.
    --- exit 11
    $ launchway build android --local --quiet
    --- standard error
    warning: the plan requires a runner with gpu=yes, which this machine may not have
    error: the build failed in 'artifacts' (ARTIFACT_MISSING): No file in the workspace matches `out/*.apk`. Correct the path in artifacts, or check the log for why no step created it. Links are not followed, and a step must pack folders.
    --- exit 11
    $ launchway build android --local --build-number auto
    --- standard error
    error: only a server knows the next free build number, so `auto` does not work with --local
    hint: give --build-number NUMBER, or omit it to use the project's
    --- exit 2
    $ launchway build android --local --env-file gone
    --- standard error
    error: cannot read gone: No such file or directory (os error 2)
    --- exit 2
    $ launchway build android --local --env-file launchway.toml
    --- standard error
    error: launchway.toml, line 1: must be NAME=VALUE, or start with #
    --- exit 2
    $ launchway build android --local --timeout 5m
    --- standard error
    error: the argument '--local' cannot be used with '--timeout <TIME>'

    Usage: launchway build <PLATFORM> [OPTIONS]
           launchway build <COMMAND>

    For more information, try '--help'.
    --- exit 2
    "#);
}

#[tokio::test]
async fn interrupted_it_ends_its_steps() {
    let stage = project("trap \"echo stopped; exit 1\" TERM; echo begun; while :; do sleep 0.05; done");
    let mut child = stage
        .command(&["build", "android", "--local"])
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    while lines.next_line().await.expect("UTF-8").expect("it shows the log") != "begun" {}
    let id = child
        .id()
        .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
        .expect("it runs");
    kill_process(id, Signal::INT).expect("it is ours");
    let mut said = Vec::new();
    while let Some(line) = lines.next_line().await.expect("UTF-8") {
        said.push(line);
    }
    // The shell may print its own message about the killed process.
    said.retain(|line| line != "Terminated");
    assert_eq!(said, ["stopped", "==> canceled", "", "interrupted"]);
    assert_eq!(child.wait().await.expect("it ends").code(), Some(130));
}
