//! What happens to builds over time: expiry in the queue, removal of files, and what the sweep finds.

use launchway_blob::Key;
use launchway_domain::build::Outcome;
use launchway_domain::time::DAY;
use launchway_jobs::clean_up::clean_up;
use launchway_jobs::sweep::sweep;
use serde_json::{Value, json};

use crate::stage::builds::{Play, built, put, read, runner, stored};
use crate::support::{Fields, START, TestApp, machine_time};

const FOLDERS: [&str; 3] = ["sources", "logs", "artifacts"];

#[tokio::test]
async fn a_build_that_no_runner_takes_in_a_day_expires() {
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        let plan = json!({"labels": ["gpu=9"], "steps": [{"name": "a", "run": "a"}]});
        let old = built(&app, &key, json!({"plan": plan})).await;
        app.advance(1000);
        let young = built(&app, &key, json!({})).await;
        app.advance(DAY - 1001);
        clean_up(&app.app).await.unwrap();
        assert_eq!(read(&app, &key, old).await["status"], "queued");
        app.advance(1);
        clean_up(&app.app).await.unwrap();
        let view = read(&app, &key, old).await;
        view.has(json!({"status": "failed", "finishedAt": "2026-11-21T10:00:00.000Z"}));
        let error = json!({
            "code": "EXPIRED", "phase": null,
            "message": "No runner with gpu=9 started this build within 24 hours. Connect one with `launchway runner`, and retry it.",
        });
        assert_eq!(view["error"], error);
        assert_eq!(read(&app, &key, young).await["status"], "queued");
        clean_up(&app.app).await.unwrap();
        let kinds: Vec<_> = app.events(org).await.into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, ["build.queued", "build.queued", "build.failed"]);
        app.post(&key, &format!("/build/retry?id={old}"), ()).await.created();
    }
}

/// A successful build with everything that a build can have in object storage.
async fn with_files(app: &TestApp, key: &str, org: launchway_domain::id::OrgId) -> launchway_domain::id::BuildId {
    let upload = app.upload_file(key, "a.zip", b"x").await;
    let id = built(app, key, json!({"source": {"uploadId": upload}})).await;
    let play = Play { app, org, id };
    play.leased(runner(app, None, &[]).await).await;
    play.prints(b"one\n").await;
    play.sealed(0, b"one\n").await;
    play.prints(b"two\n").await;
    play.gives("app.apk", b"an app").await;
    play.ends(Outcome::Success).await;
    id
}

#[tokio::test]
async fn files_of_old_builds_go_and_their_record_stays() {
    let app = TestApp::with(settings!(keep_builds_days = "30")).await;
    let (org, key) = app.org_with_key().await;
    let id = with_files(&app, &key, org).await;
    app.advance(30 * DAY);
    clean_up(&app.app).await.unwrap();
    for folder in FOLDERS {
        assert_eq!(stored(&app, folder).await.len(), 1, "{folder}");
    }
    app.advance(1);
    clean_up(&app.app).await.unwrap();
    for folder in FOLDERS {
        assert!(stored(&app, folder).await.is_empty(), "{folder}");
    }
    let view = read(&app, &key, id).await;
    view.has(json!({"status": "success", "artifacts": [], "logSize": 0}));
    assert_eq!(view["warnings"], json!(["The log, artifacts and source were deleted 30 days after the build ended"]));
    let log = app.get(&key, &format!("/build/log?id={id}")).await;
    assert_eq!((log.status.as_u16(), log.bytes.len()), (200, 0));
    let retry = app.post(&key, &format!("/build/retry?id={id}"), ()).await;
    retry.refused(400, "The source of this build was deleted. Upload it again with a new build.");
    clean_up(&app.app).await.unwrap();
    assert_eq!(read(&app, &key, id).await, view, "it is done once");
}

#[tokio::test]
async fn by_0_days_nothing_goes() {
    let app = TestApp::with(settings!(keep_builds_days = "0")).await;
    let (org, key) = app.org_with_key().await;
    let id = with_files(&app, &key, org).await;
    app.advance(10_000 * DAY);
    clean_up(&app.app).await.unwrap();
    assert_eq!(read(&app, &key, id).await["warnings"], json!([]));
    assert_eq!(stored(&app, "artifacts").await.len(), 1);
}

#[tokio::test]
async fn what_builds_have_is_not_swept_and_what_no_build_has_is() {
    let app = TestApp::start().await;
    // The objects carry the machine's time.
    app.advance(machine_time() - START);
    let (org, key) = app.org_with_key().await;
    let id = with_files(&app, &key, org).await;
    let mut kept = Vec::new();
    for folder in FOLDERS {
        kept.extend(stored(&app, folder).await);
        put(&app, &format!("{folder}/stray/x"), b"x").await;
    }
    sweep(&app.app).await.unwrap();
    // The upload has expired too, and with it the protection of its copies.
    app.advance(3 * DAY);
    clean_up(&app.app).await.unwrap();
    sweep(&app.app).await.unwrap();
    let mut left = Vec::new();
    for folder in FOLDERS {
        left.extend(stored(&app, folder).await);
    }
    assert_eq!(left, kept);
    app.delete(&key, &format!("/build?id={id}")).await.ok();
    for name in kept {
        assert_eq!(app.app.blob.head(&Key::new(&name).unwrap()).await.unwrap(), None, "{name}");
    }
    let list: Value = app.get(&key, "/build").await.ok();
    assert_eq!(list["total"], 0);
}
