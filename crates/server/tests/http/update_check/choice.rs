//! The update that a check is offered: the newest candidate, by platform, configuration, status and rollout.

use launchway_domain::rollout::Rollout;
use launchway_domain::update::UpdateStatus;
use launchway_store::UpdateChange;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::stage::BUNDLE;
use crate::support::{Fields, TestApp};

/// The offered update as `version/buildNumber/platform`, or the message.
async fn offered(app: &TestApp, query: &str) -> String {
    let answer = app.checked(BUNDLE, query).await;
    let text = |field: &str| answer[field].as_str().unwrap_or_default().to_owned();
    match answer["message"].as_str() {
        Some(message) => message.to_owned(),
        None => format!("{}/{}/{}", text("version"), text("buildNumber"), text("platform")),
    }
}

/// The id of the offered update.
async fn offered_id(app: &TestApp, query: &str) -> Option<String> {
    let answer = app.checked(BUNDLE, &format!("{query}&currentUpdateId=none")).await;
    answer["id"].as_str().map(str::to_owned)
}

async fn patch(app: &TestApp, key: &str, update: &Value, change: Value) {
    app.patch(key, &format!("/update?id={}", update.id()), change).await.ok();
}

async fn delete(app: &TestApp, key: &str, update: &Value) {
    app.delete(key, &format!("/update?id={}", update.id())).await.ok();
}

/// "Newest: highest version, then build number", regardless of the order of publishing.
#[tokio::test]
async fn the_newest_is_the_highest_version_then_the_highest_build() {
    let (app, key) = TestApp::with_key().await;
    for (version, build, newest) in [
        ("1.2.0", "9", "1.2.0/9/android"),
        ("1.10.0-rc.2", "1", "1.10.0-rc.2/1/android"),
        ("1.10.0-rc.10", "1", "1.10.0-rc.10/1/android"),
        ("1.10.0", "1", "1.10.0/1/android"),
        ("1.9.0", "999999999999999999", "1.10.0/1/android"),
        ("1.10", "0010", "1.10/0010/android"),
        ("1.10.0", "9", "1.10/0010/android"),
        ("1.10.0+meta", "11", "1.10.0+meta/11/android"),
        ("1.10.0", "999999999999999999", "1.10.0/999999999999999999/android"),
        ("1.10.0-rc.11", "12", "1.10.0/999999999999999999/android"),
    ] {
        app.published(&key, json!({"version": version, "buildNumber": build})).await;
        assert_eq!(offered(&app, "currentVersion=1.0.0").await, newest, "after {version} {build}");
    }
    let question = "currentVersion=1.10.0&currentBuild=999999999999999998";
    assert_eq!(offered(&app, question).await, "1.10.0/999999999999999999/android");
    let question = "currentVersion=1.10.0&currentBuild=999999999999999999";
    assert_eq!(offered(&app, question).await, "No update available");
}

#[tokio::test]
async fn a_platform_gets_its_own_and_none_the_latest_of_equals() {
    let (app, key) = TestApp::with_key().await;
    for platform in ["ios", "visionos", "android"] {
        app.published(&key, json!({"platform": platform, "version": "2.0.0", "buildNumber": 3})).await;
        app.advance(1);
        let latest = format!("2.0.0/3/{platform}");
        assert_eq!(offered(&app, "currentVersion=1.0.0").await, latest);
    }
    for platform in ["ios", "visionos", "android"] {
        let question = format!("currentVersion=1.0.0&platform={platform}");
        assert_eq!(offered(&app, &question).await, format!("2.0.0/3/{platform}"));
    }
    app.published(&key, json!({"platform": "ios", "version": "2.0.0", "buildNumber": 4})).await;
    assert_eq!(offered(&app, "currentVersion=1.0.0").await, "2.0.0/4/ios");
    assert_eq!(offered(&app, "currentVersion=1.0.0&platform=android").await, "2.0.0/3/android");
}

