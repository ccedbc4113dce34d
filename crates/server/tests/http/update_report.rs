//! Device reports: who may report, what counts, and what the API shows (`docs/reference/updates.md#device-reports`).

use launchway_domain::report::ReportKind;
use launchway_domain::time::{DAY, SECOND, iso};
use launchway_store::Report;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::stage::BUNDLE;
use crate::support::{Answer, Fields, NOBODY, START, Setup, TestApp};

const BAD_TOKEN: &str = "Invalid or expired report token";

/// What the check returns to a device: the update's id and the token for reports.
pub async fn offer(app: &TestApp, device: &str) -> (String, String) {
    let answer = app.checked(BUNDLE, &format!("currentVersion=1.0.0&deviceId={device}")).await;
    let text = |field: &str| answer[field].as_str().unwrap().to_owned();
    (text("id"), text("reportToken"))
}

pub async fn send(app: &TestApp, bundle: &str, body: Value) -> Answer {
    let request = app.request(Method::POST, &format!("/update/report/{bundle}")).json(&body);
    Answer::to(request).await
}

fn event(update: &str, kind: &str) -> Value {
    json!({"type": kind, "updateId": update, "at": "2026-11-20T09:59:59.000Z"})
}

fn failure(update: &str, reason: &str) -> Value {
    json!({"type": "failed", "updateId": update, "at": "2026-11-20T09:59:59Z", "reason": reason})
}

/// Reports as a device that was just offered the update; returns how many events counted.
pub async fn report(app: &TestApp, device: &str, events: impl Fn(&str) -> Value) -> Value {
    let (update, token) = offer(app, device).await;
    let body = json!({"reportToken": token, "events": events(&update)});
    let answer = send(app, BUNDLE, body).await.ok();
    assert_eq!(answer["status"], "accepted");
    answer["counted"].clone()
}

pub async fn shown(app: &TestApp, key: &str, update: &Value) -> Value {
    let path = format!("/update?id={}", update.id());
    app.get(key, &path).await.ok()["reports"].clone()
}

#[tokio::test]
async fn each_device_update_and_type_counts_once() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    let none = json!({
        "downloaded": 0, "installed": 0, "confirmed": 0, "rolledBack": 0, "failed": 0, "reasons": [], "crashes": [],
    });
    assert_eq!(shown(&app, &key, &update).await, none);

    assert_eq!(report(&app, "d1", |id| json!([event(id, "downloaded"), event(id, "installed")])).await, 2);
    assert_eq!(report(&app, "d1", |id| json!([event(id, "downloaded"), event(id, "confirmed")])).await, 1);
    assert_eq!(report(&app, "d2", |id| json!([event(id, "downloaded"), event(id, "downloaded")])).await, 1);
    assert_eq!(report(&app, "d2", |id| json!([event(id, "rolled_back"), event(id, "failed")])).await, 2);
    let counts = json!({
        "downloaded": 2, "installed": 1, "confirmed": 1, "rolledBack": 1, "failed": 1, "reasons": [], "crashes": [],
    });
    assert_eq!(shown(&app, &key, &update).await, counts);

    let newer = app.published(&key, json!({})).await;
    assert_eq!(report(&app, "d1", |id| json!([event(id, "downloaded")])).await, 1, "another update counts anew");
    assert_eq!(shown(&app, &key, &newer).await["downloaded"], 1);
    assert_eq!(shown(&app, &key, &update).await, counts);
    let list = app.get(&key, "/update").await.ok();
    assert_eq!(list["items"][0].get("reports"), None, "counts are shown where one update is read");
}

#[tokio::test]
async fn simultaneous_reports_of_one_device_count_once() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    let twins = (0..20).map(|_| report(&app, "d1", |id| json!([event(id, "installed")])));
    let counted = futures::future::join_all(twins).await;
    let total: u64 = counted.iter().filter_map(Value::as_u64).sum();
    assert_eq!((total, &shown(&app, &key, &update).await["installed"]), (1, &json!(1)));
}

