//! Responses of a broken service: a 500 shows no internals, a 503 says what to wait for
//! (`docs/reference/conventions.md#error-body`), and the check still works
//! (`docs/reference/updates.md#answered-from-memory`).

use launchway_domain::tenancy::Role;
use launchway_testing::postgres::Postgres;
use reqwest::Method;
use serde_json::{Value, json};

use super::is_error;
use crate::support::{Answer, Fields, NOBODY, PASSWORD, TestApp};

const AWAY: &str = "The database is not available. Try again in a moment.";
const DEFECT: &str = "Internal error. The server's log has details under the X-Request-Id of this request.";

async fn on_postgres(database_url: String) -> TestApp {
    TestApp::with(settings!(database_url = database_url)).await
}

#[tokio::test]
async fn a_defect_shows_nothing_of_the_inside() {
    let postgres = Postgres::shared();
    let url = postgres.fresh_database();
    let app = on_postgres(url.clone()).await;
    let (org, key) = app.org_with_key().await;
    app.user(org, "ada@example.com", Role::Owner).await;
    let body = json!({"bundleId": "com.example.app"});
    app.post(&key, "/apps", body).await.created();

    // An unreadable value, and a missing table.
    postgres.run_sql(&url, "UPDATE apps SET id = 'secret'").unwrap();
    is_error(&app.get(&key, "/apps").await, 500, DEFECT, "a value");
    postgres.run_sql(&url, "DROP TABLE apps").unwrap();
    for (method, body) in [(Method::GET, None), (Method::POST, Some(json!({"bundleId": "com.example.b"})))] {
        let answer = app.send(&key, method.clone(), "/apps", body).await;
        is_error(&answer, 500, DEFECT, "a table");
        assert_eq!(answer.header("x-ratelimit-limit"), "1000", "{method}");
    }
    // Requests that do not need it still work.
    app.get(&key, "/orgs/members").await.ok();
}

/// Concurrent calls to every endpoint that needs the database: each waits for a connection until its timeout.
async fn without_database(app: &TestApp, key: &str, cookie: &str) -> Vec<Answer> {
    let sign_in = json!({"email": "ada@example.com", "password": PASSWORD});
    let calls = [
        (Method::GET, "/update", Value::Null, key),
        (Method::POST, "/apps", json!({"bundleId": "com.example.b"}), key),
        (Method::DELETE, "/api-keys?id=x", Value::Null, key),
        (Method::POST, "/auth/sign-in", sign_in, ""),
        (Method::POST, "/auth/reset", json!({"token": "x", "password": PASSWORD}), ""),
        (Method::GET, "/readyz", Value::Null, ""),
    ];
    let by_key = calls.into_iter().map(|(method, path, body, key)| async move {
        let request = app.request(method, path);
        let request = if key.is_empty() { request } else { request.bearer_auth(key) };
        let request = if body.is_null() { request } else { request.json(&body) };
        Answer::to(request).await
    });
    let by_key = futures::future::join_all(by_key);
    let page = format!("{}/", app.origin);
    let by_cookie = async {
        let session = app.get(cookie, "/auth/session");
        let page = app.get(cookie, &page);
        <[Answer; 2]>::from(tokio::join!(session, page))
    };
    let (mut answers, more) = tokio::join!(by_key, by_cookie);
    answers.extend(more);
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_database_the_service_says_so_and_answers_checks() {
    let mut postgres = Postgres::start_own();
    let app = on_postgres(postgres.fresh_database()).await;
    let (org, key) = app.org_with_key().await;
    let cookie = app.user(org, "ada@example.com", Role::Owner).await;
    app.publish(&key, json!({})).await.created();
    let before = app.check("com.example.app", "currentVersion=1.0.0").await.ok();
    assert_eq!(before["updateAvailable"], true);

    postgres.stop();
    let answers = without_database(&app, &key, &cookie).await;
    assert_eq!(answers.len(), 8);
    for (number, answer) in answers.iter().enumerate() {
        is_error(answer, 503, AWAY, &format!("call {number}"));
    }
    assert_eq!(app.check("com.example.app", "currentVersion=1.0.0").await.ok(), before);
    let other = app.check("com.example.other", "currentVersion=1.0.0").await.ok();
    assert_eq!(other["message"], "No updates found for this bundle");
    app.get(NOBODY, "/healthz").await.ok();
    let package = Answer::to(app.request(Method::GET, before.text("url"))).await;
    assert_eq!(package.status.as_u16(), 200, "the package is still there");

    postgres.start();
    app.get(&key, "/update").await.ok();
    app.get(NOBODY, "/readyz").await.ok();
    app.sign_in("ada@example.com").await;
}
