//! Submissions by the real programs: `launchway submit` requests, `launchway-server` works, and
//! `launchway-server store-simulator` is both app stores.

mod gate;
mod kill;
mod survey;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_testing::says::Fields;
use launchway_testing::server_process::ServerBuilder;
use launchway_testing::wait::until_paced;
use serde_json::{Value, json};

use crate::api::Api;
use crate::cli::{Cli, Outcome};
use crate::deployment::{Deployment, Ground, Turn};
use crate::packages::sha256;
use crate::projects::root;
use crate::store_simulator::StoreSimulator;

/// In the simulated stores a review takes 21 milliseconds.
const SPEED: &str = "1000000";
const LIMIT: Duration = Duration::from_secs(300);
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);
/// The service polls after minutes, but its stores take no time: the test makes the next poll due now.
const MAKE_DUE: &str = "UPDATE submissions SET due_at = 0 WHERE due_at > 0";

/// A file from the parsers' own tests.
fn fixture(path: &str) -> PathBuf {
    root().join("crates").join(path)
}

fn ipa() -> PathBuf {
    fixture("binaries/tests/fixtures/binary.ipa")
}

fn apk() -> PathBuf {
    fixture("binaries/tests/fixtures/v1-v2-v3.apk")
}

/// A service that submits to the stores at `address`.
async fn deployment(address: &str) -> Deployment {
    let stores = |builder: ServerBuilder| {
        builder
            .env("LAUNCHWAY_APP_STORE_CONNECT_URL", address)
            .env("LAUNCHWAY_GOOGLE_PLAY_URL", address)
            .env("LAUNCHWAY_TARGET_SDK_FLOOR", "34")
    };
    Deployment::with(Ground::SqliteDirectory, Turn::beside_others().await, stores)
}

/// A Google service account whose tokens come from the stores at `address`.
fn service_account(address: &str) -> String {
    let file = fs::read_to_string(fixture("credentials/tests/fixtures/service-account.json")).unwrap();
    file.replace("https://oauth2.googleapis.com", address)
}

/// The number of times that something happened in the stores.
fn count(ledger: &Value, what: &str) -> usize {
    let entries = ledger["entries"].as_array().unwrap().iter();
    entries.filter(|entry| entry["what"] == what).count()
}

