//! Files made to crash the server or to keep it busy: each is rejected with a message over real HTTP, and the server
//! continues. Also how an inspection process may end, and what it cannot do.

mod hostile;

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::process::Command;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_inspection::{ENVIRONMENT, Inspector};
use reqwest::Method;
use serde_json::json;

use crate::support::{Answer, NOBODY, Says, Setup, TestApp, package};

const APK: &[u8] = include_bytes!("../../../binaries/tests/fixtures/v2.apk");

/// Submits an app; returns the response.
async fn submit(app: &TestApp, key: &str, name: &str, bytes: &[u8]) -> Answer {
    let upload = app.upload_file(key, name, bytes).await;
    let destination = if name.ends_with(".ipa") { "testflight" } else { "internal" };
    let body = json!({"uploadId": upload, "destination": destination});
    app.post(key, "/submit", body).await
}

/// Uploads a provisioning profile; returns the response.
async fn give_profile(app: &TestApp, key: &str, bytes: &[u8]) -> Answer {
    let body = json!({"kind": "provisioning_profile", "content": BASE64_STANDARD.encode(bytes)});
    app.post(key, "/credentials", body).await
}

/// Has a build produce an app; returns the warnings of the build, which succeeds.
async fn built(app: &TestApp, name: &str, bytes: &[u8]) -> Vec<String> {
    let (org, key) = app.org_with_key().await;
    let runner = app.runner(&key, &[]).await;
    let id = app.queue(org, |_| ()).await;
    let held = app.take(&runner).await;
    let artifact = held.send(name, bytes, bytes).await;
    held.finish(json!({"artifacts": [artifact]})).await.ok();
    app.build(id).await.warnings
}

fn message(answer: &Answer) -> String {
    answer.refusal(400)
}

#[tokio::test]
async fn hostile_apps_are_refused_wherever_they_come_in() {
    let (app, key) = TestApp::with_key().await;
    for (what, name, bytes, expected) in hostile::apps() {
        let told = message(&submit(&app, &key, name, &bytes).await);
        assert!(told.contains(expected), "{what}: {told}");
        assert!(!told.contains("crashed"), "{what}: {told}");
        let warnings = built(&app, name, &bytes).await;
        assert!(warnings[0].contains(expected), "{what}: {warnings:?}");
    }
    app.get(NOBODY, "/update/check/com.example.app").await.expect(400);
}

#[tokio::test]
async fn hostile_profiles_are_refused_wherever_they_come_in() {
    let (app, key) = TestApp::with_key().await;
    for (what, profile) in hostile::profiles() {
        let told = message(&give_profile(&app, &key, &profile).await);
        assert!(told.contains("truncated or damaged"), "{what}: {told}");
        // Inside an app it is a warning, because Apple's tools may know more formats.
        let warnings = built(&app, "app.ipa", &hostile::ipa_with_profile(&profile)).await;
        assert!(
            warnings.iter().any(|text| text.contains("Cannot read the IPA's provisioning profile")),
            "{what}: {warnings:?}"
        );
        let told = message(&submit(&app, &key, "app.ipa", &hostile::ipa_with_profile(&profile)).await);
        assert!(!told.contains("crashed"), "{what}: {told}");
    }
    app.get(NOBODY, "/update/check/com.example.app").await.expect(400);
}

/// A service whose inspection processes run a script instead.
async fn with_script(script: &str, timeout: Duration) -> TestApp {
    let arguments = ["-c", script].map(OsString::from);
    TestApp::with(Setup {
        inspector: Some(Inspector::through("/bin/sh".into(), arguments, timeout)),
        ..Setup::default()
    })
    .await
}

#[tokio::test]
async fn a_process_that_ends_badly_is_a_refusal() {
    const LONG: Duration = Duration::from_secs(300);
    for (script, timeout, expected) in [
        ("kill -SEGV $$", LONG, "crashed"),
        ("kill -ABRT $$", LONG, "crashed"),
        ("exit 101", LONG, "crashed"),
        ("exit 0", LONG, "crashed"),
        ("echo nonsense", LONG, "crashed"),
        ("echo '{\"read\":{}}'", LONG, "crashed"),
        ("exec yes", LONG, "crashed"),
        ("exec yes 1>&2", LONG, "crashed"),
        ("echo memory allocation of 5 bytes failed >&2; kill -ABRT $$", LONG, "used too much memory"),
        ("kill -KILL $$", LONG, "used too much memory"),
        ("kill -XCPU $$", LONG, "took too long"),
        ("exec sleep 1000", Duration::from_millis(200), "took too long"),
        ("exec sleep 1000 >&- 2>&-", Duration::from_millis(200), "took too long"),
    ] {
        let app = with_script(script, timeout).await;
        let (_, key) = app.org_with_key().await;
        let how = |what: &str| format!("Cannot read the {what}: its inspection {expected}. ");
        let told = message(&submit(&app, &key, "app.apk", APK).await);
        assert!(told.contains(&how("app")), "{script}: {told}");
        let told = message(&give_profile(&app, &key, b"anything").await);
        assert!(told.contains(&how("credential")), "{script}: {told}");
        let told = message(&app.publish(&key, json!({})).await);
        assert!(told.contains(&how("package")), "{script}: {told}");
        let warnings = built(&app, "app.apk", APK).await;
        assert!(warnings.len() == 1 && warnings[0].contains(&how("app")), "{script}: {warnings:?}");
        // Nothing remains of the rejected file.
        assert_eq!(
            app.app
                .blob
                .list(None)
                .await
                .unwrap()
                .iter()
                .filter(|key| !key.as_str().starts_with("uploads/") && !key.as_str().starts_with("artifacts/"))
                .count(),
            0
        );
    }
}

