//! Two submissions of one app, and a concurrent person: whatever the order of their requests, none reports success for
//! a build that customers do not have.

use launchway_app_store_simulator::ByHand;
use launchway_app_stores::app_store::{AppStoreConnect, Progress, Stage};
use launchway_app_stores::{NextStep, Release};
use launchway_domain::submission::SubmissionStatus::{Failed, Processing, Success};
use launchway_domain::submission::error::SubmissionErrorCode as Code;

use crate::driver::drive;
use crate::faults::quick;
use crate::stand::{APP, Stand, release};

fn numbered(number: i64, version: &str) -> Release {
    let mut release = release(launchway_domain::platform::Platform::Ios, "app_store", number, 300);
    release.version = version.to_owned();
    release.options.uses_non_exempt_encryption = Some(false);
    release
}

fn by_hand(version: &str, number: &str, attach: bool) -> ByHand {
    ByHand {
        bundle_id: APP.to_owned(),
        platform: "ios".to_owned(),
        version: version.to_owned(),
        build_number: number.to_owned(),
        attach,
    }
}

/// App stores whose binaries have no facts, and a submission of each build, uploaded and processed.
async fn prepared(builds: [(i64, &str); 2]) -> (Stand, [Release; 2], [Progress; 2]) {
    let mut settings = quick();
    settings.read_binary = None;
    // Verifying signatures takes most of the time and is not tested here.
    settings.accounts.clear();
    let stand = Stand::with(settings);
    let releases = builds.map(|(number, version)| numbered(number, version));
    let mut reached = Vec::new();
    for release in &releases {
        let at_version = |step: &launchway_app_stores::Step<Progress>| step.progress.stage == Stage::Version;
        let ended = drive::<AppStoreConnect>(&stand, release, Progress::default(), Processing, at_version).await;
        assert_eq!(ended.progress.stage, Stage::Version, "{ended:?}");
        reached.push(ended.progress);
    }
    (stand, releases, reached.try_into().unwrap())
}

/// One step with a request, and the steps without one before it. `false`: it waits, or cannot continue.
async fn step(client: &AppStoreConnect, stand: &Stand, release: &Release, progress: &mut Progress) -> bool {
    let before = stand.simulator.calls();
    while stand.simulator.calls() == before {
        match client.step(release, progress).await {
            Ok(step) => {
                *progress = step.progress;
                if step.next != NextStep::Now {
                    return false;
                }
            }
            Err(_) => return false,
        }
    }
    true
}

/// Drives both to their end, and checks the outcome of each.
async fn end(stand: &Stand, releases: &[Release; 2], reached: [Progress; 2], order: &[usize]) {
    let mut succeeded = Vec::new();
    for (release, progress) in releases.iter().zip(reached) {
        let ended = drive::<AppStoreConnect>(stand, release, progress, Processing, |_| false).await;
        if ended.status == Success {
            succeeded.push(release.build_number.clone());
        } else {
            let code = ended.error.as_ref().map(|error| error.code);
            assert!(
                matches!(
                    code,
                    Some(Code::Conflict | Code::VersionLive | Code::StoreRefused | Code::MetadataMissing)
                ),
                "{order:?}: {ended:?}"
            );
        }
    }
    let ledger = stand.ledger();
    let released: Vec<_> = ledger
        .entries()
        .iter()
        .filter(|entry| entry.what == "released_build")
        .map(|entry| entry.subject.clone())
        .collect();
    for build in succeeded {
        assert!(released.contains(&build), "{order:?}: {build} is not live: {ledger:?}");
    }
}

