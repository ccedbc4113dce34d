//! A caller that names the update it runs: the id supplies the installed build if `currentBuild` is absent, and an id
//! that is unknown, or contradicts the caller's other parameters, has no effect.

use serde_json::{Value, json};

use crate::stage::BUNDLE;
use crate::support::{Fields, TestApp};

fn id(update: &Value) -> &str {
    update.id()
}

/// The build number that is offered; empty if there is none.
async fn offered(app: &TestApp, query: &str) -> String {
    let answer = app.checked(BUNDLE, query).await;
    answer["buildNumber"].as_str().unwrap_or_default().to_owned()
}

async fn rolled_back(app: &TestApp, key: &str, good: &Value, bad: &Value) -> Value {
    let body = json!({
        "sourceUpdateId": good["id"], "bundleId": BUNDLE, "platform": "android", "version": bad["version"],
        "buildNumber": "auto",
    });
    app.post(key, "/update", body).await.created()
}

/// Whatever happened to the bad update, on the node that already knows it and on one that has just started.
#[tokio::test]
async fn a_roll_back_reaches_a_caller_that_names_only_its_update() {
    for fate in ["published", "paused", "withdrawn", "deleted"] {
        let (app, key) = TestApp::with_key().await;
        let good = app.published(&key, json!({"version": "1.1.0", "buildNumber": 1})).await;
        let bad = app.published(&key, json!({"version": "1.2.0", "buildNumber": 2})).await;
        let path = format!("/update?id={}", id(&bad));
        match fate {
            "published" => {}
            "deleted" => drop(app.delete(&key, &path).await.ok()),
            status => {
                let change = Some(json!({"status": status}));
                app.patch(&key, &path, change).await.ok();
            }
        }
        let back = rolled_back(&app, &key, &good, &bad).await;
        let query = format!("currentVersion=1.2.0&platform=android&currentUpdateId={}", id(&bad));
        let other = app.another_node().await;
        for node in [&app, &other] {
            let answer = node.checked(BUNDLE, &query).await;
            assert_eq!((&answer["id"], &answer["sha256"]), (&back["id"], &good["sha256"]), "{fate}");
            let has_it = format!("currentVersion=1.2.0&platform=android&currentUpdateId={}", id(&back));
            assert_eq!(offered(node, &has_it).await, "", "{fate}: nobody is offered what they run");
            assert_eq!(offered(node, "currentVersion=1.2.0&platform=android").await, "", "{fate}");
        }
    }
}

#[tokio::test]
async fn an_id_that_does_not_fit_changes_nothing() {
    let (app, key) = TestApp::with_key().await;
    let old = app.published(&key, json!({"version": "1.1.0", "buildNumber": 1})).await;
    let ios = json!({"version": "1.2.0", "buildNumber": 1, "platform": "ios"});
    let ios = app.published(&key, ios).await;
    let runs = app.published(&key, json!({"version": "1.2.0", "buildNumber": 5})).await;
    app.published(&key, json!({"version": "1.2.0", "buildNumber": 7})).await;
    let foreign = json!({"bundleId": "com.example.other", "version": "1.2.0", "buildNumber": 1});
    let foreign = app.published(&key, foreign).await;
    let query = |version: &str, id: &str, more: &str| format!("currentVersion={version}&currentUpdateId={id}{more}");
    for (asked, wanted) in [
        (query("1.2.0", id(&runs), ""), "7"),
        (query("1.2", id(&runs), "&platform=android"), "7"),
        (query("1.2.0", &id(&runs).to_uppercase(), ""), ""),
        // For another platform, another version, another app than the caller's.
        (query("1.2.0", id(&runs), "&platform=ios"), ""),
        (query("1.2.0", id(&ios), "&platform=android"), ""),
        (query("1.2.0", id(&ios), ""), ""),
        (query("1.2.0", id(&old), ""), ""),
        (query("1.3.0", id(&runs), ""), ""),
        (query("1.2.0", id(&foreign), ""), ""),
        // What the caller says takes precedence.
        (query("1.2.0", id(&runs), "&currentBuild=7"), ""),
        (query("1.2.0", id(&runs), "&currentBuild=0"), "7"),
        (query("1.2.0", "update_01kb0000000000000000000000", ""), ""),
        (query("1.2.0", "none", ""), ""),
        (query("1.2.0", "%00%F0%9F%98%80", ""), ""),
        (query("1.2.0", &"u".repeat(128), ""), ""),
        (query("1.1.0", "none", ""), "7"),
    ] {
        assert_eq!(offered(&app, &asked).await, wanted, "{asked}");
    }
}

/// `docs/updates.md#when-the-store-replaces-the-app`: an id that outlives its app is trusted, but the build takes
/// precedence.
#[tokio::test]
async fn an_id_that_the_app_did_not_forget_names_an_older_build() {
    let (app, key) = TestApp::with_key().await;
    let old = app.published(&key, json!({"version": "1.2.0", "buildNumber": 8})).await;
    app.published(&key, json!({"version": "1.2.0", "buildNumber": 9})).await;
    // The store has brought 1.2.0 (20) since.
    let stale = format!("currentVersion=1.2.0&currentUpdateId={}", id(&old));
    assert_eq!(offered(&app, &stale).await, "9");
    assert_eq!(offered(&app, &format!("{stale}&currentBuild=20")).await, "");
    assert_eq!(offered(&app, "currentVersion=1.2.0").await, "");
}

/// The newest of those that are no longer offered stay known, however many there are.
#[tokio::test]
async fn of_many_that_were_taken_back_the_newest_are_known() {
    let (app, key) = TestApp::with_key().await;
    let mut made = Vec::new();
    for build in 1..=70 {
        app.advance(1);
        made.push(app.published(&key, json!({"version": "1.2.0", "buildNumber": build})).await);
    }
    let other = app.another_node().await;
    for node in [&app, &other] {
        for (place, known) in [(69, false), (68, true), (10, true), (0, false)] {
            let query = format!("currentVersion=1.2.0&currentUpdateId={}", id(&made[place]));
            assert_eq!(offered(node, &query).await, if known { "70" } else { "" }, "{place}");
        }
    }
}

#[tokio::test]
async fn it_is_counted_who_tells_what_it_runs() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({"version": "1.2.0", "buildNumber": 1})).await;
    let callers = async || {
        let read = app.get(&key, &format!("/update?id={}", id(&update))).await;
        read.ok()["callers"].clone()
    };
    assert_eq!(callers().await, json!({"checks": 0, "withoutBuild": 0}));
    for query in [
        "currentVersion=1.0.0",
        "currentVersion=1.0.0&currentBuild=",
        "currentVersion=1.0.0&currentBuild=1",
        "currentVersion=1.0.0&currentUpdateId=x",
    ] {
        app.checked(BUNDLE, query).await;
    }
    app.published(&key, json!({"version": "1.3.0"})).await;
    assert_eq!(callers().await, json!({"checks": 4, "withoutBuild": 2}), "also when the bundle was read anew");
    let listed = app.get(&key, "/update").await.ok();
    assert!(listed["items"][0].get("callers").is_none());
}