#[tokio::test]
async fn without_a_program_the_service_says_to_come_again() {
    let app = TestApp::with(Setup {
        inspector: Some(Inspector::through("/nowhere/at/all".into(), [], Duration::from_secs(9))),
        ..Setup::default()
    })
    .await;
    let (_, key) = app.org_with_key().await;
    let expected = "The server cannot inspect the file now. Try again in a moment.";
    submit(&app, &key, "app.apk", APK).await.refused(503, expected);
    app.publish(&key, json!({})).await.refused(503, expected);
}

#[tokio::test]
async fn a_caller_that_is_gone_takes_its_process_along() {
    let app = with_script("exec sleep 1000", Duration::from_secs(900)).await;
    let (org, key) = app.org_with_key().await;
    let upload = app.upload(&key, &package("index.html", b"x")).await;
    let body = json!({"uploadId": upload, "bundleId": "com.example.app", "platform": "android", "version": "1.0.1"});
    let request = app.request(Method::POST, "/update").bearer_auth(&key).json(&body);
    let short = request.timeout(Duration::from_millis(500)).send().await;
    assert!(short.is_err_and(|error| error.is_timeout()));
    // All slots are free again: no process holds one.
    drop(app.all_places(org).await);
}

#[tokio::test]
async fn slow_files_of_one_organization_keep_no_other_waiting() {
    let app = TestApp::start().await;
    let ((slow, _), (_, key)) = (app.org_with_key().await, app.org_with_key().await);
    let _held = app.all_places(slow).await;
    app.publish(&key, json!({})).await.created();
    let told = message(&submit(&app, &key, "app.apk", b"PK nothing").await);
    told.says("is not an APK, AAB or IPA");
}

/// Runs the program as an inspection process that attempts something; returns whether it succeeded, its output, and its
/// last words.
fn trial(trial: &str) -> (Option<i32>, String, String) {
    trial_with(trial, File::open("/dev/null").unwrap())
}

fn trial_with(trial: &str, file: File) -> (Option<i32>, String, String) {
    let task = json!({"trial": trial}).to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_launchway-server"));
    command.args(["__inspect", &task]).env_clear().envs(ENVIRONMENT).stdin(file);
    let out = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

#[test]
fn an_inspecting_process_has_bounds() {
    let (code, _, words) = trial("memory");
    let mebibytes: u64 = words.lines().filter_map(|line| line.parse().ok()).max().unwrap();
    assert!((128..=512).contains(&mebibytes), "{mebibytes} MiB, {code:?}");
    assert!(code.is_none() && words.contains("memory allocation of"), "{code:?}");
    let (code, _, words) = trial("stack");
    assert!(code.is_none() && words.contains("overflowed its stack"), "{code:?} {words}");
    let (code, ..) = trial("time");
    assert_eq!(code, None, "ended by a signal");
    let (code, _, words) = trial("panic");
    assert_eq!(code, Some(101));
    words.says("panicked at crates/inspection/src/trial.rs");
    assert!(!words.contains("hunter2"), "a panic does not quote what was read: {words}");
}

#[test]
fn an_inspecting_process_changes_nothing() {
    let (mut file, mut left) = (tempfile::tempfile().unwrap(), Vec::new());
    file.write_all(b"an app").unwrap();
    let (code, ..) = trial_with("write", file.try_clone().unwrap());
    assert_eq!(code, None, "ended by a signal");
    file.rewind().unwrap();
    file.read_to_end(&mut left).unwrap();
    assert_eq!(left, b"an app");
}

#[test]
fn an_inspecting_process_reaches_nothing() {
    assert_eq!(trial("world"), (Some(0), String::new(), String::new()));
}

#[test]
fn the_hidden_command_does_nothing_else() {
    for arguments in [vec!["__inspect"], vec!["__inspect", "{}"], vec!["__inspect", "\"serve\""]] {
        let out = Command::new(env!("CARGO_BIN_EXE_launchway-server")).args(&arguments).output().unwrap();
        assert_eq!((out.status.code(), out.stdout.len()), (Some(1), 0), "{arguments:?}");
    }
}
