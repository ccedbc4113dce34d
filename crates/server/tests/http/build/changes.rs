//! Cancel, retry, delete.

use launchway_domain::build::Outcome;
use reqwest::Method;
use serde_json::json;

use crate::stage::builds::{Play, build, built, id_of, read, running, stored};
use crate::support::{Answer, Fields, TestApp};

async fn post(app: &TestApp, key: &str, what: &str, id: impl std::fmt::Display) -> Answer {
    app.post(key, &format!("/build/{what}?id={id}"), ()).await
}

async fn delete(app: &TestApp, key: &str, id: impl std::fmt::Display) -> Answer {
    app.delete(key, &format!("/build?id={id}")).await
}

async fn kinds(app: &TestApp, org: launchway_domain::id::OrgId) -> Vec<String> {
    app.events(org).await.into_iter().map(|(kind, _)| kind).collect()
}

#[tokio::test]
async fn a_queued_build_is_canceled_at_once() {
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        let id = built(&app, &key, json!({})).await;
        app.advance(1000);
        let view = post(&app, &key, "cancel", id).await.ok();
        view.has(json!({"status": "canceled", "cancelRequested": false}));
        view.has(json!({"finishedAt": "2026-11-20T10:00:01.000Z", "waitingFor": null}));
        assert_eq!(read(&app, &key, id).await, view);
        assert_eq!(kinds(&app, org).await, ["build.queued", "build.canceled"]);
        let again = post(&app, &key, "cancel", id).await;
        again.refused(400, "The build has already ended with the status canceled");
        assert_eq!(app.audit(org).await.last().unwrap().action, "build.cancel");
        assert_eq!(kinds(&app, org).await.len(), 2);
    }
}

#[tokio::test]
async fn a_running_build_is_asked_to_stop() {
    let app = TestApp::start().await;
    let (org, key, id) = running(&app).await;
    let view = post(&app, &key, "cancel", id).await.ok();
    view.has(json!({"status": "running", "cancelRequested": true}));
    let lines = app.audit(org).await.len();
    assert_eq!(post(&app, &key, "cancel", id).await.ok(), view);
    assert_eq!(app.audit(org).await.len(), lines, "asked twice is asked once");
    assert_eq!(kinds(&app, org).await, ["build.queued"], "its runner tells when it has stopped");
    Play { app: &app, org, id }.ends(Outcome::Success).await;
    post(&app, &key, "cancel", id).await.refused(400, "The build has already ended with the status success");
}

#[tokio::test]
async fn a_retry_is_a_new_build_of_the_same() {
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        let upload = app.upload_file(&key, "a.zip", b"x").await;
        let plan = json!({"labels": ["os=linux"], "steps": [{"name": "a", "run": "a"}]});
        let fields = json!({
            "source": {"uploadId": upload}, "buildNumber": "auto", "version": "1.0.0", "profile": "beta",
            "configuration": "staging", "fingerprint": "hash", "priority": 3, "plan": plan, "git": {"branch": "main"},
        });
        let first = build(&app, &key, fields).await.created();
        let id = id_of(&first);
        post(&app, &key, "retry", id).await.refused(400, "The build is queued. Cancel it before you retry it.");
        app.advance(500);
        post(&app, &key, "cancel", id).await.ok();
        app.advance(500);
        let again = post(&app, &key, "retry", id).await.created();
        assert_ne!(again["id"], first["id"]);
        let mut expected = first.clone();
        for (field, value) in [
            ("id", again["id"].clone()),
            ("parentId", first["id"].clone()),
            ("createdAt", json!("2026-11-20T10:00:01.000Z")),
        ] {
            expected[field] = value;
        }
        assert_eq!(again, expected);
        let third = id_of(&again);
        assert_eq!(app.get(&key, &format!("/build/plan?id={third}")).await.ok()["origin"], "request");
        assert_eq!(kinds(&app, org).await, ["build.queued", "build.canceled", "build.queued"]);
        // The source is kept as long as one of them exists.
        delete(&app, &key, id).await.ok();
        assert_eq!(stored(&app, "sources").await.len(), 1);
        post(&app, &key, "cancel", third).await.ok();
        let fourth = id_of(&post(&app, &key, "retry", third).await.created());
        delete(&app, &key, third).await.ok();
        assert_eq!(stored(&app, "sources").await.len(), 1);
        delete(&app, &key, fourth).await.ok();
        assert!(stored(&app, "sources").await.is_empty());
        post(&app, &key, "retry", id).await.refused(404, "No build has this id");
    }
}

#[tokio::test]
async fn a_retry_is_made_once_for_a_key() {
    let (app, org, key) = TestApp::with_org().await;
    let id = built(&app, &key, json!({})).await;
    post(&app, &key, "cancel", id).await.ok();
    let retry = async || {
        let request = app
            .request(Method::POST, &format!("/build/retry?id={id}"))
            .bearer_auth(&key)
            .header("idempotency-key", "once");
        Answer::to(request).await.created()
    };
    assert_eq!(retry().await, retry().await);
    assert_eq!(kinds(&app, org).await.len(), 3);
}

#[tokio::test]
async fn a_deleted_build_is_gone_with_its_files() {
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        let upload = app.upload_file(&key, "a.zip", b"x").await;
        let id = built(&app, &key, json!({"source": {"uploadId": upload}})).await;
        let play = Play { app: &app, org, id };
        play.leased(crate::stage::builds::runner(&app, None, &[]).await).await;
        play.prints(b"one\n").await;
        play.sealed(0, b"one\n").await;
        play.prints(b"two\n").await;
        play.gives("app.apk", b"an app").await;
        play.ends(Outcome::Success).await;
        for folder in ["sources", "logs", "artifacts"] {
            assert_eq!(stored(&app, folder).await.len(), 1, "{folder}");
        }
        let events = kinds(&app, org).await.len();
        assert_eq!(delete(&app, &key, id).await.ok(), json!({"id": id.to_string(), "status": "deleted"}));
        for folder in ["sources", "logs", "artifacts"] {
            assert!(stored(&app, folder).await.is_empty(), "{folder}");
        }
        assert_eq!(kinds(&app, org).await.len(), events);
        delete(&app, &key, id).await.refused(404, "No build has this id");
        for path in ["/build?id=", "/build/plan?id=", "/build/log?id=", "/build/log/stream?id="] {
            app.get(&key, &format!("{path}{id}")).await.refused(404, "No build has this id");
        }
        let audit = app.audit(org).await;
        let last = audit.last().unwrap();
        assert_eq!((last.action.as_str(), &last.after), ("build.delete", &None));
    }
}

#[tokio::test]
async fn deleting_an_active_build_stops_it() {
    let app = TestApp::start().await;
    let (org, key, id) = running(&app).await;
    app.advance(30_000);
    delete(&app, &key, id).await.ok();
    let events = app.events(org).await;
    let (kind, data) = events.last().unwrap();
    assert_eq!((kind.as_str(), &data["status"]), ("build.canceled", &json!("canceled")));
    // The time that it ran counts.
    let usage = app.get(&key, "/usage?id=2026-11").await.ok();
    assert_eq!(usage["buildMinutes"].as_f64().map(|minutes| minutes > 0.0), Some(true), "{usage}");
    app.advance(1);
    let queued = built(&app, &key, json!({})).await;
    app.advance(1);
    delete(&app, &key, queued).await.ok();
    assert_eq!(app.events(org).await.last().unwrap().0, "build.canceled");
}
