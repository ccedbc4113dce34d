//! The client of another service from npm, in a process that reads a request from each line and writes the outcome on a line.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A process with the client.
pub struct NpmClient {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _folder: TempDir,
}

impl NpmClient {
    /// Installs the client of a folder in `tests/foreign-clients` and starts its `phone.mjs`.
    pub fn install(name: &str) -> NpmClient {
        let folder = tempfile::tempdir().unwrap();
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign-clients").join(name);
        copy(&scripts, folder.path());
        let mut install = Command::new("npm");
        install.args(["ci", "--ignore-scripts", "--loglevel=error"]).current_dir(folder.path());
        let output = install.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut node = Command::new("node");
        node.arg("phone.mjs").current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = node.spawn().unwrap();
        let (input, output) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        NpmClient { process, input, output, _folder: folder }
    }

    /// The outcome of a request: `result` or `error`.
    pub fn ask(&mut self, request: &Value) -> Value {
        tokio::task::block_in_place(|| {
            writeln!(self.input, "{request}").unwrap();
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            serde_json::from_str(&line).unwrap()
        })
    }

    /// The result of a request that succeeds.
    pub fn result(&mut self, request: &Value) -> Value {
        let outcome = self.ask(request);
        assert_eq!(outcome["error"], Value::Null, "{request}");
        outcome["result"].clone()
    }
}

impl Drop for NpmClient {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Copies a folder without what npm installed in it.
fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), target).unwrap();
        } else if entry.file_name() != "node_modules" {
            std::fs::create_dir(&target).unwrap();
            copy(&entry.path(), &target);
        }
    }
}
