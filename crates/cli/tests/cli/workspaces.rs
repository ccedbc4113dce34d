//! Apps in workspaces: commands in the app's folder find the root, its lockfile and its package manager.

use serde_json::{Value, json};

use crate::build::{created, taking};
use crate::stage::Stage;

const APP: &str = "apps/mobile";

/// An Expo app in a workspace of pnpm, without its installed packages.
fn workspace(stage: &Stage) {
    stage
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file("package.json", r#"{"private": true}"#)
        .file("pnpm-workspace.yaml", "packages:\n  - 'apps/*'\n")
        .file("packages/shared/index.js", "")
        .file(
            "apps/mobile/package.json",
            r#"{"dependencies": {"expo": "54", "react-native": "0.81"}}"#,
        )
        .file(
            "apps/mobile/app.json",
            r#"{"expo": {"android": {"package": "com.example.app"}, "version": "1.0.0"}}"#,
        );
}

/// Runs a command in the folder of the app.
async fn run_in_app(stage: &Stage, arguments: &[&str]) -> String {
    let mut command = stage.command(arguments);
    command.current_dir(stage.project().join(APP));
    let child = command.spawn().expect("the command starts");
    stage.shown(arguments, child).await
}

/// The findings about packages: status, message and fix.
async fn packages(stage: &Stage) -> Vec<String> {
    let text = run_in_app(stage, &["doctor", "--json"]).await;
    let line = text.lines().find(|line| line.starts_with('{')).expect("the findings");
    let told: Value = serde_json::from_str(line).expect("JSON");
    let findings = told["findings"].as_array().expect("findings").iter();
    let of_packages = findings.filter(|finding| finding["check"] == "packages");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    of_packages
        .map(|finding| {
            ["status", "message", "fix"]
                .map(|field| text(&finding[field]))
                .join(" | ")
        })
        .collect()
}

#[tokio::test]
async fn doctor_finds_the_root_and_its_lockfile() {
    let stage = Stage::new();
    workspace(&stage);
    let found = "ok | the app belongs to the workspace in [ROOT]/project: pnpm | ";
    let missing = "problem | no node_modules found: the plugins' fingerprints and versions are read from it | ";
    assert_eq!(
        packages(&stage).await,
        [
            found,
            "warning | no lockfile: builds may use different package versions | \
             run `pnpm install` in [ROOT]/project and commit the lockfile",
            &format!("{missing}run `pnpm install` in [ROOT]/project"),
        ]
    );
    stage.file("pnpm-lock.yaml", "lockfileVersion: '9.0'\n");
    assert_eq!(
        packages(&stage).await,
        [
            found,
            &format!("{missing}run `pnpm install --frozen-lockfile` in [ROOT]/project"),
        ]
    );
    stage.file("node_modules/expo/package.json", "{}");
    assert_eq!(packages(&stage).await, [found, "ok | the packages are installed | "]);
    stage
        .file("apps/mobile/package-lock.json", "{}")
        .file("apps/mobile/node_modules/x", "");
    assert_eq!(
        packages(&stage).await,
        [
            "warning | package-lock.json is used, although the app belongs to the workspace in [ROOT]/project | \
             delete the lockfile of the app, unless its packages are not installed with those of the workspace",
            "ok | the packages are installed | ",
        ]
    );
}

#[tokio::test]
async fn init_names_the_workspace_and_no_second_lockfile() {
    let stage = Stage::new();
    workspace(&stage);
    stage.file("pnpm-lock.yaml", "lockfileVersion: '9.0'\n");
    let text = run_in_app(&stage, &["init", "--yes"]).await;
    for line in [
        "The app belongs to the workspace in [ROOT]/project (pnpm, pnpm-lock.yaml); builds install its packages there, and \
         the app needs no lockfile of its own\n",
        "Workspace       [ROOT]/project, installed by pnpm\n",
        "Next: `pnpm install` in [ROOT]/project installs the package\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("npm ci") && !text.contains("`npm install`"), "{text}");
    std::fs::remove_file(stage.project().join("apps/mobile/launchway.toml")).expect("it was written");
    let text = run_in_app(&stage, &["init", "--yes", "--json"]).await;
    let line = text.lines().find(|line| line.starts_with('{')).expect("a result");
    let told: Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(told["workspace"]["packageManager"], "pnpm", "{told}");
    assert_eq!(told["workspace"]["lockfile"], "pnpm-lock.yaml");
}

#[tokio::test]
async fn a_build_packs_the_workspace_and_installs_at_its_root() {
    let (server, stage) = taking([created()]).await;
    workspace(&stage);
    std::fs::remove_file(stage.project().join("launchway.toml")).expect("it is there");
    stage.file("pnpm-lock.yaml", "lockfileVersion: '9.0'\n").file(
        "apps/mobile/launchway.toml",
        "[build.production]\nconfiguration = 'live'\n",
    );
    let text = run_in_app(&stage, &["build", "android", "--no-wait"]).await;
    assert!(text.ends_with("--- exit 0\n"), "{text}");
    assert!(
        text.contains("The app belongs to the workspace in [ROOT]/project, which is the source of the build\n"),
        "{text}"
    );
    let seen = server.seen();
    let mut archive = tar::Archive::new(zstd::Decoder::new(seen[1].body.as_slice()).expect("zstd"));
    let entries = archive.entries().expect("an archive").map(|entry| {
        let entry = entry.expect("an entry");
        entry.path().expect("a path").to_string_lossy().into_owned()
    });
    let names: Vec<_> = entries.collect();
    for name in ["pnpm-lock.yaml", "packages/shared/index.js", "apps/mobile/app.json"] {
        assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
    }
    let plan = seen[2].json()["plan"].take();
    assert_eq!(plan["steps"][0]["run"], "pnpm install --frozen-lockfile");
    assert_eq!(
        plan["steps"][1]["run"],
        "cd -- apps/mobile\npnpm exec expo prebuild --platform android --no-install"
    );
    assert_eq!(seen[2].json()["configuration"], json!("live"));
}
