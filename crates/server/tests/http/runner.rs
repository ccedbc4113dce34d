//! `/runner`: leases, fencing, and what a lease hands out (`docs/reference/builds.md#leases`).

mod artifacts;
mod ends;
mod handed_out;
mod logs;
mod model;
mod profile;
mod shares;

use launchway_domain::build::BuildStatus;
use launchway_domain::time::{MINUTE, SECOND};
use launchway_jobs::expire_leases::expire_leases;
use launchway_ops::held_builds::NO_LEASE;
use serde_json::json;

use crate::stage::runners::Held;
use crate::support::{Fields, TestApp};

#[tokio::test]
async fn a_runner_gets_the_first_build_that_it_may_take() {
    let (app, org, key) = TestApp::with_org().await;
    let (other, other_key) = app.org_with_key().await;
    let linux = app.runner(&key, &["os=linux", "arch=x86_64", "java=17"]).await;
    let bare = app.runner(&other_key, &["os=linux"]).await;
    let shared = app.shared_runner(&["os=linux"]).await;
    assert_eq!(app.ask(&linux).await, json!(null));
    let labels = |build: &mut launchway_domain::build::Build, labels: &[&str]| {
        build.labels = labels.iter().map(ToString::to_string).collect();
    };
    app.queue(org, |build| labels(build, &["os=macos"])).await;
    let java = app.queue(org, |build| labels(build, &["java=17", "os=linux"])).await;
    app.advance(1);
    let plain = app.queue(org, |_| ()).await;
    app.advance(1);
    let urgent = app
        .queue(org, |build| {
            labels(build, &["os=linux"]);
            build.priority = 5;
        })
        .await;
    app.advance(1);
    let theirs = app.queue(other, |_| ()).await;
    assert_eq!(app.take(&linux).await.id, urgent.to_string());
    assert_eq!(app.take(&linux).await.id, java.to_string());
    // A build that needs labels the shared runner lacks is not assigned to it; all others are, starting with the
    // organization that waited longest.
    assert_eq!(app.take(&shared).await.id, theirs.to_string());
    assert_eq!(app.take(&shared).await.id, plain.to_string());
    for runner in [&linux, &bare, &shared] {
        assert_eq!(app.ask(runner).await, json!(null));
    }
}

#[tokio::test]
async fn a_lease_says_what_to_build_and_its_start_is_told() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &["os=linux"]).await;
    for (name, value, more) in [
        ("TOKEN", "hunter2-secret", json!({})),
        ("HOST", "example.com", json!({"visibility": "plain"})),
        ("google", "{}", json!({"kind": "file", "path": "app/google.json"})),
        ("ELSEWHERE", "x", json!({"bundleId": "com.example.other"})),
    ] {
        let mut body = json!({"name": name, "value": value});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        app.post(&key, "/env", body).await.created();
    }
    let keystore = app.keystore(&key).await;
    let id = app.queue(org, |build| build.spec.version = Some("1.2.3".to_owned())).await;
    let lease = app.take(&runner).await.lease;
    lease.has(json!({"attempt": 1, "leaseSeconds": 90, "renewSeconds": 15, "logOffset": 0}));
    assert_eq!(lease["orgId"], org.to_string());
    assert_eq!(lease["source"], json!({"kind": "git", "url": "https://git.example.com/app.git", "ref": "main"}));
    lease.has(json!({"version": "1.2.3", "buildNumber": null}));
    assert_eq!(lease["plan"]["steps"][0]["run"], "make");
    assert_eq!(
        lease["env"],
        json!([
            {"name": "HOST", "value": "example.com", "path": null, "secret": false},
            {"name": "TOKEN", "value": "hunter2-secret", "path": null, "secret": true},
            {"name": "google", "value": "{}", "path": "app/google.json", "secret": true},
        ])
    );
    let credential = &lease["credentials"][0];
    credential.has(json!({"id": keystore, "kind": "android_keystore"}));
    assert_eq!(credential["secrets"], json!({"password": "store-secret", "keyPassword": "store-secret"}));
    assert!(credential.text("content").len() > 1000 && credential["facts"]["alias"].is_string());
    // The audit log records each opened secret and its purpose, but never the secret itself.
    let log = app.audit(org).await;
    let opened: Vec<_> = log.iter().filter(|line| line.action == "secret.open").collect();
    assert_eq!(opened.len(), 3);
    for line in &opened {
        assert_eq!(line.actor, runner.id);
        assert!(line.after.as_deref().unwrap().contains(&id.to_string()));
    }
    assert!(!format!("{log:?}").contains("hunter2") && !format!("{log:?}").contains("store-secret"));
    let events = app.events(org).await;
    let (kind, data) = events.last().unwrap();
    assert_eq!((kind.as_str(), &data["id"]), ("build.started", &json!(id.to_string())));
    data.has(json!({"status": "running", "runner": "mac-mini-1"}));
}

