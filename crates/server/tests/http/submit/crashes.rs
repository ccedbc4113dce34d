//! The process dies at every call of every flow, before the call has its effect and after it, that is, between every
//! two writes. The flow still ends correctly, and the ledger counts one upload, one commit, one release.

use launchway_app_store_simulator::Settings;
use launchway_domain::platform::Platform;
use launchway_domain::submission::Submission;
use launchway_domain::time::{MINUTE, SECOND};
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::stage::app_stores::{APK, Death, IPA, id_of, settings};
use crate::support::Setup;

const TESTFLIGHT: &str = "testflight";
const PHASED: &str = "app store, phased, halted and resumed";
const CANCELED: &str = "app store, canceled in review";
const PLAY: &str = "google play, for all";
const STAGED: &str = "google play, staged, halted and resumed";

/// A change of a running submission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Act {
    Nothing,
    /// During the rollout: halted, resumed, and released to everyone.
    Changes,
    /// During the review.
    Cancel,
}

struct Flow {
    name: &'static str,
    platform: Platform,
    fields: Value,
    act: Act,
    /// The expected number of each effect.
    ledger: &'static [(&'static str, usize)],
    end: &'static str,
}

fn flows() -> Vec<Flow> {
    let notes = json!([{"locale": "en-US", "text": "Faster."}, {"locale": "de-DE", "text": "Schneller."}]);
    let phased = json!({
        "destination": "app_store", "rollout": 1, "releaseNotes": notes, "options": {"usesNonExemptEncryption": false},
    });
    let staged = json!({"destination": "production", "rollout": 20, "releaseNotes": notes});
    vec![
        Flow {
            name: TESTFLIGHT,
            platform: Platform::Ios,
            fields: json!({
                "destination": "testflight", "releaseNotes": notes,
                "options": {"groups": ["Team", "Outside"], "usesNonExemptEncryption": false},
            }),
            act: Act::Nothing,
            ledger: &[("upload", 1), ("build", 1), ("beta_review", 1), ("beta_released", 1)],
            end: "success",
        },
        Flow {
            name: PHASED,
            platform: Platform::Ios,
            fields: phased.clone(),
            act: Act::Changes,
            ledger: &[
                ("upload", 1),
                ("build", 1),
                ("version", 1),
                ("review", 1),
                ("release", 1),
                ("halted", 1),
                ("resumed", 1),
                ("completed", 1),
            ],
            end: "success",
        },
        Flow {
            name: CANCELED,
            platform: Platform::Ios,
            fields: phased,
            act: Act::Cancel,
            ledger: &[("upload", 1), ("review_canceled", 1), ("release", 0)],
            end: "canceled",
        },
        Flow {
            name: PLAY,
            platform: Platform::Android,
            fields: json!({"destination": "beta", "releaseNotes": notes}),
            act: Act::Nothing,
            ledger: &[("upload", 1), ("commit", 1), ("release", 1)],
            end: "success",
        },
        Flow {
            name: STAGED,
            platform: Platform::Android,
            fields: staged,
            act: Act::Changes,
            ledger: &[("upload", 1), ("commit", 4), ("release", 1)],
            end: "success",
        },
    ]
}

/// Takes a submission through a flow with one death of the process. Also returns the first call that no other flow
/// makes.
async fn run(stage: &mut Stage, build: &str, flow: &Flow, death: Option<Death>) -> (Submission, u64) {
    // Fast stores: polling takes a few calls, not half an hour.
    stage.open_stores(Settings { processing: 20 * SECOND, review: 2 * MINUTE, phased_day: 10 * MINUTE, ..settings() });
    stage.dies(death);
    let mut body = flow.fields.clone();
    body["buildId"] = json!(build);
    let id = id_of(&stage.submit(body).await.created());
    let mut own = 0;
    match flow.act {
        Act::Nothing => {}
        Act::Changes => {
            for (change, status) in [
                (json!({"status": "halted"}), "halted"),
                (json!({"status": "rolling_out"}), "rolling_out"),
                (json!({"rollout": 100}), "success"),
            ] {
                if status == "halted" {
                    stage.until(id, "rolling_out").await;
                }
                stage.change(id, change).await.ok();
                let is_so = |record: &Submission| record.state.status.as_str() == status && record.change.is_none();
                stage.until_so(id, is_so).await;
            }
        }
        Act::Cancel => {
            stage.until(id, "in_review").await;
            own = stage.calls();
            stage.post(&stage.key, &format!("/submit/cancel?id={id}"), ()).await.ok();
        }
    }
    (stage.until(id, "success").await, own)
}

async fn every_death(setup: Setup, name: &str) {
    let flows = flows();
    let flow = flows.iter().find(|flow| flow.name == name).unwrap();
    let mut stage = Stage::new().with(setup).app_stores().await;
    let file: (&str, &[u8]) = match flow.platform {
        Platform::Android => ("app.apk", APK),
        _ => ("App.ipa", IPA),
    };
    let build = stage.built(flow.platform, &[file]).await;
    let mut deaths = vec![None];
    let mut at = 0;
    while let Some(death) = deaths.get(at).copied() {
        let (record, own) = run(&mut stage, &build, flow, death).await;
        let ledger = stage.ledger();
        let told = || format!("{name} {death:?}: {record:#?} {ledger:?}");
        assert_eq!(record.state.status.as_str(), flow.end, "{}", told());
        for (what, count) in flow.ledger {
            assert_eq!(ledger.count(what), *count, "{what}: {}", told());
        }
        if death.is_none() {
            let calls = own..stage.calls();
            assert!(!calls.is_empty());
            deaths.extend(calls.flat_map(|call| [Some(Death::Before(call)), Some(Death::After(call))]));
        }
        at += 1;
    }
}

#[tokio::test]
async fn testflight() {
    every_death(Setup::default(), TESTFLIGHT).await;
}

#[tokio::test]
async fn the_app_store() {
    every_death(Setup::default(), PHASED).await;
}

#[tokio::test]
async fn a_cancel() {
    every_death(Setup::default(), CANCELED).await;
}

#[tokio::test]
async fn google_play() {
    every_death(Setup::default(), PLAY).await;
}

#[tokio::test]
async fn a_staged_release() {
    every_death(Setup::default(), STAGED).await;
}

#[tokio::test]
async fn on_postgres_too() {
    every_death(Setup::on_postgres(), PLAY).await;
}
