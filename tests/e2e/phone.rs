//! Phones with the app of the tests. Each runs a client as a program for the terminal.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use launchway_testing::says::Fields;
use launchway_testing::settings::setting;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::Api;
use crate::cli::{Cli, Outcome, program};
use crate::packages::{Files, files_below, packed};
use crate::projects::root;

/// The app on all phones.
pub const BUNDLE: &str = "com.example.app";

/// The client that a phone runs. All take the same commands and print the same.
#[derive(Clone, Copy, Debug)]
pub enum Client {
    /// `launchway device`.
    Rust,
    /// The client of Android apps, on this machine's JVM.
    Java,
    /// The client of apps on Apple platforms, which takes a Debian system with Swift: in long tests only.
    Swift,
}

impl Client {
    fn command(self) -> Command {
        match self {
            Self::Rust => {
                let mut command = Command::new(program("launchway"));
                command.arg("device");
                command
            }
            Self::Java => {
                let mut command = Command::new(root().join("sdk/android/phone/run"));
                // Its first call compiles the client into this directory.
                command.arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("java-phone"));
                command
            }
            Self::Swift => Command::new(root().join("sdk/ios/phone")),
        }
    }

    /// What runs the commands. The system with Swift is in the cache of whoever runs the tests.
    fn cli(self) -> Cli {
        let mut cli = Cli::new();
        if let Self::Swift = self {
            let home = setting("HOME").map(|home| format!("{home}/.cache"));
            let cache = setting("XDG_CACHE_HOME").or(home);
            for (name, value) in [
                ("XDG_CACHE_HOME", cache),
                ("LAUNCHWAY_SWIFT_ROOT", setting("LAUNCHWAY_SWIFT_ROOT")),
            ] {
                if let Some(value) = value {
                    cli = cli.with(name, &value);
                }
            }
        }
        cli
    }
}

/// A phone with version 1.0.0 of the app.
pub struct Phone {
    client: Client,
    cli: Cli,
    folder: TempDir,
}

impl Phone {
    /// With an app that carries this trust file.
    pub fn new(client: Client, origin: &str, trust: Option<&Path>) -> Self {
        let phone = Self {
            client,
            cli: client.cli(),
            folder: tempfile::tempdir().unwrap(),
        };
        let mut app = vec!["init", "android", "--url", origin, "--bundle-id", BUNDLE];
        app.extend(["--version", "1.0.0", "--build", "1", "--configuration", "production"]);
        if let Some(trust) = trust {
            app.extend(["--trust", trust.to_str().unwrap()]);
        }
        let started = phone.run(&app).json();
        assert_eq!(started["runs"], "embedded:1");
        phone
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        let mut command = self.client.command();
        command
            .arg("--json")
            .arg("--dir")
            .arg(self.folder.path())
            .args(arguments);
        self.cli.finish(command, "")
    }

    /// The same where no file becomes longer than so many blocks of 512 bytes, as on a disk that is full.
    pub fn run_limited(&self, blocks: usize, arguments: &[&str]) -> Outcome {
        // Without the trap the first write beyond the limit would end the process.
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        self.run_by(&["sh", "-c", &script, "sh"], arguments)
    }

    /// The same with a process that dies just before its change of a file with this number. In Java only.
    pub fn run_until_change(&self, number: usize, arguments: &[&str]) -> Outcome {
        let dies = format!("LAUNCHWAY_PHONE_DIES_AT={number}");
        self.run_by(&["env", &dies], arguments)
    }

    /// The same with a clock that is off by so much, such as `+365d`.
    pub fn run_at(&self, offset: &str, arguments: &[&str]) -> Outcome {
        // Timers would hang the JVM if they were off, too.
        let monotonic = "FAKETIME_DONT_FAKE_MONOTONIC=1";
        self.run_by(&["env", monotonic, "faketime", "-f", offset], arguments)
    }

    /// Runs a command by way of another program, to which its words are added.
    fn run_by(&self, wrapper: &[&str], arguments: &[&str]) -> Outcome {
        let inner = self.command(arguments);
        let mut command = Command::new(wrapper[0]);
        command
            .args(&wrapper[1..])
            .arg(inner.get_program())
            .args(inner.get_args());
        self.cli.finish(command, "")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.client.command();
        command
            .arg("--json")
            .arg("--dir")
            .arg(self.folder.path())
            .args(arguments);
        command
    }

    /// Starts a command, to end it early.
    pub fn begin(&self, arguments: &[&str]) -> Child {
        let mut command = self.client.command();
        command.arg("--dir").arg(self.folder.path()).args(arguments);
        self.cli.prepare(&mut command);
        let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        silent.spawn().unwrap()
    }

    /// The phone after a command that must succeed.
    #[track_caller]
    pub fn after(&self, command: &str) -> Value {
        self.run(&[command]).json()
    }

    /// Installs an update and confirms it.
    #[track_caller]
    pub fn takes(&self, update: &Value, files: &Files) {
        let installed = self.after("install");
        assert_eq!(
            installed["outcome"],
            format!("installed {}", update.id()),
            "{installed}"
        );
        self.runs(&installed, update, files);
        assert_eq!(self.after("confirm")["outcome"], "confirmed");
    }

    /// The phone runs this update, with these files.
    #[track_caller]
    pub fn runs(&self, view: &Value, update: &Value, files: &Files) {
        assert_eq!(view["runs"], update["id"], "{view}");
        assert!(files_below(Path::new(view.text("folder"))) == *files, "other files run");
    }

    /// Another phone that went through the same.
    pub fn twin(&self) -> Self {
        let twin = Self {
            client: self.client,
            cli: self.client.cli(),
            folder: tempfile::tempdir().unwrap(),
        };
        for (path, bytes) in files_below(self.folder.path()) {
            let path = twin.folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        twin
    }

    /// Lets the app ask another server from now on.
    pub fn ask_server(&self, origin: &str) {
        let path = self.folder.path().join("app.json");
        let mut app: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        app["serverUrl"] = format!("{origin}/api").into();
        fs::write(path, app.to_string()).unwrap();
    }
}

/// The files of a version of the app.
pub fn files(version: &str) -> Files {
    Files::from([
        ("index.html".to_owned(), format!("<p>{version}</p>").into_bytes()),
        (
            "js/app.js".to_owned(),
            format!("show('{version}');\n").repeat(500).into_bytes(),
        ),
    ])
}

/// Publishes a version of the app, unsigned.
pub async fn publish(api: &Api, version: &str) -> Value {
    let fields = json!({"bundleId": BUNDLE, "platform": "android", "version": version, "configuration": "production"});
    api.publish(&packed(&files(version)), fields).await
}