#[tokio::test]
async fn a_waiting_runner_gets_a_build_as_soon_as_there_is_one() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &["os=linux"]).await;
    let wait = async {
        let body = json!({"labels": ["os=linux"], "version": "0.1.0", "waitSeconds": 30});
        app.post(&runner.token, "/runner/lease", body).await
    };
    let (answer, id) = tokio::join!(wait, app.queue(org, |_| ()));
    assert_eq!(answer.ok()["lease"]["buildId"], id.to_string());
}

#[tokio::test]
async fn no_build_is_given_to_two() {
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        let mut runners = Vec::new();
        for _ in 0..4 {
            runners.push(app.runner(&key, &["os=linux"]).await);
        }
        for _ in 0..10 {
            app.queue(org, |_| ()).await;
        }
        let all = futures::future::join_all((0..24).map(|at| app.ask(&runners[at % 4]))).await;
        let mut taken: Vec<_> = all.iter().filter_map(|lease| lease["buildId"].as_str()).collect();
        // Requests that arrived at the same moment may return without a build.
        for _ in taken.len()..10 {
            assert_ne!(app.ask(&runners[0]).await, json!(null));
        }
        let count = taken.len();
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len(), count);
        assert_eq!(app.ask(&runners[0]).await, json!(null));
    }
}

#[tokio::test]
async fn whoever_does_not_have_the_attempt_is_refused() {
    let (app, org, key) = TestApp::with_org().await;
    let (runner, other) = (app.runner(&key, &[]).await, app.runner(&key, &[]).await);
    let id = app.queue(org, |_| ()).await;
    let held = app.take(&runner).await;
    let before = app.build(id).await;
    let refuse = async |held: &Held<'_>| {
        let plan = json!({"plan": {"steps": [{"name": "a", "run": "b"}]}, "origin": "x"});
        for answer in [
            held.renew().await,
            held.tell("/runner/plan", plan).await,
            held.log(0, "text").await,
            held.announce("app.apk", b"apk").await,
            held.finish(json!({})).await,
        ] {
            answer.refused(400, NO_LEASE);
        }
    };
    // Another runner; a future or malformed attempt; a build that does not exist.
    refuse(&Held { token: &other.token, lease: json!(null), id: held.id.clone(), ..held }).await;
    refuse(&Held { attempt: 2, lease: json!(null), id: held.id.clone(), ..held }).await;
    refuse(&Held { attempt: 0, lease: json!(null), id: held.id.clone(), ..held }).await;
    refuse(&Held { id: "build_01h455vb4pex5vsknk084sn02q".to_owned(), lease: json!(null), ..held }).await;
    refuse(&Held { id: "nonsense".to_owned(), lease: json!(null), ..held }).await;
    assert_eq!(app.build(id).await, before);
    assert_eq!(app.log(id).await, b"");
    // The attempt is over, and another has begun: on the same runner too.
    app.advance(91 * SECOND);
    assert_eq!(expire_leases(&app.app).await.unwrap(), 1);
    refuse(&held).await;
    let again = app.take(&runner).await;
    assert_eq!((again.id.as_str(), again.attempt), (held.id.as_str(), 2));
    refuse(&held).await;
    again.finish(json!({"logSize": app.log(id).await.len()})).await.ok();
    refuse(&held).await;
    again.renew().await.is(400);
}

