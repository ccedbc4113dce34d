//! `admin rotate-master-key` while servers run: no sealed value is lost, whenever it crashes
//! (`docs/reference/operation.md#rotation-of-the-master-key`).

use std::fs;
use std::path::Path;

use launchway_testing::answer::Answer;
use launchway_testing::postgres::Postgres;
use reqwest::Method;
use serde_json::{Value, json};

use crate::api::Api;
use crate::deployment::{Deployment, Ground, Turn};

async fn set(api: &Api, name: &str, value: &str) -> Answer {
    let body = json!({"name": name, "value": value, "visibility": "plain"});
    api.call(Method::POST, "/env", Some(body)).await
}

/// The values of all plain variables, by name.
async fn values(api: &Api) -> Vec<(String, String)> {
    let page = api.get("/env?limit=100").await.ok();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let items = page["items"].as_array().unwrap().iter();
    items.map(|item| (text(&item["name"]), text(&item["value"]))).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn put(file: &Path, bytes: &[u8]) {
    fs::write(file, bytes).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_server_goes_on_through_rotations_and_crashes() {
    let mut deployment = Deployment::start(Ground::SqliteDirectory).await;
    let file = deployment.node().data_dir().join("master.key");
    let api = deployment.api();
    set(&api, "A", "before").await.created();
    let first = fs::read(&file).unwrap();

    let done = deployment.node().admin(&["rotate-master-key"]);
    assert_eq!(
        (&done["keys"], &done["masterKeyFile"]),
        (&json!(2), &json!(file.display().to_string()))
    );
    let second = fs::read(&file).unwrap();
    assert_ne!(first, second);
    set(&api, "B", "after").await.created();
    assert_eq!(values(&api).await, pairs(&[("B", "after"), ("A", "before")]));
    // An organization whose data key is created now gets it from the new master key.
    let newcomer = deployment.api();
    set(&newcomer, "C", "new").await.created();

    // A crash after the database switched to the new key, before the file did.
    let waiting = file.with_file_name("master.key.new");
    deployment.nodes[0].kill9();
    put(&file, &first);
    put(&waiting, &second);
    deployment.nodes[0].restart_same_port();
    assert!(
        fs::read(&file).unwrap() == second && !waiting.exists(),
        "the new key took its place"
    );
    assert_eq!(values(&newcomer).await, pairs(&[("C", "new")]));

    // A crash before the database switched: the pending key matches nothing.
    deployment.nodes[0].kill9();
    put(&waiting, "77".repeat(32).as_bytes());
    deployment.nodes[0].restart_same_port();
    assert_eq!(fs::read(&file).unwrap(), second);
    assert_eq!(values(&api).await, pairs(&[("B", "after"), ("A", "before")]));
    let _ = deployment.node().admin(&["rotate-master-key"]);
    assert!(!waiting.exists() && fs::read(&file).unwrap() != second);
    assert_eq!(deployment.nodes[0].terminate().code(), Some(0));
    deployment.nodes[0].restart_same_port();
    assert_eq!(values(&api).await, pairs(&[("B", "after"), ("A", "before")]));
    let verified = deployment.node().admin(&["verify-audit"]);
    assert_eq!(verified["logs"], 3, "two organizations and the installation");
}

/// A signed URL and a report token outlive the key with which they were created.
#[tokio::test(flavor = "multi_thread")]
async fn what_phones_hold_stays_good() {
    let mut deployment = Deployment::start(Ground::SqliteDirectory).await;
    let api = deployment.api();
    let fields = json!({"bundleId": "com.example.rotated", "platform": "android", "version": "1.0.1"});
    let package = crate::packages::package("a.txt", b"one");
    api.publish(&package, fields).await;
    let query = "currentVersion=1.0.0&platform=android&deviceId=one";
    let offer = api.check("com.example.rotated", query).await;
    let _ = deployment.node().admin(&["rotate-master-key"]);
    deployment.nodes[0].restart_same_port();
    assert_eq!(api.download(&offer).await, package);
    let event = json!({"type": "installed", "updateId": offer["id"], "at": "2026-11-20T10:00:00.000Z"});
    let report = json!({"reportToken": offer["reportToken"], "events": [event]});
    let path = "/update/report/com.example.rotated";
    api.call(Method::POST, path, Some(report)).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_with_its_own_copy_of_the_key_waits_for_the_new_one() {
    let turn = Turn::beside_others().await;
    let database = Postgres::shared().fresh_database();
    let mut deployment = Deployment::on_database(&database, 2, turn, |builder| builder);
    let file = deployment.key_folder().join("master.key");
    let copy = deployment.key_folder().join("copy.key");
    fs::copy(&file, &copy).unwrap();
    // The second node on another machine: the same key in another file.
    deployment.nodes[1].kill9();
    deployment.nodes[1].set_env("LAUNCHWAY_MASTER_KEY_FILE", copy.to_str().unwrap());
    deployment.nodes[1].restart_same_port();
    let team = deployment.team();
    let [here, there] = [0, 1].map(|node| Api::new(&deployment.nodes[node], &team.key));
    set(&here, "A", "one").await.created();
    assert_eq!(values(&there).await, pairs(&[("A", "one")]));

    let _ = deployment.node().admin(&["rotate-master-key"]);
    // Keys that it has opened remain open; it cannot create a new one, and reports that.
    assert_eq!(values(&there).await, pairs(&[("A", "one")]));
    set(&there, "B", "two").await.created();
    let newcomers = deployment.team();
    let [here, there] = [0, 1].map(|node| Api::new(&deployment.nodes[node], &newcomers.key));
    let told = set(&there, "C", "three").await.refusal(503);
    assert!(told.contains("the master key was changed"), "{told}");
    set(&here, "C", "three").await.created();
    there.get("/env").await.expect(503);
    fs::copy(&file, &copy).unwrap();
    assert_eq!(values(&there).await, pairs(&[("C", "three")]));
}
