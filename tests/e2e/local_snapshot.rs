//! A node restarts while database and object storage are down: it answers from its local snapshot, offers nothing that it knew to
//! be withdrawn, and becomes whole when the database answers (`docs/reference/operation.md#local-snapshot`).

use std::time::Duration;

use launchway_testing::postgres::Postgres;
use launchway_testing::wait::until;
use serde_json::{Value, json};

use crate::api::Api;
use crate::deployment::{Deployment, Turn};
use crate::packages::package;

const BUNDLE: &str = "com.example.snapshot";
const TIMEOUT: Duration = Duration::from_secs(30);
/// How often the process is killed after a change.
const KILLS: usize = 3;

fn fields(version: &str) -> Value {
    json!({"bundleId": BUNDLE, "platform": "android", "version": version})
}

/// A node on a PostgreSQL server and a bucket that the test can stop.
struct Node {
    postgres: Postgres,
    deployment: Deployment,
    api: Api,
    _folder: tempfile::TempDir,
}

impl Node {
    async fn start() -> Node {
        let (postgres, folder) = (Postgres::start_own(), tempfile::tempdir().unwrap());
        let turn = Turn::beside_others().await;
        let snapshot = folder.path().join("snapshot").display().to_string();
        let deployment = Deployment::on_database(&postgres.fresh_database(), 1, turn, |builder| {
            builder.env("LAUNCHWAY_SNAPSHOT_DIR", &snapshot)
        });
        let api = deployment.api();
        Node {
            postgres,
            deployment,
            api,
            _folder: folder,
        }
    }

    /// Publishes an update.
    async fn publish(&self, version: &str) -> Value {
        self.api.publish(&package("a.txt", b"content"), fields(version)).await
    }

    async fn withdraw(&self, update: &Value) {
        let path = format!("/update?id={}", update["id"].as_str().unwrap());
        self.api.patch(&path, json!({"status": "withdrawn"})).await.ok();
    }

    /// The version that a phone is offered.
    async fn offered(&self) -> Value {
        let offer = self.api.check(BUNDLE, "currentVersion=1.0.0&platform=android").await;
        offer["version"].clone()
    }

    /// What `/readyz` says of the snapshot, whether or not the node is ready.
    async fn snapshot(&self) -> Value {
        self.api.get("/readyz").await.json()["snapshot"].clone()
    }

    async fn is_saved(&self) {
        until(TIMEOUT, "a snapshot is written", async || {
            (self.snapshot().await["inUse"] == false).then_some(())
        })
        .await;
    }

    fn kill_and_restart(&mut self) {
        self.deployment.nodes[0].kill9();
        self.deployment.nodes[0].restart_same_port();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_starts_without_database_and_storage() {
    let mut node = Node::start().await;
    let first = node.publish("1.0.1").await;
    let second = node.publish("1.0.2").await;
    node.is_saved().await;
    // The snapshot has it as published, and the journal as withdrawn.
    node.withdraw(&second).await;

    node.deployment.nodes[0].kill9();
    node.postgres.stop();
    node.deployment.stop_storage();
    node.deployment.nodes[0].restart_same_port();
    for _ in 0..2 {
        assert_eq!(node.offered().await, "1.0.1");
        let snapshot = node.snapshot().await;
        assert_eq!(snapshot["inUse"], true);
        let age = snapshot["ageSeconds"].as_i64().unwrap();
        assert!((0..120).contains(&age), "{age}");
        node.api.get("/update").await.refusal(503);
        assert_eq!(node.api.get("/healthz").await.status, 200);
        node.kill_and_restart();
    }
    let offer = node.api.check(BUNDLE, "currentVersion=1.0.0&platform=android").await;
    assert!(offer["url"].as_str().unwrap().contains("X-Amz-Signature"), "{offer}");

    node.postgres.start();
    until(TIMEOUT, "the node is whole", async || {
        (node.api.get("/update").await.status == 200).then_some(())
    })
    .await;
    node.is_saved().await;
    node.withdraw(&first).await;
    assert_eq!(node.offered().await, Value::Null);
    assert_eq!(node.deployment.nodes[0].terminate().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_withdrawn_stays_so_after_any_kill() {
    let mut node = Node::start().await;
    node.publish("1.0.1").await;
    node.is_saved().await;
    for number in 0..KILLS {
        let bad = node.publish(&format!("1.1.{number}")).await;
        node.withdraw(&bad).await;
        assert_eq!(node.offered().await, "1.0.1");
        node.deployment.nodes[0].kill9();
        node.postgres.stop();
        node.deployment.nodes[0].restart_same_port();
        assert_eq!(node.offered().await, "1.0.1");
        assert_eq!(node.snapshot().await["inUse"], true);
        node.postgres.start();
        node.is_saved().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_waits_for_its_database_can_be_stopped() {
    let mut node = Node::start().await;
    node.publish("1.0.1").await;
    node.is_saved().await;
    node.deployment.nodes[0].kill9();
    node.postgres.stop();
    node.deployment.nodes[0].restart_same_port();
    assert_eq!(node.offered().await, "1.0.1");
    assert_eq!(node.deployment.nodes[0].terminate().code(), Some(0));
}
