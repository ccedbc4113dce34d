//! What a build leaves cannot block its runner: all work after the steps is bounded, and ends when the build is
//! stopped.

use launchway_api::runner::{Finish, Lease};
use launchway_domain::build::{BuildErrorCode, BuildResult};

use crate::fake_server::{FakeServer, lease, with_artifact, with_cache};
use crate::work::Working;

/// Sparse files with more bytes than can be hashed during a test, each small enough by itself.
const HOLES: &str = "mkdir out && for n in $(seq 100); do truncate -s 4G out/$n.bin; done";

/// Runs a build to its end. Returns its result and log.
async fn ended(server: &FakeServer, lease: Lease) -> (Finish, String) {
    let id = lease.build_id.clone();
    server.queue(lease);
    let working = Working::start(server);
    let finish = server.finished(&id).await;
    let log = server.log(&id);
    working.end().await.unwrap();
    (finish, log)
}

fn holes(server: &FakeServer) -> Lease {
    with_artifact(lease(server, "build_1", &[("Make", HOLES)]), "out/*.bin", "bin")
}

/// Waits until the artifacts phase has begun.
async fn collecting(server: &FakeServer) {
    let collects = |build: &crate::fake_server::Build| build.phases.contains(&"artifacts".to_owned());
    server.until("build_1", "artifacts are collected", collects).await;
}

#[tokio::test]
async fn hashing_ends_with_the_time_of_the_build() {
    let server = FakeServer::start().await;
    let mut lease = holes(&server);
    lease.plan.as_mut().unwrap().timeout_seconds = Some(3);
    let (finish, log) = ended(&server, lease).await;
    let error = finish.error.unwrap();
    assert_eq!(
        (error.code.as_str(), error.phase.as_deref()),
        ("TIMED_OUT", Some("artifacts")),
        "{log}"
    );
}

#[tokio::test]
async fn hashing_ends_with_a_cancel() {
    let server = FakeServer::start().await;
    server.queue(holes(&server));
    let working = Working::start(&server);
    collecting(&server).await;
    server.inner().builds.get_mut("build_1").unwrap().cancel = true;
    assert_eq!(server.finished("build_1").await.status, BuildResult::Canceled);
    working.end().await.unwrap();
}

#[tokio::test]
async fn hashing_ends_when_the_server_gave_the_build_to_another() {
    let server = FakeServer::start().await;
    server.queue(holes(&server));
    let working = Working::start(&server);
    collecting(&server).await;
    server.inner().builds.get_mut("build_1").unwrap().attempt = 2;
    // The slot is free again.
    server.queue(lease(&server, "build_2", &[("Work", "true")]));
    assert_eq!(server.finished("build_2").await.status, BuildResult::Success);
    working.end().await.unwrap();
}

#[tokio::test]
async fn an_upload_ends_with_a_cancel() {
    let server = FakeServer::start().await;
    server.inner().hold_puts = true;
    server.queue(with_artifact(
        lease(&server, "build_1", &[("Make", "echo x > app")]),
        "app",
        "bin",
    ));
    let working = Working::start(&server);
    server
        .until("build_1", "the file is announced", |build| {
            build.calls.contains_key("/api/runner/artifacts")
        })
        .await;
    server.inner().builds.get_mut("build_1").unwrap().cancel = true;
    assert_eq!(server.finished("build_1").await.status, BuildResult::Canceled);
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_too_large_is_told_by_its_size_and_never_read() {
    let server = FakeServer::start().await;
    let lease = lease(&server, "build_1", &[("Make", "truncate -s 30G app.bin")]);
    let (finish, _) = ended(&server, with_artifact(lease, "*.bin", "bin")).await;
    let error = finish.error.unwrap();
    assert_eq!(error.code, BuildErrorCode::ArtifactMissing);
    assert_eq!(
        error.message,
        "The artifact `app.bin` has 32212254720 bytes, more than the limit of 4294967296 bytes."
    );
}

#[tokio::test]
async fn no_step_makes_a_file_of_terabytes() {
    let server = FakeServer::start().await;
    for (number, script) in [
        "truncate -s 15T app.bin",
        "dd if=/dev/zero of=app.bin bs=1 count=1 seek=15T",
        "python3 -c 'import os; os.truncate(os.open(\"app.bin\", os.O_CREAT | os.O_WRONLY), 15 << 40)'",
    ]
    .iter()
    .enumerate()
    {
        let lease = lease(&server, &format!("build_{number}"), &[("Make", script)]);
        let (finish, log) = ended(&server, with_artifact(lease, "*.bin", "bin")).await;
        assert_eq!(
            finish.error.unwrap().code,
            BuildErrorCode::StepFailed,
            "{script}: {log}"
        );
    }
}

#[tokio::test]
async fn patterns_with_more_ways_than_stars_in_the_sky_are_refused() {
    let server = FakeServer::start().await;
    for (number, pattern) in [
        format!("{}x", "**/".repeat(40)),
        format!("{}x", "**/*/".repeat(20)),
        "*a".repeat(60),
    ]
    .iter()
    .enumerate()
    {
        let lease = lease(&server, &format!("build_{number}"), &[("Make", "mkdir -p a/b/c")]);
        let (finish, _) = ended(&server, with_artifact(lease, pattern, "bin")).await;
        assert_eq!(finish.error.unwrap().code, BuildErrorCode::SourceInvalid, "{pattern}");
    }
}

#[tokio::test]
async fn only_files_are_artifacts_whatever_stands_beside_them() {
    let server = FakeServer::start().await;
    let script = r#"mkdir -p out/folder.bin; mkfifo out/pipe.bin; ln -s /proc/self/mem out/link.bin; ln -s /dev/zero out/zero.bin
        python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("out/socket.bin")'
        echo odd > "$(printf 'out/a\377\nb.bin')"; echo app > out/app.bin
        mkdir -p closed && chmod 000 closed; mkdir -p cached && mkfifo cached/pipe"#;
    let lease = with_cache(lease(&server, "build_1", &[("Make", script)]), "odd", "cached");
    let lease = with_artifact(lease, "**/*.bin", "bin");
    let (finish, log) = ended(&server, lease).await;
    assert_eq!(finish.status, BuildResult::Success, "{log}");
    let artifacts = server.artifacts(&finish);
    let names: Vec<_> = artifacts.keys().map(String::as_str).collect();
    assert_eq!(names, ["app.bin", "a\u{fffd}_b.bin"], "{log}");
}
