//! `/usage`: what an organization used, by month.

mod checks;
mod held;
mod quotas;

use launchway_domain::actor::Actor;
use launchway_domain::id::OrgId;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::DAY;
use launchway_ops::api_error::ApiError;
use launchway_ops::usage::{count_build, count_build_seconds, count_submission};
use launchway_ops::write::Write;
use serde_json::{Value, json};

use crate::support::{Answer, Fields, Setup, TestApp, package};

/// One month, or the whole list.
async fn usage(app: &TestApp, key: &str, query: &str) -> Answer {
    app.get(key, &format!("/usage{query}")).await
}

/// The current month at the start of a test.
async fn november(app: &TestApp, key: &str) -> Value {
    usage(app, key, "?id=2026-11").await.ok()
}

/// A service with these quotas, and an organization of the lowest tier.
async fn with(setup: Setup, quotas: &str) -> (TestApp, OrgId, String) {
    let mut setup = setup;
    setup.settings.quotas = Some(quotas.to_owned());
    let app = TestApp::with(setup).await;
    let org = app.org(Tier::Free).await;
    let key = app.key(org, &Scope::ALL).await;
    (app, org, key)
}

/// How many of the concurrent requests were granted, and the responses to the others.
fn granted(answers: &[Answer]) -> (usize, Vec<&Answer>) {
    let (granted, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
    (granted.len(), refused)
}

/// The bytes of the package that tests publish.
fn package_size() -> usize {
    package("index.html", b"<h1>hello</h1>").len()
}

/// Counts as a build or a submission does. A refused one leaves nothing behind.
async fn spend(app: &TestApp, org: OrgId, what: &str) -> Result<(), ApiError> {
    let mut write = Write::open(&app.app, org, Actor::Service, None).await?;
    match what {
        "build" => count_build(&mut write).await?,
        "submission" => count_submission(&mut write).await?,
        seconds => count_build_seconds(&mut write, seconds.parse().unwrap()).await?,
    }
    write.commit().await
}

#[tokio::test]
async fn a_month_shows_what_was_used_and_what_may_be() {
    let (app, org, key) = TestApp::with_org().await;
    let unlimited = json!({"builds": null, "buildMinutes": null, "submissions": null, "updates": null, "bytes": null,
        "storedBytes": null, "apps": 10_000});
    let nothing = json!({
        "id": "2026-11", "status": "running", "tier": "enterprise", "builds": 0, "buildMinutes": 0, "submissions": 0,
        "updates": 0, "checks": 0, "bytes": 0, "storedBytes": 0, "apps": 0, "quotas": unlimited,
    });
    assert_eq!(november(&app, &key).await, nothing);
    let first = app.published(&key, json!({})).await;
    let again = json!({"sourceUpdateId": first["id"], "bundleId": "com.example.app", "platform": "android", "version": "1.0.2"});
    app.post(&key, "/update", again).await.created();
    for what in ["build", "61", "build", "submission", "0"] {
        spend(&app, org, what).await.unwrap();
    }
    let used = json!({
        "id": "2026-11", "status": "running", "tier": "enterprise", "builds": 2, "buildMinutes": 2, "submissions": 1,
        "updates": 2, "checks": 0, "bytes": package_size(), "storedBytes": package_size(), "apps": 1, "quotas": unlimited,
    });
    assert_eq!(november(&app, &key).await, used);
    let (_, other) = app.org_with_key().await;
    assert_eq!(november(&app, &other).await, nothing);
}

#[tokio::test]
async fn what_is_refused_or_fails_is_not_counted() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({"buildNumber": 1})).await;
    app.publish(&key, json!({"buildNumber": 1})).await.expect(400);
    app.publish(&key, json!({"version": "x"})).await.expect(400);
    november(&app, &key).await.has(json!({"updates": 1, "bytes": package_size()}));
}

#[tokio::test]
async fn months_are_listed_newest_first() {
    let (app, key) = TestApp::with_key().await;
    assert_eq!(usage(&app, &key, "").await.ok(), json!({"items": [], "total": 0, "limit": 10, "offset": 0}));
    app.published(&key, json!({"buildNumber": 1})).await;
    app.advance(20 * DAY);
    app.published(&key, json!({"buildNumber": 2})).await;
    app.published(&key, json!({"buildNumber": 3})).await;
    app.advance(40 * DAY);
    let list = usage(&app, &key, "").await.ok();
    let shown: Vec<_> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|month| json!([month["id"], month["status"], month["updates"]]))
        .collect();
    assert_eq!(json!(shown), json!([["2026-12", "complete", 2], ["2026-11", "complete", 1]]));
    let page = usage(&app, &key, "?limit=1&offset=1").await.ok();
    assert_eq!((&page["items"][0]["id"], &page["total"]), (&json!("2026-11"), &json!(2)));
    assert_eq!(usage(&app, &key, "?id=2027-01").await.ok()["status"], "running");
}

#[tokio::test]
async fn a_month_without_use_is_not_there_unless_it_runs() {
    let (app, key) = TestApp::with_key().await;
    for id in ["2026-10", "2026-12", "2026-13", "november", "2026-11-20"] {
        usage(&app, &key, &format!("?id={id}")).await.refused(404, "No month has this id");
    }
    usage(&app, &key, "?id=").await.refused(400, "id is required");
    usage(&app, &key, "?id=2026-11&id=2026-11").await.refused(400, "id is given twice");
}

#[tokio::test]
async fn any_key_and_any_member_may_look() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Free).await;
    for scope in Scope::ALL {
        let key = app.key(org, &[scope]).await;
        assert_eq!(november(&app, &key).await["tier"], "free");
    }
    let member = app.user(org, "bob@example.com", Role::Member).await;
    let seen = app.get(&member, "/usage").await.ok();
    assert_eq!(seen["total"], 0);
}
