//! Submissions to the tracks of Google Play, from start to end.

use launchway_app_store_simulator::{Fault, Kind, Outcome, When};
use launchway_app_stores::google_play::{GooglePlay, Progress, Stage};
use launchway_app_stores::{Clock, NextStep, Release, Step};
use launchway_domain::platform::Platform;
use launchway_domain::submission::SubmissionStatus::{self, Failed, Queued, Rejected, RollingOut, Success};
use launchway_domain::submission::error::SubmissionErrorCode as Code;
use launchway_domain::time::{HOUR, MINUTE};

use crate::driver::{drive, to_end};
use crate::stand::{NOW, Stand, notes, release, settings, symbols};

/// Larger than the granularity of chunks, so that half of a chunk can be kept.
const SIZE: usize = 600_000;

pub fn staged() -> Release {
    let mut release = release(Platform::Android, "production", 42, SIZE);
    release.notes = notes();
    release.rollout = Some(20);
    release.options.symbols = symbols();
    release.options.priority = Some(3);
    release.options.countries = vec!["DE".to_owned(), "FR".to_owned()];
    release.options.name = Some("Autumn".to_owned());
    release
}

pub fn is_staged(step: &Step<Progress>) -> bool {
    step.progress.stage == Stage::Rollout && step.next == launchway_app_stores::NextStep::Later
}

pub async fn to_stage(stand: &Stand, release: &Release) -> crate::driver::Ended<Progress> {
    drive::<GooglePlay>(stand, release, Progress::default(), Queued, is_staged).await
}

#[tokio::test]
async fn binaries_go_to_every_kind_of_track() {
    for (track, file, reviewed) in [
        ("internal", "App.aab", false),
        ("internal", "App.apk", false),
        ("alpha", "App.aab", true),
        ("friends", "App.APK", true),
        ("production", "App.aab", true),
    ] {
        let stand = Stand::new();
        let mut wanted = release(Platform::Android, track, 42, SIZE);
        wanted.file_name = file.to_owned();
        wanted.options.symbols = symbols();
        let ended = to_end::<GooglePlay>(&stand, &wanted).await;
        assert_eq!(ended.status, Success, "{track} {ended:?}");
        let ledger = stand.ledger();
        for what in ["upload", "commit", "release", "track"] {
            assert_eq!(ledger.count(what), 1, "{what} {ledger:?}");
        }
        assert_eq!(stand.clock.now() - NOW > 20 * MINUTE, reviewed, "{track}");
    }
}

#[tokio::test]
async fn a_staged_release_keeps_what_everybody_has() {
    let stand = Stand::new();
    let ended = to_stage(&stand, &staged()).await;
    assert_eq!(ended.status, RollingOut, "{ended:?}");
    let track = stand
        .transport
        .notes
        .lock()
        .unwrap()
        .iter()
        .rev()
        .find(|note| note.method == "PUT" && note.url.contains("/tracks/"))
        .unwrap()
        .body
        .clone();
    let track: serde_json::Value = serde_json::from_slice(&track).unwrap();
    let own = &track["releases"][0];
    assert_eq!(own["status"], "inProgress");
    assert_eq!(own["userFraction"], 0.2);
    assert_eq!(own["versionCodes"], serde_json::json!(["42"]));
    assert_eq!(own["inAppUpdatePriority"], 3);
    assert_eq!(own["countryTargeting"]["countries"], serde_json::json!(["DE", "FR"]));
    assert_eq!(own["releaseNotes"][1]["text"], "Schneller.");
    assert_eq!(track["releases"][1]["versionCodes"], serde_json::json!(["40"]));
}

#[tokio::test]
async fn a_rejected_release_is_told_and_can_be_sent_again() {
    let stand = Stand::new();
    stand.simulator.decide(&[Outcome::Reject]);
    let wanted = release(Platform::Android, "production", 42, SIZE);
    let ended = to_end::<GooglePlay>(&stand, &wanted).await;
    assert_eq!(ended.status, Rejected, "{ended:?}");
    // The response to the second commit is lost, and no third commit follows.
    stand.simulator.order(Fault {
        when: When::Matching {
            method: "POST".into(),
            path: ":commit".into(),
            times: 1,
        },
        kind: Kind::Lost,
    });
    let again = ended.progress.for_retry();
    let ended = drive::<GooglePlay>(&stand, &wanted, again, Queued, |_| false).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    let ledger = stand.ledger();
    assert_eq!(
        (ledger.count("upload"), ledger.count("commit"), ledger.count("release")),
        (1, 2, 1)
    );
}

#[tokio::test]
async fn a_draft_ends_in_the_console() {
    let mut settings = settings();
    settings.google_play[0].draft = true;
    settings.google_play[0].live = None;
    let stand = Stand::with(settings);
    let mut wanted = release(Platform::Android, "production", 42, SIZE);
    let ended = to_end::<GooglePlay>(&stand, &wanted).await;
    assert_eq!(ended.error.map(|error| error.code), Some(Code::DraftApp));
    wanted.options.draft = true;
    let ended = to_end::<GooglePlay>(&stand, &wanted).await;
    assert_eq!((ended.status, stand.ledger().count("release")), (Success, 0));
}

#[tokio::test]
async fn another_review_is_waited_for_and_not_canceled() {
    let stand = Stand::new();
    stand.simulator.other_review(crate::stand::APP, NOW + 30 * HOUR);
    let ended = to_end::<GooglePlay>(&stand, &release(Platform::Android, "beta", 42, SIZE)).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    assert_eq!(stand.ledger().count("review_canceled"), 0);
    // Waiting is reported once, however often the status is polled.
    let said = ended
        .messages
        .iter()
        .filter(|told| told.contains("waits for it to end"));
    assert_eq!(said.count(), 1, "{:?}", ended.messages);
    assert!(stand.clock.now() > NOW + 30 * HOUR);
}

