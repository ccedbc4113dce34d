//! Logs: split secrets, bytes that are not text, and unlimited output.

use std::sync::Arc;

use launchway_api::runner::LeasedVariable;
use launchway_api::secret::SecretText;
use launchway_domain::build::BuildResult;
use launchway_runner::plan::RequestOnly;

use crate::fake_server::{FakeServer, lease};
use crate::work::Working;

#[tokio::test]
async fn a_secret_is_masked_however_it_is_printed() {
    let server = FakeServer::start().await;
    let script = r#"printf 'one hunter'; sleep 0.3; printf '2-secret two'; echo
        echo "$TOKEN" | base64; echo "three $TOKEN" >&2; printf '%s' "$TOKEN" | od -An -c; echo "end""#;
    let mut lease = lease(&server, "build_1", &[("Print", script)]);
    lease.env = vec![LeasedVariable {
        name: "TOKEN".to_owned(),
        value: SecretText::new("hunter2-secret".to_owned()),
        path: None,
        secret: true,
    }];
    server.queue(lease);
    let working = Working::start(&server);
    assert_eq!(server.finished("build_1").await.status, BuildResult::Success);
    let log = server.log("build_1");
    assert!(log.contains("==> Print\none *** two\n***"), "{log}");
    assert!(log.contains("three ***\n") && log.contains("end\n"), "{log}");
    assert!(
        !log.contains("hunter2-secret") && !log.contains("aHVudGVyMi1zZWNyZX"),
        "{log}"
    );
    working.end().await.unwrap();
}

#[tokio::test]
async fn bytes_stay_as_they_are() {
    let server = FakeServer::start().await;
    server.queue(lease(
        &server,
        "build_1",
        &[("Print", r"printf 'a\000b\377c\r\033[1md'")],
    ));
    let working = Working::start(&server);
    server.finished("build_1").await;
    let log = server.inner().builds["build_1"].log.clone();
    assert!(log.windows(12).any(|bytes| bytes == b"a\0b\xffc\r\x1b[1md="), "{log:?}");
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_log_that_is_too_long_is_cut_and_the_build_goes_on() {
    let server = FakeServer::start().await;
    let script = "head -c 5000000 /dev/zero | tr '\\0' x";
    server.queue(lease(&server, "build_1", &[("Print", script), ("After", "true")]));
    let working = Working::with(
        &server,
        |settings| settings.limits.log_bytes = 1_000_000,
        Arc::new(RequestOnly),
    );
    assert_eq!(server.finished("build_1").await.status, BuildResult::Success);
    let log = server.log("build_1");
    let end = "\n==> The log reached its limit of 1000000 bytes; the rest is omitted\n";
    assert_eq!(log.len(), 1_000_000 + end.len());
    assert!(log.ends_with(end));
    working.end().await.unwrap();
}

#[tokio::test]
async fn output_without_end_can_be_canceled() {
    let server = FakeServer::start().await;
    server.queue(lease(&server, "build_1", &[("Print", "yes")]));
    let working = Working::with(
        &server,
        |settings| settings.limits.log_bytes = 10_000_000,
        Arc::new(RequestOnly),
    );
    server
        .until("build_1", "it prints", |build| build.log.len() > 1_000_000)
        .await;
    server.inner().builds.get_mut("build_1").unwrap().cancel = true;
    assert_eq!(server.finished("build_1").await.status, BuildResult::Canceled);
    working.end().await.unwrap();
}

/// The peak memory of a process, in KiB.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// Runs a build that prints this many MiB. Returns the peak memory of the runner.
async fn peak_with(mebibytes: u32) -> u64 {
    let server = FakeServer::start().await;
    server.inner().count_logs = true;
    let script = format!("head -c {mebibytes}M /dev/zero | tr '\\0' x");
    server.queue(lease(&server, "build_1", &[("Print", &script)]));
    let directory = crate::stage::open_directory();
    let runner = crate::crash::Process::start(&server, directory.path());
    server.finished_whenever("build_1").await;
    let printed = server.inner().builds["build_1"].counted;
    assert!(printed > mebibytes as usize * (1 << 20));
    peak(runner.id())
}

#[tokio::test]
#[ignore = "long run"]
async fn a_log_of_a_gibibyte_takes_no_more_memory_than_a_short_one() {
    let (short, long) = (peak_with(1).await, peak_with(1024).await);
    println!("summary: a runner's memory is {short} KiB with a log of 1 MiB, {long} KiB with one of 1 GiB");
    assert!(long < short + 32 * 1024, "{short} KiB, {long} KiB");
}
