//! Cancel, retry, delete.

use launchway_domain::build::Outcome;
use reqwest::Method;
use serde_json::json;

use super::{Play, build, built, id_of, on_both, read, running, stored, upload};
use crate::support::{Answer, TestApp};

async fn post(app: &TestApp, key: &str, what: &str, id: impl std::fmt::Display) -> Answer {
    app.call(key, Method::POST, &format!("/build/{what}?id={id}"), None)
        .await
}

async fn delete(app: &TestApp, key: &str, id: impl std::fmt::Display) -> Answer {
    app.call(key, Method::DELETE, &format!("/build?id={id}"), None).await
}

async fn kinds(app: &TestApp, org: launchway_domain::id::OrgId) -> Vec<String> {
    app.events(org).await.into_iter().map(|(kind, _)| kind).collect()
}

#[tokio::test]
async fn a_queued_build_is_canceled_at_once() {
    for app in on_both().await {
        let (org, key) = app.org_with_key().await;
        let id = built(&app, &key, json!({})).await;
        app.advance(1000);
        let view = post(&app, &key, "cancel", id).await.expect(200);
        assert_eq!(
            (&view["status"], &view["cancelRequested"]),
            (&json!("canceled"), &json!(false))
        );
        assert_eq!(
            (&view["finishedAt"], &view["waitingFor"]),
            (&json!("2026-11-20T10:00:01.000Z"), &json!(null))
        );
        assert_eq!(read(&app, &key, id).await, view);
        assert_eq!(kinds(&app, org).await, ["build.queued", "build.canceled"]);
        let again = post(&app, &key, "cancel", id).await;
        again.expect_error(400, "The build is over: it is canceled; there is nothing to cancel");
        assert_eq!(app.audit(org).await.last().unwrap().action, "build.cancel");
        assert_eq!(kinds(&app, org).await.len(), 2);
    }
}

#[tokio::test]
async fn a_running_build_is_asked_to_stop() {
    let app = TestApp::start().await;
    let (org, key, id) = running(&app).await;
    let view = post(&app, &key, "cancel", id).await.expect(200);
    assert_eq!(
        (&view["status"], &view["cancelRequested"]),
        (&json!("running"), &json!(true))
    );
    let lines = app.audit(org).await.len();
    assert_eq!(post(&app, &key, "cancel", id).await.expect(200), view);
    assert_eq!(app.audit(org).await.len(), lines, "asked twice is asked once");
    assert_eq!(
        kinds(&app, org).await,
        ["build.queued"],
        "its runner tells when it has stopped"
    );
    Play { app: &app, org, id }.ends(Outcome::Success).await;
    let refused = post(&app, &key, "cancel", id).await;
    refused.expect_error(400, "The build is over: it is success; there is nothing to cancel");
}

#[tokio::test]
async fn a_retry_is_a_new_build_of_the_same() {
    for app in on_both().await {
        let (org, key) = app.org_with_key().await;
        let upload = upload(&app, &key, "a.zip", b"x").await;
        let plan = json!({"labels": ["os=linux"], "steps": [{"name": "a", "run": "a"}]});
        let fields = json!({
            "source": {"uploadId": upload}, "buildNumber": "auto", "version": "1.0.0", "profile": "beta",
            "configuration": "staging", "fingerprint": "hash", "priority": 3, "plan": plan, "git": {"branch": "main"},
        });
        let first = build(&app, &key, fields).await.expect(201);
        let id = id_of(&first);
        post(&app, &key, "retry", id)
            .await
            .expect_error(400, "The build is queued; cancel it before you retry it");
        app.advance(500);
        post(&app, &key, "cancel", id).await.expect(200);
        app.advance(500);
        let again = post(&app, &key, "retry", id).await.expect(201);
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
        let plan = app
            .call(&key, Method::GET, &format!("/build/plan?id={third}"), None)
            .await;
        assert_eq!(plan.expect(200)["origin"], "request");
        assert_eq!(
            kinds(&app, org).await,
            ["build.queued", "build.canceled", "build.queued"]
        );
        // The source is there for as long as one of them is.
        delete(&app, &key, id).await.expect(200);
        assert_eq!(stored(&app, "sources").await.len(), 1);
        post(&app, &key, "cancel", third).await.expect(200);
        let fourth = id_of(&post(&app, &key, "retry", third).await.expect(201));
        delete(&app, &key, third).await.expect(200);
        assert_eq!(stored(&app, "sources").await.len(), 1);
        delete(&app, &key, fourth).await.expect(200);
        assert!(stored(&app, "sources").await.is_empty());
        post(&app, &key, "retry", id)
            .await
            .expect_error(404, "No build has this id");
    }
}

#[tokio::test]
async fn a_retry_is_made_once_for_a_key() {
    let app = TestApp::start().await;
    let (org, key) = app.org_with_key().await;
    let id = built(&app, &key, json!({})).await;
    post(&app, &key, "cancel", id).await.expect(200);
    let retry = async || {
        let request = app
            .request(Method::POST, &format!("/build/retry?id={id}"))
            .bearer_auth(&key)
            .header("idempotency-key", "once");
        Answer::of(request.send().await.unwrap()).await.expect(201)
    };
    assert_eq!(retry().await, retry().await);
    assert_eq!(kinds(&app, org).await.len(), 3);
}

#[tokio::test]
async fn a_deleted_build_is_gone_with_its_files() {
    for app in on_both().await {
        let (org, key) = app.org_with_key().await;
        let upload = upload(&app, &key, "a.zip", b"x").await;
        let id = built(&app, &key, json!({"source": {"uploadId": upload}})).await;
        let play = Play { app: &app, org, id };
        play.leased(super::runner(&app, None, &[]).await).await;
        play.prints(b"one\n").await;
        play.sealed(0, b"one\n").await;
        play.prints(b"two\n").await;
        play.gives("app.apk", b"an app").await;
        play.ends(Outcome::Success).await;
        for folder in ["sources", "logs", "artifacts"] {
            assert_eq!(stored(&app, folder).await.len(), 1, "{folder}");
        }
        let events = kinds(&app, org).await.len();
        assert_eq!(
            delete(&app, &key, id).await.expect(200),
            json!({"id": id.to_string(), "status": "deleted"})
        );
        for folder in ["sources", "logs", "artifacts"] {
            assert!(stored(&app, folder).await.is_empty(), "{folder}");
        }
        assert_eq!(kinds(&app, org).await.len(), events);
        delete(&app, &key, id).await.expect_error(404, "No build has this id");
        for path in [
            "/build?id=",
            "/build/plan?id=",
            "/build/log?id=",
            "/build/log/stream?id=",
        ] {
            let answer = app.call(&key, Method::GET, &format!("{path}{id}"), None).await;
            answer.expect_error(404, "No build has this id");
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
    delete(&app, &key, id).await.expect(200);
    let events = app.events(org).await;
    let (kind, data) = events.last().unwrap();
    assert_eq!((kind.as_str(), &data["status"]), ("build.canceled", &json!("canceled")));
    // The time that it ran is counted.
    let usage = app.call(&key, Method::GET, "/usage?id=2026-11", None).await.expect(200);
    assert_eq!(
        usage["buildMinutes"].as_f64().map(|minutes| minutes > 0.0),
        Some(true),
        "{usage}"
    );
    app.advance(1);
    let queued = built(&app, &key, json!({})).await;
    app.advance(1);
    delete(&app, &key, queued).await.expect(200);
    assert_eq!(app.events(org).await.last().unwrap().0, "build.canceled");
}
