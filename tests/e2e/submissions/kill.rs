//! `kill -9` of the server at requests to the stores, spread over each flow, before the stores receive the request and
//! after they have processed it: the flow still ends correctly, and nothing is uploaded, committed or released twice.

use std::fs;
use std::path::PathBuf;

use launchway_testing::net::free_port;
use launchway_testing::says::Fields;
use launchway_testing::wait::until_paced;
use serde_json::{Value, json};

use super::gate::{Gate, Hold};
use super::{BETWEEN_LOOKS, LIMIT, MAKE_DUE, SPEED, add_credentials, apk, count, deployment, ipa};
use crate::api::Api;
use crate::deployment::Deployment;
use crate::packages::sha256;
use crate::store_simulator::StoreSimulator;

/// The server dies at one of this many points of a flow: a tenth.
const ONE_IN: usize = 10;
/// The effect of a minute and a half: the dead server's claims expire.
const LAPSE: [&str; 2] = [
    "UPDATE submissions SET claimed_until = 0 WHERE claimed_until > 0",
    "UPDATE package_locks SET locked_until = 0",
];

struct Flow {
    name: &'static str,
    app: PathBuf,
    fields: Value,
    /// How often each action must have happened.
    happened: &'static [(&'static str, usize)],
}

fn flows() -> [Flow; 4] {
    let notes = json!([{"locale": "en-US", "text": "Faster."}]);
    let encryption = json!({"usesNonExemptEncryption": false});
    [
        Flow {
            name: "TestFlight",
            app: ipa(),
            fields: json!({
                "destination": "testflight", "releaseNotes": notes,
                "options": {"groups": ["Team", "Friends"], "usesNonExemptEncryption": false},
            }),
            happened: &[("upload", 1), ("build", 1), ("beta_review", 1), ("beta_released", 1)],
        },
        Flow {
            name: "App Store, phased",
            app: ipa(),
            fields: json!({"destination": "app_store", "rollout": 1, "releaseNotes": notes, "options": encryption}),
            happened: &[
                ("upload", 1),
                ("build", 1),
                ("version", 1),
                ("review", 1),
                ("release", 1),
            ],
        },
        Flow {
            name: "Google Play, for all",
            app: apk(),
            fields: json!({"destination": "beta", "releaseNotes": notes}),
            happened: &[("upload", 1), ("commit", 1), ("release", 1)],
        },
        Flow {
            name: "Google Play, staged and then for all",
            app: apk(),
            fields: json!({"destination": "production", "rollout": 20, "releaseNotes": notes}),
            happened: &[("upload", 1), ("commit", 2), ("release", 1)],
        },
    ]
}

/// A service that reaches the stores through a gate.
struct Stage {
    deployment: Deployment,
    api: Api,
    simulator: StoreSimulator,
    gate: Gate,
}

impl Stage {
    async fn set() -> Stage {
        let stores = format!("127.0.0.1:{}", free_port());
        let gate = Gate::start(&stores).await;
        let origin = gate.origin();
        let simulator = StoreSimulator::start_at(&stores, &["--public-url", &origin, "--speed", SPEED]);
        let deployment = deployment(&origin).await;
        let api = deployment.api();
        add_credentials(&api, &origin).await;
        Stage {
            deployment,
            api,
            simulator,
            gate,
        }
    }

    /// Takes an app through a flow, with a server that dies where the gate holds a request. Returns the record at the
    /// end, and whether the server died: a flow may end before the last requests, because some of them only poll
    /// whether a store has finished.
    async fn run(&mut self, flow: &Flow, hold: Option<Hold>) -> (Value, bool) {
        self.simulator.order("reset", &json!({})).await;
        self.gate.hold(hold);
        let mut body = flow.fields.clone();
        body["uploadId"] = self.upload(&flow.app).await.into();
        let asked = self.api.post("/submit", body).await.created();
        let path = format!("/submit?id={}", asked.id());
        let status = format!("SELECT status FROM submissions WHERE id = '{}'", asked.id());
        let (mut killed, mut widened) = (false, false);
        let Stage {
            deployment, api, gate, ..
        } = self;
        let what = format!("{} is over with {hold:?}", flow.name);
        until_paced(BETWEEN_LOOKS, LIMIT, &what, async || {
            if gate.holds() && !killed {
                deployment.nodes[0].kill9();
                for statement in LAPSE {
                    deployment.sql(statement).await;
                }
                deployment.nodes[0].restart_same_port();
                killed = true;
            }
            deployment.sql(MAKE_DUE).await;
            let status = deployment.texts(&status).await.remove(0);
            if status == "rolling_out" && flow.fields["rollout"] == 20 && !widened {
                api.patch(&path, json!({"rollout": 100})).await.ok();
                widened = true;
            }
            ["success", "failed", "rejected", "canceled"]
                .contains(&&*status)
                .then_some(())
        })
        .await;
        (api.get(&path).await.ok(), killed)
    }

    async fn upload(&self, app: &PathBuf) -> String {
        let bytes = fs::read(app).unwrap();
        let name = app.file_name().unwrap().to_str().unwrap();
        let body = json!({"fileName": name, "size": bytes.len(), "sha256": sha256(&bytes)});
        let upload = self.api.post("/uploads", body).await.created();
        assert_eq!(self.api.send(&upload, bytes).await.status, 200);
        upload.id().to_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn nothing_happens_twice() {
    let mut stage = Stage::set().await;
    for flow in flows() {
        let mut holds = vec![None];
        let (mut at, mut kills) = (0, 0);
        while let Some(hold) = holds.get(at).copied() {
            let (record, killed) = stage.run(&flow, hold).await;
            kills += usize::from(killed);
            let ledger = stage.simulator.ledger().await;
            let told = || format!("{} {hold:?}: {record:#} {ledger}", flow.name);
            assert_eq!(record["status"], "success", "{}", told());
            for (what, wanted) in flow.happened {
                assert_eq!(count(&ledger, what), *wanted, "{what}: {}", told());
            }
            if hold.is_none() {
                let requests = 0..stage.gate.requests();
                let points = requests.flat_map(|number| [Hold::Before(number), Hold::After(number)]);
                // Before and after a request, alternately.
                let chosen = points
                    .enumerate()
                    .filter(|(number, _)| number % ONE_IN == number / ONE_IN % 2);
                holds.extend(chosen.map(|(_, hold)| Some(hold)));
            }
            at += 1;
        }
        assert!(kills > 0, "{}", flow.name);
        println!(
            "summary: kill -9 on submissions, {}: {kills} kills, nothing twice",
            flow.name
        );
    }
}
