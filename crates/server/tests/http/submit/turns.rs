//! Submissions of one app to the App Store take turns: the others wait and say for which one, and none reports success
//! for a build that customers do not have.

use launchway_app_store_simulator::{ByHand, Fault, Kind, Outcome, Settings, When};
use launchway_domain::id::SubmissionId;
use launchway_domain::platform::Platform;
use launchway_domain::time::{MINUTE, SECOND};
use launchway_os::clock::Clock;
use launchway_store::Turn;
use reqwest::Method;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::stage::app_stores::{Death, IPA, VISION, changed_ipa, counts, id_of, settings_with_encryption_answered};
use crate::support::{Fields, Says, Setup};

const FAR: i64 = 1 << 50;

/// The fixture's app with another version and build number of the same length.
pub fn renumbered(version: &str, build: &str) -> Vec<u8> {
    changed_ipa(|name, bytes| {
        if name == "Payload/Example.app/Info.plist" {
            for (old, new) in [("U1.2.3", format!("U{version}")), ("R42X", format!("R{build}X"))] {
                let at = bytes.windows(old.len()).position(|part| part == old.as_bytes()).unwrap();
                bytes[at..at + old.len()].copy_from_slice(new.as_bytes());
            }
        }
        true
    })
}

fn quick() -> Settings {
    Settings {
        processing: 20 * SECOND,
        review: 2 * MINUTE,
        phased_day: 10 * MINUTE,
        ..settings_with_encryption_answered()
    }
}

async fn stage() -> Stage {
    Stage::new().app_stores_with(quick()).await
}

async fn submit(stage: &Stage, build: &str) -> SubmissionId {
    let body = json!({"buildId": build, "destination": "app_store"});
    id_of(&stage.submit(body).await.created())
}

/// Blocks all work on a submission, or unblocks it.
async fn freeze(stage: &Stage, id: SubmissionId, until: Option<i64>) {
    let mut tx = stage.app.db.write().await.unwrap();
    tx.org(stage.org).hold_submission(id, until).await.unwrap();
    tx.commit().await.unwrap();
}

/// Works until a submission has ended or waits for its turn. Returns its state.
async fn until_it_waits(stage: &mut Stage, id: SubmissionId) -> Value {
    stage.until_so(id, |record| record.events.last().is_some_and(|event| event.message.contains("waits"))).await;
    stage.read(id).await
}

fn last_event(view: &Value) -> &str {
    view["events"].as_array().unwrap().last().unwrap().text("message")
}

fn released(stage: &Stage) -> Vec<String> {
    let ledger = stage.ledger();
    let entries = ledger.entries().iter().filter(|entry| entry.what == "released_build");
    entries.map(|entry| entry.subject.clone()).collect()
}

/// Works on a submission until the scheduled death, or until it is in review.
async fn until_it_dies(stage: &mut Stage, id: SubmissionId) {
    loop {
        stage.work().await;
        let record = stage.record(id).await.unwrap();
        let is_there = record.state.status.as_str() == "in_review" || record.state.status.is_final();
        if stage.has_died() || is_there {
            return;
        }
        let wait = record.work.due_at.unwrap() - stage.clock.now();
        stage.advance(wait.max(0));
    }
}

async fn has_its_turn(stage: &Stage, id: SubmissionId) -> bool {
    let bundle = "com.example.app".parse().unwrap();
    let turn = Turn { bundle: &bundle, platform: Platform::Ios, part: "version", after_others: false };
    let mut tx = stage.app.db.read().await.unwrap();
    tx.system("a test").has_app_store_turn(turn, id).await.unwrap()
}

async fn two_builds(stage: &mut Stage, second: &[u8]) -> [String; 2] {
    let seven = stage.built(Platform::Ios, &[("App.ipa", IPA)]).await;
    [seven, stage.built(Platform::Ios, &[("App.ipa", second)]).await]
}

