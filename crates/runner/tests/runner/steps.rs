//! The process executor: the environment of a step, its output, its end, and its remaining processes.

use std::time::Duration;

use launchway_runner::executor::{Executor, ExecutorError, ProcessExecutor, RunningStep, StepCommand, StepEnd};
use tokio::io::AsyncReadExt;

use crate::stage::{PROGRAM, is_alive, open_directory, order, run, start, until, written_ids};

#[tokio::test]
async fn a_step_gets_its_environment_and_no_other() {
    let directory = open_directory();
    let mut order = order("env; pwd; cat", directory.path());
    order.env.insert("GREETING".to_owned(), "hello\nworld".to_owned());
    let (printed, end) = run(order).await;
    assert_eq!(end, StepEnd::Exited(0));
    let mut names: Vec<&str> = printed
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0))
        .collect();
    // Variables that the shell itself sets.
    names.sort_unstable();
    names.retain(|name| !["PWD", "SHLVL", "_", "OLDPWD"].contains(name));
    assert_eq!(names, ["GREETING", "PATH"]);
    assert!(printed.contains("GREETING=hello\nworld"), "{printed}");
    assert!(
        printed.ends_with(&format!("{}\n", directory.path().display())),
        "{printed}"
    );
}

#[tokio::test]
async fn output_and_errors_keep_their_order_and_binary_stays_whole() {
    let directory = open_directory();
    let order = order(
        r"echo one; echo two >&2; printf '\000\377\r\n'; echo three",
        directory.path(),
    );
    let RunningStep { mut output, end, stop } = start(order).await;
    let mut printed = Vec::new();
    let (read, end) = tokio::join!(output.read_to_end(&mut printed), end);
    drop(stop);
    assert_eq!(read.unwrap(), printed.len());
    assert_eq!(printed, b"one\ntwo\n\0\xff\r\nthree\n");
    assert_eq!(end.unwrap(), StepEnd::Exited(0));
}

#[tokio::test]
async fn a_step_ends_with_its_first_failure() {
    let directory = open_directory();
    for (script, expected) in [
        ("exit 3", StepEnd::Exited(3)),
        ("false; exit 0", StepEnd::Exited(1)),
        ("sh -c 'exit 255'", StepEnd::Exited(255)),
        ("kill -KILL $$", StepEnd::Killed(9)),
        ("kill -TERM $$", StepEnd::Killed(15)),
        ("no-such-program-anywhere 2>/dev/null", StepEnd::Exited(127)),
    ] {
        assert_eq!(run(order(script, directory.path())).await.1, expected, "{script}");
    }
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let directory = open_directory();
    let executor = ProcessExecutor::through(PROGRAM.into());
    let mut no_program = order("", directory.path());
    no_program.command = StepCommand::Program(vec!["no-such-program-anywhere".to_owned()]);
    let mut no_directory = order("true", directory.path());
    no_directory.directory = directory.path().join("gone");
    let mut too_much = order("true", directory.path());
    for number in 0..100 {
        too_much.env.insert(format!("LONG_{number}"), "x".repeat(64 << 10));
    }
    for order in [no_program, no_directory, too_much] {
        let step = executor.start(order).await.unwrap();
        let ended = step.end.await;
        assert!(
            matches!(ended, Err(ExecutorError::NotStarted(ref why)) if !why.is_empty()),
            "{ended:?}"
        );
    }
    let gone = ProcessExecutor::through("/no/such/program".into());
    assert!(matches!(
        gone.start(order("true", directory.path())).await,
        Err(ExecutorError::NotStarted(_))
    ));
}

#[tokio::test]
async fn a_stop_is_asked_for_in_order_first() {
    let directory = open_directory();
    let script = "trap 'echo cleaned; exit 4' TERM; echo $$ > pids; while :; do sleep 1; done";
    let RunningStep { mut output, stop, end } = start(order(script, directory.path())).await;
    written_ids(&directory.path().join("pids"), 1).await;
    drop(stop);
    let mut printed = String::new();
    let (read, end) = tokio::join!(output.read_to_string(&mut printed), end);
    read.unwrap();
    assert_eq!(end.unwrap(), StepEnd::Exited(4));
    assert!(printed.ends_with("cleaned\n"), "{printed}");
}

#[tokio::test]
async fn what_does_not_listen_is_killed_with_all_it_started() {
    let directory = open_directory();
    // A child, an orphan in its own session, and one with redirected output. All ignore SIGTERM.
    let script = r#"trap '' TERM
        echo $$ >> pids
        sh -c "$LOOP" &
        setsid sh -c 'sh -c "$LOOP" & exit 0'
        setsid -f sh -c "$LOOP"
        while :; do sleep 1; done"#;
    let mut order = order(script, directory.path());
    let endless = r#"echo $$ >> pids; exec >/dev/null 2>&1; trap "" TERM; while :; do sleep 1; done"#;
    order.env.insert("LOOP".to_owned(), endless.to_owned());
    order.grace = Duration::from_millis(100);
    let RunningStep { mut output, stop, end } = start(order).await;
    let pids = written_ids(&directory.path().join("pids"), 4).await;
    assert!(pids.iter().all(|pid| is_alive(*pid)), "{pids:?}");
    drop(stop);
    let mut printed = Vec::new();
    let (read, end) = tokio::join!(output.read_to_end(&mut printed), end);
    read.unwrap();
    assert_eq!(end.unwrap(), StepEnd::Killed(9));
    assert!(!pids.iter().any(|pid| is_alive(*pid)), "{pids:?}");
}

#[tokio::test]
async fn what_a_step_leaves_running_ends_with_it() {
    let directory = open_directory();
    let script =
        "setsid -f sh -c 'echo $$ >> pids; exec sleep 1000'; until [ -s pids ]; do sleep 0.05; done; echo done";
    let (printed, end) = run(order(script, directory.path())).await;
    assert_eq!((printed.as_str(), end), ("done\n", StepEnd::Exited(0)));
    let pids = written_ids(&directory.path().join("pids"), 1).await;
    assert!(!is_alive(pids[0]));
}

#[tokio::test]
async fn a_runner_that_goes_away_takes_its_step_along() {
    let directory = open_directory();
    let step = start(order("echo $$ > pids; while :; do sleep 1; done", directory.path())).await;
    let pids = written_ids(&directory.path().join("pids"), 1).await;
    // The kernel does the same with the pipes of a killed process.
    drop(step);
    until("the step is gone", || !is_alive(pids[0])).await;
}

#[tokio::test]
async fn marked_processes_are_found_and_killed() {
    let directory = open_directory();
    let mark = format!("build-{}", std::process::id());
    let mut child = std::process::Command::new("sleep")
        .arg("1000")
        .env(launchway_runner::executor::MARK, &mark)
        .spawn()
        .unwrap();
    let other = start(order("echo $$ > pids; exec sleep 1000", directory.path())).await;
    let others = written_ids(&directory.path().join("pids"), 1).await;
    until("none is left", || {
        let _ = child.try_wait();
        launchway_runner::executor::end_marked(&mark, None)
    })
    .await;
    child.wait().unwrap();
    assert!(is_alive(others[0]));
    drop(other);
}
