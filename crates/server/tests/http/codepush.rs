//! A day of an app with CodePush's client, unmodified from npm, against a running server (`docs/reference/codepush.md`).

mod client;

use launchway_domain::platform::Platform;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Tier;
use serde_json::{Value, json};

use crate::foreign_stage::on_postgres_and_s3;
use crate::foreign_updates::{codepush, publish};
use crate::npm_client::NpmClient;
use crate::stage::BUNDLE;
use crate::support::{Fields, NOBODY, TestApp, package, with};
use client::Phone;

const KEY: &str = "production-key-android";

/// A server on which an app has deployment keys for two configurations.
struct Day {
    app: TestApp,
    key: String,
}

impl Day {
    async fn new(app: TestApp) -> Day {
        let (_, key) = app.org_with_key().await;
        let day = Day { app, key };
        day.deployment(KEY, "production").await;
        day.deployment("staging-key-android", "staging").await;
        day
    }

    async fn deployment(&self, key: &str, configuration: &str) {
        let platform = Platform::Android.as_str();
        let body = json!({"bundleId": BUNDLE, "platform": platform, "configuration": configuration, "key": key});
        self.app.post(&self.key, "/deployment-keys", body).await.created();
    }

    /// Publishes a script for production.
    async fn release(&self, script: &str, fields: Value) -> Value {
        let fields = with(json!({"configuration": "production"}), &fields);
        codepush(&self.app, &self.key, script, fields).await
    }

    async fn change(&self, update: &Value, change: Value) {
        self.app.patch(&self.key, &format!("/update?id={}", update.id()), change).await.ok();
    }

    fn phone(&self, id: &str) -> Phone {
        let server = format!("{}/codepush/{BUNDLE}", self.app.origin);
        Phone::new(&server, KEY, id, "1.2.0")
    }

    async fn reports(&self, update: &Value) -> Value {
        self.app.get(&self.key, &format!("/update?id={}", update.id())).await.ok()["reports"].clone()
    }
}

