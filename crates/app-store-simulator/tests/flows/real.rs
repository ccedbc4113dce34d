//! Real apps through every destination: an .ipa with an executable by clang and lld (`scripts/make-linked-ipa`), one
//! for visionOS, and an .aab and .apk by the Android tools (`scripts/make-binary-fixtures`). The simulated app stores
//! read them.

use std::io::Cursor;
use std::sync::Arc;

use bytes::Bytes;
use launchway_app_store_simulator::{AppInfo, Outcome, Settings};
use launchway_app_stores::Release;
use launchway_app_stores::app_store::{AppStoreConnect, Change, Progress};
use launchway_app_stores::google_play::{GooglePlay, Target, TargetStatus};
use launchway_domain::platform::Platform;
use launchway_domain::submission::SubmissionStatus::{Halted, Queued, Rejected, RollingOut, Success};
use launchway_domain::submission::error::SubmissionErrorCode as Code;
use sha2::{Digest, Sha256};

use crate::changes::is_rolling;
use crate::driver::{drive, to_end};
use crate::google_play::is_staged;
use crate::stand::{Memory, Stand, notes, release, settings, symbols};
use crate::used_numbers::kept;

const IPA: &[u8] = include_bytes!("../fixtures/linked.ipa");
const VISIONOS: &[u8] = include_bytes!("../../../binaries/tests/fixtures/visionos.ipa");
const AAB: &[u8] = include_bytes!("../../../binaries/tests/fixtures/signed.aab");
const APK: &[u8] = include_bytes!("../../../binaries/tests/fixtures/v2.apk");

fn stand() -> Stand {
    let read = |bytes: &[u8]| {
        let facts = launchway_binaries::read(Cursor::new(bytes)).ok()?;
        Some(AppInfo {
            bundle_id: facts.bundle_id,
            version: facts.version?,
            build_number: facts.build_number?,
        })
    };
    Stand::with(Settings {
        read_binary: Some(Arc::new(read)),
        ..settings()
    })
}

/// The release has the facts of the binary.
fn app(bytes: &'static [u8], platform: Platform, file_name: &str, destination: &str) -> Release {
    let facts = launchway_binaries::read(Cursor::new(bytes)).unwrap();
    assert_eq!(facts.platforms, [platform]);
    let mut release = release(platform, destination, 42, 100);
    release.bundle_id = facts.bundle_id;
    release.version = facts.version.unwrap();
    release.build_number = facts.build_number.unwrap();
    release.file_name = file_name.to_owned();
    release.source = Arc::new(Memory(Bytes::from_static(bytes)));
    release.sha256 = hex::encode(Sha256::digest(bytes));
    release.notes = notes();
    release.options.uses_non_exempt_encryption = Some(false);
    release
}

#[tokio::test]
async fn an_ipa_goes_to_testflight_then_by_phases_to_the_app_store() {
    let stand = stand();
    let mut wanted = app(IPA, Platform::Ios, "App.ipa", "testflight");
    wanted.options.groups = ["Team", "Inside", "Outside"].map(str::to_owned).to_vec();
    let ended = to_end::<AppStoreConnect>(&stand, &wanted).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    let mut wanted = app(IPA, Platform::Ios, "App.ipa", "app_store");
    wanted.earlier = kept(&ended);
    wanted.rollout = Some(1);
    stand.simulator.decide(&[Outcome::Reject]);
    let ended = to_end::<AppStoreConnect>(&stand, &wanted).await;
    assert_eq!(ended.status, Rejected, "{ended:?}");
    let again = ended.progress.for_retry(&wanted);
    let mut ended = drive::<AppStoreConnect>(&stand, &wanted, again, Queued, is_rolling).await;
    for (change, status) in [
        (Change::Halt, Halted),
        (Change::Resume, RollingOut),
        (Change::Complete, Success),
    ] {
        stand.app_store().change(&ended.progress, change).await.unwrap();
        ended = drive::<AppStoreConnect>(&stand, &wanted, ended.progress, ended.status, is_rolling).await;
        assert_eq!(ended.status, status, "{change:?}");
    }
    let ledger = stand.ledger();
    for (what, count) in [("upload", 1), ("beta_released", 1), ("review", 2), ("release", 1)] {
        assert_eq!(ledger.count(what), count, "{what} {ledger:?}");
    }
}

#[tokio::test]
async fn an_ipa_for_visionos_goes_to_both_destinations() {
    for destination in ["testflight", "app_store"] {
        let stand = stand();
        let wanted = app(VISIONOS, Platform::Visionos, "App.ipa", destination);
        let ended = to_end::<AppStoreConnect>(&stand, &wanted).await;
        assert_eq!(ended.status, Success, "{destination} {ended:?}");
        assert_eq!(stand.ledger().count("upload"), 1);
    }
}

#[tokio::test]
async fn an_aab_and_an_apk_go_to_every_track() {
    for (bytes, file_name) in [(AAB, "App.aab"), (APK, "App.apk")] {
        for track in ["internal", "alpha", "beta", "friends", "production"] {
            let stand = stand();
            let mut wanted = app(bytes, Platform::Android, file_name, track);
            wanted.options.symbols = symbols();
            let ended = to_end::<GooglePlay>(&stand, &wanted).await;
            assert_eq!(ended.status, Success, "{file_name} {track} {ended:?}");
            assert_eq!(stand.ledger().count("release"), 1);
        }
    }
}

#[tokio::test]
async fn a_staged_aab_survives_a_rejection_and_is_rolled_out() {
    let stand = stand();
    stand.simulator.decide(&[Outcome::Reject]);
    let mut wanted = app(AAB, Platform::Android, "App.aab", "production");
    wanted.rollout = Some(10);
    let ended = to_end::<GooglePlay>(&stand, &wanted).await;
    assert_eq!(ended.status, Rejected, "{ended:?}");
    let mut ended = drive::<GooglePlay>(&stand, &wanted, ended.progress.for_retry(), Queued, is_staged).await;
    assert_eq!(ended.status, RollingOut, "{ended:?}");
    for (status, percent, wanted_status) in [
        (TargetStatus::InProgress, Some(50), RollingOut),
        (TargetStatus::Halted, Some(50), Halted),
        (TargetStatus::InProgress, Some(50), RollingOut),
        (TargetStatus::Completed, None, Success),
    ] {
        let changed = ended.progress.for_change(Target { status, percent });
        ended = drive::<GooglePlay>(&stand, &wanted, changed, ended.status, is_staged).await;
        assert_eq!(ended.status, wanted_status, "{status:?}");
    }
    assert_eq!(
        (stand.ledger().count("upload"), stand.ledger().count("release")),
        (1, 1)
    );
}

#[tokio::test]
async fn the_store_reads_what_the_binary_says() {
    let stand = stand();
    let mut wanted = app(IPA, Platform::Ios, "App.ipa", "testflight");
    wanted.build_number = "43".to_owned();
    let ended = drive::<AppStoreConnect>(&stand, &wanted, Progress::default(), Queued, |_| false).await;
    assert_eq!(ended.error.map(|error| error.code), Some(Code::ProcessingFailed));
    let wanted = app(AAB, Platform::Android, "App.aab", "beta");
    let mut other = wanted.clone();
    other.source = Arc::new(Memory(Bytes::from_static(b"no app at all")));
    other.sha256 = hex::encode(Sha256::digest(b"no app at all"));
    let ended = to_end::<GooglePlay>(&stand, &other).await;
    assert_eq!(ended.error.map(|error| error.code), Some(Code::StoreRefused));
}