/// All interleavings of two sequences of these lengths.
fn orders(left: [usize; 2]) -> Vec<Vec<usize>> {
    if left == [0, 0] {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for who in [0, 1] {
        if left[who] > 0 {
            let mut rest = left;
            rest[who] -= 1;
            for mut order in orders(rest) {
                order.insert(0, who);
                all.push(order);
            }
        }
    }
    all
}

async fn in_every_order(builds: [(i64, &str); 2]) {
    // Version, build, review, its item, its submission.
    for order in orders([5, 5]) {
        let (stand, releases, mut reached) = prepared(builds).await;
        let clients = [stand.app_store(), stand.app_store()];
        for who in &order {
            step(&clients[*who], &stand, &releases[*who], &mut reached[*who]).await;
        }
        end(&stand, &releases, reached, &order).await;
    }
}

#[tokio::test]
async fn two_builds_of_one_version_in_every_order_of_their_steps() {
    in_every_order([(7, "1.2.0"), (8, "1.2.0")]).await;
}

#[tokio::test]
async fn builds_of_two_versions_in_every_order_of_their_steps() {
    in_every_order([(7, "1.2.0"), (8, "1.3.0")]).await;
}

/// A person attaches another build after this many steps.
#[tokio::test]
async fn a_build_that_a_person_attaches_is_not_reported_as_this_one() {
    let mut conflicts = 0;
    for steps in 2..=7 {
        let (stand, [release, _], [mut progress, _]) = prepared([(7, "1.2.0"), (8, "1.2.0")]).await;
        let client = stand.app_store();
        for _ in 0..steps {
            step(&client, &stand, &release, &mut progress).await;
        }
        stand.simulator.by_hand(&by_hand("1.2.0", "8", true)).unwrap();
        let ended = drive::<AppStoreConnect>(&stand, &release, progress, Processing, |_| false).await;
        match ended.error.as_ref().map(|error| error.code) {
            // The person was faster than this submission.
            None => assert_eq!((steps, ended.status), (2, Success)),
            code => {
                assert_eq!(
                    (code, ended.status),
                    (Some(Code::Conflict), Failed),
                    "{steps}: {ended:?}"
                );
                assert!(
                    ended
                        .error
                        .unwrap()
                        .message
                        .contains("instead of this submission's build")
                );
                conflicts += 1;
            }
        }
    }
    assert_eq!(conflicts, 5);
}

/// Nothing is sent to review if the version no longer matches the submission.
#[tokio::test]
async fn a_version_changed_before_review_waits_for_a_retry() {
    let (stand, [release, _], [progress, _]) = prepared([(7, "1.2.0"), (8, "1.2.0")]).await;
    let at_submit = |step: &launchway_app_stores::Step<Progress>| step.progress.stage == Stage::SubmitReview;
    let ended = drive::<AppStoreConnect>(&stand, &release, progress, Processing, at_submit).await;
    stand.simulator.by_hand(&by_hand("1.2.0", "8", true)).unwrap();
    let ended = drive::<AppStoreConnect>(&stand, &release, ended.progress, Processing, |_| false).await;
    assert_eq!(
        ended.error.as_ref().map(|error| error.code),
        Some(Code::Conflict),
        "{ended:?}"
    );
    assert_eq!(stand.ledger().count("review"), 0);
    let again = ended.progress.for_retry(&release);
    let ended = drive::<AppStoreConnect>(&stand, &release, again, Processing, |_| false).await;
    assert_eq!(ended.status, Success, "{ended:?}");
}

#[tokio::test]
async fn a_retry_finds_a_version_that_went_live_meanwhile() {
    let (stand, [release, _], [progress, _]) = prepared([(7, "1.2.0"), (8, "1.2.0")]).await;
    let in_review = |step: &launchway_app_stores::Step<Progress>| step.progress.stage == Stage::AwaitReview;
    let ended = drive::<AppStoreConnect>(&stand, &release, progress, Processing, in_review).await;
    let released = drive::<AppStoreConnect>(&stand, &release, ended.progress.clone(), Processing, |_| false).await;
    assert_eq!(released.status, Success);
    let again = ended.progress.for_retry(&release);
    assert_eq!(again.stage, Stage::Version);
    let ended = drive::<AppStoreConnect>(&stand, &release, again, Processing, |_| false).await;
    assert_eq!(
        (ended.status, stand.ledger().count("release")),
        (Success, 1),
        "{ended:?}"
    );
}
