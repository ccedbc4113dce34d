//! The temporary PostgreSQL: separate databases, stop and start, and complete cleanup even after SIGKILL.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use launchway_testing::postgres::Postgres;

#[test]
fn databases_are_separate() {
    let postgres = Postgres::shared();
    let (first, second) = (postgres.fresh_database(), postgres.fresh_database());
    assert_ne!(first, second);
    postgres
        .run_sql(&first, "CREATE TABLE mine (id INT); INSERT INTO mine VALUES (7)")
        .unwrap();
    assert_eq!(postgres.run_sql(&first, "SELECT id FROM mine").unwrap(), "7");
    let refusal = postgres.run_sql(&second, "SELECT id FROM mine").unwrap_err();
    assert!(refusal.contains("does not exist"), "{refusal}");
}

#[test]
fn is_recent_and_stores_text_as_utf8_in_byte_order() {
    let postgres = Postgres::shared();
    let database = postgres.fresh_database();
    let version: u32 = postgres
        .run_sql(&database, "SHOW server_version_num")
        .unwrap()
        .parse()
        .unwrap();
    assert!(version >= 150_000, "{version}");
    assert_eq!(postgres.run_sql(&database, "SHOW server_encoding").unwrap(), "UTF8");
    assert_eq!(postgres.run_sql(&database, "SELECT 'a' > 'Z'").unwrap(), "t");
}

#[test]
fn keeps_committed_rows_over_a_hard_stop() {
    let mut postgres = Postgres::start_own();
    let database = postgres.fresh_database();
    postgres
        .run_sql(&database, "CREATE TABLE kept AS SELECT 42 AS answer")
        .unwrap();
    postgres.stop();
    assert!(
        postgres.run_sql(&database, "SELECT 1").is_err(),
        "it answers though it is stopped"
    );
    postgres.start();
    assert_eq!(postgres.run_sql(&database, "SELECT answer FROM kept").unwrap(), "42");
    postgres.restart();
    assert_eq!(postgres.run_sql(&database, "SELECT answer FROM kept").unwrap(), "42");

    let directory = postgres.directory().to_owned();
    assert!(directory.exists());
    drop(postgres);
    assert!(!directory.exists());
}

#[test]
fn dies_with_a_process_that_is_killed() {
    // Descriptor 3 is the write end of our pipe. The process, the keeper and PostgreSQL inherit it unknowingly, so the
    // pipe ends when the last of them ends.
    let mut process = Command::new("sh")
        .args([
            "-c",
            "exec 3>&2 2>/dev/null; exec \"$1\"",
            "sh",
            env!("CARGO_BIN_EXE_throwaway-postgres"),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut alive = process.stderr.take().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let database = lines.next().unwrap().unwrap();
    let directory = PathBuf::from(lines.next().unwrap().unwrap());
    assert_eq!(Postgres::shared().run_sql(&database, "SELECT 1").unwrap(), "1");
    assert!(directory.exists());

    process.kill().unwrap();
    process.wait().unwrap();
    let (ended, end) = mpsc::channel();
    thread::spawn(move || ended.send(alive.read_to_end(&mut Vec::new())));
    end.recv_timeout(Duration::from_secs(60))
        .expect("something outlived the process that was killed")
        .unwrap();
    assert!(!directory.exists(), "{} was left behind", directory.display());
    assert!(Postgres::shared().run_sql(&database, "SELECT 1").is_err());
}