#[tokio::test]
async fn a_configuration_serves_who_names_it_and_none_serves_all() {
    let (app, key) = TestApp::with_key().await;
    for (configuration, version) in [("production", "1.1.0"), ("staging", "1.3.0")] {
        app.published(&key, json!({"configuration": configuration, "version": version, "buildNumber": 1})).await;
    }
    let table = |rows: [(&'static str, &'static str); 5]| rows;
    for (configuration, wanted) in table([
        ("", "No update available"),
        ("production", "1.1.0/1/android"),
        ("staging", "1.3.0/1/android"),
        ("Production", "No update available"),
        ("other", "No update available"),
    ]) {
        let question = format!("currentVersion=1.0.0&configuration={configuration}");
        assert_eq!(offered(&app, &question).await, wanted, "{configuration}");
    }
    app.published(&key, json!({"version": "1.2.0", "buildNumber": 1})).await;
    for (configuration, wanted) in table([
        ("", "1.2.0/1/android"),
        ("production", "1.2.0/1/android"),
        ("staging", "1.3.0/1/android"),
        ("Production", "1.2.0/1/android"),
        ("other", "1.2.0/1/android"),
    ]) {
        let question = format!("currentVersion=1.0.0&configuration={configuration}");
        assert_eq!(offered(&app, &question).await, wanted, "{configuration}");
    }
}

/// "then exact configuration before none, then latest created": whichever was published first.
#[tokio::test]
async fn of_equal_versions_and_builds_the_exact_configuration_wins() {
    let (app, key) = TestApp::with_key().await;
    for (build, first, second) in [(1, json!("beta"), Value::Null), (2, Value::Null, json!("beta"))] {
        let fields = |configuration: &Value| json!({"buildNumber": build, "configuration": configuration});
        let one = app.published(&key, fields(&first)).await;
        app.advance(1);
        let other = app.published(&key, fields(&second)).await;
        let (exact, general) = if first.is_null() { (&other, &one) } else { (&one, &other) };
        let named = offered_id(&app, "currentVersion=1.0.0&configuration=beta").await;
        assert_eq!(named.as_deref(), exact["id"].as_str());
        let unnamed = offered_id(&app, "currentVersion=1.0.0").await;
        assert_eq!(unnamed.as_deref(), general["id"].as_str());
    }
}

#[tokio::test]
async fn a_paused_withdrawn_or_deleted_update_is_not_offered() {
    let (app, key) = TestApp::with_key().await;
    let older = app.published(&key, json!({"version": "1.1.0"})).await;
    let newer = app.published(&key, json!({"version": "1.2.0"})).await;
    let question = "currentVersion=1.0.0";
    assert_eq!(offered(&app, question).await, "1.2.0/2/android");
    patch(&app, &key, &newer, json!({"status": "paused"})).await;
    assert_eq!(offered(&app, question).await, "1.1.0/1/android");
    patch(&app, &key, &newer, json!({"status": "published"})).await;
    assert_eq!(offered(&app, question).await, "1.2.0/2/android");
    patch(&app, &key, &newer, json!({"status": "withdrawn"})).await;
    assert_eq!(offered(&app, question).await, "1.1.0/1/android");
    delete(&app, &key, &older).await;
    assert_eq!(offered(&app, question).await, "No updates found for this bundle");
}

/// `docs/reference/updates.md#messages-without-an-update`
#[tokio::test]
async fn a_bundle_without_updates_and_one_without_news_differ() {
    let (app, key) = TestApp::with_key().await;
    let question = "currentVersion=1.0.0";
    let (none, nothing_new) = ("No updates found for this bundle", "No update available");
    assert_eq!(offered(&app, question).await, none);
    app.post(&key, "/apps", json!({"bundleId": BUNDLE})).await.created();
    assert_eq!(offered(&app, question).await, none, "a claimed app without updates");
    let update = app.published(&key, json!({})).await;
    assert_eq!(offered(&app, "currentVersion=2.0.0").await, nothing_new);
    patch(&app, &key, &update, json!({"status": "paused"})).await;
    assert_eq!(offered(&app, question).await, nothing_new, "paused");
    patch(&app, &key, &update, json!({"status": "withdrawn"})).await;
    assert_eq!(offered(&app, question).await, none, "withdrawn");
    let other = app.published(&key, json!({"platform": "ios"})).await;
    assert_eq!(offered(&app, &format!("{question}&platform=android")).await, nothing_new, "another platform");
    delete(&app, &key, &other).await;
    assert_eq!(offered(&app, question).await, none, "deleted");
}