/// The first is interrupted at each of its calls; the second then runs as far as it can. A version goes live once, so
/// two builds of one version need a new store for each call.
async fn interrupted_at_every_call(setup: fn() -> Setup, second: &[u8], code: Option<&str>) {
    let mut stage = Stage::new().with(setup()).app_stores().await;
    let mut builds = two_builds(&mut stage, second).await;
    let mut waited = 0;
    let mut call = 0;
    loop {
        if call > 0 && code.is_some() {
            stage = Stage::new().with(setup()).app_stores().await;
            builds = two_builds(&mut stage, second).await;
        }
        let [seven, eight] = &builds;
        stage.open_stores(quick());
        let (first, other) = (submit(&stage, seven).await, submit(&stage, eight).await);
        freeze(&stage, other, Some(FAR)).await;
        // The calls before the version is created affect only the first.
        stage.until_so(first, |record| record.external.contains_key("buildId")).await;
        stage.dies(Some(Death::Before(call)));
        until_it_dies(&mut stage, first).await;
        if !stage.has_died() {
            stage.dies(None);
            break;
        }
        if !has_its_turn(&stage, first).await {
            // The other one would go first, and its higher build number would block the first in the following rounds.
            stage.post(&stage.key, &format!("/submit/cancel?id={other}"), ()).await.ok();
            assert_eq!(stage.ended(first).await["status"], "success");
            call += 1;
            continue;
        }
        freeze(&stage, first, Some(FAR)).await;
        freeze(&stage, other, None).await;
        let there = until_it_waits(&mut stage, other).await;
        waited += usize::from(last_event(&there).contains(&first.to_string()));
        freeze(&stage, first, None).await;
        let (first, other) = (stage.ended(first).await, stage.ended(other).await);
        let live = released(&stage);
        for done in [&first, &other] {
            let number = done.text("buildNumber").to_owned();
            assert_eq!(done["status"] == "success", live.contains(&number), "call {call}: {live:?} {done:#}");
        }
        match code {
            None => assert_eq!((&first["status"], &other["status"]), (&json!("success"), &json!("success"))),
            Some(code) => {
                let failed = [&first, &other].map(|done| done["error"]["code"].clone());
                assert!(failed.contains(&json!(code)), "call {call}: {failed:?}");
                assert_eq!(live.len(), 1);
            }
        }
        call += 1;
    }
    assert!(waited >= 5, "{call} calls, {waited} waits");
}

#[tokio::test]
async fn two_builds_of_one_version_whose_steps_mix() {
    interrupted_at_every_call(Setup::default, &renumbered("1.2.3", "43"), Some("VERSION_LIVE")).await;
}

#[tokio::test]
async fn two_versions_whose_steps_mix() {
    interrupted_at_every_call(Setup::default, &renumbered("1.2.4", "43"), None).await;
}

#[tokio::test]
async fn on_postgres_too() {
    interrupted_at_every_call(Setup::on_postgres, &renumbered("1.2.4", "43"), None).await;
}

#[tokio::test]
async fn platforms_of_one_app_do_not_wait_for_each_other() {
    let mut stage = stage().await;
    let ios = stage.submitted("App.ipa", IPA, json!({"destination": "app_store"})).await;
    stage.until(ios, "in_review").await;
    let vision = stage.submitted("Vision.ipa", VISION, json!({"destination": "app_store"})).await;
    stage.until(vision, "in_review").await;
    assert_eq!(stage.read(ios).await["status"], "in_review");
    assert_eq!(stage.ended(vision).await["status"], "success");
    assert_eq!(stage.ended(ios).await["status"], "success");
}

#[tokio::test]
async fn testflight_does_not_wait_for_the_app_store() {
    let mut stage = stage().await;
    let live = stage.submitted("App.ipa", IPA, json!({"destination": "app_store"})).await;
    stage.until(live, "in_review").await;
    let fields = json!({"destination": "testflight"});
    let beta = stage.submitted("App.ipa", &renumbered("1.2.4", "43"), fields).await;
    assert_eq!(stage.ended(beta).await["status"], "success");
    assert_eq!(stage.read(live).await["status"], "in_review");
}

