//! `POST /build`: accepted and rejected requests, numbers, sources, quotas, idempotency.

use std::collections::BTreeSet;

use launchway_domain::tenancy::Tier;
use reqwest::Method;
use serde_json::{Value, json};

use crate::stage::builds::{build, built, id_of, read, stored};
use crate::support::{Answer, Fields, START, Says, TestApp};

#[tokio::test]
async fn a_build_is_shown_with_every_field() {
    let (app, org, key) = TestApp::with_org().await;
    let fields = json!({
        "platform": "ios", "profile": "beta", "configuration": "staging", "version": "1.2", "buildNumber": "0042",
        "buildType": "debug", "distribution": "internal", "fingerprint": "hash", "priority": -7,
        "git": {"commit": "c0ffee", "branch": "main", "message": "A\nmessage", "dirty": true},
        "plan": {"labels": ["xcode=26", "os=macos", "os=macos"], "steps": [{"name": "build", "run": "make"}]},
    });
    let made = build(&app, &key, fields).await.created();
    let id = id_of(&made);
    let by = app.audit(org).await.last().unwrap().actor.clone();
    let expected = json!({
        "id": id.to_string(), "status": "queued", "bundleId": "com.example.app", "platform": "ios",
        "configuration": "staging", "profile": "beta", "buildType": "debug", "distribution": "internal",
        "version": "1.2", "buildNumber": "0042", "fingerprint": "hash",
        "git": {"commit": "c0ffee", "branch": "main", "message": "A\nmessage", "dirty": true},
        "priority": -7, "attempt": 1, "phase": null, "phases": [], "queuePosition": 0,
        "waitingFor": "Waiting for a runner with os=macos, xcode=26: none is connected", "runner": null,
        "cancelRequested": false, "error": null, "warnings": [], "artifacts": [], "install": null, "logSize": 0,
        "parentId": null, "createdBy": by, "createdAt": "2026-11-20T10:00:00.000Z", "startedAt": null,
        "finishedAt": null,
    });
    assert_eq!(made, expected);
    assert_eq!(read(&app, &key, id).await, expected);
    let plan = app.get(&key, &format!("/build/plan?id={id}")).await;
    let plan = plan.ok();
    assert_eq!((&plan["origin"], &plan["plan"]["steps"][0]["run"]), (&json!("request"), &json!("make")));
    let events = app.events(org).await;
    let [(kind, data)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((kind.as_str(), &data["id"], &data["status"]), ("build.queued", &made["id"], &json!("queued")));
    let lines = app.audit(org).await;
    let actions: Vec<_> = lines.iter().map(|line| line.action.as_str()).collect();
    assert_eq!(actions.last(), Some(&"build.create"));
    assert!(!actions.contains(&"app.create"), "the first successful build claims the app");
}

#[tokio::test]
async fn without_a_plan_the_platform_says_what_a_runner_must_be() {
    let (app, key) = TestApp::with_key().await;
    for (platform, waits) in [
        ("ios", "Waiting for a runner with os=macos: none is connected"),
        ("visionos", "Waiting for a runner with os=macos: none is connected"),
        ("android", "Waiting for a runner: none is connected"),
    ] {
        let made = build(&app, &key, json!({"platform": platform})).await.created();
        assert_eq!(made["waitingFor"], waits, "{platform}");
        made.has(json!({"buildType": "release", "distribution": "store"}));
        made.has(json!({"version": null, "buildNumber": null}));
        assert_eq!(app.get(&key, &format!("/build/plan?id={}", id_of(&made))).await.ok()["plan"], Value::Null);
    }
}

#[tokio::test]
async fn a_wrong_form_is_told_and_makes_nothing() {
    let (app, org, key) = TestApp::with_org().await;
    let git = |url: &str, reference: &str| json!({"source": {"git": {"url": url, "ref": reference}}});
    let git_in =
        |url: &str, directory: &str| json!({"source": {"git": {"url": url, "ref": "main", "directory": directory}}});
    let with_plan = |mut fields: Value| {
        fields["plan"] = json!({"steps": [{"name": "a", "run": "a"}]});
        fields
    };
    let url = "https://example.com/app.git";
    let long = "x".repeat(256);
    for (fields, named) in [
        (json!({"bundleId": "a b"}), "bundleId must"),
        (json!({"platform": "windows"}), "platform must be ios, android or visionos"),
        (json!({"source": {}}), "source must have either uploadId or git"),
        (
            json!({"source": {"uploadId": "x", "git": {"url": url, "ref": "main"}}}),
            "source must have either uploadId or git",
        ),
        (git("file:///etc", "main"), "source.git.url: The address"),
        (git("/srv/app.git", "main"), "source.git.url: The address"),
        (git("--upload-pack=evil", "main"), "source.git.url: The address"),
        (git("ext::sh -c evil", "main"), "source.git.url: The address"),
        (git("http://example.com/app.git", "main"), "source.git.url: The address"),
        (git("https://me:hunter2@example.com/app.git", "main"), "must not contain a user or password"),
        (git(url, "--upload-pack=evil"), "source.git.ref: The git ref"),
        (git(url, "a:b"), "source.git.ref: The git ref"),
        (git_in(url, "../other"), "source.git.directory: The directory must be relative"),
        (git_in(url, "/etc"), "source.git.directory: The directory must be relative"),
        (git_in(url, "apps/.git"), "source.git.directory: The directory must be relative"),
        (git_in(url, &long), "source.git.directory: The directory must be relative"),
        (with_plan(git_in(url, "app")), "A plan in the request runs at the root of the repository"),
        (git(url, ""), "source.git.ref: The git ref"),
        (json!({"source": {"git": {"url": url}}}), "missing field `ref`"),
        (json!({"version": "one"}), "version must be a semantic version"),
        (json!({"buildNumber": "1.0"}), "buildNumber must be 1 to 18 digits"),
        (json!({"buildNumber": -1}), "buildNumber"),
        (json!({"buildType": "fast"}), "buildType must be one of debug, release"),
        (json!({"distribution": "mail"}), "distribution must be one of store, internal, simulator, development"),
        (json!({"configuration": "a b"}), "configuration must"),
        (json!({"profile": ""}), "profile must"),
        (json!({"profile": "../x"}), "profile must"),
        (json!({"fingerprint": ""}), "fingerprint must"),
        (json!({"fingerprint": {"alg": "other"}}), "alg"),
        (json!({"priority": 101}), "priority must be a whole number from -100 to 100"),
        (json!({"priority": i64::MIN}), "priority must be a whole number from -100 to 100"),
        (json!({"priority": 1.5}), "priority"),
        (json!({"git": {"commit": "x".repeat(65)}}), "git.commit must have at most 64"),
        (json!({"git": {"branch": long}}), "git.branch must have at most 255"),
        (json!({"git": {"branch": "a\nb"}}), "git.branch must have at most 255"),
        (json!({"git": {"message": "\u{0}"}}), "git.message must not contain a NUL"),
        (json!({"plan": {"steps": []}}), "plan.steps must have 1 to 100 entries"),
        (json!({"plan": {"steps": [{"name": "a", "run": " "}]}}), "plan.steps[0].run must be a command"),
        (
            json!({"plan": {"labels": ["macos"], "steps": [{"name": "a", "run": "a"}]}}),
            "plan.labels[0] must be name=value",
        ),
        (json!({"plan": {"steps": [{"name": "a", "run": "a", "mode": 1}]}}), "unknown field `mode`"),
        (json!({"runner": "mine"}), "unknown field `runner`"),
    ] {
        let answer = build(&app, &key, fields.clone()).await.expect(400);
        let message = answer.text("message");
        assert!(message.contains(named), "{fields}: {message}");
        message.lacks("hunter2");
    }
    let list = app.get(&key, "/build").await.ok();
    assert_eq!(list["total"], 0);
    assert!(app.events(org).await.is_empty());
}

#[tokio::test]
async fn a_foreign_bundle_id_is_refused_as_by_post_update() {
    let app = TestApp::start().await;
    let (_, theirs) = app.org_with_key().await;
    let (_, ours) = app.org_with_key().await;
    app.published(&theirs, json!({"bundleId": "com.example.taken"})).await;
    let refused = build(&app, &ours, json!({"bundleId": "com.Example.Taken"})).await;
    let published = app.publish(&ours, json!({"bundleId": "com.Example.Taken"})).await;
    assert_eq!((refused.status, refused.json()), (published.status, published.json()));
    refused.is(403);
}

#[tokio::test]
async fn a_source_is_copied_checked_and_used_once() {
    let (app, org, key) = TestApp::with_org().await;
    for name in ["app.tar.gz", "app.tgz", "app.tar.zst", "APP.ZIP"] {
        let upload = app.upload_file(&key, name, name.as_bytes()).await;
        let source = json!({"source": {"uploadId": upload}});
        let id = built(&app, &key, source.clone()).await;
        let at = format!("sources/{upload}/{id}");
        assert!(stored(&app, "sources").await.contains(&at), "{at}");
        assert!(!stored(&app, "uploads").await.contains(&format!("uploads/{upload}")));
        let again = build(&app, &key, source).await;
        again.refused(400, "This upload was already used. Upload the file again.");
    }
    let there = stored(&app, "sources").await;
    for name in ["app.apk", "app.tar", "zip", "app.tar.gz.sh"] {
        let upload = app.upload_file(&key, name, b"x").await;
        let refused = build(&app, &key, json!({"source": {"uploadId": upload}})).await.expect(400);
        assert!(refused.text("message").contains(".tar.gz, .tar.zst or .zip"), "{name}");
    }
    // Announced but not sent; and sent with other bytes than announced, which only object storage can cause.
    let sha256 = "00".repeat(32);
    let body = json!({"fileName": "a.zip", "size": 1, "sha256": sha256});
    let announced = app.post(&key, "/uploads", body).await.created();
    let source = json!({"source": {"uploadId": announced["id"]}});
    let refused = build(&app, &key, source.clone()).await.expect(400);
    assert!(refused.text("message").contains("has not received its bytes yet"));
    let url = announced.text("url");
    app.request(Method::PUT, url).body("x").send().await.unwrap();
    let refused = build(&app, &key, source).await.expect(400);
    assert!(refused.text("message").contains("announced size or sha256"));
    for id in ["nonsense", "upload_01h455vb4pex5vsknk084sn02q"] {
        build(&app, &key, json!({"source": {"uploadId": id}})).await.refused(404, "No upload has this id");
    }
    assert_eq!(stored(&app, "sources").await, there, "nothing is left of what was refused");
    assert_eq!(app.events(org).await.len(), 4);
}

#[tokio::test]
async fn a_source_may_be_so_large_and_not_larger() {
    let app = TestApp::with(settings!(max_source_size = "10")).await;
    let (_, key) = app.org_with_key().await;
    let largest = app.upload_file(&key, "a.zip", &[0; 10]).await;
    built(&app, &key, json!({"source": {"uploadId": largest}})).await;
    let larger = app.upload_file(&key, "a.zip", &[0; 11]).await;
    let refused = build(&app, &key, json!({"source": {"uploadId": larger}})).await;
    refused.refused(400, "The source has 11 bytes, but this server accepts at most 10");
}

#[tokio::test]
async fn automatic_numbers_go_up_and_no_two_are_the_same() {
    for app in TestApp::on_both().await {
        let (_, key) = app.org_with_key().await;
        let number = async |fields: Value| build(&app, &key, fields).await.created()["buildNumber"].clone();
        let auto = json!({"buildNumber": "auto"});
        assert_eq!(number(auto.clone()).await, "1");
        assert_eq!(number(json!({"buildNumber": 41})).await, "41");
        assert_eq!(number(auto.clone()).await, "42");
        assert_eq!(number(json!({"buildNumber": "7"})).await, "7");
        assert_eq!(number(json!({"buildNumber": "auto", "platform": "ios"})).await, "1");
        assert_eq!(number(json!({"buildNumber": "auto", "bundleId": "com.example.other"})).await, "1");
        // Updates and builds of an app share one series of numbers.
        app.published(&key, json!({"buildNumber": 100})).await;
        let made = futures::future::join_all((0..8).map(|_| number(auto.clone()))).await;
        let made: BTreeSet<u64> = made.iter().map(|number| number.as_str().unwrap().parse().unwrap()).collect();
        assert_eq!(made, (101..109).collect());
        build(&app, &key, json!({"buildNumber": "999999999999999999"})).await.created();
        build(&app, &key, auto).await.refused(400, "No build number above the highest one is left. Specify one.");
    }
}

#[tokio::test]
async fn a_document_of_a_fingerprint_is_kept_as_its_hash() {
    let (app, key) = TestApp::with_key().await;
    let document = json!({
        "alg": "lwfp-1", "framework": "capacitor", "native": "a".repeat(64), "platform": "android",
        "plugins": {"@capacitor/core": "7.0.0"}, "resources": "b".repeat(64),
    });
    let made = build(&app, &key, json!({"fingerprint": document})).await.created();
    assert_eq!(made.text("fingerprint").len(), 64);
}

#[tokio::test]
async fn a_quota_stops_builds_and_what_is_refused_leaves_nothing() {
    let app = TestApp::with(settings!(quotas = "free:builds=2")).await;
    let org = app.org(Tier::Free).await;
    let key = app.key(org, &launchway_domain::scope::Scope::ALL).await;
    built(&app, &key, json!({})).await;
    let second = built(&app, &key, json!({})).await;
    let upload = app.upload_file(&key, "a.zip", b"x").await;
    let refused = build(&app, &key, json!({"source": {"uploadId": upload}, "buildNumber": "auto"})).await;
    refused.is(403);
    refused.says("2 builds");
    assert!(stored(&app, "sources").await.is_empty());
    app.post(&key, &format!("/build/cancel?id={second}"), ()).await.ok();
    app.post(&key, &format!("/build/retry?id={second}"), ()).await.is(403);
    let usage = app.get(&key, "/usage?id=2026-11").await.ok();
    assert_eq!(usage["builds"], 2);
    assert!(app.app.clock.now() == START);
}

async fn once(app: &TestApp, key: &str, body: &Value) -> Answer {
    let request = app.request(Method::POST, "/build").bearer_auth(key).header("idempotency-key", "once");
    Answer::to(request.json(body)).await
}

#[tokio::test]
async fn the_same_request_makes_one_build_also_at_once() {
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        let upload = app.upload_file(&key, "a.zip", b"x").await;
        let body = json!({
            "bundleId": "com.example.app", "platform": "android", "buildNumber": "auto", "source": {"uploadId": upload},
        });
        let answers = futures::future::join_all((0..4).map(|_| once(&app, &key, &body))).await;
        let first = answers[0].created();
        for answer in &answers {
            assert_eq!(answer.created(), first);
        }
        assert_eq!(once(&app, &key, &body).await.created(), first);
        let mut other = body.clone();
        other["priority"] = json!(1);
        once(&app, &key, &other).await.refused(400, "This Idempotency-Key was used with another body. Use a new key.");
        assert_eq!(app.events(org).await.len(), 1);
        assert_eq!(stored(&app, "sources").await.len(), 1);
    }
}

