//! The real `launchway` command line with its own home, like one user or one CI job.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use launchway_testing::settings::setting;
use serde_json::Value;
use tempfile::TempDir;

use crate::projects::root;

/// A command line with its own home. It runs in the root of the repository.
pub struct Cli {
    home: TempDir,
    variables: Vec<(&'static str, String)>,
}

/// The result of a command.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// The command must succeed.
    #[track_caller]
    pub fn check(&self) {
        assert_eq!(self.code, 0, "{self:?}");
    }

    /// The object printed by a command with `--json`.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Cli {
    /// Not logged in.
    pub fn new() -> Cli {
        Cli {
            home: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        }
    }

    /// The same with an environment variable.
    pub fn with(mut self, name: &'static str, value: &str) -> Cli {
        self.variables.push((name, value.to_owned()));
        self
    }

    /// Logged in to the server at `origin` with `key`.
    pub fn logged_in(origin: &str, key: &str) -> Cli {
        let cli = Self::new();
        let login = cli.run_with_input(["login", "--url", origin], key);
        assert_eq!(login.code, 0, "{login:?}");
        cli
    }

    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Outcome {
        self.run_with_input(arguments, "")
    }

    pub fn run_with_input<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>, input: &str) -> Outcome {
        let mut command = Command::new(program("launchway"));
        command.args(arguments);
        self.finish(command, input)
    }

    /// Runs in a project's directory instead.
    pub fn run_in<S: AsRef<OsStr>>(&self, folder: &Path, arguments: impl IntoIterator<Item = S>) -> Outcome {
        let mut command = Command::new(program("launchway"));
        command.args(arguments).current_dir(folder);
        self.finish(command, "")
    }

    /// Runs a line as if a user pasted it into a shell.
    pub fn paste(&self, line: &str) -> Outcome {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        self.finish(command, "")
    }

    /// Starts a command to watch while it runs, with empty standard input.
    pub fn start<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Child {
        let mut command = Command::new(program("launchway"));
        command.args(arguments);
        self.prepare(&mut command);
        command.stdin(Stdio::null()).spawn().unwrap()
    }

    /// Runs a program to its end, as this user.
    pub fn finish(&self, mut command: Command, input: &str) -> Outcome {
        self.prepare(&mut command);
        let mut child = command.spawn().unwrap();
        // A command that reads nothing may have ended already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        Outcome {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Gives a program the home and the environment of this user.
    pub fn prepare(&self, command: &mut Command) {
        let programs = program("launchway").parent().unwrap().to_owned();
        let path = setting("PATH").unwrap_or_default();
        if command.get_current_dir().is_none() {
            command.current_dir(root());
        }
        command
            .env_clear()
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("HOME", self.home.path())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }
}

/// A program of the workspace: tests are in `deps/`, programs one directory higher.
pub fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.ancestors().nth(2).map(|folder: &Path| folder.join(name)).unwrap();
    let advice = "build it with `cargo test --workspace --no-run`, or run scripts/test";
    assert!(path.is_file(), "{} is not there: {advice}", path.display());
    path
}
