//! The client of CodePush from npm, in a process that answers line by line, and phones that use it as an app does.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::Fields;

/// A process with the client.
pub struct Client {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _folder: TempDir,
}

impl Client {
    /// Installs the client from npm and starts it.
    pub fn install() -> Client {
        let folder = tempfile::tempdir().unwrap();
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign-clients/codepush");
        for name in ["package.json", "package-lock.json", "phone.mjs"] {
            std::fs::copy(scripts.join(name), folder.path().join(name)).unwrap();
        }
        let mut install = Command::new("npm");
        install.args(["ci", "--ignore-scripts", "--loglevel=error"]).current_dir(folder.path());
        assert!(install.output().unwrap().status.success());
        let mut node = Command::new("node");
        node.arg("phone.mjs").current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = node.spawn().unwrap();
        let (input, output) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        Client { process, input, output, _folder: folder }
    }

    fn ask(&mut self, request: &Value) -> Value {
        tokio::task::block_in_place(|| {
            writeln!(self.input, "{request}").unwrap();
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            serde_json::from_str(&line).unwrap()
        })
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A phone with an app that uses the client.
pub struct Phone {
    settings: Value,
    current: Value,
}

impl Phone {
    /// A phone whose app was just installed.
    pub fn new(server: &str, key: &str, id: &str, app_version: &str) -> Phone {
        let settings =
            json!({"serverUrl": server, "deploymentKey": key, "clientUniqueId": id, "appVersion": app_version});
        Phone { settings, current: Value::Null }
    }

    /// The app is replaced by one with another deployment key.
    pub fn deployment_key(&mut self, key: &str) {
        self.settings["deploymentKey"] = key.into();
    }

    /// The app is replaced by one of another version.
    pub fn app_version(&mut self, version: &str) {
        self.settings["appVersion"] = version.into();
    }

    /// The app runs an update that another server gave it.
    pub fn runs(&mut self, label: &str, hash: &str) {
        let version = &self.settings["appVersion"];
        self.current = json!({"label": label, "packageHash": hash, "appVersion": version});
    }

    /// The label of what it runs.
    pub fn running(&self) -> &str {
        self.current.text("label")
    }

    fn act(&self, client: &mut Client, act: &str, update: &Value) -> Value {
        client.ask(&json!({
            "act": act, "phone": self.settings, "current": self.current, "update": update,
            "previous": self.current["label"],
        }))
    }

    fn done(&self, client: &mut Client, act: &str, update: &Value) -> Value {
        let outcome = self.act(client, act, update);
        assert_eq!(outcome["error"], Value::Null, "{act}");
        outcome["result"].clone()
    }

    /// What the client says is offered; null for nothing.
    pub fn check(&mut self, client: &mut Client) -> Value {
        self.done(client, "check", &Value::Null)
    }

    /// The error of a check.
    pub fn error(&mut self, client: &mut Client) -> String {
        self.act(client, "check", &Value::Null)["error"].as_str().unwrap().to_owned()
    }

    /// Reports that what it runs works.
    pub fn confirm(&mut self, client: &mut Client) {
        self.done(client, "confirm", &self.current);
    }

    /// Downloads what is offered, with the report about it.
    fn download(&mut self, client: &mut Client) -> Value {
        let update = self.check(client);
        assert!(update.is_object(), "nothing is offered");
        let got = self.done(client, "download", &update);
        assert_eq!((&got["status"], &got["bytes"]), (&json!(200), &update["packageSize"]));
        update
    }

    /// Installs what is offered, which works.
    pub fn sync(&mut self, client: &mut Client) -> Value {
        let update = self.download(client);
        self.done(client, "confirm", &update);
        self.current = update.clone();
        update
    }

    /// Installs what is offered, which crashes: the client reports it and keeps what it ran.
    pub fn sync_and_crash(&mut self, client: &mut Client) {
        let update = self.download(client);
        self.done(client, "fail", &update);
    }
}
