//! `/audit`: who did what, when, from where, on which resource.

use launchway_domain::tenancy::Role;
use launchway_domain::time::{MINUTE, iso};
use launchway_ops::audit;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Fields, START, TestApp};

async fn log(app: &TestApp, key: &str, query: &str) -> Value {
    app.get(key, &format!("/audit?{query}")).await.ok()
}

#[tokio::test]
async fn a_line_tells_who_did_what_when_and_from_where() {
    let (app, org, key) = TestApp::with_org().await;
    let cookie = app.user(org, "ada@example.com", Role::Admin).await;
    app.advance(MINUTE);
    let request = app.request(Method::POST, "/apps").header("cookie", &cookie).header("origin", &app.origin);
    let request = request.header("x-forwarded-for", "2001:db8::7").json(&json!({"bundleId": "com.example.app"}));
    let made = Answer::to(request).await;
    let made_app = made.created();
    let page = log(&app, &key, "action=app.create").await;
    let line = &page["items"][0];
    let session = app.get(&cookie, "/auth/session").await.ok();
    let expected = json!({
        "seq": line["seq"], "at": iso(START + MINUTE), "actor": session["user"]["id"], "action": "app.create",
        "resource": made_app["id"], "before": null, "after": made_app, "address": "2001:db8::7",
        "requestId": made.header("x-request-id"), "hash": line["hash"],
    });
    assert_eq!(*line, expected);
    assert_eq!((page["total"].clone(), line.text("hash").len()), (json!(1), 64));
}

#[tokio::test]
async fn filters_narrow_alone_and_together() {
    for app in TestApp::on_both().await {
        narrowed_by_filters(app).await;
    }
}

async fn narrowed_by_filters(app: TestApp) {
    let (_, key) = app.org_with_key().await;
    let id = app.get(&key, "/api-keys").await.ok()["items"][0]["id"].clone();
    let mut apps = Vec::new();
    for number in 0..3 {
        app.advance(1000);
        let made = app.post(&key, "/apps", json!({"bundleId": format!("com.example.app{number}")})).await.created();
        apps.push(made.id().to_owned());
    }
    app.delete(&key, &format!("/apps?id={}", apps[1])).await.ok();
    let id = id.as_str().unwrap();
    let middle = iso(START + 2000);
    for (query, actions) in [
        (format!("actor={id}"), "app.delete app.create app.create app.create"),
        ("action=app.create&limit=2".to_owned(), "app.create app.create"),
        (format!("resource={}", apps[1]), "app.delete app.create"),
        (format!("resource={}&action=app.delete", apps[1]), "app.delete"),
        (format!("since={middle}&actor={id}"), "app.delete app.create app.create"),
        (format!("until={middle}&actor={id}"), "app.create"),
        (format!("since={middle}&until={middle}"), ""),
        ("actor=nobody".to_owned(), ""),
        ("resource=a%00b".to_owned(), ""),
    ] {
        let page = log(&app, &key, &query).await;
        let told: Vec<_> = page["items"].as_array().unwrap().iter().map(|line| line.text("action")).collect();
        assert_eq!(told.join(" "), actions, "{query}");
    }
    app.get(&key, "/audit?since=yesterday").await.refused(400, "since must be a time such as 2026-11-20T10:00:00.000Z");
}

#[tokio::test]
async fn lines_are_numbered_without_gaps_however_many_write_at_once() {
    let (app, key) = TestApp::with_key().await;
    let claims = (0..20).map(|number| {
        let call = app.post(&key, "/apps", json!({"bundleId": format!("com.example.app{number}")}));
        async move { call.await.created() }
    });
    futures::future::join_all(claims).await;
    let page = log(&app, &key, "limit=100").await;
    let numbers: Vec<i64> =
        page["items"].as_array().unwrap().iter().map(|line| line["seq"].as_i64().unwrap()).collect();
    let total = page["total"].as_i64().unwrap();
    assert_eq!(numbers, (1..=total).rev().collect::<Vec<_>>());
    let check = audit::verify(&app.app).await.unwrap();
    assert_eq!((check.lines as i64, check.problems), (total, Vec::<String>::new()));
}

#[tokio::test]
async fn a_refused_change_leaves_no_line() {
    let (app, key) = TestApp::with_key().await;
    let before = log(&app, &key, "").await["total"].clone();
    app.post(&key, "/apps", json!({"bundleId": ""})).await.expect(400);
    app.delete(&key, "/apps?id=app_x").await.expect(404);
    assert_eq!(log(&app, &key, "").await["total"], before);
}
