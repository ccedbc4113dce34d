//! A build number that the app store already has: only a build that this service committed with the same bytes is
//! reused.

use launchway_app_store_simulator::{ByHand, Fault, Kind, When};
use launchway_app_stores::app_store::{AppStoreConnect, Progress, Stage};
use launchway_app_stores::google_play::GooglePlay;
use launchway_app_stores::release::{EarlierSubmissions, OwnUpload};
use launchway_app_stores::{Release, Step};
use launchway_domain::platform::Platform;
use launchway_domain::submission::SubmissionStatus::{Failed, Queued, Success};
use launchway_domain::submission::error::SubmissionErrorCode as Code;

use crate::app_store::testflight;
use crate::driver::{Ended, drive, to_end};
use crate::stand::{APP, Stand, release, settings};

fn by_hand(release: &Release) -> ByHand {
    ByHand {
        bundle_id: APP.to_owned(),
        platform: "ios".to_owned(),
        version: release.version.clone(),
        build_number: release.build_number.clone(),
        attach: false,
    }
}

/// The same version and number with different bytes.
fn other_bytes() -> Release {
    let mut other = release(Platform::Ios, "testflight", 42, 700);
    other.options.uses_non_exempt_encryption = Some(false);
    assert_ne!(other.sha256, testflight().sha256);
    other
}

/// What the service keeps of a submission to App Store Connect.
pub fn kept(ended: &Ended<Progress>) -> EarlierSubmissions {
    let upload = OwnUpload {
        upload_id: ended.progress.build_upload_id.clone(),
        file_id: ended.progress.build_upload_file_id.clone(),
        build_id: ended.progress.build_id.clone(),
    };
    EarlierSubmissions {
        uploads: vec![upload],
        is_committed: false,
    }
}

fn assert_used<P: std::fmt::Debug>(ended: &Ended<P>, what: &str) {
    let error = ended.error.as_ref().unwrap_or_else(|| panic!("{what}: {ended:?}"));
    assert_eq!((ended.status, error.code), (Failed, Code::BuildNumberUsed), "{what}");
    assert!(
        error.message.contains("42") && error.fix.contains("Raise the build number"),
        "{what}: {error:?}"
    );
}

#[tokio::test]
async fn a_build_that_somebody_else_uploaded_is_not_released() {
    for destination in ["testflight", "app_store"] {
        let stand = Stand::new();
        let mut wanted = release(Platform::Ios, destination, 42, 950);
        wanted.options.uses_non_exempt_encryption = Some(false);
        stand.simulator.by_hand(&by_hand(&wanted)).unwrap();
        let ended = to_end::<AppStoreConnect>(&stand, &wanted).await;
        assert_used(&ended, destination);
        let ledger = stand.ledger();
        assert_eq!(
            (ledger.count("upload"), ledger.count("version"), ledger.count("group")),
            (0, 0, 0)
        );
    }
}

#[tokio::test]
async fn only_a_build_of_the_same_bytes_is_released() {
    let stand = Stand::new();
    let first = to_end::<AppStoreConnect>(&stand, &testflight()).await;
    assert_eq!(first.status, Success);
    assert_used(
        &to_end::<AppStoreConnect>(&stand, &other_bytes()).await,
        "different bytes",
    );
    let mut again = testflight();
    assert_used(
        &to_end::<AppStoreConnect>(&stand, &again).await,
        "nothing is known of it",
    );
    again.earlier = kept(&first);
    let ended = to_end::<AppStoreConnect>(&stand, &again).await;
    assert_eq!(
        (ended.status, stand.ledger().count("upload")),
        (Success, 1),
        "{ended:?}"
    );
    assert_eq!(kept(&ended), again.earlier, "whoever comes next can tell, too");
}

#[tokio::test]
async fn an_upload_of_other_bytes_counts_as_the_build_it_becomes() {
    let stand = Stand::new();
    let processing = |step: &Step<Progress>| step.progress.stage == Stage::AwaitUpload;
    let first = drive::<AppStoreConnect>(&stand, &testflight(), Progress::default(), Queued, processing).await;
    assert_used(
        &to_end::<AppStoreConnect>(&stand, &other_bytes()).await,
        "different bytes",
    );
    let mut again = testflight();
    again.earlier = kept(&first);
    let ended = to_end::<AppStoreConnect>(&stand, &again).await;
    assert_eq!(
        (ended.status, stand.ledger().count("upload")),
        (Success, 1),
        "{ended:?}"
    );
}

