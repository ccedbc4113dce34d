//! PATCH and DELETE: states and transitions, and what a check returns after them.

use reqwest::Method;
use serde_json::{Value, json};

use super::{BUNDLE, of};
use crate::support::{Answer, Fields, TestApp};

async fn patch(app: &TestApp, key: &str, update: &Value, change: Value) -> Answer {
    app.patch(key, &of(update), change).await
}

#[tokio::test]
async fn an_update_moves_between_its_states_and_withdrawn_is_the_end() {
    let (app, key) = TestApp::with_key().await;
    let (published, paused, withdrawn) = ("published", "paused", "withdrawn");
    for (from, to, allowed) in [
        (published, published, true),
        (published, paused, true),
        (published, withdrawn, true),
        (paused, published, true),
        (paused, paused, true),
        (paused, withdrawn, true),
        (withdrawn, withdrawn, true),
        (withdrawn, published, false),
        (withdrawn, paused, false),
    ] {
        let update = app.published(&key, json!({})).await;
        patch(&app, &key, &update, json!({"status": from})).await.ok();
        let answer = patch(&app, &key, &update, json!({"status": to})).await;
        let (status, becomes) = if allowed { (200, to) } else { (400, from) };
        assert_eq!(answer.status.as_u16(), status, "{from} to {to}: {}", answer.text());
        let read = app.get(&key, &of(&update)).await.ok();
        assert_eq!(read["status"], becomes, "{from} to {to}");
    }
}

#[tokio::test]
async fn a_change_sets_what_it_names_and_the_check_sees_it_at_once() {
    let (app, key) = TestApp::with_key().await;
    let mut expected = app.published(&key, json!({"releaseNotes": "old"})).await;
    let update = expected.clone();
    for change in [
        json!({}),
        json!({"releaseNotes": "new"}),
        json!({"mandatory": true}),
        json!({"releaseNotes": "", "mandatory": false}),
        json!({"rollout": 40}),
        json!({"rollout": 100, "releaseNotes": "x".repeat(4096)}),
    ] {
        app.advance(1);
        let changed = patch(&app, &key, &update, change.clone()).await.ok();
        expected.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        assert_eq!(changed, expected, "{change}");
        let offer = app.checked(BUNDLE, "currentVersion=1.0.0&currentUpdateId=x").await;
        let reached = expected["rollout"] == 100;
        assert_eq!(offer["updateAvailable"], reached, "{change}");
        for field in ["releaseNotes", "mandatory"] {
            assert!(!reached || offer[field] == expected[field], "{field} after {change}");
        }
    }
}

#[tokio::test]
async fn a_wrong_change_is_400_names_its_field_and_changes_nothing() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    for (field, value) in [
        ("status", json!("deleted")),
        ("status", json!("Paused")),
        ("status", json!("")),
        ("status", json!(1)),
        ("rollout", json!(-1)),
        ("rollout", json!(101)),
        ("rollout", json!(1.5)),
        ("rollout", json!("5")),
        ("mandatory", json!("yes")),
        ("releaseNotes", json!(5)),
        ("releaseNotes", json!("x".repeat(4097))),
        ("version", json!("2.0.0")),
        ("buildNumber", json!("2")),
        ("bundleId", json!("com.example.other")),
        ("platform", json!("ios")),
        ("configuration", json!("beta")),
        ("fingerprint", json!("f")),
        ("uploadId", json!("upload_x")),
        ("sha256", json!("x")),
    ] {
        let beside = if field == "mandatory" { "rollout" } else { "mandatory" };
        let good = if beside == "rollout" { json!(5) } else { json!(true) };
        let answer = patch(&app, &key, &update, json!({field: value, beside: good})).await;
        let message = answer.refusal(400);
        assert!(message.contains(field), "{field} = {value}: {message}");
    }
    let body = Some(json!({"mandatory": true}));
    for query in ["", "?id=", "?ID=x"] {
        app.patch(&key, &format!("/update{query}"), body.clone()).await.refused(400, "id is required");
    }
    app.patch(&key, &format!("{}&id=x", of(&update)), body).await.refused(400, "id is given twice");
    let mut read = app.get(&key, &of(&update)).await.ok();
    for counted in ["reports", "callers", "foreignIds"] {
        read.as_object_mut().unwrap().remove(counted);
    }
    assert_eq!(read, update);
}

#[tokio::test]
async fn deleting_answers_once_and_then_404_everywhere() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    let deleted = app.delete(&key, &of(&update)).await.ok();
    assert_eq!(deleted, json!({"id": update["id"], "status": "deleted"}));
    for (method, body) in
        [(Method::DELETE, None), (Method::GET, None), (Method::PATCH, Some(json!({"status": "paused"})))]
    {
        app.send(&key, method, &of(&update), body).await.refused(404, "No update has this id");
    }
    for query in ["", "?id="] {
        app.delete(&key, &format!("/update{query}")).await.refused(400, "id is required");
    }
    let list = app.get(&key, "/update").await.ok();
    list.has(json!({"total": 0, "items": []}));
}

#[tokio::test]
async fn simultaneous_changes_of_one_update_all_count() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    let changes =
        [json!({"rollout": 7}), json!({"mandatory": true}), json!({"releaseNotes": "n"}), json!({"status": "paused"})];
    let answers = futures::future::join_all(changes.map(|change| patch(&app, &key, &update, change))).await;
    answers.iter().for_each(|answer| drop(answer.ok()));
    let read = app.get(&key, &of(&update)).await.ok();
    let fields = json!([read["rollout"], read["mandatory"], read["releaseNotes"], read["status"]]);
    assert_eq!(fields, json!([7, true, "n", "paused"]));
}
