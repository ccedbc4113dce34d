//! `/runners` and enrollment: tokens that work once, runners that are disabled at once.

use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Role;
use launchway_domain::time::{HOUR, MINUTE};
use serde_json::json;

use crate::support::{Fields, Says, TestApp};

const INVALID: &str = "Invalid or expired API key";

#[tokio::test]
async fn a_token_enrols_one_runner_within_an_hour() {
    let (app, org, key) = TestApp::with_org().await;
    let made = app.post(&key, "/runners/tokens", ()).await.created();
    assert_eq!(made["expiresAt"], "2026-11-20T11:00:00.000Z");
    let token = made.text("token");
    let body =
        json!({"name": "mac-mini-1", "labels": ["xcode=26", "os=macos", "os=macos"], "slots": 2, "version": "0.1.0"});
    let enroll = async |token: &str, body| app.post(token, "/runner/enrol", body).await;
    // A malformed request does not use it up.
    for (field, value) in [("name", json!("")), ("labels", json!(["x"])), ("slots", json!(0)), ("slots", json!(65))] {
        let mut wrong = body.clone();
        wrong[field] = value;
        assert_eq!(enroll(token, wrong).await.status, 400, "{field}");
    }
    let enrolled = enroll(token, body.clone()).await.created();
    assert_eq!(enrolled["status"], "active");
    enroll(token, body.clone()).await.refused(401, INVALID);
    let id = enrolled.id();
    let view = app.get(&key, &format!("/runners?id={id}")).await.ok();
    assert_eq!(
        view,
        json!({
            "id": id, "status": "online", "name": "mac-mini-1", "labels": ["os=macos", "xcode=26"], "slots": 2,
            "version": "0.1.0", "shared": false, "createdBy": view["createdBy"], "createdAt": "2026-11-20T10:00:00.000Z",
            "lastSeenAt": "2026-11-20T10:00:00.000Z",
        })
    );
    app.advance(2 * MINUTE);
    let list = app.get(&key, "/runners").await.ok();
    assert_eq!((&list["total"], &list["items"][0]["status"]), (&json!(1), &json!("offline")));
    let late = app.post(&key, "/runners/tokens", ()).await.created();
    app.advance(HOUR);
    enroll(late.text("token"), body.clone()).await.refused(401, INVALID);
    enroll("lwe_none", body).await.refused(401, INVALID);
    let log = app.audit(org).await;
    let actions: Vec<_> =
        log.iter().map(|line| line.action.as_str()).filter(|action| action.starts_with("runner")).collect();
    assert_eq!(actions, ["runner.create_token", "runner.enrol", "runner.create_token"]);
    assert!(!format!("{log:?}").contains(token));
}

#[tokio::test]
async fn many_at_once_enrol_one_runner() {
    let (app, key) = TestApp::with_key().await;
    let made = app.post(&key, "/runners/tokens", ()).await.created();
    let body = json!({"name": "x", "labels": [], "slots": 1, "version": ""});
    let token = made.text("token");
    let all = (0..8).map(|_| app.post(token, "/runner/enrol", body.clone()));
    let statuses: Vec<_> = futures::future::join_all(all).await.iter().map(|answer| answer.status.as_u16()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 7, "{statuses:?}");
}

#[tokio::test]
async fn a_runner_token_and_an_api_key_open_different_endpoints() {
    let (app, org, key) = TestApp::with_org().await;
    let build_key = app.key(org, &[Scope::Build]).await;
    let cookie = app.user(org, "ada@example.com", Role::Owner).await;
    let runner = app.runner(&key, &["os=linux"]).await;
    for path in ["/build", "/update", "/apps", "/env", "/runners", "/auth/session"] {
        app.get(&runner.token, path).await.refused(401, INVALID);
    }
    let ask = json!({"labels": [], "version": "", "waitSeconds": 0});
    for key in [&key, &build_key] {
        for path in ["/runner/lease", "/runner/enrol", "/runner/finish"] {
            app.post(key, path, ask.clone()).await.refused(401, INVALID);
        }
    }
    app.post(&cookie, "/runner/lease", ask.clone()).await.refused(401, "No authentication provided");
    // A runner's token enrolls nobody, and an enrollment token leases no builds.
    app.post(&runner.token, "/runner/enrol", ask.clone()).await.refused(401, INVALID);
    let made = app.post(&key, "/runners/tokens", ()).await.created();
    let once = made.text("token");
    app.post(once, "/runner/lease", ask).await.refused(401, INVALID);
}

#[tokio::test]
async fn a_runner_is_shut_out_at_once() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &[]).await;
    app.queue(org, |_| ()).await;
    let held = app.take(&runner).await;
    held.renew().await.ok();
    let path = format!("/runners?id={}", runner.id);
    for _ in 0..2 {
        let gone = app.delete(&key, &path).await.ok();
        assert_eq!(gone, json!({"id": runner.id, "status": "revoked"}));
    }
    held.renew().await.refused(401, INVALID);
    held.log(0, "text").await.refused(401, INVALID);
    held.finish(json!({})).await.refused(401, INVALID);
    let view = app.get(&key, &path).await.ok();
    assert_eq!(view["status"], "revoked");
    let revoked = app.audit(org).await.into_iter().filter(|line| line.action == "runner.revoke");
    assert_eq!(revoked.count(), 1);
}

#[tokio::test]
async fn a_waiting_runner_that_is_shut_out_gets_nothing() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &[]).await;
    let wait = async {
        let body = json!({"labels": [], "version": "0.1.0", "waitSeconds": 30});
        app.post(&runner.token, "/runner/lease", body).await
    };
    let shut_out = async {
        app.delete(&key, &format!("/runners?id={}", runner.id)).await.ok();
        app.queue(org, |_| ()).await;
    };
    let (answer, ()) = tokio::join!(wait, shut_out);
    answer.refused(401, INVALID);
}

#[tokio::test]
async fn the_builds_of_a_removed_runner_go_back_at_once() {
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        let (removed, other) = (app.runner(&key, &[]).await, app.runner(&key, &[]).await);
        let [first, canceled] = [app.queue(org, |_| ()).await, app.queue(org, |_| ()).await];
        let held = app.take(&removed).await;
        app.take(&removed).await;
        app.post(&key, &format!("/build/cancel?id={canceled}"), ()).await.ok();
        app.delete(&key, &format!("/runners?id={}", removed.id)).await.ok();
        let build = async |id| app.get(&key, &format!("/build?id={id}")).await.ok();
        build(first).await.has(json!({"status": "queued", "attempt": 2}));
        build(canceled).await.has(json!({"status": "canceled", "attempt": 1}));
        let log = app.get(&key, &format!("/build/log?id={first}")).await;
        log.says("The runner was removed. The build starts again on the next free runner.");
        held.finish(json!({})).await.refused(401, INVALID);
        app.take(&other).await;
        build(first).await.has(json!({"status": "running", "attempt": 2}));
    }
}