/// No bytes were sent, so the number is free; but the upload belongs to somebody else.
#[tokio::test]
async fn an_upload_that_somebody_else_announced_is_left_alone() {
    let stand = Stand::new();
    let announced = |step: &Step<Progress>| step.progress.stage == Stage::CreateFile;
    let theirs = drive::<AppStoreConnect>(&stand, &other_bytes(), Progress::default(), Queued, announced).await;
    let ended = to_end::<AppStoreConnect>(&stand, &testflight()).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    assert_ne!(ended.progress.build_upload_id, theirs.progress.build_upload_id);
}

/// The file of this submission's own upload was committed with different bytes.
#[tokio::test]
async fn a_file_of_other_bytes_is_not_taken_for_this_submissions() {
    // An app store that does not verify the checksum, but reports the one it was given.
    let mut settings = settings();
    settings.kept = 0;
    let stand = Stand::with(settings);
    let announced = |step: &Step<Progress>| step.progress.stage == Stage::SendParts;
    let begun = drive::<AppStoreConnect>(&stand, &testflight(), Progress::default(), Queued, announced).await;
    let mut theirs = testflight();
    theirs.sha256 = "cd".repeat(32);
    let committed = |step: &Step<Progress>| step.progress.stage == Stage::AwaitUpload;
    drive::<AppStoreConnect>(&stand, &theirs, begun.progress.clone(), Queued, committed).await;
    let ended = drive::<AppStoreConnect>(&stand, &testflight(), begun.progress, Queued, |_| false).await;
    assert_used(&ended, "committed by another");
}

#[tokio::test]
async fn a_retry_after_the_store_was_away_finds_its_own_build() {
    let stand = Stand::new();
    let wanted = testflight();
    let processing = |step: &Step<Progress>| step.progress.stage == Stage::AwaitUpload;
    let ended = drive::<AppStoreConnect>(&stand, &wanted, Progress::default(), Queued, processing).await;
    let again = ended.progress.for_retry(&wanted);
    assert_eq!(again.stage, Stage::FindApp);
    let ended = drive::<AppStoreConnect>(&stand, &wanted, again, Queued, |_| false).await;
    assert_eq!(
        (ended.status, stand.ledger().count("upload")),
        (Success, 1),
        "{ended:?}"
    );
}

fn android() -> Release {
    release(Platform::Android, "beta", 42, 1_000)
}

#[tokio::test]
async fn google_plays_checksums_tell_whose_a_bundle_is() {
    let stand = Stand::new();
    stand.simulator.bundle_by_hand(APP, 42, &"ab".repeat(32));
    assert_used(
        &to_end::<GooglePlay>(&stand, &android()).await,
        "different bytes by hand",
    );
    assert_eq!((stand.ledger().count("upload"), stand.ledger().count("commit")), (0, 0));
    let stand = Stand::new();
    stand
        .simulator
        .bundle_by_hand(APP, 42, &android().sha256.to_uppercase());
    let ended = to_end::<GooglePlay>(&stand, &android()).await;
    assert_eq!(
        (ended.status, stand.ledger().count("upload")),
        (Success, 0),
        "the same bytes by hand: {ended:?}"
    );
}

#[tokio::test]
async fn a_bundle_without_a_checksum_must_be_one_we_sent() {
    let without = || {
        let mut settings = settings();
        settings.checksums = false;
        Stand::with(settings)
    };
    let stand = without();
    stand.simulator.bundle_by_hand(APP, 42, &android().sha256);
    assert_used(&to_end::<GooglePlay>(&stand, &android()).await, "by hand");
    let stand = without();
    let ended = to_end::<GooglePlay>(&stand, &android()).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    let mut again = release(Platform::Android, "production", 42, 1_000);
    assert_used(&to_end::<GooglePlay>(&stand, &again).await, "nothing is known of it");
    again.earlier.is_committed = true;
    let ended = to_end::<GooglePlay>(&stand, &again).await;
    assert_eq!(
        (ended.status, stand.ledger().count("upload")),
        (Success, 1),
        "{ended:?}"
    );
    // The response to the commit was lost, and the edit with it.
    let stand = without();
    stand.simulator.order(Fault {
        when: When::Matching {
            method: "POST".into(),
            path: ":commit".into(),
            times: 1,
        },
        kind: Kind::Lost,
    });
    let ended = to_end::<GooglePlay>(&stand, &android()).await;
    assert_eq!(
        (ended.status, stand.ledger().count("commit")),
        (Success, 1),
        "{ended:?}"
    );
}