#[tokio::test]
async fn two_nodes_count_a_device_once() {
    let node = TestApp::with(Setup::on_postgres()).await;
    let (_, key) = node.org_with_key().await;
    let update = node.published(&key, json!({})).await;
    let other = node.another_node().await;
    for (app, counted) in [(&node, 1), (&other, 0), (&node, 0)] {
        assert_eq!(report(app, "d1", |id| json!([event(id, "installed")])).await, counted);
    }
    assert_eq!(shown(&node, &key, &update).await["installed"], 1);
}

/// Anyone who can compute the numbers of devices can search for ids that are all kept although only a sample should be.
#[tokio::test]
async fn a_device_is_not_kept_under_a_computable_key() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    assert_eq!(report(&app, "d1", |id| json!([event(id, "installed")])).await, 1);
    let hash = Sha256::digest(b"d1");
    let computed = i64::from_be_bytes(hash[..8].try_into().unwrap());
    let guessed = Report {
        update_id: update.id().parse().unwrap(),
        kind: ReportKind::Installed,
        device: computed,
        unkeyed: computed,
        at: START,
        reason: None,
    };
    let mut tx = app.app.db.write().await.unwrap();
    let is_new = tx.system("a test").count_reports(&[guessed]).await.unwrap();
    assert_eq!(is_new, [true]);
}

#[tokio::test]
async fn the_last_twenty_reasons_are_kept_newest_first() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    for number in 0..25 {
        let reason = format!("broken {number}");
        report(&app, &format!("d{number}"), |id| json!([failure(id, &reason)])).await;
        app.advance(SECOND);
    }
    let expected: Vec<_> = (5..25)
        .rev()
        .map(|number| {
            let at = iso(START + number * SECOND);
            json!({"type": "failed", "at": at, "reason": format!("broken {number}")})
        })
        .collect();
    shown(&app, &key, &update).await.has(json!({"failed": 25, "reasons": expected}));
}

#[tokio::test]
async fn a_reason_is_kept_as_written_up_to_200_characters() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    let longest = "🚀".repeat(200);
    let odd = "\"quotes\" <b>\n\u{1}\u{2028} 日本語";
    for (device, reason) in [("d1", longest.as_str()), ("d2", odd), ("d3", "")] {
        report(&app, device, |id| json!([failure(id, reason)])).await;
    }
    let (id, token) = offer(&app, "d4").await;
    let body = json!({"reportToken": token, "events": [failure(&id, &"x".repeat(201))]});
    send(&app, BUNDLE, body).await.refused(400, "events[0].reason must have at most 200 characters");
    let reports = shown(&app, &key, &update).await;
    let reasons: Vec<_> = reports["reasons"].as_array().unwrap().iter().map(|kept| &kept["reason"]).collect();
    assert_eq!(reasons, [odd, &longest]);
    assert_eq!(reports["failed"], 3);
}

/// The token covers bundle, device, update and expiry: the service accepts no other token, and no token for another
/// device or update.
#[tokio::test]
async fn the_token_is_the_authentication() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({})).await;
    app.published(&key, json!({"bundleId": "com.example.other"})).await;
    let (id, token) = offer(&app, "d1").await;
    let body = |token: &str| json!({"reportToken": token, "events": [event(&id, "installed")]});
    for wrong in ["", "x", &token[1..], &format!("{token}A"), &token.to_uppercase(), &key, "🚀"] {
        send(&app, BUNDLE, body(wrong)).await.refused(401, BAD_TOKEN);
    }
    for bundle in ["com.example.other", "com.example", "%FF", "%20", "a%2Fb"] {
        send(&app, bundle, body(&token)).await.refused(401, BAD_TOKEN);
    }
    let restarted = TestApp::start().await;
    send(&restarted, BUNDLE, body(&token)).await.refused(401, BAD_TOKEN);
    app.advance(30 * DAY - SECOND);
    send(&app, "COM.example.APP", body(&token)).await.ok();
    app.advance(SECOND);
    send(&app, BUNDLE, body(&token)).await.refused(401, BAD_TOKEN);
}

