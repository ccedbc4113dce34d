//! Two faults in one flow, at every pair of requests: the flow ends correctly, and no effect happens twice.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use launchway_app_store_simulator::{Fault, Kind, When};

use crate::faults::{WAYS, Way, calls, walk};

/// One fault of each class: no effect, an effect without a response, a wrong response, rate limiting, lost resources,
/// another review.
fn kinds(way: Way) -> &'static [Kind] {
    const APP_STORE: &[Kind] = &[
        Kind::Cut,
        Kind::Lost,
        Kind::Status(404),
        Kind::StatusAfter(500),
        Kind::TooMany(30),
        Kind::ExpireParts,
        Kind::NoChecksums,
        Kind::OtherReview,
    ];
    const GOOGLE_PLAY: &[Kind] = &[
        Kind::Cut,
        Kind::Lost,
        Kind::Status(404),
        Kind::StatusAfter(500),
        Kind::TooMany(30),
        Kind::DeleteEdits,
        Kind::LoseSessions,
        Kind::NoChecksums,
        Kind::OtherReview,
    ];
    match way {
        Way::TestFlight | Way::AppStore => APP_STORE,
        Way::GooglePlay => GOOGLE_PLAY,
    }
}

async fn two(way: Way, first: (u64, Kind), second: (u64, Kind)) {
    let faults = [first, second].map(|(number, kind)| Fault {
        when: When::Call(number),
        kind,
    });
    let (stand, ended) = walk(way, &faults).await;
    assert_eq!(ended, Ok(()), "{way:?} {faults:?} of {:?}", stand.simulator.log());
}

#[tokio::test]
async fn every_flow_survives_two_faults_at_any_two_calls() {
    for way in WAYS {
        let (calls, kinds) = (calls(way).await, kinds(way));
        // The pairs of kinds rotate over the pairs of positions.
        let mut turn = (0..kinds.len())
            .flat_map(|one| (0..kinds.len()).map(move |other| (one, other)))
            .cycle();
        for first in 0..calls {
            for second in first + 1..calls {
                let (one, other) = turn.next().unwrap();
                two(way, (first, kinds[one]), (second, kinds[other])).await;
            }
        }
    }
}

/// How many first faults a flow is run with, each at every request.
fn firsts(calls: u64, kinds: &'static [Kind]) -> Vec<(u64, Kind)> {
    (0..calls)
        .flat_map(|number| kinds.iter().map(move |kind| (number, *kind)))
        .collect()
}

/// One first fault with all second faults, at every request that still comes: a fault makes a flow longer. Returns the
/// number of flows.
async fn with_every_second(way: Way, first: (u64, Kind)) -> u64 {
    let (number, kind) = first;
    let when = When::Call(number);
    let (stand, ended) = walk(way, &[Fault { when, kind }]).await;
    assert_eq!(ended, Ok(()), "{way:?} {first:?} of {:?}", stand.simulator.log());
    let mut flows = 0;
    for second in number + 1..stand.simulator.calls() {
        for kind in kinds(way) {
            two(way, first, (second, *kind)).await;
            flows += 1;
        }
    }
    flows
}

/// All pairs of kinds at all pairs of requests, on all processors. Returns the number of flows.
async fn every_pair(way: Way) -> u64 {
    let all = firsts(calls(way).await, kinds(way));
    let (next, flows) = (AtomicUsize::new(0), AtomicU64::new(0));
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        while let Some(first) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            flows.fetch_add(runtime.block_on(with_every_second(way, *first)), Ordering::Relaxed);
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|threads| {
        for _ in 0..processors {
            threads.spawn(work);
        }
    });
    flows.into_inner()
}

#[tokio::test]
#[ignore = "long run"]
async fn testflight_survives_every_two_faults() {
    let flows = every_pair(Way::TestFlight).await;
    println!("summary: TestFlight: {flows} flows, each with two faults, ended right");
}

#[tokio::test]
#[ignore = "long run"]
async fn the_app_store_survives_every_two_faults() {
    let flows = every_pair(Way::AppStore).await;
    println!("summary: AppStore: {flows} flows, each with two faults, ended right");
}

#[tokio::test]
#[ignore = "long run"]
async fn google_play_survives_every_two_faults() {
    let flows = every_pair(Way::GooglePlay).await;
    println!("summary: GooglePlay: {flows} flows, each with two faults, ended right");
}
