//! Whole builds: what a server receives from them, and what is left on the runner.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use launchway_api::runner::{LeasedCredential, LeasedVariable};
use launchway_api::secret::SecretText;
use launchway_api::words::PlanOrigin;
use launchway_domain::build::BuildResult;
use launchway_domain::credential::CredentialKind;
use launchway_runner::plan::RequestOnly;
use serde_json::json;

use crate::fake_server::{FakeServer, lease, with_artifact, with_cache};
use crate::stage::{is_alive, open_directory, written_ids};
use crate::work::Working;

fn variable(name: &str, value: &str, path: Option<&str>, secret: bool) -> LeasedVariable {
    LeasedVariable {
        name: name.to_owned(),
        value: SecretText::new(value.to_owned()),
        path: path.map(str::to_owned),
        secret,
    }
}

/// Nothing is left of a build except caches.
fn assert_clean(work_dir: &Path) {
    for place in ["builds", "journal"] {
        let left: Vec<_> = fs::read_dir(work_dir.join(place))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[tokio::test]
async fn a_build_gives_its_artifacts_and_leaves_nothing() {
    let server = FakeServer::start().await;
    let mut lease = lease(
        &server,
        "build_1",
        &[
            (
                "Look",
                "cat README; echo; cat config/settings.json; echo; echo \"$PLAIN $TOKEN $SETTINGS\"; pwd; ls",
            ),
            (
                "Facts",
                "env | grep ^LAUNCHWAY_ | sort; echo \"$CI $HOME $TMPDIR\"; test -w \"$HOME\"; test -w \"$TMPDIR\"",
            ),
            (
                "Make",
                "mkdir -p out/a; echo app > out/a/app.apk; echo map > out/map.txt; cat \"$LAUNCHWAY_ANDROID_KEYSTORE\"",
            ),
        ],
    );
    lease = with_artifact(with_artifact(lease, "out/**/*.apk", "apk"), "out/map.txt", "map");
    lease
        .plan
        .as_mut()
        .unwrap()
        .env
        .insert("PLAIN".to_owned(), "of the plan".to_owned());
    lease.env = vec![
        variable("PLAIN", "of the organization", None, false),
        variable("TOKEN", "hunter2-token", None, true),
        variable("SETTINGS", "{\"key\":1}", Some("config/settings.json"), true),
    ];
    lease.credentials = vec![LeasedCredential {
        id: "credential_1".to_owned(),
        kind: CredentialKind::AndroidKeystore.into(),
        name: "Upload key".to_owned(),
        content: SecretText::new(STANDARD.encode("keystore-bytes")),
        secrets: [("password", "hunter2-password"), ("alias", "upload")]
            .map(|(name, value)| (name.to_owned(), SecretText::new(value.to_owned())))
            .into(),
        facts: json!({}),
    }];
    server.queue(lease);
    let working = Working::start(&server);
    let finish = server.finished("build_1").await;
    let log = server.log("build_1");
    assert_eq!((finish.status.as_str(), &finish.error), ("success", &None), "{log}");
    let names: Vec<_> = finish
        .phases
        .iter()
        .map(|phase| (phase.name.as_str(), phase.exit_code))
        .collect();
    let expected = [
        ("source", None),
        ("Look", Some(0)),
        ("Facts", Some(0)),
        ("Make", Some(0)),
        ("artifacts", None),
    ];
    assert_eq!(names, expected);
    assert!(finish.phases.iter().all(|phase| phase.finished_at.is_some()));
    let artifacts = server.artifacts(&finish);
    assert_eq!(artifacts.len(), 2);
    assert_eq!(
        (artifacts["app.apk"].as_slice(), artifacts["map.txt"].as_slice()),
        (&b"app\n"[..], &b"map\n"[..])
    );
    // The archive has several top-level entries, so no directory was stripped; secrets are masked.
    assert!(
        log.starts_with("==> source\n==> Look\nread me\n***\nof the organization *** "),
        "{log}"
    );
    assert!(
        !log.contains("hunter2") && !log.contains("keystore-bytes") && !log.contains("\"key\""),
        "{log}"
    );
    for fact in [
        "LAUNCHWAY_BUILD_ID=build_1",
        "LAUNCHWAY_PLATFORM=android",
        "LAUNCHWAY_VERSION=1.2.3",
        "LAUNCHWAY_BUILD_NUMBER=7",
        "LAUNCHWAY_CONFIGURATION=production",
        "LAUNCHWAY_ANDROID_KEYSTORE_PASSWORD=***",
        "LAUNCHWAY_ANDROID_KEYSTORE_KEY_ALIAS=upload",
    ] {
        assert!(log.contains(&format!("{fact}\n")), "{fact} is not in {log}");
    }
    assert!(
        log.ends_with(
            "==> success\n==> artifact app.apk (4 bytes) is stored\n==> artifact map.txt (4 bytes) is stored\n"
        ),
        "{log}"
    );
    let work_dir = working.work_dir();
    assert_eq!(
        server.inner().builds["build_1"].plan.as_ref().unwrap().origin,
        PlanOrigin::Request
    );
    let calls = server.inner().builds["build_1"].calls.clone();
    assert_eq!(calls["/api/runner/plan"], 1, "once a lease, and not for each step");
    let directory = working.end_keeping().await;
    assert_clean(&work_dir);
    drop(directory);
}

/// From the plan, from the organization as value or file, and by a server that does not refuse it yet.
#[tokio::test]
async fn no_step_gets_a_signing_key_of_updates() {
    let server = FakeServer::start().await;
    let look = "if env | grep SIGNING_KEY || test -e key.pem; then echo found; else echo none; fi";
    for (id, path) in [("build_1", None), ("build_2", Some("key.pem"))] {
        let mut lease = lease(&server, id, &[("Look", look)]);
        let plan = lease.plan.as_mut().unwrap();
        plan.env
            .insert("LAUNCHWAY_SIGNING_KEY".to_owned(), "of the plan".to_owned());
        lease.env = vec![variable("LAUNCHWAY_SIGNING_KEY", "hunter2-key", path, true)];
        server.queue(lease);
    }
    let working = Working::start(&server);
    for id in ["build_1", "build_2"] {
        server.finished(id).await;
        let log = server.log(id);
        assert!(log.contains("==> Look\nnone\n"), "{log}");
    }
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_failing_step_is_named_and_ends_the_build() {
    let server = FakeServer::start().await;
    server.queue(lease(
        &server,
        "build_1",
        &[("Test", "echo before; exit 3"), ("Never", "echo never")],
    ));
    let working = Working::start(&server);
    let finish = server.finished("build_1").await;
    let error = finish.error.unwrap();
    assert_eq!((finish.status.as_str(), error.code.as_str()), ("failed", "STEP_FAILED"));
    assert_eq!(error.phase.as_deref(), Some("Test"));
    assert_eq!(
        error.message,
        "The step `Test` ended with exit code 3. See the log for the reason."
    );
    assert_eq!(finish.phases.last().unwrap().exit_code, Some(3));
    assert!(!server.log("build_1").contains("never"));
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_cancel_ends_a_step_and_its_last_words_are_in_the_log() {
    let server = FakeServer::start().await;
    let script = "trap 'echo last words; exit 1' TERM; echo begun; while :; do sleep 0.1; done";
    server.queue(lease(&server, "build_1", &[("Wait", script)]));
    let working = Working::start(&server);
    server
        .until("build_1", "it runs", |build| build.log.ends_with(b"begun\n"))
        .await;
    server.inner().builds.get_mut("build_1").unwrap().cancel = true;
    let finish = server.finished("build_1").await;
    assert_eq!((finish.status.as_str(), finish.error), ("canceled", None));
    assert!(
        server.log("build_1").contains("last words\n"),
        "{}",
        server.log("build_1")
    );
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_step_and_a_build_have_their_time() {
    for whole in [false, true] {
        let server = FakeServer::start().await;
        let mut lease = lease(&server, "build_1", &[("Hang", "echo begun; sleep 1000")]);
        let plan = lease.plan.as_mut().unwrap();
        if whole {
            plan.timeout_seconds = Some(1);
        } else {
            plan.steps[0].timeout_seconds = Some(1);
        }
        server.queue(lease);
        let working = Working::start(&server);
        let finish = server.finished("build_1").await;
        let error = finish.error.unwrap();
        assert_eq!(
            (error.code.as_str(), error.phase.as_deref()),
            ("TIMED_OUT", Some("Hang"))
        );
        assert!(error.message.contains("took longer than 1 s."), "{}", error.message);
        working.end().await.unwrap();
    }
}

#[tokio::test]
async fn what_is_promised_and_not_there_is_named() {
    let server = FakeServer::start().await;
    let steps = [(
        "Make",
        "mkdir out && ln -s /etc/passwd out/app.apk && mkdir out/folder.apk",
    )];
    server.queue(with_artifact(lease(&server, "build_1", &steps), "out/*.apk", "apk"));
    let working = Working::start(&server);
    let error = server.finished("build_1").await.error.unwrap();
    assert_eq!(
        (error.code.as_str(), error.phase.as_deref()),
        ("ARTIFACT_MISSING", Some("artifacts"))
    );
    assert!(error.message.contains("`out/*.apk`"), "{}", error.message);
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_stale_attempt_is_dropped_at_once_with_its_processes() {
    let server = FakeServer::start().await;
    let witness = open_directory();
    fs::set_permissions(witness.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let file = witness.path().join("pids");
    let script = format!(
        "echo $$ > {}; setsid sleep 1000 & while :; do sleep 0.1; done",
        file.display()
    );
    server.queue(lease(&server, "build_1", &[("Wait", &script)]));
    let writable = witness.path().to_owned();
    let working = Working::with(
        &server,
        |settings| settings.sandbox.writable = vec![writable],
        Arc::new(RequestOnly),
    );
    let pids = written_ids(&file, 1).await;
    assert!(is_alive(pids[0]));
    server.inner().builds.get_mut("build_1").unwrap().attempt = 2;
    server
        .until("build_1", "the runner hears of it", |build| build.refused > 0)
        .await;
    // The slot is free again: another build ends while the result of the first is never accepted.
    server.queue(lease(&server, "build_2", &[("Work", "true")]));
    assert_eq!(server.finished("build_2").await.status, BuildResult::Success);
    assert!(!is_alive(pids[0]));
    assert!(server.inner().builds["build_1"].finish.is_none());
    let work_dir = working.work_dir();
    let directory = working.end_keeping().await;
    assert_clean(&work_dir);
    drop(directory);
}

#[tokio::test]
async fn caches_come_back_for_their_organization_and_scope_alone() {
    let server = FakeServer::start().await;
    let script = "test -e deps/file && cat deps/file || echo fresh; mkdir -p deps; echo kept > deps/file";
    let working = Working::start(&server);
    for (id, org, scope, expected) in [
        ("build_1", "org_1", Some("main"), "fresh\n"),
        ("build_2", "org_1", Some("main"), "kept\n"),
        ("build_3", "org_2", Some("main"), "fresh\n"),
        // What another branch, uploader or configuration saved.
        ("build_4", "org_1", Some("pull"), "fresh\n"),
        // Servers of an older release do not send the origin of the upload.
        ("build_5", "org_1", None, "fresh\n"),
        ("build_6", "org_1", None, "fresh\n"),
    ] {
        let mut lease = with_cache(
            lease(&server, id, &[("Deps", script)]),
            "npm-{{ hash \"lock\" }}",
            "deps",
        );
        lease.org_id = org.to_owned();
        lease.cache_scope = scope.map(str::to_owned);
        server.queue(lease);
        assert_eq!(server.finished(id).await.status, BuildResult::Success);
        let log = server.log(id);
        assert!(log.contains(&format!("==> Deps\n{expected}")), "{id}: {log}");
    }
    working.end().await.unwrap();
}
