//! `GET /build`: filters, pages, one by id, and what a queued build waits for.

use launchway_domain::build::Outcome;
use launchway_domain::tenancy::Tier;
use serde_json::{Value, json};

use crate::stage::builds::{Play, SILENCE, build, built, id_of, read, runner, runners, running};
use crate::support::{Fields, NOBODY, TestApp};

async fn ids(app: &TestApp, key: &str, query: &str) -> Vec<Value> {
    let list = app.get(key, &format!("/build?{query}")).await.ok();
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["id"].clone()).collect()
}

#[tokio::test]
async fn a_list_is_narrowed_by_each_filter_and_by_all() {
    for app in TestApp::on_both().await {
        let (_, key) = app.org_with_key().await;
        let mut made = Vec::new();
        for fields in [
            json!({}),
            json!({"platform": "ios", "configuration": "staging"}),
            json!({"bundleId": "com.example.other", "git": {"branch": "feature/ü"}}),
            json!({"platform": "ios", "git": {"branch": "main"}}),
        ] {
            app.advance(1);
            made.push(build(&app, &key, fields).await.created()["id"].clone());
        }
        app.post(&key, &format!("/build/cancel?id={}", made[3].as_str().unwrap()), ()).await.ok();
        for (query, at) in [
            ("", &[3, 2, 1, 0][..]),
            ("status=queued", &[2, 1, 0]),
            ("status=canceled", &[3]),
            ("status=running", &[]),
            ("platform=ios", &[3, 1]),
            ("bundleId=com.Example.OTHER", &[2]),
            ("configuration=staging", &[1]),
            ("branch=feature/%C3%BC", &[2]),
            ("branch=main", &[3]),
            ("branch=", &[3, 2, 1, 0]),
            ("platform=ios&status=queued&configuration=staging&bundleId=com.example.app", &[1]),
            ("limit=2&offset=1", &[2, 1]),
            ("bundleId=a%20b", &[]),
            ("configuration=a%20b", &[]),
            ("branch=a%00b", &[]),
        ] {
            let wanted: Vec<_> = at.iter().map(|at: &usize| made[*at].clone()).collect();
            assert_eq!(ids(&app, &key, query).await, wanted, "{query}");
        }
        for (query, message) in [
            ("status=done", "status must be queued, running, success, failed or canceled"),
            ("platform=mac", "platform must be ios, android or visionos"),
            ("bundleId=a%20b&status=done", "status must be queued, running, success, failed or canceled"),
            ("bundleId=a%20b&branch=a&branch=a", "branch is given twice"),
            ("status=queued&status=queued", "status is given twice"),
        ] {
            app.get(&key, &format!("/build?{query}")).await.refused(400, message);
        }
        let (_, stranger) = app.org_with_key().await;
        assert!(ids(&app, &stranger, "").await.is_empty());
    }
}

#[tokio::test]
async fn a_queued_build_says_what_it_waits_for() {
    let (app, org, key) = TestApp::with_org().await;
    let (other, other_key) = app.org_with_key().await;
    let labels = json!({"plan": {"labels": ["os=macos", "xcode=26"], "steps": [{"name": "a", "run": "a"}]}});
    let first = built(&app, &key, labels.clone()).await;
    let waits = async |id| {
        let view = read(&app, &key, id).await;
        (view["queuePosition"].clone(), view.text("waitingFor").to_owned())
    };
    let nobody = "Waiting for a runner with os=macos, xcode=26: none is connected".to_owned();
    assert_eq!(waits(first).await, (json!(0), nobody.clone()));
    // Runners that lack a label, belong to another organization, or have been silent for long do not count.
    runner(&app, Some(org), &["os=macos", "xcode=26"]).await;
    app.advance(SILENCE);
    runner(&app, Some(org), &["os=macos", "xcode=16"]).await;
    runner(&app, Some(other), &["os=macos", "xcode=26"]).await;
    assert_eq!(waits(first).await, (json!(0), nobody));
    runner(&app, None, &["arch=arm64", "os=macos", "xcode=26"]).await;
    let free = "Waiting for a runner with os=macos, xcode=26 to be free".to_owned();
    assert_eq!(waits(first).await, (json!(0), free));
    // Builds of other organizations do not count; higher priority goes first.
    app.advance(1);
    built(&app, &other_key, json!({"bundleId": "com.example.other"})).await;
    app.advance(1);
    let last = built(&app, &key, labels.clone()).await;
    assert_eq!(waits(last).await, (json!(1), "1 build is ahead of it".to_owned()));
    let mut urgent = labels;
    urgent["priority"] = json!(5);
    app.advance(1);
    let urgent = built(&app, &key, urgent).await;
    assert_eq!(waits(urgent).await.0, json!(0));
    assert_eq!(waits(first).await, (json!(1), "1 build is ahead of it".to_owned()));
    assert_eq!(waits(last).await, (json!(2), "2 builds are ahead of it".to_owned()));
    let listed = app.get(&key, "/build").await.ok();
    let places: Vec<_> = listed["items"].as_array().unwrap().iter().map(|item| &item["queuePosition"]).collect();
    assert_eq!(places, [&json!(0), &json!(2), &json!(1)], "a list tells the same");
}

