//! Quotas: reached and never exceeded, even under concurrency.

use launchway_blob::Key;
use launchway_domain::tenancy::Tier;
use launchway_domain::time::DAY;
use reqwest::Method;
use serde_json::{Value, json};

use super::{granted, november, package_size, spend, with};
use crate::support::{Answer, Fields, Setup, TestApp, package};

const USED_UP: &str = "This organization used its 3 updates of November 2026 (tier free). Wait for the next month, which starts \
                       2026-12-01, or ask the operator to change --quotas or the tier.";

async fn stored(app: &TestApp) -> usize {
    app.app.blob.list(Some(&Key::new("packages").unwrap())).await.unwrap().len()
}

async fn post(app: &TestApp, key: &str, idempotency_key: &str, body: &Value) -> Answer {
    let request = app.request(Method::POST, "/update").bearer_auth(key);
    let request = request.header("idempotency-key", idempotency_key).json(body);
    Answer::to(request).await
}

#[tokio::test]
async fn the_last_one_is_taken_and_the_next_refused_for_the_month() {
    let (app, org, key) = with(Setup::default(), "free:updates=3;pro:updates=4").await;
    for build in 1..=3 {
        app.published(&key, json!({"buildNumber": build})).await;
    }
    let next = json!({"buildNumber": 4});
    app.publish(&key, next.clone()).await.refused(403, USED_UP);
    let used = november(&app, &key).await;
    assert_eq!((&used["updates"], &used["quotas"]["updates"]), (&json!(3), &json!(3)));
    assert_eq!((stored(&app).await, used["bytes"].as_u64()), (3, Some(3 * package_size() as u64)));
    let checked = app.checked("com.example.app", "currentVersion=1.0.1&currentBuild=3").await;
    assert_eq!(checked["updateAvailable"], false);

    let mut write = super::Write::open(&app.app, org, super::Actor::Operator, None).await.unwrap();
    launchway_ops::orgs::set_tier(&mut write, Tier::Pro).await.unwrap();
    write.commit().await.unwrap();
    app.published(&key, next).await;
    app.publish(&key, json!({"buildNumber": 5})).await.expect(403);
    app.advance(11 * DAY);
    app.published(&key, json!({"buildNumber": 5})).await;
}

/// The bytes of an earlier update are already stored, but publishing them still counts as an update.
#[tokio::test]
async fn promotions_count_as_updates_and_not_as_bytes() {
    let quotas = format!("free:updates=2,bytes={}", package_size());
    let (app, _, key) = with(Setup::default(), &quotas).await;
    let first = app.published(&key, json!({})).await;
    let promote = async |version: &str| {
        let body = json!({"sourceUpdateId": first["id"], "bundleId": "com.example.app", "platform": "android", "version": version});
        app.post(&key, "/update", body).await
    };
    promote("1.0.2").await.created();
    promote("1.0.3").await.expect(403);
    november(&app, &key).await.has(json!({"updates": 2, "bytes": package_size()}));
}

#[tokio::test]
async fn bytes_that_do_not_fit_are_refused_and_smaller_ones_are_not() {
    let quotas = format!("free:bytes={}", package_size() * 2 - 1);
    let (app, _, key) = with(Setup::default(), &quotas).await;
    app.published(&key, json!({"buildNumber": 1})).await;
    let refused = app.publish(&key, json!({"buildNumber": 2})).await.expect(403);
    let message = refused.text("message");
    assert!(message.starts_with("This organization would use more than its "), "{message}");
    let smaller = app.upload(&key, &package("i", b"")).await;
    app.published(&key, json!({"buildNumber": 2, "uploadId": smaller})).await;
}

/// No inspection slot is free: a request that waited for one would wait forever.
#[tokio::test]
async fn what_is_over_the_quota_is_not_even_looked_into() {
    let (app, org, key) = with(Setup::default(), "free:updates=0").await;
    let all = app.all_places(org).await;
    app.publish(&key, json!({})).await.expect(403);
    assert_eq!(stored(&app).await, 0);
    drop(all);
}

