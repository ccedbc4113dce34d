//! Canceled submissions: what they began is taken back, nothing reaches a review or users, and the next one goes through.

use launchway_app_store_simulator::{ByHand, Fault, Kind, Settings, When};
use launchway_app_stores::app_store::{AppStoreConnect, Progress, Stage};
use launchway_app_stores::google_play::{self, GooglePlay};
use launchway_app_stores::{Cancellation, Clock, NextStep, Release, Step};
use launchway_domain::platform::Platform;
use launchway_domain::submission::SubmissionStatus::{Failed, Queued, Success};
use launchway_domain::time::{DAY, MINUTE, SECOND};

use crate::app_store::{is_approved, phased, testflight};
use crate::driver::{drive, to_end};
use crate::faults::quick;
use crate::google_play::staged;
use crate::stand::{APP, Stand, release};
use crate::used_numbers::kept;

/// No cancellation waits this often.
const MAX_WAITS: usize = 100;

/// Cancels until it is over, also after requests that failed.
pub async fn cancel(stand: &Stand, release: &Release, mut progress: Progress) -> Cancellation<Progress> {
    for _ in 0..MAX_WAITS {
        match stand.app_store().cancel(release, &progress).await {
            Ok(Cancellation::Later(later)) => progress = later,
            Ok(over) => return over,
            Err(failure) => assert!(failure.is_worth_another_try(1), "{failure}"),
        }
        stand.clock.set(stand.clock.now() + 10 * SECOND);
    }
    panic!("the cancellation does not end: {progress:?}");
}

async fn undone(stand: &Stand, release: &Release, progress: Progress) -> String {
    match cancel(stand, release, progress).await {
        Cancellation::Undone(stays) => stays.join(" "),
        other => panic!("{other:?}"),
    }
}

async fn to(stand: &Stand, release: &Release, stage: Stage) -> Progress {
    let there = |step: &Step<Progress>| step.progress.stage == stage;
    let ended = drive::<AppStoreConnect>(stand, release, Progress::default(), Queued, there).await;
    assert_eq!(ended.progress.stage, stage, "{ended:?}");
    ended.progress
}

/// Lets the stores work for a day, in which everything in review ends.
fn a_day_later(stand: &Stand) {
    stand.clock.set(stand.clock.now() + DAY);
    stand.simulator.take_deliveries();
}

/// The next build of the same version reaches users, and it alone.
async fn the_next_one_goes_through(stand: &Stand, told: &str) {
    a_day_later(stand);
    let mut next = release(Platform::Ios, "app_store", 43, 950);
    next.options.uses_non_exempt_encryption = Some(false);
    let ended = to_end::<AppStoreConnect>(stand, &next).await;
    assert_eq!(ended.status, Success, "{told}: {ended:?}");
    let ledger = stand.ledger();
    let released = ledger.entries().iter().filter(|entry| entry.what == "released_build");
    let released: Vec<_> = released.map(|entry| entry.subject.as_str()).collect();
    assert_eq!(released, ["43"], "{told}: {ledger:?}");
}

#[tokio::test]
async fn a_cancel_at_any_stage_leaves_nothing_in_the_way() {
    for stage in [
        Stage::CreateUpload,
        Stage::SendParts,
        Stage::AwaitBuild,
        Stage::Version,
        Stage::AttachBuild,
        Stage::PhasedRelease,
        Stage::ReviewSubmission,
        Stage::ReviewItem,
        Stage::SubmitReview,
        Stage::AwaitReview,
    ] {
        let stand = Stand::new();
        let progress = to(&stand, &phased(), stage).await;
        let stays = undone(&stand, &phased(), progress).await;
        let has_build = stage >= Stage::AwaitBuild;
        assert_eq!(
            stays.contains("The build 42 stays in App Store Connect"),
            has_build,
            "{stage:?}: {stays}"
        );
        let ledger = stand.ledger();
        let was_sent = usize::from(stage == Stage::AwaitReview);
        let counts = ["review", "review_canceled"].map(|what| ledger.count(what));
        assert_eq!(counts, [was_sent; 2], "{stage:?}: {ledger:?}");
        assert_eq!(
            ledger.count("version"),
            ledger.count("version_deleted"),
            "{stage:?}: {ledger:?}"
        );
        the_next_one_goes_through(&stand, &format!("{stage:?}")).await;
    }
}

/// Steps until the response to a call is lost. Returns the last saved progress; `None` if there is no such call.
async fn until_lost(stand: &Stand, release: &Release, call: u64) -> Option<Progress> {
    stand.simulator.order(Fault {
        when: When::Call(call),
        kind: Kind::Lost,
    });
    let mut progress = Progress::default();
    loop {
        match stand.app_store().step(release, &progress).await {
            Ok(step) if step.next == NextStep::Never || step.progress.stage == Stage::Rollout => return None,
            Ok(step) => {
                progress = step.progress;
                if step.next == NextStep::Later {
                    stand.clock.set(stand.clock.now() + 5 * SECOND);
                }
            }
            Err(_) => return Some(progress),
        }
    }
}