/// More distinct label lists than are read at a time.
#[tokio::test]
async fn a_runner_that_fits_is_found_among_a_thousand() {
    let (app, org, key) = TestApp::with_org().await;
    let racks = (0..1001).map(|number| vec![format!("rack={number}")]);
    runners(&app, Some(org), racks.chain([vec!["rack=last".to_owned()]]).collect()).await;
    for (rack, waits) in [
        ("0", "Waiting for a runner with rack=0 to be free"),
        ("last", "1 build is ahead of it"),
        ("none", "Waiting for a runner with rack=none: none is connected"),
    ] {
        app.advance(1);
        let plan = json!({"labels": [format!("rack={rack}")], "steps": [{"name": "a", "run": "a"}]});
        let build = built(&app, &key, json!({"plan": plan})).await;
        assert_eq!(read(&app, &key, build).await["waitingFor"], waits);
    }
}

#[tokio::test]
async fn a_build_that_runs_and_ends_shows_it() {
    let app = TestApp::start().await;
    let (org, key, id) = running(&app).await;
    let play = Play { app: &app, org, id };
    let view = read(&app, &key, id).await;
    view.has(json!({"status": "running", "runner": "mac-mini-1"}));
    view.has(json!({"queuePosition": null, "waitingFor": null}));
    assert_eq!(view["startedAt"], "2026-11-20T10:00:00.000Z");
    play.phases(&["source", "compile"]).await;
    let artifact = play.gives("app-release.apk", b"an app").await;
    app.advance(5000);
    play.ends(Outcome::Success).await;
    let view = read(&app, &key, id).await;
    view.has(json!({"status": "success", "phase": "compile"}));
    assert_eq!(view["finishedAt"], "2026-11-20T10:00:05.000Z");
    let phase = json!({
        "name": "source", "startedAt": "2026-11-20T10:00:00.000Z", "finishedAt": "2026-11-20T10:00:01.500Z",
        "seconds": 1.5, "exitCode": 0,
    });
    assert_eq!(view["phases"][0], phase);
    let shown = &view["artifacts"][0];
    shown.has(json!({"kind": "apk", "sha256": artifact.sha256}));
    assert_eq!(
        (&shown["expiresAt"], &shown["facts"]["version"]),
        (&json!("2026-11-20T11:00:05.000Z"), &json!("1.2.3"))
    );
    let got = app.get(NOBODY, shown.text("url")).await;
    assert_eq!((got.status.as_u16(), got.bytes.as_slice()), (200, &b"an app"[..]));
    assert_eq!(got.header("content-disposition"), "attachment; filename=\"app-release.apk\"");
    app.advance(3_600_000);
    app.get(NOBODY, shown.text("url")).await.is(403);
    // A list shows the same.
    let list = app.get(&key, "/build?status=success").await.ok();
    assert_eq!(list["items"][0], read(&app, &key, id).await);
}

#[tokio::test]
async fn a_failed_build_says_why_and_shows_no_older_files() {
    use launchway_domain::build::{BuildErrorCode, Transition};
    let app = TestApp::start().await;
    let (org, key, id) = running(&app).await;
    let play = Play { app: &app, org, id };
    play.gives("old.apk", b"old").await;
    app.advance(90_000);
    play.transition(Transition::Lapse, launchway_store::StateChange::default()).await;
    read(&app, &key, id).await.has(json!({"status": "queued", "attempt": 2}));
    play.leased(runner(&app, None, &[]).await).await;
    let outcome = Outcome::Failed(BuildErrorCode::StepFailed);
    play.transition(Transition::Finish { attempt: 2, outcome }, launchway_store::StateChange::default()).await;
    let view = read(&app, &key, id).await;
    assert_eq!(view["artifacts"], json!([]));
    let error = json!({
        "code": "STEP_FAILED", "phase": "compile", "message": "The step compile ended with exit code 1",
    });
    assert_eq!(view["error"], error);
}

#[tokio::test]
async fn members_see_builds_and_other_scopes_do_not() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Enterprise).await;
    let key = app.key(org, &[launchway_domain::scope::Scope::Build]).await;
    let cookie = app.user(org, "ada@example.com", launchway_domain::tenancy::Role::Member).await;
    let made = build(&app, &key, json!({})).await.created();
    let path = format!("/build?id={}", id_of(&made));
    assert_eq!(app.get(&cookie, &path).await.ok(), made);
    let other = app.key(org, &[launchway_domain::scope::Scope::Update]).await;
    app.get(&other, &path).await.refused(403, "API key does not have 'build' scope");
}
