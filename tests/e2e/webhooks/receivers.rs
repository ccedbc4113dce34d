//! The receivers in tests/receivers as processes: they verify with the packages published on npm and PyPI.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use launchway_testing::kill_guard::KillGuard;
use serde_json::Value;
use tempfile::TempDir;

use crate::projects::root;

/// The timeout for a line of a receiver. Much more than it needs, for slow machines.
const LIMIT: Duration = Duration::from_secs(60);

/// A running receiver. It ends when it is dropped.
pub struct Program {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    port: u16,
    _kill_guard: KillGuard,
    _folder: TempDir,
}

impl Program {
    /// The one for Node, with its package installed from npm.
    pub fn node() -> Program {
        let folder = copy("node");
        let mut install = Command::new("npm");
        succeed(install.args(["ci", "--loglevel=error"]).current_dir(folder.path()));
        let mut program = Command::new("node");
        program.arg("receiver.mjs").current_dir(folder.path());
        Self::start(program, folder)
    }

    /// The one for Python, with its package installed from the Python package index.
    pub fn python() -> Program {
        let folder = copy("python");
        let venv = folder.path().join("venv");
        succeed(Command::new("python3").args(["-m", "venv"]).arg(&venv));
        let mut install = Command::new(venv.join("bin/pip"));
        install.args(["install", "--quiet", "--requirement", "requirements.txt"]);
        succeed(install.current_dir(folder.path()));
        let mut program = Command::new(venv.join("bin/python"));
        program.arg("receiver.py").current_dir(folder.path());
        Self::start(program, folder)
    }

    fn start(mut program: Command, folder: TempDir) -> Program {
        let mut child = program
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{program:?} cannot be started: {error}"));
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            output
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(line))
        });
        let mut program = Program {
            input: child.stdin.take().unwrap(),
            _kill_guard: KillGuard::on(&child),
            child,
            lines,
            port: 0,
            _folder: folder,
        };
        program.port = u16::try_from(program.next()["port"].as_u64().unwrap()).unwrap();
        program
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Makes it verify with this secret from now on.
    pub fn take_secret(&mut self, secret: &str) {
        writeln!(self.input, "{secret}").unwrap();
        assert_eq!(self.next()["ready"], true);
    }

    /// The next line that it prints.
    pub fn next(&mut self) -> Value {
        let line = self
            .lines
            .recv_timeout(LIMIT)
            .expect("the receiver says something within a minute");
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A copy of a receiver's directory, to install into.
fn copy(name: &str) -> TempDir {
    let from: PathBuf = root().join("tests/receivers").join(name);
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, copy.path().join(Path::new(path.file_name().unwrap()))).unwrap();
        }
    }
    copy
}

fn succeed(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{errors}");
}
