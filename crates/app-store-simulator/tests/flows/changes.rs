//! Changes after the release: rollout percentages, halting, resuming, completing.

use launchway_app_store_simulator::{Fault, Kind, When};
use launchway_app_stores::app_store::{AppStoreConnect, Change, Progress, Stage};
use launchway_app_stores::google_play::{GooglePlay, Target, TargetStatus};
use launchway_domain::submission::SubmissionStatus::{Halted, Queued, RollingOut, Success};

use crate::app_store::phased;
use crate::driver::drive;
use crate::google_play::{is_staged, staged, to_stage};
use crate::stand::Stand;

pub fn is_rolling(step: &launchway_app_stores::Step<Progress>) -> bool {
    step.progress.stage == Stage::Rollout && step.next == launchway_app_stores::NextStep::Later
}

#[tokio::test]
async fn a_phased_release_is_halted_resumed_and_completed() {
    let stand = Stand::new();
    let wanted = phased();
    let mut ended = drive::<AppStoreConnect>(&stand, &wanted, Progress::default(), Queued, is_rolling).await;
    for (change, status) in [
        (Change::Halt, Halted),
        (Change::Resume, RollingOut),
        (Change::Halt, Halted),
        (Change::Complete, Success),
    ] {
        for _ in 0..2 {
            stand.app_store().change(&ended.progress, change).await.unwrap();
        }
        let from = ended.status;
        ended = drive::<AppStoreConnect>(&stand, &wanted, ended.progress, from, is_rolling).await;
        assert_eq!(ended.status, status, "{change:?}");
    }
    let ledger = stand.ledger();
    assert_eq!(
        (
            ledger.count("halted"),
            ledger.count("resumed"),
            ledger.count("completed")
        ),
        (2, 1, 1)
    );
}

/// Runs the changes of a staged release with a fault at one request. Returns the number of requests.
async fn change_with(fault: Option<(u64, Kind)>) -> u64 {
    let stand = Stand::new();
    let wanted = staged();
    let mut ended = to_stage(&stand, &wanted).await;
    let before = stand.simulator.calls();
    if let Some((number, kind)) = fault {
        let when = When::Call(before + number);
        stand.simulator.order(Fault { when, kind });
    }
    let target = |status, percent| Target { status, percent };
    for (target, status) in [
        (target(TargetStatus::InProgress, Some(50)), RollingOut),
        (target(TargetStatus::Halted, Some(50)), Halted),
        (target(TargetStatus::InProgress, Some(50)), RollingOut),
        (target(TargetStatus::Completed, None), Success),
    ] {
        let from = ended.status;
        let changed = ended.progress.for_change(target);
        ended = drive::<GooglePlay>(&stand, &wanted, changed, from, is_staged).await;
        assert_eq!(ended.status, status, "{target:?} {fault:?} {ended:?}");
    }
    let ledger = stand.ledger();
    let shares: Vec<_> = ledger
        .entries()
        .iter()
        .filter(|entry| entry.what == "track" && entry.subject.contains(" 42 "))
        .map(|entry| entry.subject.rsplit_once("42 ").unwrap().1)
        .collect();
    assert_eq!(
        shares,
        [
            "inProgress 0.2",
            "inProgress 0.5",
            "halted 0.5",
            "inProgress 0.5",
            "completed null"
        ],
        "{fault:?}"
    );
    assert_eq!(
        (ledger.count("upload"), ledger.count("release"), ledger.count("commit")),
        (1, 1, 5)
    );
    stand.simulator.calls() - before
}

#[tokio::test]
async fn a_staged_release_survives_any_single_fault() {
    let calls = change_with(None).await;
    for number in 0..calls {
        for kind in [Kind::Status(500), Kind::Lost, Kind::Status(404), Kind::DeleteEdits] {
            change_with(Some((number, kind))).await;
        }
    }
}

#[tokio::test]
async fn a_fraction_that_a_person_set_survives_a_halt() {
    let stand = Stand::new();
    let wanted = staged();
    let mut ended = to_stage(&stand, &wanted).await;
    stand
        .simulator
        .stage_by_hand(crate::stand::APP, "production", 42, 0.375);
    // The submission knows 20%.
    for (status, now) in [(TargetStatus::Halted, Halted), (TargetStatus::InProgress, RollingOut)] {
        let target = Target {
            status,
            percent: Some(20),
        };
        let changed = ended.progress.for_change_of_status(target);
        ended = drive::<GooglePlay>(&stand, &wanted, changed, ended.status, is_staged).await;
        assert_eq!(
            (ended.status, ended.progress.target.unwrap().percent),
            (now, Some(38)),
            "{ended:?}"
        );
    }
    let percent = Target {
        status: TargetStatus::InProgress,
        percent: Some(50),
    };
    let changed = ended.progress.for_change(percent);
    drive::<GooglePlay>(&stand, &wanted, changed, ended.status, is_staged).await;
    let ledger = stand.ledger();
    let shares = ledger
        .entries()
        .iter()
        .filter(|entry| entry.what == "track" && entry.subject.contains(" 42 "));
    let shares: Vec<_> = shares
        .map(|entry| entry.subject.rsplit_once("42 ").unwrap().1)
        .collect();
    assert_eq!(
        shares,
        ["inProgress 0.2", "halted 0.375", "inProgress 0.375", "inProgress 0.5"]
    );
}
