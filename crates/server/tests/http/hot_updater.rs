//! A day of an app with hot-updater's client, unmodified from npm, against a running server (`docs/reference/hot-updater.md`).

mod phone;

use launchway_domain::rollout::Rollout;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Tier;
use launchway_foreign::hot_updater::Cohort;
use serde_json::{Value, json};

use crate::foreign_stage::ForeignStage;
use crate::foreign_updates::hot_updater_bundle;
use crate::npm_client::NpmClient;
use crate::stage::BUNDLE;
use crate::support::{Fields, NOBODY, with};
use phone::Phone;

const NIL: &str = "00000000-0000-0000-0000-000000000000";

/// The id of the bundle that was made at this time.
fn id(time: u32) -> String {
    format!("0190a8c6-0000-7000-8000-{time:012}")
}

async fn release(stage: &ForeignStage, time: u32, fields: Value) -> Value {
    let fields = with(json!({"configuration": "production", "version": format!("1.0.{time}")}), &fields);
    hot_updater_bundle(&stage.app, &stage.key, &id(time), fields).await.created()
}

/// The first cohort that a rollout of a bundle reaches or leaves out, by the client's own permutation.
fn cohort(time: u32, percent: u8, is_reached: bool) -> u16 {
    let rollout = Rollout::new(percent).unwrap();
    let reached = |number: &u16| Cohort::Number(*number).is_reached(&id(time), rollout);
    (1..=1000).find(|number| reached(number) == is_reached).unwrap()
}

fn update(time: u32) -> (String, String) {
    ("UPDATE".to_owned(), id(time))
}

