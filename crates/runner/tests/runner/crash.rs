//! A runner that is killed, and the recovery by the next one in the same directory.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use launchway_domain::build::BuildResult;
use launchway_runner::plan::RequestOnly;
use launchway_testing::kill_guard::KillGuard;

use crate::fake_server::{FakeServer, Fault, lease, with_artifact};
use crate::stage::{PROGRAM, is_alive, open_directory, until};
use crate::work::Working;

/// A runner in a separate process.
pub struct Process {
    child: Child,
    _kill_guard: KillGuard,
}

impl Process {
    pub fn start(server: &FakeServer, directory: &Path) -> Process {
        let mut command = Command::new(PROGRAM);
        command
            .arg("work")
            .arg(server.url())
            .arg(directory.join("work"))
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let child = command.spawn().unwrap();
        let kill_guard = KillGuard::on(&child);
        Process {
            child,
            _kill_guard: kill_guard,
        }
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGKILL.
    fn kill(self) {
        drop(self);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn entries(directory: &Path, place: &str) -> usize {
    fs::read_dir(directory.join("work").join(place)).map_or(0, Iterator::count)
}

#[tokio::test]
async fn a_build_in_the_middle_is_dropped_and_begins_again() {
    let server = FakeServer::start().await;
    let directory = open_directory();
    let script = "trap '' TERM; echo $$; setsid sleep 1000 & while :; do sleep 0.1; done";
    server.queue(lease(&server, "build_1", &[("Wait", script)]));
    let runner = Process::start(&server, directory.path());
    let printed = |log: &[u8]| -> Option<u32> {
        let text = std::str::from_utf8(log).unwrap().strip_suffix('\n')?;
        text.lines().last()?.parse().ok()
    };
    server
        .until("build_1", "it runs", |build| printed(&build.log).is_some())
        .await;
    let pid = printed(server.log("build_1").as_bytes()).unwrap();
    assert!(is_alive(pid));
    runner.kill();
    assert_eq!(entries(directory.path(), "builds"), 1);
    let runner = Process::start(&server, directory.path());
    server
        .until("build_1", "the log says so", |build| {
            String::from_utf8_lossy(&build.log).contains("The runner ended during this attempt")
        })
        .await;
    until("the rest is gone", || {
        entries(directory.path(), "builds") == 0 && entries(directory.path(), "journal") == 0
    })
    .await;
    assert!(!is_alive(pid));
    assert!(server.inner().builds["build_1"].finish.is_none());
    // The server assigns the build again.
    let mut again = lease(&server, "build_1", &[("Work", "echo again")]);
    again.attempt = 2;
    again.log_offset = server.log("build_1").len() as u64;
    server.queue(again);
    let finish = server.finished("build_1").await;
    assert_eq!((finish.status.as_str(), finish.attempt), ("success", 2));
    runner.kill();
}

#[tokio::test]
async fn an_end_that_was_not_heard_is_sent_again() {
    // The result, or the second of two files, does not arrive before the runner is killed.
    for blocked in [
        "/api/runner/finish",
        "/put/artifact_1",
        "/api/runner/artifacts",
        "/api/runner/log",
    ] {
        let server = FakeServer::start().await;
        let directory = open_directory();
        let script = "mkdir out; echo a > out/a.bin; echo b > out/b.bin; echo made";
        server.queue(with_artifact(
            lease(&server, "build_1", &[("Make", script)]),
            "out/*.bin",
            "bin",
        ));
        server.inner().faults = Some(Box::new(move |path| (path == blocked).then_some(Fault::Unavailable)));
        let runner = Process::start(&server, directory.path());
        let journal = directory.path().join("work/journal/build_1-1/outcome.json");
        until("it knows its end", || journal.exists()).await;
        if blocked == "/put/artifact_1" {
            until("the first file is stored", || {
                fs::read_to_string(&journal).is_ok_and(|text| text.contains("artifact_0"))
            })
            .await;
        }
        runner.kill();
        server.inner().faults = None;
        let stored = server.inner().stored.clone();
        let runner = Process::start(&server, directory.path());
        let finish = server.finished("build_1").await;
        assert_eq!(
            (finish.status.as_str(), finish.phases.len()),
            ("success", 3),
            "{blocked}"
        );
        let artifacts = server.artifacts(&finish);
        assert_eq!(
            (artifacts["a.bin"].as_slice(), artifacts["b.bin"].as_slice()),
            (&b"a\n"[..], &b"b\n"[..])
        );
        if blocked == "/put/artifact_1" {
            let again = "what is known to be stored is not sent again";
            assert!(
                stored.len() == 1 && finish.artifacts.contains(&"artifact_0".to_owned()),
                "{again}"
            );
        }
        let log = server.log("build_1");
        assert!(
            log.contains("made\n") && log.contains("The runner restarted"),
            "{blocked}: {log}"
        );
        until("it is forgotten", || entries(directory.path(), "journal") == 0).await;
        assert_eq!(entries(directory.path(), "builds"), 0);
        runner.kill();
    }
}

/// Starts `times` runners that are killed when they send the result of the build.
async fn killed_at_the_end(server: &FakeServer, directory: &Path, times: u32) {
    for _ in 0..times {
        let sent = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&sent);
        server.inner().faults = Some(Box::new(move |path| {
            let is_end = path.ends_with("/finish");
            seen.fetch_or(is_end, Ordering::SeqCst);
            is_end.then_some(Fault::Unheard)
        }));
        let runner = Process::start(server, directory);
        until("the end is sent", || sent.load(Ordering::SeqCst)).await;
        runner.kill();
    }
    server.inner().faults = None;
}

fn with_a_file(server: &FakeServer) {
    let made = lease(server, "build_1", &[("Make", "echo a > a.bin")]);
    server.queue(with_artifact(made, "*.bin", "bin"));
}

#[tokio::test]
async fn files_at_which_runners_die_are_given_up() {
    let server = FakeServer::start().await;
    let directory = open_directory();
    with_a_file(&server);
    killed_at_the_end(&server, directory.path(), 5).await;
    let runner = Process::start(&server, directory.path());
    let finish = server.finished("build_1").await;
    let error = finish.error.unwrap();
    assert_eq!((finish.status.as_str(), error.code.as_str()), ("failed", "INTERNAL"));
    let expected =
        "Cannot store the files of this build: the runner crashed 5 times while it sent the result of this build";
    assert!(error.message.contains(expected), "{}", error.message);
    assert!(finish.artifacts.is_empty());
    assert!(server.log("build_1").contains(expected));
    until("it is forgotten", || entries(directory.path(), "journal") == 0).await;
    runner.kill();
}

#[tokio::test]
async fn a_build_at_which_runners_die_whatever_they_send_is_given_up() {
    let server = FakeServer::start().await;
    let directory = open_directory();
    with_a_file(&server);
    killed_at_the_end(&server, directory.path(), 8).await;
    let runner = Process::start(&server, directory.path());
    until("it is forgotten", || entries(directory.path(), "journal") == 0).await;
    assert!(server.inner().builds["build_1"].finish.is_none());
    // The runner continues with other builds.
    server.queue(lease(&server, "build_2", &[("Make", "true")]));
    assert_eq!(server.finished("build_2").await.status, BuildResult::Success);
    runner.kill();
}

#[tokio::test]
async fn an_end_that_nobody_wants_any_more_is_dropped() {
    let server = FakeServer::start().await;
    let directory = open_directory();
    server.queue(lease(&server, "build_1", &[("Make", "true")]));
    server.inner().faults = Some(Box::new(|path| path.ends_with("/finish").then_some(Fault::Unavailable)));
    let runner = Process::start(&server, directory.path());
    until("it knows its end", || {
        directory.path().join("work/journal/build_1-1/outcome.json").exists()
    })
    .await;
    runner.kill();
    server.inner().faults = None;
    server.inner().builds.get_mut("build_1").unwrap().attempt = 2;
    let runner = Process::start(&server, directory.path());
    until("it is forgotten", || entries(directory.path(), "journal") == 0).await;
    assert!(server.inner().builds["build_1"].finish.is_none());
    runner.kill();
}

#[tokio::test]
async fn a_runner_that_is_stopped_in_order_has_not_died() {
    let server = FakeServer::start().await;
    let directory = open_directory();
    let work_dir = directory.path().join("work");
    with_a_file(&server);
    for _ in 0..9 {
        let sent = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&sent);
        server.inner().faults = Some(Box::new(move |path| {
            let is_end = path.ends_with("/finish");
            seen.fetch_or(is_end, Ordering::SeqCst);
            is_end.then_some(Fault::Unavailable)
        }));
        let work_dir = work_dir.clone();
        let working = Working::with(&server, |settings| settings.work_dir = work_dir, Arc::new(RequestOnly));
        until("the end is sent", || sent.load(Ordering::SeqCst)).await;
        working.end_halting().await;
    }
    server.inner().faults = None;
    let working = Working::with(&server, |settings| settings.work_dir = work_dir, Arc::new(RequestOnly));
    let finish = server.finished("build_1").await;
    assert_eq!((finish.status.as_str(), finish.artifacts.len()), ("success", 1));
    working.end().await.unwrap();
}
