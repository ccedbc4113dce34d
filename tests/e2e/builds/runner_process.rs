//! `launchway runner` as a separate process that can be killed and restarted.

use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use launchway_testing::kill_guard::KillGuard;
use launchway_testing::says::Fields;
use launchway_testing::server_process::ServerProcess;
use launchway_testing::settings::setting;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::calls::wait;
use crate::api::Api;
use crate::cli::program;

const LIMIT: Duration = Duration::from_secs(60);

/// A runner with its own directory, killed at the end of the test.
pub struct RunnerProcess {
    pub name: String,
    root: TempDir,
    url: String,
    token: String,
    more: Vec<String>,
    running: Option<(Child, KillGuard)>,
}

impl RunnerProcess {
    /// Enrolls a runner of an organization with the server at `url`, and waits until the server lists it.
    pub async fn start(server: &ServerProcess, api: &Api, org: &str, url: &str, name: &str, more: &[&str]) -> Self {
        let made = server.admin(&["create-runner-token", "--org", org]);
        let runner = Self::enroll(&made, url, name, more);
        wait(LIMIT, "the runner is online", async || {
            let runners = api.get("/runners").await.ok();
            let is_this = |one: &Value| one["name"] == name && one["status"] == "online";
            runners["items"].as_array().unwrap().iter().any(is_this).then_some(())
        })
        .await;
        runner
    }

    /// Starts a runner that enrolls with the new token.
    pub fn enroll(made: &Value, url: &str, name: &str, more: &[&str]) -> Self {
        let root = tempfile::Builder::new().prefix("launchway-runner-").tempdir().unwrap();
        fs::set_permissions(root.path(), Permissions::from_mode(0o755)).unwrap();
        let mut runner = Self {
            name: name.to_owned(),
            root,
            url: url.to_owned(),
            token: made.text("token").to_owned(),
            more: more.iter().map(ToString::to_string).collect(),
            running: None,
        };
        runner.run();
        runner
    }

    fn run(&mut self) {
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log_file())
            .unwrap();
        let mut command = Command::new(program("launchway"));
        command
            .args(["runner", "--name", &self.name, "--work-dir"])
            .arg(self.work_dir())
            .args(&self.more)
            .current_dir(self.root.path())
            .env_clear()
            .env("PATH", setting("PATH").unwrap_or_default())
            .env("HOME", self.root.path())
            .env("LAUNCHWAY_URL", &self.url)
            .env("LAUNCHWAY_RUNNER_TOKEN", &self.token)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        let child = command.spawn().unwrap();
        let kill_guard = KillGuard::on(&child);
        self.running = Some((child, kill_guard));
    }

    pub fn id(&self) -> u32 {
        self.running.as_ref().expect("a running runner").0.id()
    }

    pub fn work_dir(&self) -> PathBuf {
        self.root.path().join("work")
    }

    fn log_file(&self) -> PathBuf {
        self.root.path().join("stderr.log")
    }

    /// Its output so far.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.log_file()).unwrap_or_default()).into_owned()
    }

    /// Kills it with SIGKILL. Its files remain.
    pub fn kill9(&mut self) {
        if let Some((mut child, _kill_guard)) = self.running.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Restarts it in the same directory, after [`Self::kill9`].
    pub fn run_again(&mut self) {
        assert!(self.running.is_none(), "{} runs", self.name);
        self.run();
    }

    /// Sends SIGTERM and waits for its end.
    pub async fn terminate(&mut self) -> ExitStatus {
        let (child, _) = self.running.as_ref().expect("a runner runs, to be ended");
        kill_process(Pid::from_child(child), Signal::TERM).unwrap();
        self.ended().await
    }

    /// Waits until it ends by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        let (mut child, _kill_guard) = self.running.take().expect("a runner runs, to end");
        wait(LIMIT, "the runner ends", async || child.try_wait().unwrap())
            .await
            .0
    }
}

impl Drop for RunnerProcess {
    fn drop(&mut self) {
        self.kill9();
        if std::thread::panicking() {
            let log = self.log();
            let last: Vec<&str> = log.lines().rev().take(40).collect();
            println!("--- the log of {} ends with", self.name);
            last.iter().rev().for_each(|line| println!("{line}"));
        }
    }
}