async fn exact_at_once(setup: Setup) {
    let (app, _, key) = with(setup, "free:updates=3").await;
    let mut bodies = Vec::new();
    for build in 1..=9 {
        let upload = app.upload(&key, &package("index.html", b"<h1>hello</h1>")).await;
        bodies.push(json!({
            "uploadId": upload, "bundleId": "com.example.app", "platform": "android", "version": "1.0.1", "buildNumber": build,
        }));
    }
    let publishes = bodies.iter().map(|body| app.post(&key, "/update", body.clone()));
    let answers = futures::future::join_all(publishes).await;
    let (published, refused) = granted(&answers);
    assert_eq!(published, 3);
    for refused in refused {
        refused.refused(403, USED_UP);
    }
    november(&app, &key).await.has(json!({"updates": 3, "bytes": 3 * package_size()}));
    let listed = app.get(&key, "/update").await.ok();
    assert_eq!((&listed["total"], stored(&app).await), (&json!(3), 3));
}

#[tokio::test]
async fn simultaneous_publishes_do_not_pass_it() {
    exact_at_once(Setup::default()).await;
}

#[tokio::test]
async fn simultaneous_publishes_do_not_pass_it_on_postgres() {
    exact_at_once(Setup::on_postgres()).await;
}

async fn replays_are_free(setup: Setup) {
    let (app, _, key) = with(setup, "free:updates=1").await;
    let upload = app.upload(&key, &package("index.html", b"<h1>hello</h1>")).await;
    let body = json!({"uploadId": upload, "bundleId": "com.example.app", "platform": "android", "version": "1.0.1"});
    let twins = futures::future::join_all((0..4).map(|_| post(&app, &key, "once", &body))).await;
    let first = twins[0].created();
    for twin in &twins {
        assert_eq!(twin.created(), first);
    }
    assert_eq!(post(&app, &key, "once", &body).await.created(), first);
    assert_eq!(post(&app, &key, "another", &body).await.status, 400, "the upload is used");
    app.publish(&key, json!({"version": "1.0.2"})).await.expect(403);
    assert_eq!(november(&app, &key).await["updates"], 1);
}

#[tokio::test]
async fn the_answer_to_a_repeated_request_is_not_counted_again() {
    replays_are_free(Setup::default()).await;
}

#[tokio::test]
async fn a_repeated_request_is_not_counted_again_on_postgres() {
    replays_are_free(Setup::on_postgres()).await;
}

/// The quota checks of builds and submissions.
#[tokio::test]
async fn builds_minutes_and_submissions_have_quotas_too() {
    let (app, org, key) = with(Setup::default(), "free:builds=2,build-minutes=1,submissions=1").await;
    spend(&app, org, "build").await.unwrap();
    spend(&app, org, "submission").await.unwrap();
    let refused = spend(&app, org, "submission").await.unwrap_err().to_string();
    assert!(refused.starts_with("This organization used its 1 submission of November 2026"), "{refused}");
    spend(&app, org, "59").await.unwrap();
    spend(&app, org, "build").await.unwrap();
    let refused = spend(&app, org, "build").await.unwrap_err().to_string();
    assert!(refused.starts_with("This organization used its 2 builds of"), "{refused}");
    spend(&app, org, "600").await.unwrap();
    let refused = spend(&app, org, "build").await.unwrap_err().to_string();
    assert!(refused.starts_with("This organization used its 1 build minute of"), "{refused}");
    let used = november(&app, &key).await;
    let shown = json!([used["builds"], used["buildMinutes"], used["submissions"], used["quotas"]]);
    let quotas = json!({
        "builds": 2, "buildMinutes": 1, "submissions": 1, "updates": null, "bytes": null, "storedBytes": null, "apps": 100,
    });
    assert_eq!(shown, json!([2, 11, 1, quotas]));
}