fn rollback(time: u32) -> (String, String) {
    ("ROLLBACK".to_owned(), id(time))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_with_hot_updater_lives_through_a_day() {
    let mut client = NpmClient::install("hot-updater");
    a_day(&ForeignStage::start().await, &mut client).await;
    a_day(&ForeignStage::on_postgres_and_s3().await, &mut client).await;
}

async fn a_day(stage: &ForeignStage, client: &mut NpmClient) {
    let phone = |cohort| Phone::new(&stage.app.origin, &id(10), cohort);
    let mut first = phone(1);
    assert_eq!(first.check(client), Value::Null, "nothing is published");

    release(stage, 20, json!({"releaseNotes": "First"})).await;
    let offered = first.check(client);
    assert_eq!((offered.text("message"), &offered["shouldForceUpdate"]), ("First", &json!(false)));
    assert_eq!(first.sync(client), update(20));
    assert_eq!(first.check(client), Value::Null, "it runs the newest");

    // A staged rollout, raised and lowered again: who has it keeps it.
    let second = release(stage, 30, json!({"rollout": 30})).await;
    let mut early = phone(cohort(30, 30, true));
    let mut late = phone(cohort(30, 90, false));
    assert_eq!((early.sync(client), late.sync(client)), (update(30), update(20)));
    stage.change(&second, json!({"rollout": 100})).await;
    assert_eq!(late.check(client)["id"], id(30));
    stage.change(&second, json!({"rollout": 1})).await;
    assert_eq!(early.check(client), Value::Null);
    stage.change(&second, json!({"rollout": 100})).await;

    let third = release(stage, 40, json!({"mandatory": true})).await;
    assert_eq!(late.check(client)["shouldForceUpdate"], true);

    // A pause: holders keep it, others get the one below. A withdrawal: holders leave it.
    let fourth = release(stage, 50, json!({})).await;
    assert_eq!(first.sync(client), update(50));
    stage.change(&fourth, json!({"status": "paused"})).await;
    assert_eq!(first.check(client), Value::Null);
    assert_eq!(late.check(client)["id"], id(40));
    stage.change(&fourth, json!({"status": "withdrawn"})).await;
    assert_eq!(first.sync(client), rollback(40));
    assert_eq!(first.check(client), Value::Null, "it is told once");
    stage.change(&third, json!({"status": "withdrawn"})).await;
    assert_eq!(first.sync(client), rollback(30));

    // Back to the built-in content, and away from it again.
    stage.back_to_built_in(json!({"configuration": "production"})).await;
    assert_eq!(first.sync(client), ("ROLLBACK".to_owned(), NIL.to_owned()));
    assert_eq!((first.running(), first.check(client)), (&Value::Null, Value::Null));
    release(stage, 60, json!({})).await;
    assert_eq!(first.sync(client), update(60));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bundle_reaches_apps_of_its_channel_and_range() {
    let mut client = NpmClient::install("hot-updater");
    let stage = ForeignStage::start().await;
    let mut phone = Phone::new(&stage.app.origin, &id(10), 7);
    // A fleet that another server led: nothing here takes its bundles away.
    phone.set("running", id(70));
    assert_eq!(phone.check(&mut client), Value::Null, "no such app");
    release(&stage, 5, json!({})).await;
    release(&stage, 20, json!({"binaryRange": "^2.0.0"})).await;
    assert_eq!(phone.check(&mut client), Value::Null, "it only goes up");
    phone.set("running", Value::Null);
    assert_eq!(phone.check(&mut client), Value::Null, "one is older than the app, the other for another app");
    phone.set("appVersion", "2.1.0");
    assert_eq!(phone.check(&mut client)["id"], id(20));

    release(&stage, 30, json!({"configuration": "beta", "fingerprint": "native-1"})).await;
    assert_eq!(phone.check_channel(&mut client, Some("beta")), Value::Null, "it is for a fingerprint");
    phone.set("fingerprint", "native-1");
    assert_eq!(phone.check_channel(&mut client, Some("beta"))["id"], id(30));
    phone.set("fingerprint", "native-2");
    assert_eq!(phone.check_channel(&mut client, Some("beta")), Value::Null);
    phone.set("platform", "ios");
    assert_eq!(phone.check(&mut client), Value::Null);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_last_bundle_that_is_withdrawn_leads_to_built_in() {
    let mut client = NpmClient::install("hot-updater");
    let stage = ForeignStage::start().await;
    let only = release(&stage, 20, json!({})).await;
    let mut phone = Phone::new(&stage.app.origin, &id(10), 7);
    phone.sync(&mut client);
    stage.change(&only, json!({"status": "withdrawn"})).await;
    assert_eq!(phone.sync(&mut client), ("ROLLBACK".to_owned(), NIL.to_owned()));
    assert_eq!(phone.check(&mut client), Value::Null);
    phone.set("minBundleId", "no-uuid");
    assert!(!phone.error(&mut client).is_empty());
}

#[tokio::test]
async fn hostile_paths_are_answered_in_hot_updaters_words() {
    let stage = ForeignStage::start().await;
    let app = &stage.app;
    release(&stage, 20, json!({})).await;
    let base = format!("{}/hot-updater/{BUNDLE}", app.origin);
    let of = |value: &str, current: &str| format!("{base}/app-version/android/{value}/production/{}/{current}", id(10));
    for (path, status) in [
        (of("1.2.0", &id(20)), 200),
        (of("%FF", &id(10)), 200),
        (of(&"1".repeat(3000), &id(10)), 404),
        (of("1.2.0", "v3"), 400),
        (of("1.2.0", &id(10)).replace("android", "web"), 400),
        (format!("{base}/version"), 404),
        (format!("{}/hot-updater/{BUNDLE}", app.origin), 404),
    ] {
        let answer = app.get(NOBODY, &path).await;
        assert_eq!(answer.status.as_u16(), status, "{path}");
        if status != 200 {
            assert!(answer.text().starts_with("{\"error\":"), "{path}");
        }
    }
    // Older clients know no other word for it.
    assert_eq!(app.get(NOBODY, &of("1.2.0", &id(20))).await.ok(), Value::Null);
    let request = app.request(reqwest::Method::GET, &of("1.2.0", &id(20)));
    let answer = request.header("Hot-Updater-SDK-Version", "0.31.0").send().await.unwrap();
    assert_eq!(answer.json::<Value>().await.unwrap(), json!({"status": "UP_TO_DATE"}));
}

#[tokio::test]
async fn apps_with_a_key_get_the_signature_of_a_bundle() {
    let stage = ForeignStage::start().await;
    release(&stage, 20, json!({"fileHash": "sig:c2lnbmF0dXJl"})).await;
    let path =
        format!("{}/hot-updater/{BUNDLE}/app-version/android/1/production/{}/{}", stage.app.origin, id(10), id(10));
    assert_eq!(stage.app.get(NOBODY, &path).await.ok()["fileHash"], "sig:c2lnbmF0dXJl");
}

#[tokio::test]
async fn bundles_of_others_are_theirs() {
    let stage = ForeignStage::start().await;
    let other = stage.app.org(Tier::Enterprise).await;
    let theirs = stage.app.key(other, &[Scope::Update]).await;
    let fields = json!({"bundleId": "com.example.theirs", "configuration": "production"});
    hot_updater_bundle(&stage.app, &theirs, &id(20), fields).await.created();
    let check = format!("app-version/android/1.2.0/production/{}/{}/7", id(10), id(10));
    let of = |bundle: &str| format!("{}/hot-updater/{bundle}/{check}", stage.app.origin);
    assert_eq!(stage.app.get(NOBODY, &of(BUNDLE)).await.ok(), Value::Null);
    assert_eq!(stage.app.get(NOBODY, &of("com.example.theirs")).await.ok()["id"], id(20));
}

#[tokio::test]
async fn checks_of_hot_updater_are_counted_and_limited() {
    let stage = ForeignStage::with(settings!(check_limit = 2)).await;
    release(&stage, 20, json!({})).await;
    let path =
        format!("{}/hot-updater/{BUNDLE}/app-version/android/1/production/{}/{}", stage.app.origin, id(10), id(10));
    for _ in 0..2 {
        assert_eq!(stage.app.get(NOBODY, &path).await.ok()["id"], id(20));
    }
    let refused = stage.app.get(NOBODY, &path).await;
    assert_eq!(refused.status.as_u16(), 429);
    assert!(refused.headers.contains_key("retry-after"));
    let app = &stage.app.app;
    app.check_counts.flush(&app.db, &app.index, app.clock.now()).await.unwrap();
    assert_eq!(stage.app.get(&stage.key, "/usage?id=2026-11").await.ok()["checks"], 2);
}