#[tokio::test]
async fn a_renewal_wakes_followers_only_with_new_phases() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &[]).await;
    let id = app.queue(org, |_| ()).await;
    let held = app.take(&runner).await;
    let mut news = app.app.build_news.follow(id);
    let phases = json!({"phases": [{"name": "source", "startedAt": "2026-01-02T03:04:05Z"}]});
    for (fields, is_new) in
        [(json!({"phases": []}), false), (phases.clone(), true), (phases, false), (json!({"phases": []}), true)]
    {
        held.tell("/runner/renew", fields).await.expect(200);
        assert_eq!(news.has_changed().unwrap(), is_new);
        news.mark_unchanged();
    }
}

#[tokio::test]
async fn a_lease_goes_on_while_it_is_renewed_and_lapses_when_not() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &[]).await;
    let id = app.queue(org, |_| ()).await;
    app.advance(1);
    app.queue(org, |build| build.priority = 100).await;
    let _urgent = app.take(&runner).await;
    let held = app.take(&runner).await;
    for _ in 0..4 {
        app.advance(80 * SECOND);
        assert_eq!(held.renew().await.ok(), json!({"cancel": false, "logOffset": 0}));
        // Only the other one's lease has expired.
        expire_leases(&app.app).await.unwrap();
        assert_eq!(app.build(id).await.state.status, BuildStatus::Running);
    }
    app.advance(90 * SECOND);
    expire_leases(&app.app).await.unwrap();
    let build = app.build(id).await;
    assert_eq!((build.state.status, build.state.attempt), (BuildStatus::Queued, 2));
    // It takes precedence over newer builds of higher priority.
    app.queue(org, |build| build.priority = 100).await;
    assert_eq!(app.take(&runner).await.id, id.to_string());
}

#[tokio::test]
async fn a_build_of_silent_runners_fails_after_three_attempts() {
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        let runner = app.runner(&key, &[]).await;
        let id = app.queue(org, |_| ()).await;
        for attempt in 1..=3 {
            let held = app.take(&runner).await;
            assert_eq!(held.attempt, attempt);
            let at = held.lease["logOffset"].as_u64().unwrap() as usize;
            held.logged(at, b"half a line").await;
            app.advance(2 * MINUTE);
            assert_eq!(expire_leases(&app.app).await.unwrap(), 1);
            assert_eq!(expire_leases(&app.app).await.unwrap(), 0);
        }
        assert_eq!(app.ask(&runner).await, json!(null));
        let build = app.build(id).await;
        assert_eq!(build.state.status, BuildStatus::Failed);
        assert_eq!(build.error.unwrap().code.as_str(), "RUNNER_LOST");
        let kinds: Vec<_> = app.events(org).await.into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, ["build.started", "build.failed"]);
        let log = String::from_utf8(app.log(id).await).unwrap();
        let lines: Vec<_> = log.lines().collect();
        assert_eq!(lines.len(), 6, "{log}");
        assert_eq!(lines[0], "half a line");
        assert_eq!(
            lines[1],
            "==> The connection to the runner was lost. The build starts again on the next free runner."
        );
        assert_eq!(lines[5], "==> The connection to the runner was lost, for the last time");
    }
}

