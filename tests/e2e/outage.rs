//! The database becomes unavailable: checks are still answered from memory, everything else returns 503, and afterwards
//! the servers follow changes again (`docs/reference/updates.md#answered-from-memory`).

use std::time::Duration;

use launchway_testing::postgres::Postgres;
use launchway_testing::wait::until;
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};

use crate::api::Api;
use crate::deployment::{Deployment, Ground, Turn};
use crate::packages::{package, sha256};

const BUNDLE: &str = "com.example.away";
/// Much more than the time to reconnect.
const TIMEOUT: Duration = Duration::from_secs(20);

fn fields(version: &str) -> Value {
    json!({"bundleId": BUNDLE, "platform": "android", "version": version})
}

async fn ask(phone: &Api) -> Value {
    phone.check(BUNDLE, "currentVersion=1.0.0&platform=android").await
}

/// Every phone gets an answer, and can download.
async fn phones_are_served(phone: &Api, update: &Value) {
    for _ in 0..50 {
        let offer = ask(phone).await;
        assert_eq!(
            (&offer["version"], &offer["updateAvailable"]),
            (&update["version"], &json!(true))
        );
    }
    let bytes = phone.download(&ask(phone).await).await;
    assert_eq!(sha256(&bytes), update["sha256"]);
    let never = phone.check("com.example.unknown", "currentVersion=1.0.0").await;
    assert_eq!(never["message"], "No updates found for this bundle");
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_are_answered_while_postgres_is_stopped() {
    let turn = Turn::beside_others().await;
    let mut postgres = Postgres::start_own();
    let deployment = Deployment::on_database(&postgres.fresh_database(), 2, turn, |builder| builder);
    let team = deployment.team();
    let [one, other] = [0, 1].map(|node| Api::new(&deployment.nodes[node], &team.key));
    let first = one.publish(&package("a.txt", b"one"), fields("1.0.1")).await;
    until(TIMEOUT, "both offer it", async || {
        (ask(&other).await["version"] == "1.0.1").then_some(())
    })
    .await;

    postgres.stop();
    let without = async |node: &Api| {
        let (refused, unready, ()) = tokio::join!(
            node.get("/update"),
            node.get("/readyz"),
            phones_are_served(node, &first)
        );
        refused.refusal(503);
        unready.refusal(503);
        assert_eq!(node.get("/healthz").await.status, 200);
        phones_are_served(node, &first).await;
    };
    tokio::join!(without(&one), without(&other));
    postgres.start();

    let listed = async || (one.get("/update").await.status == 200).then_some(());
    until(TIMEOUT, "the API answers again", listed).await;
    let second = one.publish(&package("a.txt", b"two"), fields("1.0.2")).await;
    let follows = async || (ask(&other).await["version"] == "1.0.2").then_some(());
    until(TIMEOUT, "the other node follows again", follows).await;
    phones_are_served(&other, &second).await;
    assert_eq!(other.get("/readyz").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_are_answered_while_the_sqlite_file_is_locked() {
    let deployment = Deployment::with(Ground::SqliteDirectory, Turn::beside_others().await, |builder| builder);
    let api = deployment.api();
    let first = api.publish(&package("a.txt", b"one"), fields("1.0.1")).await;
    let upload = api.upload(&package("a.txt", b"two")).await;

    let file = deployment.node().data_dir().join("launchway.db");
    let mut locker = SqliteConnection::connect(&format!("sqlite:{}", file.display()))
        .await
        .unwrap();
    sqlx::query("BEGIN EXCLUSIVE").execute(&mut locker).await.unwrap();
    let mut body = fields("1.0.2");
    body["uploadId"] = upload.into();
    let waiting = api.post("/update", body.clone());
    let (refused, ()) = tokio::join!(waiting, phones_are_served(&api, &first));
    refused.refusal(503);
    phones_are_served(&api, &first).await;
    sqlx::query("ROLLBACK").execute(&mut locker).await.unwrap();
    locker.close().await.unwrap();

    // The refused call leaves nothing behind: the same call succeeds.
    let second = api.post("/update", body).await.created();
    phones_are_served(&api, &second).await;
}
