//! Changes made anywhere, including by the operator's commands, reach every server within a second
//! (`docs/reference/updates.md#visibility-of-changes`).

use std::time::Duration;

use launchway_testing::postgres::Postgres;
use launchway_testing::says::Fields;
use launchway_testing::server_process::ServerProcess;
use launchway_testing::wait::until;
use serde_json::{Value, json};

use crate::api::Api;
use crate::deployment::{Deployment, Ground, Team, Turn, team};
use crate::packages::package;

/// The promised time from the response to a change until every node applies it.
const LIMIT: Duration = Duration::from_secs(1);
const BUNDLE: &str = "com.example.follow";
const NOTHING: &str = "No update available";
const NEVER: &str = "No updates found for this bundle";

/// The duration of each change.
#[derive(Default)]
struct Times(Vec<String>);

impl Times {
    /// Waits until `look` succeeds; fails after the promised second.
    async fn reaches(&mut self, what: &str, mut look: impl AsyncFnMut() -> bool) {
        let ((), took) = until(LIMIT, what, async || look().await.then_some(())).await;
        self.0.push(format!("{what} {} ms", took.as_millis()));
    }

    fn print(&self, ground: Ground) {
        println!("summary: following on {ground}: {}", self.0.join(", "));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_on_one_node_reach_the_other() {
    let turn = Turn::alone().await;
    let database = Postgres::shared().fresh_database();
    let deployment = Deployment::on_database(&database, 2, turn, |builder| builder);
    let (one, other) = (&deployment.nodes[0], &deployment.nodes[1]);
    let (owner, stranger) = (team(one), team(one));
    let mut times = Times::default();
    updates_follow(&mut times, &Api::new(one, &owner.key), &Api::new(other, "")).await;
    keys_follow(&mut times, &Api::new(one, &owner.key), other).await;
    operator_follows(&mut times, one, other, &owner, &stranger).await;
    times.print(Ground::PostgresS3);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operators_commands_reach_a_running_server_on_sqlite() {
    let deployment = Deployment::with(Ground::SqliteDirectory, Turn::alone().await, |builder| builder);
    let server = deployment.node();
    let (owner, stranger) = (team(server), team(server));
    let api = Api::new(server, &owner.key);
    let mut times = Times::default();
    updates_follow(&mut times, &api, &api).await;
    keys_follow(&mut times, &api, server).await;
    operator_follows(&mut times, server, server, &owner, &stranger).await;
    times.print(Ground::SqliteDirectory);
}

/// Publishes an update and makes every change of it through `api`; the phone sees each. Leaves one published update.
async fn updates_follow(times: &mut Times, api: &Api, phone: &Api) {
    let ask = async || phone.check(BUNDLE, "currentVersion=1.0.0&platform=android").await;
    assert_eq!(ask().await["message"], NEVER);
    let fields = |version: &str| json!({"bundleId": BUNDLE, "platform": "android", "version": version});
    let first = api.publish(&package("a.txt", b"one"), fields("1.0.1")).await;
    times
        .reaches("publish", async || ask().await["version"] == "1.0.1")
        .await;

    let id = first.id();
    type Seen = fn(&Value) -> bool;
    let changes: [(&str, Value, Seen); 5] = [
        ("pause", json!({"status": "paused"}), |offer| {
            offer["message"] == NOTHING
        }),
        ("resume", json!({"status": "published"}), |offer| {
            offer["version"] == "1.0.1"
        }),
        ("rollout", json!({"rollout": 0}), |offer| offer["message"] == NOTHING),
        ("notes", json!({"rollout": 100, "releaseNotes": "new"}), |offer| {
            offer["releaseNotes"] == "new"
        }),
        ("withdraw", json!({"status": "withdrawn"}), |offer| {
            offer["message"] == NEVER
        }),
    ];
    for (what, change, seen) in changes {
        api.patch(&format!("/update?id={id}"), change).await.ok();
        times.reaches(what, async || seen(&ask().await)).await;
    }
    let second = api.publish(&package("a.txt", b"two"), fields("1.0.2")).await;
    times
        .reaches("publish again", async || ask().await["version"] == "1.0.2")
        .await;
    api.delete(&format!("/update?id={}", second.id())).await.ok();
    times.reaches("delete", async || ask().await["message"] == NEVER).await;
    api.publish(&package("a.txt", b"three"), fields("1.0.3")).await;
    times
        .reaches("and again", async || ask().await["version"] == "1.0.3")
        .await;
}

/// A new key works on `other`, a revoked one does not.
async fn keys_follow(times: &mut Times, api: &Api, other: &ServerProcess) {
    let made = api
        .post("/api-keys", json!({"name": "short", "scopes": ["update"]}))
        .await
        .created();
    let user = Api::new(other, made.text("key"));
    times
        .reaches("key", async || user.get("/update").await.status == 200)
        .await;
    api.delete(&format!("/api-keys?id={}", made.id())).await.ok();
    times
        .reaches("revocation", async || user.get("/update").await.status == 401)
        .await;
    let message = user.get("/update").await.refusal(401);
    assert_eq!(message, "Invalid or expired API key");
}

/// `other` sees what the operator changes with `one`.
async fn operator_follows(
    times: &mut Times,
    one: &ServerProcess,
    other: &ServerProcess,
    owner: &Team,
    stranger: &Team,
) {
    let (api, new_api) = (Api::new(other, &owner.key), Api::new(other, &stranger.key));
    let limit = async || api.get("/update").await.header("x-ratelimit-limit").to_owned();
    for (tier, calls) in [("pro", "300"), ("free", "60"), ("enterprise", "1000")] {
        let _ = one.admin(&["set-tier", "--org", &owner.id, "--tier", tier]);
        times
            .reaches(&format!("set-tier {tier}"), async || limit().await == calls)
            .await;
    }
    let made = one.admin(&["create-key", "--org", &owner.id, "--name", "new", "--scopes", "update"]);
    let user = Api::new(other, made.text("key"));
    times
        .reaches("create-key", async || user.get("/update").await.status == 200)
        .await;

    let _ = one.admin(&["transfer-app", "--bundle-id", BUNDLE, "--org", &stranger.id]);
    let total = async |api: &Api| api.get(&format!("/update?bundleId={BUNDLE}")).await.ok()["total"].clone();
    times
        .reaches("transfer-app", async || {
            total(&api).await == 0 && total(&new_api).await != 0
        })
        .await;
    // Phones get the same offers as before, and now the new owner controls them.
    let phone = Api::new(other, "");
    let ask = async || phone.check(BUNDLE, "currentVersion=1.0.0&platform=android").await;
    assert_eq!(ask().await["version"], "1.0.3");
    let update = new_api.get(&format!("/update?bundleId={BUNDLE}")).await.ok()["items"][0].clone();
    let path = format!("/update?id={}", update.id());
    api.patch(&path, json!({"status": "paused"})).await.refusal(404);
    Api::new(one, &stranger.key)
        .patch(&path, json!({"status": "paused"}))
        .await
        .ok();
    times
        .reaches("pause by the new owner", async || ask().await["message"] == NOTHING)
        .await;
}