#[tokio::test]
async fn a_cancel_rides_on_every_answer() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &[]).await;
    let id = app.queue(org, |_| ()).await;
    let held = app.take(&runner).await;
    let mut tx = app.app.db.write().await.unwrap();
    let build = tx.org(org).lock_build(id).await.unwrap().unwrap();
    let (to, _) = build.state.apply(launchway_domain::build::Transition::Cancel, app.app.clock.now()).unwrap();
    assert!(tx.org(org).set_build_state(id, &build.state, &to, &Default::default()).await.unwrap());
    tx.commit().await.unwrap();
    let plan = json!({"plan": {"steps": [{"name": "a", "run": "b"}]}, "origin": "Flutter", "commit": "c0ffee"});
    for (answer, status) in [
        (held.renew().await, 200),
        (held.tell("/runner/plan", plan).await, 200),
        (held.log(0, "text\n").await, 200),
        (held.log(99, "gap\n").await, 200),
        (held.announce("app.apk", b"apk").await, 201),
    ] {
        assert_eq!(answer.expect(status)["cancel"], true);
    }
    let build = app.build(id).await;
    assert_eq!(build.plan_origin.as_deref(), Some("Flutter"));
    assert_eq!(build.plan.unwrap().steps[0].run, "b");
    assert_eq!(build.spec.git.unwrap().commit.as_deref(), Some("c0ffee"));
    // If the runner never contacts the server again, the build ends as canceled and does not restart.
    app.advance(2 * MINUTE);
    expire_leases(&app.app).await.unwrap();
    assert_eq!(app.build(id).await.state.status, BuildStatus::Canceled);
    assert_eq!(app.events(org).await.last().unwrap().0, "build.canceled");
}

#[tokio::test]
async fn what_a_runner_sends_has_a_form() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &[]).await;
    app.queue(org, |_| ()).await;
    let held = app.take(&runner).await;
    let lease = async |body| app.post(&runner.token, "/runner/lease", body).await;
    let message = |answer: crate::support::Answer| answer.refusal(400);
    let wrong = [
        lease(json!({"labels": ["fast"], "version": "1", "waitSeconds": 0})).await,
        lease(json!({"labels": vec!["a=b"; 51], "version": "1", "waitSeconds": 0})).await,
        lease(json!({"labels": [], "version": "1\n", "waitSeconds": 0})).await,
        lease(json!({"labels": [], "version": "1", "waitSeconds": 31})).await,
        held.tell(
            "/runner/renew",
            json!({"phases": [{"name": "a", "startedAt": "now", "finishedAt": null, "exitCode": null}]}),
        )
        .await,
        held.tell("/runner/plan", json!({"plan": {"steps": []}, "origin": "x"})).await,
        held.tell(
            "/runner/plan",
            json!({"plan": {"steps": [{"name": "a", "run": "b"}]}, "origin": "x", "commit": "-x"}),
        )
        .await,
        held.tell("/runner/artifacts", json!({"kind": "APK", "name": "a", "size": 1, "sha256": "0".repeat(64)})).await,
        held.tell("/runner/artifacts", json!({"kind": "apk", "name": "../a", "size": 1, "sha256": "0".repeat(64)}))
            .await,
        held.tell("/runner/artifacts", json!({"kind": "apk", "name": "a", "size": 1, "sha256": "x"})).await,
        held.finish(json!({"status": "done"})).await,
        held.finish(json!({"status": "failed"})).await,
        held.finish(json!({"error": {"code": "INTERNAL", "phase": null, "message": "x"}})).await,
        held.finish(json!({"status": "failed", "error": {"code": "RUNNER_LOST", "phase": null, "message": "x"}})).await,
        held.finish(json!({"artifacts": ["x"]})).await,
        held.finish(json!({"logSize": 1})).await,
    ];
    let told: Vec<_> = wrong.into_iter().map(message).collect();
    let begins = [
        "labels[0] must be",
        "labels must have at most 50 items",
        "version must",
        "waitSeconds must be at most 30",
        "phases[0]: `now` is not a time",
        "plan.steps",
        "commit must be hex",
        "kind must",
        "name must",
        "sha256 must",
        "status must",
        "error is required",
        "error is only for status failed",
        "error.code: a runner cannot report RUNNER_LOST",
        "artifacts: x is not the id of an artifact",
        "logSize is 1, but the server has 0",
    ];
    for (told, begin) in told.iter().zip(begins) {
        assert!(told.starts_with(begin), "{told}");
    }
    held.renew().await.ok();
    let answer = app.post(&runner.token, &format!("/runner/log?id={}&attempt=1", held.id), ()).await;
    answer.refused(400, "offset is required");
    held.log(0, vec![b'x'; (1 << 20) + 1]).await.expect(413);
}