#[tokio::test]
async fn a_wrong_form_is_refused_whole_and_names_the_field() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    let (id, token) = offer(&app, "d1").await;
    let good = event(&id, "installed");
    let with = |field: &str, value: Value| {
        let mut event = good.clone();
        event[field] = value;
        json!({"reportToken": token, "events": [good, event]})
    };
    let events = |events: Value| json!({"reportToken": token, "events": events});
    let many: Vec<_> = vec![good.clone(); 101];
    for (body, named) in [
        (with("type", json!("exploded")), "events[1].type"),
        (with("type", json!("Installed")), "events[1].type"),
        (with("type", json!(1)), "events[1].type"),
        (with("updateId", json!("update_00000000000000000000000000")), "events[1].updateId"),
        (with("updateId", json!("")), "events[1].updateId"),
        (with("at", json!("yesterday")), "events[1].at"),
        (with("at", json!(1_795_168_800)), "events[1].at"),
        (with("reason", json!(["x"])), "events[1].reason"),
        (with("colour", json!("red")), "colour"),
        (events(json!([])), "events"),
        (events(json!(many)), "events"),
        (events(json!("installed")), "events"),
        (json!({"events": [good]}), "reportToken"),
        (json!({"reportToken": token}), "events"),
        (json!([token, [good]]), "The body must be a JSON object"),
    ] {
        let answer = send(&app, BUNDLE, body.clone()).await;
        let message = answer.refusal(400);
        assert!(message.contains(named), "{message}: names {named}");
    }
    assert_eq!(shown(&app, &key, &update).await["installed"], 0, "the good event beside a wrong one");
}

#[tokio::test]
async fn an_update_that_is_offered_no_longer_still_counts() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    let path = format!("/update?id={}", update.id());
    let (id, token) = offer(&app, "d1").await;
    let body = |kind: &str| json!({"reportToken": token, "events": [event(&id, kind)]});
    app.patch(&key, &path, json!({"status": "withdrawn"})).await.ok();
    assert_eq!(send(&app, BUNDLE, body("installed")).await.ok()["counted"], 1);
    assert_eq!(shown(&app, &key, &update).await["installed"], 1);
    app.delete(&key, &path).await.ok();
    send(&app, BUNDLE, body("confirmed")).await.ok();
    app.get(&key, &path).await.refused(404, "No update has this id");
}

#[tokio::test]
async fn pages_of_any_origin_may_report_without_credentials() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({})).await;
    let (id, token) = offer(&app, "d1").await;
    let path = "/update/report/com.example.app";
    let body = json!({"reportToken": token, "events": [event(&id, "installed")]});
    let from = |method: Method| app.request(method, path).header("origin", "https://app.example");
    let requests = [
        (200, from(Method::POST).json(&body)),
        (401, from(Method::POST).json(&json!({"reportToken": "x", "events": [event(&id, "installed")]}))),
        (400, from(Method::POST).json(&json!({}))),
        (400, from(Method::POST).body("{}")),
        (200, from(Method::OPTIONS).header("access-control-request-method", "POST")),
    ];
    for (status, request) in requests {
        let answer = Answer::to(request).await;
        answer.is(status);
        assert_eq!(answer.header("access-control-allow-origin"), "*", "{status}");
        assert_eq!(answer.header("access-control-allow-credentials"), "", "{status}");
        assert_ne!(answer.header("x-request-id"), "", "{status}");
    }
    let asked = Answer::to(from(Method::OPTIONS)).await;
    assert!(asked.header("access-control-allow-methods").contains("POST"));
    assert!(asked.header("access-control-allow-headers").contains("Content-Type"));
    let get = app.get(NOBODY, path).await;
    get.refused(405, "This path does not support this method");
    assert!(get.header("allow").contains("POST"));
}

#[tokio::test]
async fn reports_and_checks_of_an_address_share_one_count() {
    let app = TestApp::with(settings!(check_limit = "3")).await;
    app.check(BUNDLE, "currentVersion=1.0.0").await.ok();
    send(&app, BUNDLE, json!({})).await.is(400);
    let unproven = json!({"reportToken": "x", "events": []});
    send(&app, BUNDLE, unproven).await.refused(401, BAD_TOKEN);
    let refused = send(&app, BUNDLE, json!({})).await;
    refused.refused(429, "Too many requests. Try again in 60 seconds.");
    assert_eq!((refused.header("retry-after"), refused.header("access-control-allow-origin")), ("60", "*"));
}
