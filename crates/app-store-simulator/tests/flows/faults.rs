//! One fault at every request of every flow: the flow ends correctly, and every effect happens once.

use launchway_app_store_simulator::{Fault, Kind, Settings, When};
use launchway_app_stores::app_store::AppStoreConnect;
use launchway_domain::submission::SubmissionStatus::{RollingOut, Success};
use launchway_domain::time::{MINUTE, SECOND};

use crate::driver::to_end;
use crate::stand::{Stand, settings};
use crate::{app_store, google_play};

/// Faults that must not fail any flow, at any request.
pub const KINDS: [Kind; 16] = [
    Kind::Cut,
    Kind::Lost,
    Kind::Status(500),
    Kind::Status(503),
    Kind::Status(404),
    Kind::Status(401),
    Kind::TooMany(30),
    Kind::StatusAfter(500),
    Kind::StatusAfter(504),
    Kind::Nonsense,
    Kind::ExpireParts,
    Kind::NoChecksums,
    Kind::DeleteEdits,
    Kind::LoseSessions,
    Kind::OtherReview,
    Kind::Slow,
];

/// A route through an app store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    TestFlight,
    AppStore,
    GooglePlay,
}

pub const WAYS: [Way; 3] = [Way::TestFlight, Way::AppStore, Way::GooglePlay];

/// The effects that must have happened exactly once at the end.
fn once(way: Way) -> &'static [&'static str] {
    match way {
        Way::TestFlight => &["upload", "build", "beta_review", "beta_released"],
        Way::AppStore => &["upload", "build", "version", "review", "release"],
        Way::GooglePlay => &["upload", "commit", "track", "release"],
    }
}

/// App stores with short delays and large parts: polling requests are alike, and so are parts, so a few suffice.
pub fn quick() -> Settings {
    Settings {
        part: 400,
        processing: 20 * SECOND,
        review: 2 * MINUTE,
        phased_day: 10 * MINUTE,
        ..settings()
    }
}

/// Runs a flow in the same process.
pub async fn walk(way: Way, faults: &[Fault]) -> (Stand, Result<(), String>) {
    let stand = Stand::with(quick());
    let ended = walk_on(&stand, way, faults).await;
    (stand, ended)
}

/// How a flow ended: successfully, or with the error that it reported. Panics if any effect happened twice.
pub async fn walk_on(stand: &Stand, way: Way, faults: &[Fault]) -> Result<(), String> {
    for fault in faults {
        stand.simulator.order(fault.clone());
    }
    let (right, shown) = match way {
        Way::TestFlight => {
            let ended = to_end::<AppStoreConnect>(stand, &app_store::testflight()).await;
            (ended.status == Success, format!("{ended:?}"))
        }
        Way::AppStore => {
            let ended = to_end::<AppStoreConnect>(stand, &app_store::phased()).await;
            (ended.status == Success, format!("{ended:?}"))
        }
        Way::GooglePlay => {
            let ended = google_play::to_stage(stand, &google_play::staged()).await;
            (ended.status == RollingOut, format!("{ended:?}"))
        }
    };
    let ledger = stand.ledger();
    let wrong: Vec<_> = once(way).iter().filter(|what| ledger.count(what) != 1).collect();
    match (right, wrong.is_empty()) {
        (true, true) => Ok(()),
        (true, false) => panic!("{way:?} {faults:?}: not once {wrong:?}: {ledger:?}"),
        (false, _) => {
            let twice: Vec<_> = once(way).iter().filter(|what| ledger.count(what) > 1).collect();
            assert!(twice.is_empty(), "{way:?} {faults:?}: twice {twice:?}: {ledger:?}");
            Err(shown)
        }
    }
}

/// The number of requests in a flow without faults.
pub async fn calls(way: Way) -> u64 {
    let (stand, ended) = walk(way, &[]).await;
    ended.unwrap();
    stand.simulator.calls()
}

async fn every_call(way: Way) {
    let calls = calls(way).await;
    assert!(calls > 15, "{way:?} has only {calls} calls");

    for number in 0..calls {
        for kind in KINDS {
            let fault = Fault {
                when: When::Call(number),
                kind,
            };
            let (stand, ended) = walk(way, &[fault]).await;
            assert_eq!(
                ended,
                Ok(()),
                "{way:?} {kind:?} at {number} of {:?}",
                stand.simulator.log()
            );
        }
    }
}

#[tokio::test]
async fn testflight_survives_a_fault_at_every_call() {
    every_call(Way::TestFlight).await;
}

#[tokio::test]
async fn the_app_store_survives_a_fault_at_every_call() {
    every_call(Way::AppStore).await;
}

#[tokio::test]
async fn google_play_survives_a_fault_at_every_call() {
    every_call(Way::GooglePlay).await;
}

/// The owner of a submission crashes after each step, before it has saved the progress.
async fn every_crash(way: Way) {
    // A step makes at least one request.
    for number in 0..usize::try_from(calls(way).await).unwrap() {
        let mut stand = Stand::with(quick());
        stand.crash_after = Some(number);
        assert_eq!(walk_on(&stand, way, &[]).await, Ok(()), "{way:?} after step {number}");
    }
}

#[tokio::test]
async fn a_crash_after_any_step_repeats_nothing() {
    for way in WAYS {
        every_crash(way).await;
    }
}

#[tokio::test]
async fn a_store_that_is_down_for_a_day_is_given_up_with_an_error() {
    for way in WAYS {
        for (kind, code) in [
            (Kind::Status(503), "STORE_UNAVAILABLE"),
            (Kind::Cut, "STORE_UNAVAILABLE"),
            (Kind::Nonsense, "STORE_UNAVAILABLE"),
            (Kind::TooMany(60), "RATE_LIMITED"),
            (Kind::Status(403), "CREDENTIAL_FORBIDDEN"),
        ] {
            let faults = ["GET", "POST", "PUT", "PATCH", "DELETE"].map(|method| Fault {
                when: When::Matching {
                    method: method.into(),
                    path: "/".into(),
                    times: u32::MAX,
                },
                kind,
            });
            let (_, ended) = walk(way, &faults).await;
            let shown = ended.unwrap_err();
            // Google refuses the token before anything else.
            let is_told =
                shown.contains(&format!(
                    "{:?}",
                    code.parse::<launchway_domain::submission::error::SubmissionErrorCode>()
                        .unwrap()
                )) || (way == Way::GooglePlay && kind == Kind::Status(403) && shown.contains("CredentialInvalid"));
            assert!(is_told, "{way:?} {kind:?}: {shown}");
        }
    }
}
