//! The real `launchway-server` as a separate process, for end-to-end tests.

mod builder;
mod running;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub use builder::ServerBuilder;
use running::Running;

/// A `launchway-server` with its own directory, killed and removed at the end of the test.
///
/// Between [`Self::kill9`] or [`Self::terminate`] and [`Self::restart_same_port`] no process runs, and the data stays.
#[derive(Debug)]
pub struct ServerProcess {
    binary: PathBuf,
    /// The directory for everything that the process writes.
    root: TempDir,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    /// `127.0.0.1:PORT`.
    listen: String,
    running: Option<Running>,
}

impl ServerProcess {
    /// A server with custom settings; see [`ServerBuilder`].
    #[must_use]
    pub fn builder() -> ServerBuilder {
        ServerBuilder::default()
    }

    /// A running server with the default settings: SQLite, and a local directory for objects.
    ///
    /// # Panics
    /// Like [`ServerBuilder::start`].
    #[must_use]
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// `http://127.0.0.1:PORT`, the URL of the dashboard.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://{}", self.listen)
    }

    /// `http://127.0.0.1:PORT/api`, the base URL of the API.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}/api", self.origin())
    }

    /// The directory that is passed as `--data-dir`.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.root.path().join("data")
    }

    /// The working directory of the process, with its data, home and log.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The process id; `None` while no process runs.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.running.as_ref().map(Running::id)
    }

    /// Standard error since the first start.
    #[must_use]
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.log_file()).unwrap_or_default()).into_owned()
    }

    /// Standard output since the last start: one line, if all is well.
    #[must_use]
    pub fn stdout(&self) -> String {
        self.running.as_ref().map(Running::stdout).unwrap_or_default()
    }

    /// Kills the process with SIGKILL, like a power failure, and waits for its end. Its children are not notified.
    pub fn kill9(&mut self) {
        self.running = None;
    }

    /// Sends SIGTERM to the process and waits for its end.
    ///
    /// # Panics
    /// If it does not run, or has not ended after 40 s: a server has 30 s (`docs/reference/operation.md#stopping`).
    pub fn terminate(&mut self) -> ExitStatus {
        let running = self.running.take().expect("a server runs, to be ended");
        running
            .terminate()
            .unwrap_or_else(|| panic!("The server did not end on SIGTERM.\n{}", self.output("")))
    }

    /// Starts the process again with the same settings, data and port, after killing it if it still runs.
    ///
    /// # Panics
    /// If it is not ready after 30 s.
    pub fn restart_same_port(&mut self) {
        self.running = None;
        if let Err(stdout) = self.run() {
            panic!("The server did not start again.\n{}", self.output(&stdout));
        }
    }

    /// Changes a setting, effective from the next start.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// Runs `launchway-server admin ARGUMENTS --json` with the same settings and returns the object that it prints.
    ///
    /// # Panics
    /// If the command fails or prints something else.
    #[must_use]
    pub fn admin(&self, arguments: &[&str]) -> Value {
        self.admin_with_input(arguments, "")
    }

    /// Like [`Self::admin`], with `input` (a password) on standard input.
    ///
    /// # Panics
    /// Like [`Self::admin`].
    #[must_use]
    pub fn admin_with_input(&self, arguments: &[&str], input: &str) -> Value {
        let mut command = self.command();
        command.arg("admin").args(arguments);
        if !arguments.contains(&"--json") {
            command.arg("--json");
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
        if let Some(mut stdin) = child.stdin.take() {
            // A command that does not read its input may already have closed it.
            let _ = stdin.write_all(input.as_bytes());
        }
        let output = child.wait_with_output().expect("the output of a child can be read");
        let (stdout, stderr) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(
            output.status.success(),
            "`admin {}` failed: {stdout}{stderr}",
            arguments.join(" ")
        );
        serde_json::from_str(&stdout)
            .unwrap_or_else(|error| panic!("`admin {}` printed no JSON ({error}): {stdout}", arguments.join(" ")))
    }

    /// The program with the same settings, environment and directory, for any other command.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        let root = self.root.path();
        command.current_dir(root).env_clear();
        if let Some(path) = crate::settings::setting("PATH") {
            command.env("PATH", path);
        }
        for (name, directory) in builder::DIRECTORIES {
            command.env(name, root.join(directory));
        }
        command
            .env("LAUNCHWAY_LISTEN", &self.listen)
            .envs(self.environment.iter().cloned());
        command
    }

    /// Starts the process and waits until it is ready. Returns its standard output if it is not.
    fn run(&mut self) -> Result<(), String> {
        let log = fs::OpenOptions::new().create(true).append(true).open(self.log_file());
        let mut command = self.command();
        command
            .args(&self.arguments)
            .stderr(log.expect("the log of the server can be written"));
        let (running, listen) = Running::start(command)?;
        self.listen = listen;
        self.running = Some(running);
        Ok(())
    }

    fn log_file(&self) -> PathBuf {
        self.root.path().join("stderr.log")
    }

    /// The output to show when the server misbehaves.
    fn output(&self, stdout: &str) -> String {
        let mut text = String::new();
        let _ = write!(
            text,
            "--- standard output\n{stdout}\n--- standard error\n{}",
            self.stderr()
        );
        text
    }
}
