//! The life of a runner: how it starts, what it survives, and how it ends.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use launchway_api::runner::Enroll;
use launchway_api::secret::SecretText;
use launchway_domain::build::BuildResult;
use launchway_runner::plan::RequestOnly;
use launchway_runner::{RunnerError, Stage, protocol};

use crate::fake_server::{FakeServer, lease};
use crate::stage::open_directory;
use crate::work::{Working, runner, settings};

#[tokio::test]
async fn a_runner_enrolls_with_its_one_time_token() {
    let server = FakeServer::start().await;
    let wanted = Enroll {
        name: "mac-mini-1".to_owned(),
        labels: vec!["os=macos".to_owned()],
        slots: 2,
        version: "1.0.0".to_owned(),
    };
    let base = server.url().parse().unwrap();
    let token = |text: &str| SecretText::new(text.to_owned());
    let enrolled = protocol::enroll(&base, &token("once"), &wanted).await.unwrap();
    assert_eq!((enrolled.id.as_str(), enrolled.token.as_str()), ("runner_1", "token"));
    let again = protocol::enroll(&base, &token("used"), &wanted).await.unwrap_err();
    assert_eq!(again.to_string(), "Invalid or expired API key");
}

#[tokio::test]
async fn a_place_where_no_build_can_run_is_noticed_at_once() {
    let server = FakeServer::start().await;
    let directory = open_directory();
    let mut settings = settings(&directory);
    // This directory is closed to every user of builds.
    settings.path = "/nowhere".to_owned();
    let free = Arc::new(AtomicU64::new(u64::MAX));
    let runner = runner(&server, settings, Arc::new(RequestOnly), free).unwrap();
    let (_working, stage) = tokio::sync::watch::channel(Stage::Working);
    let problem = runner.run(stage).await.unwrap_err().to_string();
    assert!(
        problem.starts_with("cannot run builds here: a step ended with Exited(127)"),
        "{problem}"
    );
}

#[tokio::test]
async fn several_slots_work_beside_each_other() {
    let server = FakeServer::start().await;
    let meet = open_directory();
    fs::set_permissions(meet.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    for (id, own, other) in [("build_1", "a", "b"), ("build_2", "b", "a")] {
        // Each ends only if the other one runs too.
        let at = meet.path().display();
        let script = format!("touch {at}/{own}; until [ -e {at}/{other} ]; do sleep 0.05; done");
        server.queue(lease(&server, id, &[("Meet", &script)]));
    }
    let writable = meet.path().to_owned();
    let change = |settings: &mut launchway_runner::settings::Settings| {
        settings.slots = 2;
        settings.sandbox.writable = vec![writable];
    };
    let working = Working::with(&server, change, Arc::new(RequestOnly));
    for id in ["build_1", "build_2"] {
        assert_eq!(server.finished(id).await.status, BuildResult::Success);
    }
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_full_disk_stops_a_build_and_takes_no_other() {
    let server = FakeServer::start().await;
    server.queue(lease(&server, "build_1", &[("Wait", "sleep 1000")]));
    let working = Working::start(&server);
    server
        .until("build_1", "it runs", |build| build.phases.contains(&"Wait".to_owned()))
        .await;
    working.free.store(500 << 20, Ordering::SeqCst);
    let error = server.finished("build_1").await.error.unwrap();
    assert_eq!(
        (error.code.as_str(), error.phase.as_deref()),
        ("INTERNAL", Some("Wait"))
    );
    assert!(
        error.message.contains("500 MiB are free, and 1024 MiB are required"),
        "{}",
        error.message
    );
    let asked = server.inner().leases;
    server.queue(lease(&server, "build_2", &[("Work", "true")]));
    // The runner contacts the server again only after space was freed.
    assert_eq!(server.inner().leases, asked);
    working.free.store(u64::MAX, Ordering::SeqCst);
    assert_eq!(server.finished("build_2").await.status, BuildResult::Success);
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_runner_drains_in_order_and_halts_at_once() {
    let server = FakeServer::start().await;
    let gate = open_directory();
    fs::set_permissions(gate.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let at = gate.path().display().to_string();
    let script = format!("until [ -e {at}/open ]; do sleep 0.05; done; echo through");
    server.queue(lease(&server, "build_1", &[("Wait", &script)]));
    let readable = gate.path().to_owned();
    let working = Working::with(
        &server,
        |settings| settings.sandbox.readable = vec![readable],
        Arc::new(RequestOnly),
    );
    server
        .until("build_1", "it runs", |build| build.phases.contains(&"Wait".to_owned()))
        .await;
    working.stage.send_replace(Stage::Draining);
    server.queue(lease(&server, "build_2", &[("Never", "true")]));
    fs::write(gate.path().join("open"), "").unwrap();
    working.over().await.unwrap();
    assert_eq!(
        server.inner().builds["build_1"].finish.as_ref().unwrap().status,
        BuildResult::Success
    );
    assert!(!server.inner().builds.contains_key("build_2"));

    let working = Working::start(&server);
    server.finished("build_2").await;
    server.queue(lease(&server, "build_3", &[("Wait", "while :; do sleep 0.1; done")]));
    server
        .until("build_3", "it runs", |build| build.phases.contains(&"Wait".to_owned()))
        .await;
    working.end_halting().await;
    assert!(server.inner().builds["build_3"].finish.is_none());
    assert!(server.log("build_3").contains("The runner was stopped"));
}

#[tokio::test]
async fn a_runner_that_is_refused_says_so_and_ends() {
    let server = FakeServer::start().await;
    server.inner().revoked.insert("Bearer token".to_owned());
    let refused = Working::start(&server).over().await;
    assert!(
        matches!(refused, Err(RunnerError::Refused(ref error)) if error.is_unauthorized()),
        "{refused:?}"
    );
}

#[tokio::test]
async fn two_runners_do_not_share_a_directory() {
    let server = FakeServer::start().await;
    let directory = open_directory();
    let make = || runner(&server, settings(&directory), Arc::new(RequestOnly), Arc::default());
    let first = make().unwrap();
    let second = make().map(|_| ());
    assert!(second.unwrap_err().to_string().contains("another runner uses"));
    drop(first);
    make().unwrap();
}