/// More changes by another node than a node follows in one transaction.
#[tokio::test]
async fn a_node_that_is_far_behind_follows_to_the_end() {
    let (app, org, key) = TestApp::with_org().await;
    let update = app.published(&key, json!({})).await;
    let mut tx = app.app.db.write().await.unwrap();
    let mut rows = tx.org(org);
    for _ in 0..2001 {
        rows.touch_updates(&"com.example.other".parse().unwrap(), 0).await.unwrap();
    }
    let withdrawn = UpdateChange {
        status: UpdateStatus::Withdrawn,
        rollout: Rollout::FULL,
        mandatory: false,
        release_notes: String::new(),
    };
    rows.change_update(update.id().parse().unwrap(), &withdrawn).await.unwrap();
    rows.touch_updates(&BUNDLE.parse().unwrap(), 0).await.unwrap();
    tx.commit().await.unwrap();
    let none = "No updates found for this bundle";
    assert_ne!(offered(&app, "currentVersion=1.0.0").await, none);
    app.app.index.catch_up(&app.app.db).await.unwrap();
    assert_eq!(offered(&app, "currentVersion=1.0.0").await, none);
}

/// The bucket of a device, straight from `docs/reference/updates.md#rollout`.
fn bucket(update: &str, device: &str) -> u64 {
    let digest = Sha256::digest(format!("{update}:{device}"));
    u64::from_be_bytes(digest[..8].try_into().unwrap()) % 100
}

#[tokio::test]
async fn a_raised_rollout_keeps_the_devices_it_reached() {
    let (app, key) = TestApp::with_key().await;
    let base = app.published(&key, json!({"version": "1.1.0"})).await;
    let update = app.published(&key, json!({"version": "1.2.0", "rollout": 0})).await;
    let (base, id) = (base.id(), update.id());
    let mut devices: Vec<_> = (0..60).map(|number| (format!("device-{number}"), format!("device-{number}"))).collect();
    devices.push(("a%20b+c%2B%C3%A9%26".to_owned(), "a b c+é&".to_owned()));
    for percent in [0, 1, 50, 99, 100] {
        patch(&app, &key, &update, json!({"rollout": percent})).await;
        for (sent, device) in &devices {
            let wanted = if bucket(id, device) < percent { id } else { base };
            let got = offered_id(&app, &format!("currentVersion=1.0.0&deviceId={sent}")).await;
            assert_eq!(got.as_deref(), Some(wanted), "{device} at {percent} %");
        }
        let anonymous = if percent == 100 { id } else { base };
        assert_eq!(offered_id(&app, "currentVersion=1.0.0").await.as_deref(), Some(anonymous), "{percent} %");
        let empty = offered_id(&app, "currentVersion=1.0.0&deviceId=").await;
        assert_eq!(empty.as_deref(), Some(anonymous), "an empty deviceId is none, {percent} %");
    }
    let inside = devices.iter().filter(|(_, device)| bucket(id, device) < 50).count();
    assert!((1..60).contains(&inside), "the table must have devices on both sides");
}

#[tokio::test]
async fn a_device_outside_the_only_rollout_has_no_update() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({"rollout": 0})).await;
    for query in ["currentVersion=1.0.0", "currentVersion=1.0.0&deviceId=d", "currentVersion=1.0.0&fingerprint=f"] {
        assert_eq!(offered(&app, query).await, "No update available", "{query}");
    }
}

/// "What the index holds is bounded: updates per bundle are configurable": it keeps the newest that can be offered.
#[tokio::test]
async fn the_newest_updates_of_a_bundle_are_offered_up_to_a_setting() {
    let app = TestApp::with(settings!(updates_per_bundle = "2")).await;
    let (_, key) = app.org_with_key().await;
    for (version, fingerprint) in [("1.1.0", "one"), ("1.2.0", "two"), ("1.3.0", "three")] {
        app.published(&key, json!({"version": version, "fingerprint": fingerprint})).await;
    }
    for (fingerprint, version, store) in [("three", "1.3.0", false), ("two", "1.2.0", false), ("one", "1.3.0", true)] {
        let question = format!("currentVersion=1.0.0&fingerprint={fingerprint}");
        let answer = app.checked(BUNDLE, &question).await;
        assert_eq!(json!([answer["version"], answer["requiresStoreUpdate"]]), json!([version, store]));
    }
}
