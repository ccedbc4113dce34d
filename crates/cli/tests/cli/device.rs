//! `launchway device`: a phone for the terminal.

use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::fingerprint::trust_file;
use crate::stage::Stage;

const APP: [&str; 9] = [
    "device",
    "init",
    "ios",
    "--bundle-id",
    "com.example.app",
    "--version",
    "1.0.0",
    "--build",
    "7",
];

async fn stage_with_phone(server: &FakeServer) -> (Stage, Value) {
    let stage = Stage::with(server);
    let started = stage.json(&[&APP[..], &["--json"]].concat()).await;
    (stage, started)
}

#[tokio::test]
async fn a_directory_without_an_app_is_no_phone() {
    let stage = Stage::new();
    for command in ["check", "install", "start", "confirm", "crash", "report", "status"] {
        let output = stage.run(&["device", command]).await;
        assert!(
            output.contains("phone is not a phone") && output.ends_with("--- exit 3\n"),
            "{output}"
        );
    }
}

#[tokio::test]
async fn a_phone_needs_a_server_and_a_valid_trust_file() {
    let stage = Stage::new();
    let output = stage.run(&APP).await;
    assert!(
        output.contains("no server specified") && output.ends_with("--- exit 2\n"),
        "{output}"
    );
    stage.file("launchway.trust.json", "{}");
    for (file, message) in [
        ("missing.json", "cannot read missing.json"),
        ("launchway.trust.json", "app.json is not valid: trust"),
    ] {
        let arguments = [&APP[..], &["--url", "http://localhost:1", "--trust", file]].concat();
        let output = stage.run(&arguments).await;
        assert!(output.contains(message), "{output}");
    }
}

#[tokio::test]
async fn a_phone_asks_the_server_of_its_app() {
    let nothing = json!({"updateAvailable": false, "message": "No update available"});
    let server = FakeServer::start([Reply::new(200, nothing.to_string())]).await;
    let (stage, started) = stage_with_phone(&server).await;
    assert_eq!(
        (&started["outcome"], &started["runs"], &started["folder"]),
        (&json!("started"), &json!("embedded:7"), &Value::Null)
    );
    let checked = stage.json(&["device", "check", "--json"]).await;
    assert_eq!(checked["outcome"], "No update available");
    let requests = server.lines().concat();
    assert!(
        requests.contains("/api/update/check/com.example.app?currentVersion=1.0.0&currentBuild=7"),
        "{requests}"
    );
}

#[tokio::test]
async fn nothing_is_confirmed_that_is_not_on_trial() {
    let server = FakeServer::start([]).await;
    let (stage, _) = stage_with_phone(&server).await;
    let output = stage.run(&["device", "confirm"]).await;
    assert!(output.contains("nothing to confirm"), "{output}");
    let crashed = stage
        .json(&["device", "crash", "--stack", "at app.js:1", "--json"])
        .await;
    assert_eq!(
        (&crashed["outcome"], &crashed["reports"]),
        (&json!("started"), &json!(1))
    );
}

#[tokio::test]
async fn a_server_that_fails_to_send_metadata_is_the_reason() {
    let nothing = json!({"updateAvailable": false, "message": "No update available"});
    let server = FakeServer::start([Reply::new(200, nothing.to_string()), Reply::new(503, "")]).await;
    let stage = Stage::with(&server);
    stage.file("launchway.trust.json", trust_file());
    stage
        .json(&[&APP[..], &["--trust", "launchway.trust.json", "--json"]].concat())
        .await;
    let output = stage.run(&["device", "install"]).await;
    assert!(
        output.contains("cannot verify updates: the server responded with status 503")
            && output.ends_with("--- exit 6\n"),
        "{output}"
    );
    let requests = server.lines().concat();
    assert!(
        requests.contains("/tuf/com.example.app/trust?root=1&snapshot=0"),
        "{requests}"
    );
}

#[tokio::test]
async fn a_server_that_fails_is_the_reason() {
    let server = FakeServer::start([Reply::new(200, "garbage"), Reply::new(503, "")]).await;
    let (stage, _) = stage_with_phone(&server).await;
    let output = stage.run(&["device", "check"]).await;
    assert!(
        output.contains("the server's response is not valid") && output.ends_with("--- exit 1\n"),
        "{output}"
    );
    let output = stage.run(&["device", "check"]).await;
    assert!(
        output.contains("status 503") && output.ends_with("--- exit 6\n"),
        "{output}"
    );
}