/// `docs/reference/builds.md#projects-below-the-root`: nobody who knows no directories builds another one.
#[tokio::test]
async fn a_directory_of_a_repository_goes_to_runners_that_know_it() {
    let (app, _, key) = TestApp::with_org().await;
    let before = app.runner(&key, &["os=linux"]).await;
    let present = app.runner(&key, &["git-directory=yes", "os=linux"]).await;
    let git = json!({"url": "https://example.com/app.git", "ref": "main", "directory": "apps/mobile"});
    let made = build(&app, &key, json!({"source": {"git": git}})).await.created();
    assert_eq!(app.ask(&before).await, json!(null));
    let held = app.take(&present).await;
    // One text, as a server of the release before passes it on and its runners refuse it.
    let expected = json!({"kind": "git", "url": "https://example.com/app.git", "ref": "main:apps/mobile"});
    assert_eq!((&held.lease["source"], &held.lease["plan"]), (&expected, &Value::Null));
    app.post(&key, &format!("/build/cancel?id={}", id_of(&made)), ()).await.ok();
    held.finish(json!({"status": "canceled"})).await.ok();
    app.post(&key, &format!("/build/retry?id={}", id_of(&made)), ()).await.created();
    assert_eq!(app.ask(&before).await, json!(null));
    assert_eq!(app.take(&present).await.lease["source"], expected);
    // The root needs no runner that knows directories.
    let git = json!({"url": "https://example.com/app.git", "ref": "main", "directory": ""});
    build(&app, &key, json!({"source": {"git": git}})).await.created();
    assert_eq!(app.take(&before).await.lease["source"]["ref"], "main");
}
