//! python-tuf and tuf-js, as their registries have them, fetch an update from a running server.

use std::fs;
use std::process::{Command, Output};
use std::rc::Rc;
use std::sync::Arc;

use launchway_developers::{Release, role_of};
use launchway_domain::platform::Platform;
use launchway_testing::workspace;
use launchway_trust::Sha256;
use tempfile::TempDir;

use super::attacker::{Attacker, exchange};
use crate::stage::{BUNDLE, Stage};
use crate::support::{NOBODY, START, Says, machine_time, package};

/// Where other clients find the package.
const TARGET: &str = "c-production/android/1.2.3_4.zip";

/// A client of The Update Framework, installed in a folder of its own.
struct Client {
    folder: TempDir,
    program: &'static str,
    script: &'static str,
}

impl Client {
    fn python() -> Client {
        let folder = copy("python");
        run(Command::new("python3").args(["-m", "venv", "venv"]).current_dir(folder.path()));
        let mut install = Command::new(folder.path().join("venv/bin/pip"));
        install.args(["install", "--quiet", "--require-hashes", "--requirement", "requirements.txt"]);
        run(install.current_dir(folder.path()));
        Client { folder, program: "venv/bin/python", script: "fetch.py" }
    }

    fn node() -> Client {
        let folder = copy("node");
        run(Command::new("npm").args(["ci", "--loglevel=error"]).current_dir(folder.path()));
        Client { folder, program: "node", script: "fetch.mjs" }
    }

    /// A new client trusts the root, refreshes and downloads the target: the package, or what it says.
    fn fetch(&self, repository: &str, trusted_root: &str) -> Result<Vec<u8>, String> {
        let own = tempfile::tempdir().unwrap();
        let trusted = own.path().join("trusted-root.json");
        fs::write(&trusted, trusted_root).unwrap();
        let program = match self.program {
            "node" => "node".into(),
            inside => self.folder.path().join(inside),
        };
        let mut command = Command::new(program);
        command.arg(self.script).arg(repository).arg(&trusted).arg(TARGET).arg(own.path());
        let output = command.current_dir(self.folder.path()).output().unwrap();
        if output.status.success() {
            Ok(fs::read(own.path().join("update.zip")).unwrap())
        } else {
            Err(errors_of(&output))
        }
    }
}

/// Both clients, which have the machine's clock.
#[derive(Clone)]
struct Clients(Arc<[Client; 2]>);

impl Clients {
    fn install() -> Clients {
        let node = std::thread::spawn(Client::node);
        Clients(Arc::new([Client::python(), node.join().unwrap()]))
    }

    /// What each of them gets of a service.
    async fn fetch(&self, stage: &Stage, trusted_root: &str) -> [Result<Vec<u8>, String>; 2] {
        let (clients, trusted_root) = (self.clone(), trusted_root.to_owned());
        let repository = format!("{}/tuf/{BUNDLE}", stage.origin);
        let fetch = move || clients.0.each_ref().map(|client| client.fetch(&repository, &trusted_root));
        tokio::task::spawn_blocking(fetch).await.unwrap()
    }

    async fn are_refused(&self, stage: &Stage, trusted_root: &str, error: &str) {
        for refused in self.fetch(stage, trusted_root).await {
            refused.unwrap_err().says(error);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn python_tuf_and_tuf_js_take_what_was_signed() {
    let installed = tokio::task::spawn_blocking(Clients::install);
    let stage = Rc::new(Stage::new().await);
    stage.advance(machine_time() - START);
    let mut developers = stage.developers(&["production"]).await;
    let package = package("index.html", b"<h1>signed</h1>");
    let role = role_of("production");
    let release = Release { role: &role, platform: Platform::Android, version: "1.2.3", build: 4, package: &package };
    stage.release(&mut developers, &release).await;
    assert_eq!(release.path(), TARGET);
    let (clients, root) = (installed.await.unwrap(), developers.trust_file().root);
    assert_eq!(clients.fetch(&stage, &root).await, [Ok(package.clone()), Ok(package.clone())]);

    exchange(stage.objects(), &package);
    clients.are_refused(&stage, &root, "LengthOrHashMismatchError").await;
    // The role lists other bytes, which nobody signed.
    let file = stage.get(NOBODY, &format!("{}/tuf/{BUNDLE}/2.c-production.json", stage.origin)).await.text();
    let [signed, other] = [&package[..], b"other"].map(|bytes| Sha256::of(bytes).to_string());
    let changed = file.replace(&signed, &other);
    assert_ne!(changed, file);
    let attacker = Attacker::of(&stage).await;
    attacker.store("c-production", 2, &changed).await;
    attacker.reload().await;
    clients.are_refused(&stage, &root, "was signed by 0/1 keys").await;
}

/// The scripts of a client in a folder of their own.
fn copy(name: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(workspace::root().join("tests/tuf-clients").join(name)).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
    }
    folder
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?} failed:\n{}", errors_of(&output));
}

fn errors_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
