//! A rolling upgrade: the program of the last release (`scripts/release --server`) beside the present one, on one
//! PostgreSQL and one bucket. Each continues the work of the other; neither fails on what the other writes.

mod foreign;
mod signatures;
mod work;

use std::cell::Cell;
use std::time::Duration;

use launchway_testing::postgres::Postgres;
use launchway_testing::receiver::Receiver;
use launchway_testing::server_process::ServerBuilder;
use launchway_testing::settings::setting;
use launchway_testing::wait::until;
use serde_json::Value;

use crate::api::Api;
use crate::deployment::{Deployment, Team, Turn, team};
use crate::packages::package;
use crate::store_simulator::StoreSimulator;

const BUNDLE: &str = "com.example.upgrade";
/// The other node sees a change on one node within a second, on an otherwise idle machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Both nodes, as called by one organization.
struct Upgrade {
    deployment: Deployment,
    team: Team,
    apis: [Api; 2],
    simulator: StoreSimulator,
    receiver: Receiver,
    database: String,
}

const OLD: usize = 0;
const NEW: usize = 1;

impl Upgrade {
    /// Starts the released program on an empty database, and the present one beside it.
    async fn start() -> Upgrade {
        let program = setting("LAUNCHWAY_RELEASED_SERVER_BIN")
            .expect("LAUNCHWAY_RELEASED_SERVER_BIN names the released program; scripts/test-long builds it");
        let simulator = StoreSimulator::start(&["--speed", "1000000"]);
        let released = Cell::new(true);
        let settings = |builder: ServerBuilder| {
            let builder = builder
                .env("LAUNCHWAY_ALLOW_PRIVATE_WEBHOOKS", "true")
                .env("LAUNCHWAY_APP_STORE_CONNECT_URL", &simulator.address)
                .env("LAUNCHWAY_GOOGLE_PLAY_URL", &simulator.address)
                .env("LAUNCHWAY_TARGET_SDK_FLOOR", "34");
            if released.replace(false) {
                builder.binary(&program)
            } else {
                builder
            }
        };
        let database = Postgres::shared().fresh_database();
        let deployment = Deployment::on_database(&database, 2, Turn::beside_others().await, settings);
        // The released program's own commands refuse the newer schema.
        let team = team(&deployment.nodes[NEW]);
        let apis = [OLD, NEW].map(|node| Api::new(&deployment.nodes[node], &team.key));
        Upgrade {
            deployment,
            team,
            apis,
            simulator,
            receiver: Receiver::ok().await,
            database,
        }
    }

    /// Waits until both nodes offer this version, or nothing, to a phone.
    async fn both_offer(&self, configuration: &str, version: Option<&str>) {
        self.both_offer_of(BUNDLE, configuration, version).await;
    }

    /// Waits until both nodes offer this version of an app, or nothing, to a phone.
    async fn both_offer_of(&self, bundle: &str, configuration: &str, version: Option<&str>) {
        for (node, api) in self.apis.iter().enumerate() {
            let question = format!("currentVersion=1.0.0&platform=android&configuration={configuration}&deviceId=a");
            let is_so = async || {
                let answer = api.check(bundle, &question).await;
                (answer["version"].as_str() == version).then_some(())
            };
            until(LIMIT, &format!("node {node} offers {version:?}"), is_so).await;
        }
    }

    /// Both nodes return the same for every list; the newer one may return more fields.
    async fn both_answer_alike(&self) {
        let lists = [
            "/build",
            "/submit",
            "/update",
            "/env",
            "/api-keys",
            "/webhooks",
            "/credentials",
            "/runners",
            "/apps",
            "/usage",
            "/orgs",
            "/orgs/members",
            "/orgs/invitations",
            "/audit",
        ];
        let [old, new] = &self.apis;
        for list in lists {
            let path = format!("{list}?limit=100");
            // Both write counts of checks and the last use of keys some seconds late.
            let alike = async || {
                let (before, now) = (old.get(&path).await.ok(), new.get(&path).await.ok());
                lacks(&before, &now).is_none().then_some(())
            };
            until(LIMIT, &format!("both answer {path} alike"), alike).await;
        }
    }
}

/// The first place where `now` lacks a value of `before`; links are signed again each time.
fn lacks(before: &Value, now: &Value) -> Option<String> {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => before
            .iter()
            .filter(|(name, _)| {
                !matches!(
                    name.as_str(),
                    "url" | "expiresAt" | "install" | "lastUsedAt" | "lastSeenAt"
                )
            })
            .find_map(|(name, value)| match now.get(name) {
                None => Some(format!("{name} is missing")),
                Some(now) => lacks(value, now).map(|rest| format!("{name}: {rest}")),
            }),
        (Value::Array(before), Value::Array(now)) if before.len() == now.len() => {
            before.iter().zip(now).find_map(|(before, now)| lacks(before, now))
        }
        _ => (before != now).then(|| format!("{now} instead of {before}")),
    }
}

/// An output of a node that must not occur.
fn complaints(log: &str) -> Vec<&str> {
    let bad = |line: &&str| line.contains("ERROR") || line.contains("panicked");
    log.lines().filter(bad).collect()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn the_last_release_and_this_one_serve_one_database_together() {
    let mut upgrade = Upgrade::start().await;
    upgrade.set_up().await;
    for (actor, other) in [(OLD, NEW), (NEW, OLD)] {
        upgrade.updates(actor, other).await;
        upgrade.reports(actor, other).await;
        upgrade.builds(actor, other).await;
        upgrade.keys(actor, other).await;
        upgrade.webhooks(actor, other).await;
        upgrade.submissions(actor, other).await;
        upgrade.settings(actor, other).await;
    }
    upgrade.waits().await;
    upgrade.signatures().await;
    upgrade.both_answer_alike().await;
    upgrade.foreign_updates().await;
    upgrade.crashes().await;
    let check = upgrade.deployment.nodes[NEW].admin(&["verify-audit"]);
    assert_eq!(check["ok"], true, "{check}");
    for node in &upgrade.deployment.nodes {
        assert_eq!(complaints(&node.stderr()), Vec::<&str>::new());
    }
    println!("summary: upgrade: both programs served one database, and neither logged an error");
    upgrade.restarts().await;
}

impl Upgrade {
    /// A node of this release can restart at any time. 0.1.0 refuses a schema newer than its own: docs/operating.md
    /// describes what to do.
    async fn restarts(&mut self) {
        self.deployment.nodes[NEW].kill9();
        self.deployment.nodes[NEW].restart_same_port();
        let bytes = package("index.html", b"after the restart");
        self.publish(NEW, "restarted", "1.0.9", &bytes).await;
        self.both_offer("restarted", Some("1.0.9")).await;
        assert!(self.deployment.nodes[OLD].terminate().success());
        let output = self.deployment.nodes[OLD].command().arg("migrate").output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        println!(
            "summary: upgrade: the released program on the newer schema: {}",
            told.trim()
        );
        assert!(
            !output.status.success() && told.contains("missing in the resolved migrations"),
            "{told}"
        );
        self.apis[NEW].get("/update").await.ok();
    }
}