/// Runs a command that waits for a submission.
async fn wait_for(deployment: &Deployment, cli: &Cli, arguments: &[&str]) -> Outcome {
    let mut child = cli.start(arguments);
    until_paced(BETWEEN_LOOKS, LIMIT, "the command has ended", async || {
        deployment.sql(MAKE_DUE).await;
        child.try_wait().unwrap()
    })
    .await;
    let output = child.wait_with_output().unwrap();
    Outcome {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_goes_to_live_in_both_stores() {
    let simulator = StoreSimulator::start(&["--speed", SPEED]);
    let deployment = deployment(&simulator.address).await;
    let team = deployment.team();
    let (cli, folder) = (
        Cli::logged_in(&deployment.node().origin(), &team.key),
        tempfile::tempdir().unwrap(),
    );
    let account = folder.path().join("service-account.json");
    fs::write(&account, service_account(&simulator.address)).unwrap();
    let key = folder.path().join("AuthKey_ABCDE12345.p8");
    fs::copy(fixture("credentials/tests/fixtures/store-connect.p8"), &key).unwrap();
    let issuer = ["--issuer-id", "57246542-96fe-1a63-e053-0824d011072a"];
    let add = ["credential", "add", key.to_str().unwrap()];
    let added = cli.run(add.iter().chain(&issuer));
    assert!(
        added.code == 0 && added.stdout.contains("/store-events/app-store/credential_"),
        "{added:?}"
    );
    assert_eq!(cli.run(["credential", "add", account.to_str().unwrap()]).code, 0);

    let (ipa, aab) = (
        simulator.sample("App.ipa", folder.path()).await,
        simulator.sample("app.aab", folder.path()).await,
    );
    let ios = ["submit", "ios", "--path", ipa.to_str().unwrap()];
    let to = ["--destination", "app_store", "--uses-non-exempt-encryption", "false"];
    let notes = ["--release-notes", "Faster.", "--wait", "live", "--json"];
    let done = wait_for(&deployment, &cli, &[&ios[..], &to, &notes].concat()).await;
    let view = done.json();
    assert_eq!(
        json!([view["status"], view["store"], view["version"], view["buildNumber"]]),
        json!(["success", "app_store", "1.2.3", "42"]),
        "{done:?}"
    );
    let ledger = simulator.ledger().await;
    let happened = ["upload", "build", "review", "release"].map(|what| count(&ledger, what));
    assert_eq!(happened, [1, 1, 1, 1], "{ledger}");

    let android = ["submit", "android", "--path", aab.to_str().unwrap()];
    let to = ["--destination", "production", "--rollout", "20"];
    let done = wait_for(&deployment, &cli, &[&android[..], &to, &notes].concat()).await;
    let view = done.json();
    assert_eq!(
        json!([view["status"], view["store"], view["rollout"]]),
        json!(["rolling_out", "google_play", 20]),
        "{done:?}"
    );
    let id = view.id();
    assert_eq!(cli.run(["submit", "rollout", id, "100"]).code, 0);
    let followed = wait_for(&deployment, &cli, &["submit", "logs", "--follow", id]).await;
    assert_eq!(followed.code, 0, "{followed:?}");
    let shown = cli.run(["submit", "show", id, "--json"]).json();
    assert_eq!(
        json!([shown["status"], shown["rollout"]]),
        json!(["success", 100]),
        "{shown:#}"
    );
    let ledger = simulator.ledger().await;
    // One upload and one release to each store; a wider rollout on Google Play is a separate commit.
    let happened = ["upload", "release", "commit"].map(|what| count(&ledger, what));
    assert_eq!(happened, [2, 2, 2], "{ledger}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_of_the_store_makes_the_service_look() {
    // A review takes six hours.
    let simulator = StoreSimulator::start(&["--speed", "1"]);
    let deployment = deployment(&simulator.address).await;
    let api = deployment.api();
    let events = add_credentials(&api, &simulator.address).await;
    let file = fs::read(ipa()).unwrap();
    let body = json!({"fileName": "App.ipa", "size": file.len(), "sha256": sha256(&file)});
    let upload = api.post("/uploads", body).await.created();
    assert_eq!(api.send(&upload, file).await.status, 200);
    let options = json!({"usesNonExemptEncryption": false});
    let body = json!({"uploadId": upload["id"], "destination": "app_store", "options": options});
    let asked = api.post("/submit", body).await.created();
    // While it is in review and no work is due, only the event triggers a new poll.
    let never = "UPDATE submissions SET due_at = 9000000000000 WHERE status = 'in_review' AND claimed_until IS NULL";
    let so_far = "SELECT CAST(due_at AS TEXT) FROM submissions WHERE due_at IS NOT NULL";
    let ten_minutes = json!({"advanceSeconds": 600});
    until_paced(BETWEEN_LOOKS, LIMIT, "it is in review", async || {
        deployment.sql(never).await;
        if deployment.texts(so_far).await == ["9000000000000"] {
            return Some(());
        }
        deployment
            .sql("UPDATE submissions SET due_at = 0 WHERE due_at > 0 AND status <> 'in_review'")
            .await;
        if deployment.texts("SELECT status FROM submissions").await == ["processing"] {
            simulator.order("clock", &ten_minutes).await;
        }
        None
    })
    .await;
    simulator.order("webhook", &events).await;
    simulator.order("clock", &json!({"advanceSeconds": 24 * 60 * 60})).await;
    let path = format!("/submit?id={}", asked.id());
    let (done, _) = until_paced(BETWEEN_LOOKS, LIMIT, "it is over", async || {
        let view = api.get(&path).await.ok();
        (view["status"] != "in_review").then_some(view)
    })
    .await;
    assert_eq!(done["status"], "success", "{done:#}");
}

/// Adds a credential for each store to the service, over the API. Returns the address to which App Store Connect may
/// send events.
async fn add_credentials(api: &Api, address: &str) -> Value {
    let key = fs::read(fixture("credentials/tests/fixtures/store-connect.p8")).unwrap();
    let mut events = Value::Null;
    for body in [
        json!({
            "kind": "app_store_connect_key", "content": BASE64_STANDARD.encode(key), "keyId": "ABCDE12345",
            "issuerId": "57246542-96fe-1a63-e053-0824d011072a",
        }),
        json!({"kind": "google_service_account", "content": BASE64_STANDARD.encode(service_account(address))}),
    ] {
        let taken = api.post("/credentials", body).await.created();
        if let Some(told) = taken.get("storeEvents") {
            events = told.clone();
        }
    }
    events
}