/// However the first one ends, the next one gets its turn.
#[tokio::test]
async fn a_submission_that_ends_in_any_way_frees_its_turn() {
    for end in ["cancel", "delete", "reject", "fail"] {
        let mut stage = stage().await;
        if end == "reject" {
            stage.stores().decide(&[Outcome::Reject]);
        }
        if end == "fail" {
            stage.stores().order(Fault {
                when: When::Matching { method: "POST".into(), path: "/v1/reviewSubmissionItems".into(), times: 1 },
                kind: Kind::Status(422),
            });
        }
        let fields = json!({"destination": "app_store"});
        let first = stage.submitted("App.ipa", IPA, fields.clone()).await;
        let next = stage.submitted("App.ipa", &renumbered("1.2.3", "43"), fields).await;
        freeze(&stage, next, Some(FAR)).await;
        let there = stage.until_so(first, |record| record.external.contains_key("appStoreVersionId")).await;
        freeze(&stage, next, None).await;
        if !there.state.status.is_final() {
            let waits = until_it_waits(&mut stage, next).await;
            assert_eq!(waits["status"], "processing");
            let wanted = format!("This submission waits until {first} (version 1.2.3, build 42) is released");
            assert!(last_event(&waits).starts_with(&wanted), "{end}: {waits:#}");
        }
        let ends = match end {
            "cancel" => Some((Method::POST, format!("/submit/cancel?id={first}"))),
            "delete" => Some((Method::DELETE, format!("/submit?id={first}"))),
            _ => None,
        };
        if let Some((method, path)) = ends {
            stage.send(&stage.key, method, &path, ()).await.ok();
        }
        let done = stage.ended(next).await;
        assert_eq!(done["status"], "success", "{end}: {done:#}");
        assert_eq!(released(&stage), ["43"], "{end}");
        let told = done["events"].as_array().unwrap().iter();
        let waits = told.filter(|event| event.text("message").contains("waits until"));
        assert!(waits.count() <= 1, "{end}: what is awaited is told once");
    }
}

/// The person in App Store Connect is faster than the review.
#[tokio::test]
async fn a_build_put_in_its_place_by_hand_fails_the_submission() {
    let mut stage = stage().await;
    let id = stage.submitted("App.ipa", IPA, json!({"destination": "app_store"})).await;
    stage.until(id, "in_review").await;
    let swapped = ByHand {
        bundle_id: "com.example.app".to_owned(),
        platform: "ios".to_owned(),
        version: "1.2.3".to_owned(),
        build_number: "8".to_owned(),
        attach: true,
    };
    stage.stores().by_hand(&swapped).unwrap();
    let failed = stage.ended(id).await;
    assert_eq!((&failed["status"], &failed["error"]["code"]), (&json!("failed"), &json!("CONFLICT")), "{failed:#}");
    let message = failed["error"].text("message");
    message.says("1.2.3");
    message.says("instead of this submission's build");
}

/// An older node takes no turn for a submission in review.
#[tokio::test]
async fn what_is_in_review_without_a_turn_is_waited_for() {
    let mut stage = stage().await;
    let theirs = stage.submitted("App.ipa", IPA, json!({"destination": "app_store"})).await;
    stage.until(theirs, "in_review").await;
    let now = stage.clock.now();
    let mut tx = stage.app.db.write().await.unwrap();
    tx.system("a test").end_app_store_turns(theirs, None, now).await.unwrap();
    tx.commit().await.unwrap();
    let fields = json!({"destination": "app_store"});
    let ours = stage.submitted("App.ipa", &renumbered("1.2.4", "43"), fields).await;
    let waits = until_it_waits(&mut stage, ours).await;
    assert!(last_event(&waits).contains(&theirs.to_string()), "{waits:#}");
    assert_eq!(stage.ended(theirs).await["status"], "success");
    assert_eq!(stage.ended(ours).await["status"], "success");
    assert_eq!(released(&stage), ["42", "43"]);
}

#[tokio::test]
async fn many_that_wait_for_one_app_go_in_their_order() {
    let mut stage = stage().await;
    let build = stage.built(Platform::Ios, &[("App.ipa", IPA)]).await;
    let first = submit(&stage, &build).await;
    stage.until(first, "in_review").await;
    let mut made = vec![first];
    for _ in 1..100 {
        // Ids increase with time.
        stage.advance(1);
        made.push(submit(&stage, &build).await);
    }
    // The order is that of waiting submissions, so all of them wait before the first is released, however long ago its review ended.
    freeze(&stage, first, Some(FAR)).await;
    for id in &made[1..] {
        stage.until_so(*id, |record| record.events.last().unwrap().message.contains("waits until")).await;
    }
    assert_eq!(stage.read(first).await["status"], "in_review");
    freeze(&stage, first, None).await;
    let mut ended: Vec<(String, SubmissionId)> = Vec::new();
    for id in made.clone() {
        let done = stage.succeeded(id).await;
        ended.push((done.text("finishedAt").to_owned(), id));
    }
    ended.sort();
    let order: Vec<_> = ended.into_iter().map(|(_, id)| id).collect();
    assert_eq!(order, made);
    assert_eq!(counts(&stage.ledger(), ["upload", "review", "release"]), [1, 1, 1]);
}
