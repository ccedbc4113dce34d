//! The stage of a test: a home, a project directory, and processes that see nothing else of this machine.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

use crate::fake_server::FakeServer;

/// A well-formed key.
pub const KEY: &str = "lw_77777777777777777777777777777777777777774E8RLv";

/// The home and project of one test.
pub struct Stage {
    root: TempDir,
    variables: Vec<(String, String)>,
    address: String,
}

impl Stage {
    /// An empty home and project, without a server.
    pub fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        for name in ["home", "project"] {
            std::fs::create_dir(root.path().join(name)).expect("space");
        }
        Self {
            root,
            variables: Vec::new(),
            address: String::new(),
        }
    }

    /// The same with this server and a key for it in the environment.
    pub fn with(server: &FakeServer) -> Self {
        let mut stage = Self::new();
        stage.set("LAUNCHWAY_URL", &server.url()).set("LAUNCHWAY_API_KEY", KEY);
        stage.hide(server);
        stage
    }

    /// Replaces the address of this server with `http://server` in snapshots.
    pub fn hide(&mut self, server: &FakeServer) {
        self.hide_address(&server.url());
    }

    /// The same for an address.
    pub fn hide_address(&mut self, address: &str) {
        self.address = address.to_owned();
    }

    /// Sets an environment variable.
    pub fn set(&mut self, name: &str, value: &str) -> &mut Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Writes a file of the project.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.project().join(name);
        std::fs::create_dir_all(path.parent().expect("it lies in the project")).expect("space");
        std::fs::write(path, bytes).expect("space");
        self
    }

    /// The project directory, in which commands run.
    pub fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// The path of the login file.
    pub fn login_file(&self) -> PathBuf {
        self.root.path().join("home/.config/launchway/login.toml")
    }

    /// The command, ready to start, without the environment of this machine.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_launchway"));
        command.args(arguments).current_dir(self.project()).env_clear();
        command
            .env("HOME", self.root.path().join("home"))
            .env("TMPDIR", self.root.path());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Runs a command with empty standard input and returns its output and exit code.
    pub async fn run(&self, arguments: &[&str]) -> String {
        let child = self.command(arguments).spawn().expect("the command starts");
        self.shown(arguments, child).await
    }

    /// Runs a command with this standard input and returns its output and exit code.
    pub async fn run_with(&self, arguments: &[&str], input: &str) -> String {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        // A command that fails before it reads closes the pipe.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        self.shown(arguments, child).await
    }

    /// Runs a command, which must succeed, and returns its standard output as JSON.
    pub async fn json(&self, arguments: &[&str]) -> Value {
        let output = self.command(arguments).output().await.expect("the command starts");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(text.lines().count(), 1, "exactly one document: {text}");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Waits for a command and returns its output and exit code.
    pub async fn shown(&self, arguments: &[&str], child: Child) -> String {
        let output = child.wait_with_output().await.expect("the command ends");
        let code = output.status.code().expect("no signal ended it");
        let mut text = format!("$ launchway {}\n", arguments.join(" "));
        for (name, bytes) in [("output", output.stdout), ("error", output.stderr)] {
            if !bytes.is_empty() {
                text.push_str(&format!(
                    "--- standard {name}\n{}",
                    String::from_utf8(bytes).expect("UTF-8")
                ));
            }
        }
        text.push_str(&format!("--- exit {code}\n"));
        assert!(!text.contains(KEY), "the key is shown: {text}");
        self.neutral(&text)
    }

    /// Replaces text that differs from run to run.
    pub fn neutral(&self, text: &str) -> String {
        let root = self.root.path().to_str().expect("a path of text");
        let text = text.replace(root, "[ROOT]");
        if self.address.is_empty() {
            text
        } else {
            text.replace(&self.address, "http://server")
        }
    }

    /// The files left in the temporary directory besides home and project.
    pub fn left_over(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.root.path()).expect("it is there");
        let known: [&Path; 2] = [&self.root.path().join("home"), &self.project()];
        entries
            .map(|entry| entry.expect("readable").path())
            .filter(|path| !known.contains(&path.as_path()))
            .collect()
    }
}

/// An update in the form of the API, with these fields replaced.
pub fn update(changed: Value) -> Value {
    let mut update = json!({
        "id": "update_01kb0000000000000000000002",
        "status": "published",
        "bundleId": "com.example.app",
        "platform": "android",
        "version": "1.0.1",
        "buildNumber": "2",
        "configuration": "production",
        "fingerprint": null,
        "buildId": null,
        "sourceUpdateId": null,
        "releaseNotes": "",
        "mandatory": false,
        "rollout": 100,
        "size": 1_234_567,
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "fileCount": 12,
        "createdBy": "key_01kb0000000000000000000001",
        "createdAt": "2026-11-20T10:00:00.000Z",
    });
    let fields = update.as_object_mut().expect("an object");
    fields.extend(changed.as_object().expect("an object").clone());
    update
}

/// A build in the form of the API, with these fields replaced.
pub fn build(changed: Value) -> Value {
    let mut build = json!({
        "id": "build_01kb0000000000000000000001",
        "status": "queued",
        "bundleId": "com.example.app",
        "platform": "android",
        "configuration": "production",
        "profile": "production",
        "buildType": "release",
        "distribution": "internal",
        "version": null,
        "buildNumber": "7",
        "fingerprint": null,
        "git": null,
        "priority": 0,
        "attempt": 1,
        "phase": null,
        "phases": [],
        "queuePosition": 0,
        "waitingFor": null,
        "runner": null,
        "cancelRequested": false,
        "error": null,
        "warnings": [],
        "artifacts": [],
        "install": null,
        "logSize": 0,
        "parentId": null,
        "createdBy": "key_01kb0000000000000000000001",
        "createdAt": "2026-11-20T10:00:00.000Z",
        "startedAt": null,
        "finishedAt": null,
    });
    let fields = build.as_object_mut().expect("an object");
    fields.extend(changed.as_object().expect("an object").clone());
    build
}

/// A submission in the form of the API, with these fields replaced.
pub fn submission(changed: Value) -> Value {
    let mut submission = json!({
        "id": "submission_01kb0000000000000000000001",
        "status": "queued",
        "buildId": "build_01kb0000000000000000000001",
        "bundleId": "com.example.app",
        "platform": "android",
        "store": "google_play",
        "destination": "internal",
        "version": "1.2.0",
        "buildNumber": "7",
        "rollout": 100,
        "releaseNotes": [],
        "credentialId": "credential_01kb0000000000000000000001",
        "options": {},
        "external": {},
        "cancelRequested": false,
        "error": null,
        "events": [],
        "createdBy": "key_01kb0000000000000000000001",
        "createdAt": "2026-11-20T10:00:00.000Z",
        "finishedAt": null,
    });
    let fields = submission.as_object_mut().expect("an object");
    fields.extend(changed.as_object().expect("an object").clone());
    submission
}

/// A page of a list in the form of the API.
pub fn page(items: &[Value], total: usize, offset: usize) -> String {
    json!({ "items": items, "total": total, "limit": 10, "offset": offset }).to_string()
}