/// The first of these devices that a rollout of a label reaches or leaves out, as the original server decides.
fn device(label: &str, percent: u8, is_reached: bool) -> String {
    let rollout = launchway_domain::rollout::Rollout::new(percent).unwrap();
    let mut ids = (0..1000).map(|number| format!("device-{number}"));
    ids.find(|id| launchway_foreign::codepush::reaches(Some(id), label, rollout) == is_reached).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_with_codepush_lives_through_a_day() {
    let mut client = NpmClient::install("codepush");
    a_day(&Day::new(TestApp::start().await).await, &mut client).await;
    let (app, _bucket) = on_postgres_and_s3().await;
    a_day(&Day::new(app).await, &mut client).await;
}

async fn a_day(day: &Day, client: &mut NpmClient) {
    let mut phone = day.phone("device-1");
    assert_eq!(phone.check(client), Value::Null, "nothing is published");

    let first = day.release("one", json!({"releaseNotes": "First"})).await;
    let offered = phone.sync(client);
    assert_eq!((offered.text("label"), offered.text("description")), ("v1", "First"));
    assert_eq!(offered["packageSize"], first["size"]);
    assert_eq!(phone.check(client), Value::Null, "it runs the newest");
    let reports = day.reports(&first).await;
    assert_eq!((&reports["downloaded"], &reports["confirmed"]), (&json!(1), &json!(1)));

    // A staged rollout, raised and lowered again: who has it keeps it.
    let second = day.release("two", json!({"rollout": 30})).await;
    let mut early = day.phone(&device("v2", 30, true));
    let mut late = day.phone(&device("v2", 90, false));
    assert_eq!(early.sync(client).text("label"), "v2");
    assert_eq!(late.sync(client).text("label"), "v1");
    day.change(&second, json!({"rollout": 100})).await;
    assert_eq!(late.check(client).text("label"), "v2");
    day.change(&second, json!({"rollout": 1})).await;
    assert_eq!(early.check(client), Value::Null);
    day.change(&second, json!({"rollout": 100})).await;

    // Mandatory, also if a release that is passed over is.
    let third = day.release("three", json!({"mandatory": true})).await;
    let fourth = day.release("four", json!({})).await;
    let offered = phone.check(client);
    assert_eq!((offered.text("label"), &offered["isMandatory"]), ("v4", &json!(true)));
    phone.sync(client);

    // A pause: holders keep it, others get the one below. A withdrawal: holders leave it.
    day.change(&fourth, json!({"status": "paused"})).await;
    assert_eq!(phone.check(client), Value::Null);
    assert_eq!(late.check(client).text("label"), "v3");
    day.change(&fourth, json!({"status": "withdrawn"})).await;
    assert_eq!(phone.sync(client).text("label"), "v3");
    assert_eq!(phone.check(client), Value::Null, "it is offered once");

    // Back to the content of an earlier release, under a new label.
    let again = json!({"sourceUpdateId": first.id(), "bundleId": BUNDLE, "platform": "android", "version": "1.0.5",
                       "configuration": "production"});
    day.app.post(&day.key, "/update", again).await.created();
    assert_eq!(phone.sync(client).text("label"), "v5");
    day.change(&third, json!({"status": "withdrawn"})).await;
    assert_eq!(phone.check(client), Value::Null);

    // A release that crashes: the client reports it and goes back by itself.
    let sixth = day.release("six", json!({})).await;
    phone.sync_and_crash(client);
    assert_eq!(day.reports(&sixth).await["rolledBack"], 1);
    assert_eq!(phone.running(), "v5");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_phones_of_the_deployment_and_range_get_a_release() {
    let mut client = NpmClient::install("codepush");
    let day = Day::new(TestApp::start().await).await;
    day.release("one", json!({"binaryRange": "^2.0.0"})).await;
    let mut old = day.phone("device-1");
    // The client shows that a newer app is needed.
    let told = old.check(&mut client);
    assert_eq!((&told["updateAppVersion"], told.text("appVersion")), (&json!(true), "^2.0.0"));
    old.app_version("2.1.0");
    assert_eq!(old.check(&mut client).text("appVersion"), "2.1.0");

    let mut staging = day.phone("device-1");
    staging.deployment_key("staging-key-android");
    assert_eq!(staging.check(&mut client), Value::Null);
    codepush(&day.app, &day.key, "staged", json!({"configuration": "staging"})).await;
    assert_eq!(staging.sync(&mut client).text("label"), "v1");
    // An app that changes its deployment runs something unknown there, and gets the newest.
    staging.deployment_key(KEY);
    staging.app_version("2.0.0");
    assert_eq!(staging.check(&mut client).text("label"), "v1");

    // An update that was never here: the newest is offered, and nothing is taken away.
    let mut unknown = day.phone("device-2");
    unknown.runs("v77", &"ab".repeat(32));
    assert_eq!(unknown.check(&mut client)["updateAppVersion"], true);
    unknown.app_version("2.0.0");
    assert_eq!(unknown.check(&mut client).text("label"), "v1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_of_another_app_or_tenant_finds_nothing() {
    let mut client = NpmClient::install("codepush");
    let day = Day::new(TestApp::start().await).await;
    let other = day.app.org(Tier::Enterprise).await;
    let theirs = day.app.key(other, &[Scope::Update]).await;
    let body = json!({"bundleId": "com.example.theirs", "platform": "android", "key": "key-of-the-others"});
    day.app.post(&theirs, "/deployment-keys", body).await.created();
    let zip = package("CodePush/main.jsbundle", b"theirs");
    let fields = json!({"format": "codepush", "bundleId": "com.example.theirs"});
    publish(&day.app, &theirs, &zip, fields).await.created();
    day.release("one", json!({})).await;

    let mut phone = day.phone("device-1");
    phone.deployment_key("key-of-the-others");
    let error = phone.error(&mut client);
    assert!(error.starts_with("404: This app has no such deployment key"), "{error}");
    let mut elsewhere = Phone::new(&format!("{}/codepush/com.example.none", day.app.origin), KEY, "d", "1.0.0");
    assert!(elsewhere.error(&mut client).starts_with("404: "));
    let mut odd = day.phone("device-1");
    odd.app_version("one");
    assert!(odd.error(&mut client).starts_with("400: "), "a version that is none");
    // A report with their key counts for no update of ours.
    phone.runs("v1", "");
    phone.confirm(&mut client);
    let ours = day.app.get(&day.key, "/update").await.ok()["items"][0].clone();
    assert_eq!(day.reports(&ours).await["confirmed"], 0);
}

#[tokio::test]
async fn hostile_requests_are_answered_in_the_clients_words() {
    let day = Day::new(TestApp::start().await).await;
    let update = day.release("one", json!({})).await;
    let base = format!("{}/codepush/{BUNDLE}/v0.1/public/codepush", day.app.origin);
    let long = "x".repeat(5000);
    for (query, status) in [
        (format!("deployment_key={KEY}&app_version=1.0.0"), 200),
        (format!("deployment_key={KEY}&app_version=1.0.0&label={long}"), 400),
        (format!("deployment_key={KEY}&deployment_key={KEY}&app_version=1.0.0"), 400),
        (format!("deployment_key={KEY}&app_version=%FF"), 400),
        (String::new(), 400),
    ] {
        let answer = day.app.get(NOBODY, &format!("{base}/update_check?{query}")).await;
        assert_eq!(answer.status.as_u16(), status, "{query}");
        assert!(!answer.text().is_empty());
    }
    let old = format!("{}/codepush/{BUNDLE}/updateCheck?deploymentKey={KEY}&appVersion=1.0.0", day.app.origin);
    let answer = day.app.get(NOBODY, &old).await.ok();
    assert_eq!((&answer["updateInfo"]["isAvailable"], &answer["updateInfo"]["label"]), (&json!(true), &json!("v1")));
    assert_eq!(day.app.get(NOBODY, &format!("{base}/other")).await.status.as_u16(), 404);

    // A client keeps a report that is not answered with 200, and sends it again.
    let report =
        json!({"deployment_key": KEY, "label": "v1", "status": "DeploymentSucceeded", "client_unique_id": "d"});
    for body in [
        json!({}),
        json!([]),
        with(report.clone(), &json!({"label": "v9"})),
        with(report.clone(), &json!({"deployment_key": "unknown-key"})),
        with(report.clone(), &json!({"client_unique_id": null})),
        with(report.clone(), &json!({"more": "y".repeat(20_000)})),
    ] {
        let answer = day.app.post(NOBODY, &format!("{base}/report_status/deploy"), body).await;
        assert_eq!((answer.status.as_u16(), answer.text().as_str()), (200, "OK"));
    }
    assert_eq!(day.reports(&update).await["confirmed"], 0);
    for _ in 0..2 {
        day.app.post(NOBODY, &format!("{base}/report_status/deploy"), report.clone()).await;
    }
    assert_eq!(day.reports(&update).await["confirmed"], 1, "a device counts once");
}

#[tokio::test]
async fn checks_of_codepush_are_counted_and_limited_like_ours() {
    let day = Day::new(TestApp::with(settings!(check_limit = 2)).await).await;
    day.release("one", json!({})).await;
    let base = format!("{}/codepush/{BUNDLE}/v0.1/public/codepush", day.app.origin);
    let check = format!("{base}/update_check?deployment_key={KEY}&app_version=1.0.0");
    for _ in 0..2 {
        assert_eq!(day.app.get(NOBODY, &check).await.status.as_u16(), 200);
    }
    let refused = day.app.get(NOBODY, &check).await;
    assert_eq!(refused.status.as_u16(), 429);
    assert!(refused.headers.contains_key("retry-after"));
    let report =
        json!({"deployment_key": KEY, "label": "v1", "status": "DeploymentSucceeded", "client_unique_id": "d"});
    let answer = day.app.post(NOBODY, &format!("{base}/report_status/deploy"), report).await;
    assert_eq!(answer.status.as_u16(), 200);
    let app = &day.app.app;
    app.check_counts.flush(&app.db, &app.index, app.clock.now()).await.unwrap();
    let used = day.app.get(&day.key, "/usage?id=2026-11").await.ok();
    assert_eq!(used["checks"], 2);
}