/// Each commit discards the edits of all that wait.
#[tokio::test]
async fn any_number_of_releases_waits_behind_one_review() {
    let stand = Stand::new();
    stand.simulator.other_review(crate::stand::APP, NOW + HOUR);
    let mut waiting: Vec<_> = (42..56)
        .map(|code| {
            (
                NOW,
                release(Platform::Android, "beta", code, 1_000),
                Progress::default(),
            )
        })
        .collect();
    let mut ended = 0;
    while let Some(next) = (0..waiting.len()).min_by_key(|place| waiting[*place].0) {
        let (due, wanted, mut progress) = waiting.remove(next);
        stand.clock.set(due.max(stand.clock.now()));
        loop {
            let step = stand.google_play().step(&wanted, &progress).await;
            let step = step.unwrap_or_else(|failure| panic!("{} after {ended}: {failure:?}", wanted.build_number));
            progress = step.progress;
            let pause = match step.next {
                NextStep::Now => continue,
                NextStep::Later => MINUTE,
                NextStep::AfterOtherReview => 10 * MINUTE,
                NextStep::Never => {
                    assert_eq!(step.status, Success, "{progress:?}");
                    ended += 1;
                    break;
                }
            };
            waiting.push((stand.clock.now() + pause, wanted, progress));
            break;
        }
    }
    assert_eq!(
        (ended, stand.ledger().count("commit"), stand.ledger().count("release")),
        (14, 14, 14)
    );
}

#[tokio::test]
async fn an_approved_release_that_a_person_must_publish_says_so() {
    let stand = Stand::new();
    stand.simulator.manage_publishing(crate::stand::APP);
    let wanted = release(Platform::Android, "production", 42, SIZE);
    let is_told = |step: &Step<Progress>| {
        step.message
            .as_deref()
            .is_some_and(|told| told.contains("Publish it in"))
    };
    let ended = drive::<GooglePlay>(&stand, &wanted, Progress::default(), Queued, is_told).await;
    assert_eq!(ended.status, SubmissionStatus::InReview, "{ended:?}");
    // It is said once, however often the status is polled.
    let waits = |_: &Step<Progress>| true;
    let ended = drive::<GooglePlay>(&stand, &wanted, ended.progress, SubmissionStatus::InReview, waits).await;
    assert_eq!(
        (ended.messages.len(), stand.ledger().count("release")),
        (0, 0),
        "{ended:?}"
    );
    stand.simulator.publish(crate::stand::APP);
    let ended = drive::<GooglePlay>(&stand, &wanted, ended.progress, SubmissionStatus::InReview, |_| false).await;
    assert_eq!(
        (ended.status, stand.ledger().count("release")),
        (Success, 1),
        "{ended:?}"
    );
}

#[tokio::test]
async fn a_change_by_somebody_else_costs_only_another_edit() {
    let stand = Stand::new();
    let wanted = release(Platform::Android, "beta", 42, SIZE);
    let before_commit = |step: &Step<Progress>| step.progress.stage == Stage::Commit;
    let ended = drive::<GooglePlay>(&stand, &wanted, Progress::default(), Queued, before_commit).await;
    stand.simulator.change_app_elsewhere(crate::stand::APP);
    let ended = drive::<GooglePlay>(&stand, &wanted, ended.progress, SubmissionStatus::Processing, |_| false).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    assert_eq!((stand.ledger().count("upload"), stand.ledger().count("commit")), (1, 1));
}

#[tokio::test]
async fn what_the_store_refuses_is_told_with_what_to_do() {
    for (number, change, code) in [
        (
            40,
            &(|_: &mut Release| {}) as &dyn Fn(&mut Release),
            Code::BuildNumberUsed,
        ),
        (
            42,
            &|release: &mut Release| release.bundle_id = "com.example.other".to_owned(),
            Code::AppNotFound,
        ),
        (
            42,
            &|release: &mut Release| release.build_number = "43".to_owned(),
            Code::BuildNumberMismatch,
        ),
        (
            42,
            &|release: &mut Release| release.build_number = "x".to_owned(),
            Code::VersionMalformed,
        ),
        (
            42,
            &|release: &mut Release| release.options.changes_not_sent_for_review = true,
            Code::ReviewAutomatic,
        ),
    ] {
        let stand = Stand::new();
        let mut wanted = release(Platform::Android, "production", number, SIZE);
        change(&mut wanted);
        let ended = to_end::<GooglePlay>(&stand, &wanted).await;
        assert_eq!(
            (ended.status, ended.error.as_ref().map(|error| error.code)),
            (Failed, Some(code)),
            "{ended:?}"
        );
        assert_eq!(stand.ledger().count("commit"), 0);
    }
    let stand = Stand::new();
    let ended = to_end::<GooglePlay>(&stand, &release(Platform::Android, "nowhere", 42, SIZE)).await;
    assert_eq!(ended.error.map(|error| error.code), Some(Code::TrackNotFound));
}

#[tokio::test]
async fn an_account_that_the_store_does_not_know_is_told() {
    let mut settings = settings();
    settings.accounts.remove(1);
    let stand = Stand::with(settings);
    let ended = to_end::<GooglePlay>(&stand, &staged()).await;
    assert_eq!(ended.error.unwrap().code, Code::CredentialInvalid);
}
