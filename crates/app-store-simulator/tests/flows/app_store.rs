//! TestFlight and App Store submissions, from start to end.

use launchway_app_store_simulator::{Fault, Kind, Outcome, When};
use launchway_app_stores::app_store::{AppStoreConnect, Progress, Stage};
use launchway_app_stores::{Clock, Release, Step};
use launchway_domain::platform::Platform;
use launchway_domain::submission::SubmissionStatus::{Failed, InReview, Queued, Rejected, Success};
use launchway_domain::submission::error::SubmissionErrorCode as Code;
use launchway_domain::time::HOUR;

use crate::driver::{drive, to_end};
use crate::stand::{NOW, Stand, notes, release, settings};
use crate::used_numbers::kept;

pub fn testflight() -> Release {
    let mut release = release(Platform::Ios, "testflight", 42, 950);
    release.notes = notes();
    release.options.groups = ["Team", "Inside", "Outside"].map(str::to_owned).to_vec();
    release.options.uses_non_exempt_encryption = Some(false);
    release
}

pub fn phased() -> Release {
    let mut release = release(Platform::Ios, "app_store", 42, 950);
    release.notes = notes();
    release.rollout = Some(1);
    release.options.uses_non_exempt_encryption = Some(false);
    release
}

pub fn is_approved(step: &Step<Progress>) -> bool {
    let told = step.message.as_deref();
    told.is_some_and(|told| told.contains("waits for its release"))
}

#[tokio::test]
async fn a_build_goes_through_testflight() {
    let stand = Stand::new();
    let ended = to_end::<AppStoreConnect>(&stand, &testflight()).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    let ledger = stand.ledger();
    for (what, count) in [
        ("upload", 1),
        ("build", 1),
        ("group", 2),
        ("beta_review", 1),
        ("beta_released", 1),
        ("version", 0),
    ] {
        assert_eq!(ledger.count(what), count, "{what} {ledger:?}");
    }
    let names: Vec<_> = ended.progress.external().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["appId", "buildUploadId", "buildUploadFileId", "buildId"]);
}

#[tokio::test]
async fn a_version_goes_through_the_app_store_by_a_phased_release() {
    let stand = Stand::new();
    let ended = to_end::<AppStoreConnect>(&stand, &phased()).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    let ledger = stand.ledger();
    for what in ["upload", "build", "version", "review", "release"] {
        assert_eq!(ledger.count(what), 1, "{what} {ledger:?}");
    }
    assert!(stand.clock.now() - NOW > 7 * HOUR);
}

#[tokio::test]
async fn a_testflight_build_is_not_uploaded_again_for_the_app_store() {
    let stand = Stand::new();
    let before = to_end::<AppStoreConnect>(&stand, &testflight()).await;
    let mut wanted = phased();
    wanted.earlier = kept(&before);
    wanted.rollout = None;
    let ended = to_end::<AppStoreConnect>(&stand, &wanted).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    assert_eq!(
        (stand.ledger().count("upload"), stand.ledger().count("release")),
        (1, 1)
    );
}

/// Another submission has just sent the build, and lists lag.
#[tokio::test]
async fn a_build_that_no_list_shows_yet_is_not_uploaded_again() {
    let stand = Stand::new();
    let is_built = |step: &Step<Progress>| step.progress.stage == Stage::AwaitBuild;
    let first = drive::<AppStoreConnect>(&stand, &testflight(), Progress::default(), Queued, is_built).await;
    for path in ["/v1/builds", "/buildUploads"] {
        let when = When::Matching {
            method: "GET".into(),
            path: path.into(),
            times: 8,
        };
        let kind = Kind::EmptyList;
        stand.simulator.order(Fault { when, kind });
    }
    let mut wanted = phased();
    wanted.earlier = kept(&first);
    wanted.rollout = None;
    let ended = to_end::<AppStoreConnect>(&stand, &wanted).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    let ledger = stand.ledger();
    assert_eq!((ledger.count("upload_announced"), ledger.count("release")), (1, 1));
}

#[tokio::test]
async fn visionos_reaches_the_store_and_a_first_version_has_no_notes() {
    let mut settings = settings();
    settings.app_store[0].live = None;
    settings.app_store[0].answers_encryption = true;
    let stand = Stand::with(settings);
    let mut wanted = release(Platform::Visionos, "app_store", 7, 400);
    wanted.notes = notes();
    let ended = to_end::<AppStoreConnect>(&stand, &wanted).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    assert!(
        ended.messages.iter().any(|told| told.contains("omitted")),
        "{:?}",
        ended.messages
    );
}

#[tokio::test]
async fn a_rejected_version_is_resubmitted() {
    let stand = Stand::new();
    stand.simulator.decide(&[Outcome::Reject]);
    let wanted = phased();
    let ended = to_end::<AppStoreConnect>(&stand, &wanted).await;
    assert_eq!(ended.status, Rejected, "{ended:?}");
    let again = ended.progress.for_retry(&wanted);
    let ended = drive::<AppStoreConnect>(&stand, &wanted, again, Queued, |_| false).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    let ledger = stand.ledger();
    assert_eq!(
        (ledger.count("upload"), ledger.count("review"), ledger.count("release")),
        (1, 2, 1)
    );
}

#[tokio::test]
async fn a_rejected_beta_is_told() {
    let stand = Stand::new();
    stand.simulator.decide(&[Outcome::Reject]);
    let ended = to_end::<AppStoreConnect>(&stand, &testflight()).await;
    assert_eq!(ended.status, Rejected, "{ended:?}");
}

