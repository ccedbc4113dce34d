//! A server that must not start prints one line that gives the reason and names the setting, and exits with 1
//! (`docs/reference/operation.md#bad-settings`).

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use launchway_testing::postgres::Postgres;
use launchway_testing::server_process::ServerProcess;
use rustix::process::{Pid, Signal, kill_process};

use crate::deployment::{Deployment, Ground, Turn, team};

/// Much more than a refusal takes, including the wait for an unavailable database.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Runs the command, which must refuse to start; returns the only line that it printed.
fn refusal(mut command: Command) -> String {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A server that started by mistake would never end.
    let (done, ended) = mpsc::channel::<()>();
    let id = Pid::from_child(&child);
    let timeout = std::thread::spawn(move || {
        if ended.recv_timeout(TIMEOUT) == Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = kill_process(id, Signal::KILL);
        }
    });
    let output = child.wait_with_output().unwrap();
    drop(done);
    timeout.join().unwrap();
    let (stdout, stderr) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert_eq!(output.status.code(), Some(1), "{command:?}: {stdout}{stderr}");
    assert_eq!(
        (stdout.as_str(), stderr.lines().count()),
        ("", 1),
        "{command:?}: {stderr}"
    );
    stderr.trim_end().to_owned()
}

/// Writes a file that only its owner can read: otherwise the server would print a warning, which is another line.
fn write_secret(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn a_bad_setting_is_one_line_that_names_it() {
    let server = ServerProcess::builder().prepare();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let file = server.root().join("a-file");
    write_secret(&file, "listen = [1]\n");
    let file = file.to_str().unwrap();
    let below_file = format!("{file}/data");
    let rows = [
        ("LAUNCHWAY_LISTEN", "nowhere", "--listen"),
        ("LAUNCHWAY_LISTEN", &taken, "--listen"),
        ("LAUNCHWAY_DATA_DIR", &below_file, "--data-dir"),
        ("LAUNCHWAY_DATABASE_URL", "mysql://localhost/x", "--database-url"),
        (
            "LAUNCHWAY_DATABASE_URL",
            "sqlite:/does/not/exist/x.db",
            "--database-url",
        ),
        ("LAUNCHWAY_STORAGE_URL", "ftp://x", "--storage-url"),
        (
            "LAUNCHWAY_STORAGE_URL",
            "s3://bucket?endpoint=http://127.0.0.1:9",
            "--storage-url",
        ),
        ("LAUNCHWAY_PUBLIC_URL", "example.com", "--public-url"),
        ("LAUNCHWAY_ENVIRONMENT", "test", "--environment"),
        ("LAUNCHWAY_MASTER_KEY_FILE", file, "--master-key-file"),
        ("LAUNCHWAY_ROLES", "api,cook", "--roles"),
        ("LAUNCHWAY_TRUSTED_PROXIES", "10.0.0.0/40", "--trusted-proxies"),
        ("LAUNCHWAY_CHECK_LIMIT", "-1", "--check-limit"),
        ("LAUNCHWAY_DEFAULT_TIER", "gold", "--default-tier"),
        ("LAUNCHWAY_SERVER_CONFIG", file, "--config"),
    ];
    for (name, value, setting) in rows {
        let mut command = server.command();
        command.env(name, value);
        let line = refusal(command);
        assert!(line.starts_with(&format!("error: {setting}")), "{name}={value}: {line}");
    }
}

#[test]
fn a_bad_flag_is_named_too() {
    let server = ServerProcess::builder().prepare();
    let mut command = server.command();
    command.args(["--public-url", "ftp://example.com"]);
    let line = refusal(command);
    assert!(line.starts_with("error: --public-url: "), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_on_the_same_data_does_not_start() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let mut command = deployment.node().command();
    command.env("LAUNCHWAY_LISTEN", "127.0.0.1:0");
    let line = refusal(command);
    assert!(
        line.starts_with("error: --data-dir: ") && line.contains("in use"),
        "{line}"
    );
    // The first one is not affected.
    let _ = team(deployment.node());
}

#[tokio::test(flavor = "multi_thread")]
async fn another_master_key_is_refused() {
    let mut deployment = Deployment::start(Ground::SqliteDirectory).await;
    assert_eq!(deployment.nodes[0].terminate().code(), Some(0));
    let file = deployment.node().data_dir().join("master.key");
    let right = fs::read(&file).unwrap();
    for wrong in ["00".repeat(32), "not a key".to_owned()] {
        fs::write(&file, wrong).unwrap();
        let line = refusal(deployment.node().command());
        assert!(line.starts_with("error: --master-key-file: "), "{line}");
    }
    fs::remove_file(&file).unwrap();
    let line = refusal(deployment.node().command());
    assert!(
        line.starts_with("error: --master-key-file: ") && line.contains("is missing"),
        "{line}"
    );
    assert!(!file.exists(), "a new key was made for an old database");
    fs::write(&file, right).unwrap();
    deployment.nodes[0].restart_same_port();
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_of_one_database_need_one_master_key() {
    let turn = Turn::beside_others().await;
    let database = Postgres::shared().fresh_database();
    let deployment = Deployment::on_database(&database, 1, turn, |builder| builder);
    let other = deployment.key_folder().join("other.key");
    write_secret(&other, &"11".repeat(32));
    let mut command = deployment.node().command();
    command
        .env("LAUNCHWAY_LISTEN", "127.0.0.1:0")
        .env("LAUNCHWAY_MASTER_KEY_FILE", other);
    let line = refusal(command);
    assert!(line.starts_with("error: --master-key-file: "), "{line}");
}

#[test]
fn a_database_that_is_away_is_named() {
    let port = launchway_testing::net::free_port();
    let server = ServerProcess::builder().prepare();
    let mut command = server.command();
    command.env(
        "LAUNCHWAY_DATABASE_URL",
        format!("postgres://me:secret@127.0.0.1:{port}/x"),
    );
    let line = refusal(command);
    assert!(
        line.starts_with("error: --database-url: ") && !line.contains("secret"),
        "{line}"
    );
}