#[tokio::test]
async fn a_cancel_after_any_lost_response_sends_nothing_to_users() {
    let stand = Stand::with(quick());
    assert_eq!(until_lost(&stand, &phased(), u64::MAX).await, None);
    let mut canceled = 0;
    for call in 0..stand.simulator.calls() {
        let stand = Stand::with(quick());
        // Parts of an upload are sent again within their step.
        let Some(progress) = until_lost(&stand, &phased(), call).await else {
            continue;
        };
        let told = format!("call {call}: {progress:?}");
        match cancel(&stand, &phased(), progress).await {
            Cancellation::Undone(_) => the_next_one_goes_through(&stand, &told).await,
            // Its review was over when it was canceled.
            Cancellation::TooLate { progress, .. } => assert!(progress.stage >= Stage::AwaitReview, "{told}"),
            Cancellation::Later(_) => unreachable!(),
        }
        canceled += 1;
    }
    assert!(canceled > 20, "only {canceled} calls");
}

#[tokio::test]
async fn a_cancel_survives_a_fault_at_every_call() {
    for (wanted, stage) in [
        (phased(), Stage::SubmitReview),
        (phased(), Stage::AwaitReview),
        (testflight(), Stage::BetaReview),
    ] {
        let mut call = 0;
        loop {
            let (mut is_over, mut calls) = (false, 0);
            for kind in [Kind::Cut, Kind::Lost, Kind::Status(503), Kind::Status(401)] {
                let stand = Stand::new();
                let progress = to(&stand, &wanted, stage).await;
                let begun = stand.simulator.calls();
                stand.simulator.order(Fault {
                    when: When::Call(begun + call),
                    kind,
                });
                undone(&stand, &wanted, progress).await;
                calls = stand.simulator.calls() - begun;
                is_over |= call >= calls;
                a_day_later(&stand);
                let ledger = stand.ledger();
                assert_eq!(
                    (ledger.count("release"), ledger.count("beta_released")),
                    (0, 0),
                    "{kind:?} at {call}"
                );
            }
            if is_over {
                assert!(calls > 4, "{stage:?}: {calls}");
                break;
            }
            call += 1;
        }
    }
}

#[tokio::test]
async fn a_canceled_build_is_taken_from_its_groups() {
    let stand = Stand::new();
    let progress = to(&stand, &testflight(), Stage::BetaReview).await;
    stand.app_store().step(&testflight(), &progress).await.unwrap();
    let stays = undone(&stand, &testflight(), progress).await;
    for part in [
        "The groups no longer have the build",
        "TestFlight's review",
        "every build (Team)",
    ] {
        assert!(stays.contains(part), "{stays}");
    }
    a_day_later(&stand);
    let ledger = stand.ledger();
    let counts = ["group", "group_removed", "beta_review", "beta_released"].map(|what| ledger.count(what));
    assert_eq!(counts, [2, 2, 1, 0], "{ledger:?}");
}

#[tokio::test]
async fn groups_that_had_the_build_before_keep_it() {
    let stand = Stand::new();
    let mut first = testflight();
    first.options.groups = vec!["Inside".to_owned()];
    let ended = to_end::<AppStoreConnect>(&stand, &first).await;
    assert_eq!(ended.status, Success);
    let mut second = testflight();
    second.earlier = kept(&ended);
    let progress = to(&stand, &second, Stage::BetaReview).await;
    undone(&stand, &second, progress).await;
    let ledger = stand.ledger();
    let removed = ledger.entries().iter().filter(|entry| entry.what == "group_removed");
    assert_eq!(
        removed.map(|entry| entry.subject.as_str()).collect::<Vec<_>>(),
        ["Outside"]
    );
}

async fn approved(settings: Settings) -> (Stand, Release, Progress) {
    let stand = Stand::with(settings);
    let mut wanted = phased();
    wanted.options.manual_release = true;
    let ended = drive::<AppStoreConnect>(&stand, &wanted, Progress::default(), Queued, is_approved).await;
    (stand, wanted, ended.progress)
}

#[tokio::test]
async fn an_approval_that_cannot_be_taken_back_is_too_late() {
    let (stand, wanted, progress) = approved(quick()).await;
    let Cancellation::TooLate { why, progress } = cancel(&stand, &wanted, progress).await else {
        panic!("the version is still approved");
    };
    assert!(why.contains("Cancel This Release"), "{why}");
    assert_eq!(progress.stage, Stage::AwaitReview);
}

