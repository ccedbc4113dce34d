//! The result of a build: reported once, stored once.

use launchway_domain::build::BuildStatus;
use launchway_domain::time::{MINUTE, SECOND};
use serde_json::{Value, json};

use crate::support::TestApp;

fn failed(message: &str) -> Value {
    json!({"status": "failed", "error": {"code": "STEP_FAILED", "phase": "build", "message": message}})
}

#[tokio::test]
async fn an_end_is_told_by_state_event_audit_and_usage() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &[]).await;
    let phase = json!([{
        "name": "build", "startedAt": "2026-11-20T10:00:01.000Z", "finishedAt": "2026-11-20T10:00:02.500Z", "exitCode": 0,
    }]);
    for (end, status, event) in [
        (json!({"phases": phase, "fingerprint": "abc"}), BuildStatus::Success, "build.succeeded"),
        (failed("Exit code 1."), BuildStatus::Failed, "build.failed"),
        (json!({"status": "canceled"}), BuildStatus::Canceled, "build.canceled"),
    ] {
        let id = app.queue(org, |_| ()).await;
        let held = app.take(&runner).await;
        app.advance(2 * MINUTE);
        if status == BuildStatus::Canceled {
            let nobody = "status canceled is only for a build that somebody canceled. Report failed, with an error.";
            held.finish(end.clone()).await.refused(400, nobody);
            app.post(&key, &format!("/build/cancel?id={id}"), ()).await.ok();
        }
        let told = held.finish(end.clone()).await.ok();
        assert_eq!(told, json!({"id": id.to_string(), "status": status.as_str()}));
        let build = app.build(id).await;
        assert_eq!(build.state.status, status);
        assert_eq!(build.finished_at, Some(app.app.clock.now()));
        let events = app.events(org).await;
        let (kind, data) = events.last().unwrap();
        assert_eq!((kind.as_str(), &data["status"]), (event, &json!(status.as_str())));
        let line = app.audit(org).await.pop().unwrap();
        assert_eq!((line.action.as_str(), line.actor.as_str()), ("build.finish", runner.id.as_str()));
        // Repeated, it changes nothing; with other content, it is refused.
        let count = app.audit(org).await.len();
        app.advance(SECOND);
        assert_eq!(held.finish(end).await.ok(), told);
        assert_eq!(held.finish(failed("Otherwise.")).await.status.as_u16() == 200, status == BuildStatus::Failed);
        assert_eq!(app.build(id).await, build);
        assert_eq!((app.events(org).await.len(), app.audit(org).await.len()), (events.len(), count));
        match status {
            BuildStatus::Success => {
                assert_eq!(build.fingerprint.unwrap().as_str(), "abc");
                assert_eq!(build.phases[0].finished_at.unwrap() - build.phases[0].started_at, 1500);
            }
            BuildStatus::Failed => assert_eq!(build.error.unwrap().message, "Exit code 1."),
            _ => assert_eq!(build.error, None),
        }
    }
    let usage = app.get(&key, "/usage").await.ok();
    assert_eq!(usage["items"][0]["buildMinutes"], 6, "{usage}");
}

#[tokio::test]
async fn simultaneous_ends_end_a_build_once() {
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        let runner = app.runner(&key, &[]).await;
        let id = app.queue(org, |_| ()).await;
        let held = app.take(&runner).await;
        let apk = held.send("app.bin", b"bytes", b"bytes").await;
        let ends = (0..6).map(|_| held.finish(json!({"artifacts": [apk]})));
        for answer in futures::future::join_all(ends).await {
            assert_eq!(answer.ok()["status"], "success");
        }
        assert_eq!(app.build(id).await.state.status, BuildStatus::Success);
        let ended = app.events(org).await.into_iter().filter(|(kind, _)| kind == "build.succeeded");
        assert_eq!(ended.count(), 1);
        // The copies made by the others have been deleted.
        assert_eq!(app.app.blob.list(None).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn the_words_of_an_error_hold_no_secret() {
    let (app, org, key) = TestApp::with_org().await;
    app.post(&key, "/env", json!({"name": "TOKEN", "value": "hunter2-secret"})).await.created();
    let runner = app.runner(&key, &[]).await;
    let id = app.queue(org, |_| ()).await;
    let held = app.take(&runner).await;
    held.finish(failed("Cannot fetch https://x:hunter2-secret@example.com.")).await.ok();
    let error = app.build(id).await.error.unwrap();
    assert_eq!(error.message, "Cannot fetch https://x:***@example.com.");
}

/// The first successful build claims the app: `docs/reference/callers.md#claiming-a-bundle-identifier`.
#[tokio::test]
async fn a_successful_build_claims_its_app() {
    let (app, org, key) = TestApp::with_org().await;
    let (other, other_key) = app.org_with_key().await;
    let (runner, late) = (app.runner(&key, &[]).await, app.runner(&other_key, &[]).await);
    let apps = async || {
        let list = app.get(&key, "/apps").await.ok();
        list["total"].clone()
    };
    app.queue(org, |_| ()).await;
    app.take(&runner).await.finish(failed("Exit code 1.")).await.ok();
    assert_eq!(apps().await, 0);
    let theirs = app.queue(other, |_| ()).await;
    for _ in 0..2 {
        let id = app.queue(org, |_| ()).await;
        app.take(&runner).await.finish(json!({})).await.ok();
        assert_eq!(app.build(id).await.warnings, [""; 0]);
        assert_eq!(apps().await, 1);
    }
    // Both were free to try; the second gets an error.
    app.take(&late).await.finish(json!({})).await.ok();
    let build = app.build(theirs).await;
    assert_eq!(build.state.status, BuildStatus::Success);
    assert!(build.warnings[0].contains("belongs to another organization"), "{:?}", build.warnings);
}