#[tokio::test]
async fn an_approved_version_waits_for_a_hand_and_is_released_once() {
    let stand = Stand::new();
    let mut wanted = phased();
    wanted.options.manual_release = true;
    wanted.rollout = None;
    let mut ended = drive::<AppStoreConnect>(&stand, &wanted, Progress::default(), Queued, is_approved).await;
    assert_eq!(ended.status, InReview);
    for _ in 0..3 {
        ended = drive::<AppStoreConnect>(&stand, &wanted, ended.progress, InReview, |_| true).await;
        assert!(ended.messages.is_empty(), "it was said before: {:?}", ended.messages);
    }
    for _ in 0..3 {
        assert_eq!(stand.app_store().release(&ended.progress).await, Ok(true));
    }
    let ended = drive::<AppStoreConnect>(&stand, &wanted, ended.progress, InReview, |_| false).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    let ledger = stand.ledger();
    assert_eq!((ledger.count("release_request"), ledger.count("release")), (1, 1));
}

#[tokio::test]
async fn a_release_that_was_asked_for_early_follows_the_approval() {
    for fault in [
        None,
        Some(Kind::Lost),
        Some(Kind::Status(503)),
        Some(Kind::StatusAfter(500)),
    ] {
        let stand = Stand::new();
        let mut wanted = phased();
        wanted.options.manual_release = true;
        let is_reviewed = |step: &Step<Progress>| step.progress.stage == Stage::AwaitReview;
        let ended = drive::<AppStoreConnect>(&stand, &wanted, Progress::default(), Queued, is_reviewed).await;
        assert_eq!(stand.app_store().release(&ended.progress).await, Ok(false));
        assert_eq!(stand.app_store().release(&Progress::default()).await, Ok(false));
        let early = Progress {
            releases_when_approved: true,
            ..ended.progress
        };
        let when = |kind| Fault {
            when: When::Matching {
                method: "POST".into(),
                path: "/v1/appStoreVersionReleaseRequests".into(),
                times: 1,
            },
            kind,
        };
        fault.into_iter().for_each(|kind| stand.simulator.order(when(kind)));
        let ended = drive::<AppStoreConnect>(&stand, &wanted, early, InReview, |_| false).await;
        assert_eq!(ended.status, Success, "{fault:?} {ended:?}");
        let ledger = stand.ledger();
        assert_eq!(
            (ledger.count("release_request"), ledger.count("release")),
            (1, 1),
            "{fault:?}"
        );
    }
}

#[tokio::test]
async fn what_the_store_asks_for_is_told_with_what_to_do() {
    for (change, code) in [
        (
            &(|release: &mut Release| release.bundle_id = "com.example.other".to_owned()) as &dyn Fn(&mut Release),
            Code::AppNotFound,
        ),
        (
            &|release: &mut Release| release.options.uses_non_exempt_encryption = None,
            Code::ExportComplianceMissing,
        ),
        (
            &|release: &mut Release| release.options.groups = vec!["Nobody".to_owned()],
            Code::GroupNotFound,
        ),
    ] {
        let stand = Stand::new();
        let mut wanted = testflight();
        change(&mut wanted);
        let ended = to_end::<AppStoreConnect>(&stand, &wanted).await;
        assert_eq!(
            (ended.status, ended.error.as_ref().map(|error| error.code)),
            (Failed, Some(code))
        );
        assert!(!ended.error.unwrap().fix.is_empty());
        // Only the question about encryption is about a build.
        let uploads = usize::from(code == Code::ExportComplianceMissing);
        assert_eq!(stand.ledger().count("upload_announced"), uploads, "{code}");
    }
    let mut settings = settings();
    settings.app_store[0].live = Some(phased().version);
    let ended = to_end::<AppStoreConnect>(&Stand::with(settings), &phased()).await;
    assert_eq!(ended.error.unwrap().code, Code::VersionLive);
}

#[tokio::test]
async fn a_binary_that_says_something_else_is_refused_by_the_store() {
    let stand = Stand::new();
    let mut wanted = testflight();
    wanted.version = "9.9.9".to_owned();
    let error = to_end::<AppStoreConnect>(&stand, &wanted).await.error.unwrap();
    assert_eq!(error.code, Code::ProcessingFailed);
    assert!(error.message.contains("90062"), "{error:?}");
}

#[tokio::test]
async fn a_key_unknown_to_the_store_is_reported_after_a_few_tries() {
    let mut settings = settings();
    settings.accounts.remove(0);
    let stand = Stand::with(settings);
    let ended = to_end::<AppStoreConnect>(&stand, &testflight()).await;
    assert_eq!(ended.error.unwrap().code, Code::CredentialInvalid);
    assert!(stand.clock.now() - NOW < HOUR);
}

#[tokio::test]
async fn an_answer_about_cryptography_can_come_later() {
    let stand = Stand::new();
    let mut wanted = testflight();
    wanted.options.uses_non_exempt_encryption = None;
    let ended = to_end::<AppStoreConnect>(&stand, &wanted).await;
    assert_eq!(ended.progress.stage, Stage::AwaitBuild);
    wanted.options.uses_non_exempt_encryption = Some(true);
    let again = ended.progress.for_retry(&wanted);
    let ended = drive::<AppStoreConnect>(&stand, &wanted, again, Queued, |_| false).await;
    assert_eq!((ended.status, stand.ledger().count("upload")), (Success, 1));
}
