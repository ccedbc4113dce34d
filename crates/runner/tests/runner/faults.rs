//! Broken networks and servers: the server still ends up with the complete result.

use launchway_api::runner::Lease;
use launchway_domain::build::BuildResult;

use crate::fake_server::{FakeServer, Fault, Faults, lease, with_artifact};
use crate::work::Working;

const SCRIPT: &str =
    "for i in $(seq 300); do echo \"line $i of the log\"; done; mkdir out; seq 20000 > out/a.bin; echo b > out/b.bin";

fn build(server: &FakeServer, id: &str) -> Lease {
    with_artifact(
        lease(server, id, &[("Make", SCRIPT), ("Again", "seq 5")]),
        "out/*.bin",
        "bin",
    )
}

/// Random faults from a seed, for at most `most` requests.
fn by_chance(seed: u64, mut most: u32) -> Faults {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    Box::new(move |path| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let fault = match state % 10 {
            // Losing a lease is another matter: the server assigns the build again.
            0 | 1 if path.ends_with("/lease") => Fault::Unheard,
            0 => Fault::Unheard,
            1 => Fault::Unanswered,
            2 => Fault::Unavailable,
            3 => Fault::Nonsense,
            _ => return None,
        };
        most = most.checked_sub(1)?;
        Some(fault)
    })
}

#[tokio::test]
async fn whatever_breaks_nothing_is_lost_or_doubled() {
    let server = FakeServer::start().await;
    let working = Working::start(&server);
    server.queue(build(&server, "build_0"));
    let expected_artifacts = server.artifacts(&server.finished("build_0").await);
    assert_eq!(expected_artifacts.len(), 2);
    let expected_log = server.log("build_0");
    assert!(expected_log.contains("line 300 of the log\n"));
    for seed in 1..=12 {
        let id = format!("build_{seed}");
        server.inner().faults = Some(by_chance(seed, 200));
        server.queue(build(&server, &id));
        let finish = server.finished(&id).await;
        assert_eq!(
            (finish.status.as_str(), finish.error.as_ref()),
            ("success", None),
            "seed {seed}"
        );
        assert_eq!(server.log(&id), expected_log, "seed {seed}");
        assert_eq!(server.artifacts(&finish), expected_artifacts, "seed {seed}");
        assert_eq!(server.inner().builds[&id].refused, 0, "seed {seed}");
    }
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_server_that_lost_the_end_of_a_log_gets_it_again() {
    let server = FakeServer::start().await;
    let working = Working::start(&server);
    server.queue(build(&server, "build_0"));
    server.finished("build_0").await;
    for lost in [1, 100, 1_000_000] {
        let id = format!("build_{lost}");
        server.inner().lose_log = Some(lost);
        server.queue(build(&server, &id));
        server.finished(&id).await;
        assert_eq!(server.log(&id), server.log("build_0"));
        assert_eq!(server.inner().lose_log, None);
    }
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_log_goes_on_where_another_attempt_left_it() {
    let server = FakeServer::start().await;
    let working = Working::start(&server);
    let mut second = build(&server, "build_1");
    second.attempt = 2;
    second.log_offset = 6;
    server.inner().builds.entry("build_1".to_owned()).or_default().log = b"first\n".to_vec();
    server.queue(second);
    let finish = server.finished("build_1").await;
    assert!(server.log("build_1").starts_with("first\n==> source\n"));
    assert_eq!(
        (finish.attempt, finish.log_size),
        (2, server.log("build_1").len() as u64)
    );
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_storage_that_refuses_gets_another_url_but_not_for_ever() {
    let server = FakeServer::start().await;
    let working = Working::start(&server);
    server.inner().refuse_puts = 3;
    server.queue(build(&server, "build_1"));
    assert_eq!(server.finished("build_1").await.status, BuildResult::Success);
    server.inner().refuse_puts = u32::MAX;
    server.queue(build(&server, "build_2"));
    let finish = server.finished("build_2").await;
    let error = finish.error.unwrap();
    assert_eq!((finish.status.as_str(), error.code.as_str()), ("failed", "INTERNAL"));
    assert!(error.message.contains("Cannot store"), "{}", error.message);
    assert!(finish.artifacts.is_empty());
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_server_that_fails_on_the_end_of_a_build_gets_another_end() {
    let server = FakeServer::start().await;
    let working = Working::start(&server);
    let mut ends = 0;
    server.inner().faults = Some(Box::new(move |path| {
        ends += u32::from(path.ends_with("/finish"));
        (path.ends_with("/finish") && ends <= 25).then_some(Fault::Defect)
    }));
    server.queue(build(&server, "build_1"));
    let finish = server.finished("build_1").await;
    let error = finish.error.unwrap();
    assert_eq!((finish.status.as_str(), error.code.as_str()), ("failed", "INTERNAL"));
    let expected = "Cannot store the files of this build: the server fails on the result of this build";
    assert!(error.message.starts_with(expected), "{}", error.message);
    assert!(finish.artifacts.is_empty());
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_cancel_that_comes_with_any_answer_counts() {
    for endpoint in [
        "/api/runner/renew",
        "/api/runner/plan",
        "/api/runner/log",
        "/api/runner/artifacts",
    ] {
        let server = FakeServer::start().await;
        let script = if endpoint.ends_with("artifacts") {
            "touch a.bin"
        } else {
            "sleep 1000"
        };
        let mut lease = with_artifact(lease(&server, "build_1", &[("Wait", script)]), "*.bin", "bin");
        lease.renew_seconds = 1;
        server.inner().builds.entry("build_1".to_owned()).or_default().cancel_by = Some(endpoint);
        server.queue(lease);
        let working = Working::start(&server);
        let finish = server.finished("build_1").await;
        assert_eq!((finish.status.as_str(), finish.error), ("canceled", None), "{endpoint}");
        working.end().await.unwrap();
    }
}
