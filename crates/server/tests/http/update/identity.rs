//! The identity of an update (bundle, platform, configuration, version, build), and the build numbers that the server
//! assigns.

use serde_json::{Value, json};

use super::of;
use crate::support::{Fields, TestApp};

/// Other spellings of the same update as version 1.0.1, build 7 for production.
fn spellings() -> [Value; 5] {
    let base = |change: Value| {
        let mut fields = json!({"version": "1.0.1", "buildNumber": "7", "configuration": "production"});
        fields.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        fields
    };
    [
        base(json!({})),
        base(json!({"buildNumber": 7})),
        base(json!({"buildNumber": "007"})),
        base(json!({"version": "1.0.1+metadata"})),
        base(json!({"bundleId": "COM.example.APP"})),
    ]
}

async fn expect_taken(app: &TestApp, key: &str, when: &str) {
    for fields in spellings() {
        let answer = app.publish(key, fields.clone()).await;
        let message = answer.refusal(400);
        assert!(message.contains("is already used"), "{when}: {fields}: {message}");
    }
}

#[tokio::test]
async fn the_same_identity_again_is_400_also_after_its_end() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, spellings()[0].clone()).await;
    expect_taken(&app, &key, "published").await;
    for status in ["paused", "withdrawn"] {
        app.patch(&key, &of(&update), json!({"status": status})).await.ok();
        expect_taken(&app, &key, status).await;
    }
    app.delete(&key, &of(&update)).await.ok();
    expect_taken(&app, &key, "deleted").await;
    assert_eq!(app.get(&key, "/update").await.ok()["total"], 0);
}

#[tokio::test]
async fn one_part_that_differs_is_another_identity() {
    let (app, key) = TestApp::with_key().await;
    let base = spellings()[0].clone();
    app.published(&key, base.clone()).await;
    for (field, value) in [
        ("bundleId", json!("com.example.app2")),
        ("platform", json!("ios")),
        ("configuration", json!("Production")),
        ("configuration", Value::Null),
        ("version", json!("1.0.1-rc.1")),
        ("version", json!("1.0.2")),
        ("buildNumber", json!("8")),
        ("buildNumber", json!("70")),
    ] {
        let mut fields = base.clone();
        fields[field] = value;
        app.published(&key, fields).await;
    }
}

#[tokio::test]
async fn simultaneous_publishes_of_one_identity_make_one() {
    let (app, key) = TestApp::with_key().await;
    let publishes = (0..8).map(|_| app.publish(&key, json!({"buildNumber": 1})));
    let mut statuses: Vec<_> =
        futures::future::join_all(publishes).await.iter().map(|answer| answer.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 400, 400, 400, 400, 400, 400, 400]);
    assert_eq!(app.get(&key, "/update").await.ok()["total"], 1);
}

/// "without it, or `"auto"`, it is one above the highest build or update of that bundle and platform".
#[tokio::test]
async fn the_server_takes_the_number_above_the_highest() {
    let (app, key) = TestApp::with_key().await;
    let mut last = Value::Null;
    for (fields, build) in [
        (json!({}), "1"),
        (json!({"buildNumber": "auto"}), "2"),
        (json!({"version": "0.1.0"}), "3"),
        (json!({"configuration": "production"}), "4"),
        (json!({"bundleId": "Com.Example.App"}), "5"),
        (json!({"platform": "ios"}), "1"),
        (json!({"bundleId": "com.example.other"}), "1"),
        (json!({"buildNumber": "0020"}), "0020"),
        (json!({}), "21"),
        (json!({"buildNumber": 10}), "10"),
        (json!({"buildNumber": "auto"}), "22"),
    ] {
        last = app.published(&key, fields.clone()).await;
        assert_eq!(last["buildNumber"], build, "{fields}");
    }
    app.delete(&key, &of(&last)).await.ok();
    assert_eq!(app.published(&key, json!({})).await["buildNumber"], "23", "the highest was deleted");
    app.publish(&key, json!({"buildNumber": "50", "version": "1.0.1", "rollout": 0})).await.is(201);
    app.publish(&key, json!({"buildNumber": "50"})).await.is(400);
    assert_eq!(app.published(&key, json!({})).await["buildNumber"], "51", "a publish that failed took none");
    app.published(&key, json!({"buildNumber": "999999999999999999"})).await;
    app.publish(&key, json!({})).await.refused(400, "No build number above the highest one is left. Specify one.");
    let none_left = app.publish(&key, json!({"buildNumber": "auto"})).await;
    none_left.refused(400, "No build number above the highest one is left. Specify one.");
}

#[tokio::test]
async fn simultaneous_publishes_get_numbers_without_gap() {
    let (app, key) = TestApp::with_key().await;
    let publishes = (0..8).map(|_| app.published(&key, json!({})));
    let updates = futures::future::join_all(publishes).await;
    let mut builds: Vec<_> = updates.iter().map(|update| update.text("buildNumber")).collect();
    builds.sort_unstable();
    assert_eq!(builds, ["1", "2", "3", "4", "5", "6", "7", "8"]);
}