#[tokio::test]
async fn an_approval_is_taken_back_where_the_store_allows_it() {
    let settings = Settings {
        takes_back_approvals: true,
        ..quick()
    };
    let (stand, wanted, progress) = approved(settings).await;
    undone(&stand, &wanted, progress).await;
    let ledger = stand.ledger();
    assert_eq!(
        (ledger.count("approval_taken_back"), ledger.count("version_deleted")),
        (1, 1)
    );
    the_next_one_goes_through(&stand, "approved").await;
}

#[tokio::test]
async fn a_version_that_was_there_before_is_restored() {
    let stand = Stand::with(Settings {
        read_binary: None,
        ..quick()
    });
    stand.simulator.order(Fault {
        when: When::Matching {
            method: "POST".into(),
            path: "/v1/reviewSubmissionItems".into(),
            times: 1,
        },
        kind: Kind::MissingMetadata,
    });
    let first = to_end::<AppStoreConnect>(&stand, &phased()).await;
    assert_eq!(first.status, Failed);
    let mut second = release(Platform::Ios, "app_store", 43, 950);
    second.version = "1.2.0".to_owned();
    second.options.uses_non_exempt_encryption = Some(false);
    second.options.manual_release = true;
    let progress = to(&stand, &second, Stage::SubmitReview).await;
    assert_eq!(progress.version_id, first.progress.version_id);
    let stays = undone(&stand, &second, progress).await;
    assert!(!stays.contains("prepared"), "{stays}");
    let again = first.progress.for_retry(&phased());
    let before = stand.simulator.log().len();
    let ended = drive::<AppStoreConnect>(&stand, &phased(), again, Queued, |_| false).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    let changed = stand.simulator.log()[before..]
        .iter()
        .filter(|call| call.starts_with("PATCH /v1/appStoreVersions/"))
        .count();
    assert_eq!(changed, 0, "name, release and build are as they were");
    assert_eq!(stand.ledger().count("version_deleted"), 0);
}

#[tokio::test]
async fn what_a_person_changed_meanwhile_stays() {
    let stand = Stand::new();
    let progress = to(&stand, &phased(), Stage::AwaitReview).await;
    let by_hand = ByHand {
        bundle_id: APP.to_owned(),
        platform: "ios".to_owned(),
        version: "1.1.0".to_owned(),
        build_number: "8".to_owned(),
        attach: true,
    };
    stand.simulator.by_hand(&by_hand).unwrap();
    let stays = undone(&stand, &phased(), progress).await;
    assert!(
        stays.contains("The version 1.1.0 was changed in App Store Connect"),
        "{stays}"
    );
    assert_eq!(stand.ledger().count("review_canceled"), 0);
}

#[tokio::test]
async fn what_users_have_is_too_late_to_cancel() {
    let stand = Stand::with(quick());
    let progress = to(&stand, &phased(), Stage::Rollout).await;
    assert!(matches!(
        cancel(&stand, &phased(), progress).await,
        Cancellation::TooLate { .. }
    ));
}

#[tokio::test]
async fn an_edit_is_discarded_and_a_commit_cannot_be() {
    for kind in [Kind::Lost, Kind::Cut, Kind::Slow] {
        let stand = Stand::new();
        let there = |step: &Step<google_play::Progress>| step.progress.stage == google_play::Stage::Commit;
        let ended = drive::<GooglePlay>(&stand, &staged(), google_play::Progress::default(), Queued, there).await;
        stand.simulator.order(Fault {
            when: When::Matching {
                method: "POST".into(),
                path: ":commit".into(),
                times: 1,
            },
            kind,
        });
        // Canceled while the commit is under way, or before it.
        if kind != Kind::Slow {
            stand.google_play().step(&staged(), &ended.progress).await.unwrap_err();
        }
        let outcome = stand.google_play().cancel(&staged(), &ended.progress).await.unwrap();
        stand.clock.set(stand.clock.now() + MINUTE);
        match outcome {
            Cancellation::Undone(_) => assert_eq!((stand.ledger().count("commit"), kind == Kind::Lost), (0, false)),
            Cancellation::TooLate { why, progress } => {
                assert_eq!((stand.ledger().count("commit"), kind), (1, Kind::Lost));
                assert!(why.contains("cannot undo"), "{why}");
                assert_eq!(progress.stage, google_play::Stage::AwaitReview);
            }
            Cancellation::Later(_) => panic!("Google Play does not let anybody wait"),
        }
    }
    let stand = Stand::new();
    let there = |step: &Step<google_play::Progress>| step.progress.stage == google_play::Stage::Look;
    let ended = drive::<GooglePlay>(&stand, &staged(), google_play::Progress::default(), Queued, there).await;
    for _ in 0..2 {
        let outcome = stand.google_play().cancel(&staged(), &ended.progress).await;
        assert_eq!(outcome, Ok(Cancellation::Undone(Vec::new())));
    }
}
