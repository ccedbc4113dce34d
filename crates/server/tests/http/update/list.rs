//! Listing and reading updates.

use reqwest::Method;
use serde_json::{Value, json};

use super::of;
use crate::support::{Fields, TestApp};

async fn list(app: &TestApp, key: &str, query: &str) -> Value {
    app.get(key, &format!("/update?{query}")).await.ok()
}

/// The release notes of the listed updates, which serve as names in these tests.
fn names(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|update| update.text("releaseNotes")).collect()
}

#[tokio::test]
async fn filters_narrow_the_list_and_its_total() {
    let (app, key) = TestApp::with_key().await;
    let (_, other) = app.org_with_key().await;
    app.published(&other, json!({"bundleId": "com.example.foreign"})).await;
    for (name, fields) in [
        ("a", json!({"bundleId": "com.example.One", "platform": "ios"})),
        ("b", json!({"bundleId": "com.example.one", "platform": "android", "configuration": "beta"})),
        ("c", json!({"bundleId": "com.example.two", "platform": "visionos", "configuration": "Beta"})),
        ("d", json!({"bundleId": "com.example.two", "platform": "ios"})),
    ] {
        app.advance(1);
        let mut fields = fields;
        fields["releaseNotes"] = json!(name);
        let update = app.published(&key, fields).await;
        if name == "d" {
            app.patch(&key, &of(&update), json!({"status": "paused"})).await.ok();
        }
    }
    for (query, found) in [
        ("", vec!["d", "c", "b", "a"]),
        ("bundleId=com.example.one", vec!["b", "a"]),
        ("bundleId=COM.EXAMPLE.ONE", vec!["b", "a"]),
        ("bundleId=com.example", vec![]),
        ("bundleId=com.example.foreign", vec![]),
        ("platform=ios", vec!["d", "a"]),
        ("configuration=beta", vec!["b"]),
        ("configuration=Beta", vec!["c"]),
        ("configuration=BETA", vec![]),
        ("status=published", vec!["c", "b", "a"]),
        ("status=paused", vec!["d"]),
        ("status=withdrawn", vec![]),
        ("bundleId=a..b", vec![]),
        ("bundleId=a%2Fb&platform=ios", vec![]),
        ("configuration=a%20b", vec![]),
        ("bundleId=com.example.two&platform=ios&status=paused", vec!["d"]),
        ("bundleId=&platform=&configuration=&status=&limit=&offset=", vec!["d", "c", "b", "a"]),
        ("unknown=1&unknown=2", vec!["d", "c", "b", "a"]),
    ] {
        let page = list(&app, &key, query).await;
        assert_eq!(names(&page), found, "{query}");
        assert_eq!(page["total"], found.len(), "{query}");
    }
}

#[tokio::test]
async fn pages_are_newest_first_and_bounded() {
    let (app, key) = TestApp::with_key().await;
    for number in 0..12 {
        app.advance(1);
        app.published(&key, json!({"releaseNotes": number.to_string()})).await;
    }
    let page = list(&app, &key, "").await;
    assert_eq!(names(&page), ["11", "10", "9", "8", "7", "6", "5", "4", "3", "2"]);
    for (query, found, limit, offset) in [
        ("limit=2", vec!["11", "10"], 2, 0),
        ("limit=3&offset=8", vec!["3", "2", "1"], 3, 8),
        ("offset=11", vec!["0"], 10, 11),
        ("offset=12", vec![], 10, 12),
        ("limit=1&offset=999999999", vec![], 1, 999_999_999),
    ] {
        let page = list(&app, &key, query).await;
        assert_eq!(names(&page), found, "{query}");
        assert_eq!(json!([page["limit"], page["offset"], page["total"]]), json!([limit, offset, 12]), "{query}");
    }
    let page = list(&app, &key, "limit=101").await;
    assert_eq!((&page["limit"], names(&page).len()), (&json!(100), 12));
    let mut fields: Vec<_> = page.as_object().unwrap().keys().cloned().collect();
    fields.sort();
    assert_eq!(fields, ["items", "limit", "offset", "total"]);
}

#[tokio::test]
async fn a_wrong_filter_is_400_and_named() {
    let (app, key) = TestApp::with_key().await;
    for (query, named) in [
        ("platform=windows", "platform"),
        ("platform=IOS", "platform"),
        ("status=deleted", "status"),
        ("status=Published", "status"),
        ("bundleId=%FF", "bundleId"),
        ("configuration=%FF", "configuration"),
        ("platform=ios&platform=ios", "platform"),
        ("status=paused&status=paused", "status"),
        ("bundleId=a&bundleId=a", "bundleId"),
        ("configuration=a&configuration=a", "configuration"),
        ("id=a&id=a", "id"),
        ("id=", "id"),
        ("limit=0", "limit"),
        ("limit=-1", "limit"),
        ("limit=1.5", "limit"),
        ("limit=ten", "limit"),
        ("limit=1234567890", "limit"),
        ("limit=5&limit=5", "limit"),
        ("offset=-1", "offset"),
        ("offset=x", "offset"),
        ("offset=1234567890", "offset"),
        ("offset=1&offset=1", "offset"),
    ] {
        let answer = app.get(&key, &format!("/update?{query}")).await;
        let message = answer.refusal(400);
        assert!(message.starts_with(named), "{query}: {message}");
    }
}

#[tokio::test]
async fn an_id_that_names_nothing_of_the_organization_is_404() {
    let (app, key) = TestApp::with_key().await;
    let (_, other) = app.org_with_key().await;
    let foreign = app.published(&other, json!({})).await;
    let foreign = foreign.id();
    for id in ["x", "update_00000000000000000000000000", "%00", "%F0%9F%9A%80", &foreign.to_uppercase(), foreign] {
        let path = format!("/update?id={id}");
        for (method, body) in
            [(Method::GET, None), (Method::PATCH, Some(json!({"rollout": 1}))), (Method::DELETE, None)]
        {
            app.send(&key, method, &path, body).await.refused(404, "No update has this id");
        }
    }
    app.get(&other, &format!("/update?id={foreign}")).await.ok();
}
