//! `launchway-server check-config`: the operator sees every problem before a start does.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use launchway_testing::net::free_port;
use launchway_testing::postgres::Postgres;
use launchway_testing::s3::S3Server;
use launchway_testing::server_process::ServerProcess;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_launchway-server");

/// A directory for one installation, and the settings of its next check.
struct Installation {
    directory: TempDir,
    settings: Vec<(&'static str, String)>,
}

impl Installation {
    fn new() -> Installation {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data").display().to_string();
        let listen = format!("127.0.0.1:{}", free_port());
        let settings = vec![("LAUNCHWAY_DATA_DIR", data), ("LAUNCHWAY_LISTEN", listen)];
        Installation { directory, settings }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Installation {
        self.settings.push((name, value.into()));
        self
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    async fn run(&self, command: &'static str) -> Output {
        let mut program = Command::new(PROGRAM);
        program.arg(command).current_dir(&self.directory).env_clear();
        program.envs(self.settings.iter().map(|(name, value)| (name, value)));
        tokio::task::spawn_blocking(move || program.output()).await.unwrap().unwrap()
    }

    /// The findings of a check that succeeds.
    async fn succeeds(&self) -> String {
        let (code, told) = self.check().await;
        assert_eq!(code, Some(0), "{told}");
        assert!(told.ends_with("\n\nThe server can start with these settings\n"), "{told}");
        told
    }

    /// The findings of a check that fails.
    async fn fails(&self) -> String {
        let (code, told) = self.check().await;
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains("error: the server cannot start with these settings"), "{told}");
        told
    }

    async fn check(&self) -> (Option<i32>, String) {
        let output = self.run("check-config").await;
        let told = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(told).unwrap())
    }
}

/// Every path below a directory, to show that nothing was created.
fn tree(directory: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap().path();
        if entry.is_dir() {
            paths.extend(tree(&entry));
        }
        paths.push(entry.display().to_string());
    }
    paths.sort();
    paths
}

#[tokio::test]
async fn settings_of_a_new_server_are_fine_and_nothing_is_made() {
    let new = Installation::new();
    let told = new.succeeds().await;
    for line in ["ok       settings   valid; from the environment", "launchway.db is missing; the start creates it"] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(!told.contains("warning"), "{told}");
    assert_eq!(tree(new.directory.path()), Vec::<String>::new());
}

#[tokio::test]
async fn a_server_that_ran_before_is_tried_on_its_data() {
    let old = Installation::new();
    assert!(old.run("migrate").await.status.success());
    let log = old.data().join("launchway.db-wal");
    assert!(fs::metadata(&log).map_or(0, |log| log.len()) == 0, "a copy of the database alone is whole");
    let (before, told) = (tree(&old.data()), old.succeeds().await);
    assert!(told.contains("launchway.db is writable and up to date (migration "), "{told}");
    assert!(told.contains("master.key is the key of this database"), "{told}");
    // SQLite may have tidied up its log.
    assert!(tree(&old.data()).iter().all(|path| before.contains(path)), "{before:?}");

    let key = old.data().join("master.key");
    fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
    let told = old.succeeds().await;
    assert!(told.contains("warning  master key other users of this machine can read "), "{told}");
    fs::write(&key, "00".repeat(32)).unwrap();
    assert!(old.fails().await.contains("master.key is not the key of this database"));
    fs::remove_file(&key).unwrap();
    assert!(old.fails().await.contains("master.key is missing, although the database was sealed with it"));
    assert!(!key.exists());
}

#[tokio::test]
async fn every_problem_is_reported_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut broken = Installation::new()
        .with(
            "LAUNCHWAY_DATABASE_URL",
            format!("postgres://ada:hunter2@127.0.0.1:{}/launchway?password=hunter2", free_port()),
        )
        .with("LAUNCHWAY_PUBLIC_ULR", "https://updates.example.com")
        .with("LAUNCHWAY_PUBLIC_URL", "https://updates.example.com")
        .with("LAUNCHWAY_METRICS_LISTEN", format!("127.0.0.1:{port}"))
        .with("LAUNCHWAY_MIN_FREE_SPACE", "8000000G");
    let file = broken.directory.path().join("file");
    fs::write(&file, "").unwrap();
    broken = broken.with("LAUNCHWAY_STORAGE_URL", format!("file://{}/objects", file.display()));
    let told = broken.fails().await;
    for line in [
        "warning  settings   LAUNCHWAY_PUBLIC_ULR is not a setting and has no effect\n",
        "warning  disk ",
        "error    database   postgres://…@127.0.0.1:",
        "→ check address, user, password and name in --database-url",
        "error    storage    --storage-url ",
        "is in use\n",
        "so that all clients count as one\n                    → name the proxy in --trusted-proxies\n",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(!told.contains("hunter2"), "{told}");
}

#[tokio::test]
async fn a_setting_that_cannot_be_read_is_named() {
    let (code, told) = Installation::new().with("LAUNCHWAY_ROLES", "cook").check().await;
    assert_eq!((code, told.as_str()), (Some(1), "error: --roles: `cook` is not one of api, check, worker\n"));
}

#[tokio::test]
async fn postgres_and_s3_are_tried_with_their_credentials() {
    let s3 = S3Server::start();
    let shared = Installation::new()
        .with("LAUNCHWAY_DATABASE_URL", Postgres::shared().fresh_database())
        .with("LAUNCHWAY_STORAGE_URL", s3.storage_url())
        .with("AWS_ACCESS_KEY_ID", s3.access_key.as_str());
    let good = shared.with("AWS_SECRET_ACCESS_KEY", s3.secret_key.as_str());
    let told = good.succeeds().await;
    assert!(told.contains("is empty; the start creates its tables"), "{told}");
    assert!(told.contains("objects can be listed, written, read and deleted"), "{told}");
    let bad = good.with("AWS_SECRET_ACCESS_KEY", "another");
    let told = bad.fails().await;
    assert!(told.contains("error    storage    s3://"), "{told}");
    assert!(told.contains("→ check bucket, endpoint and region"), "{told}");
}

#[tokio::test]
async fn a_check_beside_the_running_server_is_fine() {
    let server = ServerProcess::builder().binary(PROGRAM).start();
    let listen = server.origin().strip_prefix("http://").unwrap().to_owned();
    let beside = Installation::new()
        .with("LAUNCHWAY_DATA_DIR", server.data_dir().display().to_string())
        .with("LAUNCHWAY_LISTEN", listen);
    let told = beside.succeeds().await;
    assert!(told.contains("is in use; a server runs with this data directory"), "{told}");
}
