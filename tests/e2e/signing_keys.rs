//! The keys of signed updates from the command line, against a real server: set up, signed by two people, and replaced by the
//! recovery key.

use std::path::Path;

use launchway_testing::says::Fields;
use serde_json::Value;

use crate::cli::{Cli, Outcome};
use crate::deployment::{Deployment, Ground};

const PASSPHRASE: &str = "a long passphrase";
pub const INIT: [&str; 9] = [
    "trust",
    "init",
    "--bundle-id",
    "com.example.app",
    "--configuration",
    "production",
    "--recovery-key",
    "recovery.pem",
    "--yes",
];

/// One developer with keys of their own.
pub struct Developer {
    pub cli: Cli,
    pub project: tempfile::TempDir,
}

impl Developer {
    pub fn new(deployment: &Deployment, key: &str) -> Self {
        let cli = Cli::logged_in(&deployment.node().origin(), key);
        Self {
            cli: cli.with("LAUNCHWAY_KEY_PASSPHRASE", PASSPHRASE),
            project: tempfile::tempdir().unwrap(),
        }
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        self.cli.run_in(self.project.path(), arguments)
    }

    /// Runs a command that asks for confirmation, and returns the names of the roles in force and of those that need
    /// signatures.
    pub fn change(&self, arguments: &[&str]) -> [Vec<String>; 2] {
        let answer = self.run(&[arguments, &["--yes", "--json"]].concat()).json();
        ["accepted", "drafts"].map(|field| {
            let names = answer[field].as_array().unwrap().iter();
            names.map(|name| name.as_str().unwrap().to_owned()).collect()
        })
    }

    /// Makes a key and returns the path of its public half.
    pub fn new_key(&self, name: &str) -> String {
        let made = self.run(&["trust", "new-key", "--json"]).json();
        let path = self.project.path().join(name);
        std::fs::write(&path, made.text("publicKey")).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Takes the committed file of another developer.
    pub fn pull(&self, other: &Developer) {
        let name = Path::new("launchway.trust.json");
        std::fs::copy(other.project.path().join(name), self.project.path().join(name)).unwrap();
    }

    fn status(&self) -> Value {
        self.run(&["trust", "status", "--json"]).json()
    }
}

fn role<'v>(status: &'v Value, name: &str) -> &'v Value {
    let roles = status["roles"].as_array().unwrap().iter();
    roles.into_iter().find(|role| role["role"] == name).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_people_sign_for_a_role() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let team = deployment.team();
    let (ada, bob) = (
        Developer::new(&deployment, &team.key),
        Developer::new(&deployment, &team.key),
    );
    ada.run(&INIT).check();
    ada.run(&["trust", "verify"]).check();
    bob.pull(&ada);

    // The role's version needs a second signature now: both files wait for it.
    let key = bob.new_key("bob.pem");
    let add = [
        "trust",
        "add-key",
        "c-production",
        &key,
        "--name",
        "Bob",
        "--threshold",
        "2",
    ];
    let [accepted, drafts] = ada.change(&add);
    assert_eq!(
        (accepted.len(), drafts),
        (0, vec!["c-production".to_owned(), "targets".to_owned()])
    );
    let [accepted, drafts] = bob.change(&["trust", "sign", "c-production"]);
    assert_eq!((accepted.len(), drafts.len()), (2, 0), "{accepted:?}");
    let status = bob.status();
    let production = role(&status, "c-production");
    assert_eq!(
        (production["version"].as_u64(), production["threshold"].as_u64()),
        (Some(2), Some(2))
    );
    assert!(
        production["keys"]
            .as_array()
            .unwrap()
            .iter()
            .all(|key| key["signed"] == true),
        "{production}"
    );
    bob.run(&["trust", "verify"]).check();

    // One renews, the other one signs.
    ada.pull(&bob);
    let [accepted, drafts] = ada.change(&["trust", "sign", "c-production"]);
    assert_eq!((accepted.len(), drafts), (0, vec!["c-production".to_owned()]));
    let again = ada.run(&["trust", "sign", "c-production", "--yes"]);
    assert_eq!(again.code, 1, "{again:?}");
    let [accepted, _] = bob.change(&["trust", "sign", "c-production"]);
    assert_eq!(accepted, ["c-production"]);
    assert_eq!(role(&ada.status(), "c-production")["version"].as_u64(), Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_recovery_key_replaces_a_lost_root_key() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let team = deployment.team();
    let ada = Developer::new(&deployment, &team.key);
    let made = ada.run(&[&INIT[..], &["--json"]].concat()).json();

    let recovery = ada.project.path().join("recovery.pem");
    let mut rescuer = Developer::new(&deployment, &team.key);
    let key = rescuer.new_key("new.pem");
    rescuer.cli = rescuer.cli.with("LAUNCHWAY_SIGNING_KEY", recovery.to_str().unwrap());
    rescuer.pull(&ada);
    let [accepted, _] = rescuer.change(&["trust", "rotate", made.text("rootKey"), &key]);
    assert_eq!(accepted.len(), 2, "{accepted:?}");
    let status = rescuer.status();
    let root = role(&status, "root");
    assert_eq!(
        (root["version"].as_u64(), role(&status, "targets")["version"].as_u64()),
        (Some(2), Some(2))
    );
    let listed = root["keys"].as_array().unwrap().iter();
    assert!(listed.into_iter().all(|key| key["keyId"] != made["rootKey"]), "{root}");
    let [accepted, _] = rescuer.change(&["trust", "rotate", "--online-key"]);
    assert_eq!(accepted, ["root"]);
    rescuer.run(&["trust", "verify"]).check();

    // Whoever has the lost key signs nothing, also with the file of an older release.
    let late = ada.run(&["trust", "sign", "targets", "--yes"]);
    assert!(
        late.code == 1 && late.stderr.contains("no key that could add it is on this machine"),
        "{late:?}"
    );
    ada.run(&["trust", "verify"]).check();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_begins_again_when_all_keys_are_lost() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let team = deployment.team();
    let ada = Developer::new(&deployment, &team.key);
    ada.run(&INIT).check();
    let late = Developer::new(&deployment, &team.key);
    late.pull(&ada);
    let reset = |confirm| {
        ada.run(&[
            "trust",
            "reset",
            "--configuration",
            "production",
            "--recovery-key",
            "second.pem",
            "--confirm",
            confirm,
        ])
    };
    assert_eq!(reset("com.example.other").code, 1);
    reset("com.example.app").check();
    assert_eq!(role(&ada.status(), "root")["version"].as_u64(), Some(2));
    ada.run(&["trust", "verify"]).check();
    let refused = late.run(&["trust", "verify"]);
    assert_eq!(refused.code, 1, "{refused:?}");
}
