//! Updates that are signed from the command line, against a real server: published in one step, by two at once, signed by
//! another person, and revoked.

use std::fs;
use std::thread;

use launchway_testing::says::Fields;
use serde_json::{Value, json};

use crate::api::Api;
use crate::cli::Outcome;
use crate::deployment::{Deployment, Ground};
use crate::signing_keys::{Developer, INIT};

const BUNDLE: &str = "com.example.app";

/// The command that publishes a version whose only file has this content.
fn publish(developer: &Developer, version: &str, content: &str, more: &[&str]) -> Outcome {
    let dist = developer.project.path().join(format!("dist-{version}"));
    fs::create_dir_all(&dist).unwrap();
    fs::write(dist.join("index.html"), content).unwrap();
    let command = [
        "update",
        "android",
        "--bundle-id",
        BUNDLE,
        "--configuration",
        "production",
        "--json",
    ];
    let dist = ["--version", version, "--dir", dist.to_str().unwrap()];
    developer.run(&[&command[..], &dist, more].concat())
}

/// The version that a phone with 1.0.0 is offered.
async fn offered(api: &Api) -> Value {
    let check = api
        .check(
            BUNDLE,
            "currentVersion=1.0.0&currentBuild=1&platform=android&configuration=production",
        )
        .await;
    check["version"].clone()
}

/// Who works on the app.
struct Crew {
    /// Has all keys.
    ada: Developer,
    /// Has the signing key alone.
    ci: Developer,
    /// Packs updates, and has no key.
    packer: Developer,
}

impl Crew {
    fn of(deployment: &Deployment) -> Self {
        let team = deployment.team();
        let [ada, mut ci, packer] = [(); 3].map(|()| Developer::new(deployment, &team.key));
        ada.run(&[&INIT[..], &["--ci-key", "ci.pem"]].concat()).check();
        let key = ada.project.path().join("ci.pem");
        ci.cli = ci.cli.with("LAUNCHWAY_SIGNING_KEY", key.to_str().unwrap());
        for other in [&ci, &packer] {
            other.pull(&ada);
        }
        Self { ada, ci, packer }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signed_update_is_offered_at_once() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let Crew { ada, ci, .. } = Crew::of(&deployment);
    let api = deployment.api();
    let first = publish(&ci, "1.1.0", "first", &["--build-number", "7"]).json();
    assert_eq!(
        (first.text("status"), first.text("trustRole"), first.text("buildNumber")),
        ("published", "c-production", "7")
    );
    assert_eq!(offered(&api).await, "1.1.0");
    let second = publish(&ada, "1.2.0", "second", &[]).json();
    assert_eq!((second.text("status"), second.text("buildNumber")), ("published", "8"));
    assert_eq!(offered(&api).await, "1.2.0");
    ada.run(&["trust", "verify"]).check();

    // Promotion needs a role for the target, and a rollback signs the files of before.
    let promote = ["update", "promote", second.text("id"), "--configuration", "staging"];
    let refused = ada.run(&promote);
    assert!(
        refused.code != 0 && refused.stderr.contains("nobody signs for c-staging yet"),
        "{refused:?}"
    );
    let key = ada.new_key("staging.pem");
    ada.change(&["trust", "add-key", "c-staging", &key]);
    let promoted = ada.run(&[&promote[..], &["--json"]].concat()).json();
    assert_eq!(
        (
            promoted.text("status"),
            promoted.text("trustRole"),
            promoted.text("sha256")
        ),
        ("published", "c-staging", second.text("sha256"))
    );
    let back = ada
        .run(&["update", "rollback", second.text("id"), "--yes", "--json"])
        .json();
    assert_eq!(
        (back.text("status"), back.text("sha256")),
        ("published", first.text("sha256"))
    );
    ada.run(&["trust", "verify"]).check();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_who_publish_at_once_both_succeed() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let Crew { ada, ci, .. } = Crew::of(&deployment);
    for (build, round) in [("10", "2.0"), ("auto", "2.1")] {
        let publish = |developer: &Developer, patch: &str| {
            let version = format!("{round}.{patch}");
            publish(developer, &version, &version, &["--build-number", build])
        };
        let outcomes = thread::scope(|scope| {
            let other = scope.spawn(|| publish(&ci, "1"));
            [publish(&ada, "2"), other.join().unwrap()]
        });
        let published: Vec<Value> = outcomes.iter().map(Outcome::json).collect();
        assert!(
            published.iter().all(|update| update["status"] == "published"),
            "{published:?}"
        );
        if build == "auto" {
            assert_ne!(published[0]["buildNumber"], published[1]["buildNumber"]);
        }
    }
    let status = ada.run(&["trust", "status", "--json"]).json();
    let roles = status["roles"].as_array().unwrap().iter();
    let production = roles.into_iter().find(|role| role["role"] == "c-production").unwrap();
    assert_eq!(production["targets"], 4, "{production}");
    ada.run(&["trust", "verify"]).check();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_waits_until_another_person_signs_it() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let Crew { ada, packer, .. } = Crew::of(&deployment);
    let api = deployment.api();
    let waiting = publish(&packer, "1.1.0", "packed by CI", &[]).json();
    assert_eq!(
        (waiting.text("status"), waiting.text("trustRole")),
        ("awaiting_signature", "c-production")
    );
    assert_eq!(offered(&api).await, Value::Null);
    let (id, sha256) = (waiting.text("id"), waiting.text("sha256"));

    // Whoever signs says which package it is.
    let rows: [(&[&str], &str); 3] = [
        (&[], "nothing says which package"),
        (&["--sha256", &"0".repeat(64)], "is not a package that you vouch for"),
        (&["--package", "launchway.trust.json"], "cannot read the package"),
    ];
    for (evidence, expected) in rows {
        let refused = ada.run(&[&["update", "sign", id][..], evidence].concat());
        assert!(refused.code != 0 && refused.stderr.contains(expected), "{refused:?}");
    }
    let refused = packer.run(&["update", "sign", id, "--sha256", sha256]);
    assert!(
        refused.stderr.contains("no key that could add it is on this machine"),
        "{refused:?}"
    );
    assert_eq!(offered(&api).await, Value::Null);

    let signed = ada.run(&["update", "sign", id, "--sha256", sha256, "--json"]).json();
    assert_eq!((signed.text("status"), signed.text("id")), ("published", id));
    assert_eq!(offered(&api).await, "1.1.0");
    let again = ada.run(&["update", "sign", id, "--sha256", sha256]);
    assert!(again.stderr.contains("does not wait for a signature"), "{again:?}");

    // All that are in a list, and no other.
    let listed = publish(&packer, "1.2.0", "listed", &[]).json();
    let other = publish(&packer, "1.3.0", "not listed", &[]).json();
    let hashes = ada.project.path().join("hashes.txt");
    fs::write(&hashes, format!("{}  update.zip\n", listed.text("sha256"))).unwrap();
    ada.run(&["update", "sign", "--all", hashes.to_str().unwrap()]).check();
    assert_eq!(offered(&api).await, "1.2.0");
    let shown = ada.run(&["update", "show", other.text("id"), "--json"]).json();
    assert_eq!(shown.text("status"), "awaiting_signature");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_people_publish_and_revoke_together() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let Crew { ada, packer: bob, .. } = Crew::of(&deployment);
    let api = deployment.api();
    let key = bob.new_key("bob.pem");
    ada.change(&["trust", "add-key", "c-production", &key, "--threshold", "2"]);
    let [accepted, _] = bob.change(&["trust", "sign", "c-production"]);
    assert_eq!(accepted.len(), 2, "{accepted:?}");
    ada.pull(&bob);

    let waiting = publish(&ada, "1.1.0", "of two", &["--build-number", "5"]).json();
    assert_eq!(waiting.text("status"), "awaiting_signature");
    let (id, sha256) = (waiting.text("id"), waiting.text("sha256"));
    assert_eq!(offered(&api).await, Value::Null);
    let signed = bob.run(&["update", "sign", id, "--sha256", sha256, "--json"]).json();
    assert_eq!(signed.text("status"), "published");
    assert_eq!(offered(&api).await, "1.1.0");

    let revoked = ada.run(&["update", "revoke", id, "--yes", "--json"]).json();
    assert_eq!(revoked["revoked"], false, "it needs the other signature");
    assert_eq!(offered(&api).await, "1.1.0");
    let [accepted, _] = bob.change(&["trust", "sign", "c-production"]);
    assert_eq!(accepted, ["c-production"]);
    assert_eq!(offered(&api).await, Value::Null);
    bob.run(&["trust", "verify"]).check();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_package_is_never_signed_again() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let Crew { ada, ci, .. } = Crew::of(&deployment);
    let api = deployment.api();
    publish(&ci, "1.1.0", "good", &["--build-number", "2"]).json();
    let bad = publish(&ci, "1.2.0", "bad", &["--build-number", "3"]).json();
    assert_eq!(offered(&api).await, "1.2.0");
    let revoke = [
        "update",
        "revoke",
        bad.text("id"),
        "--reason",
        "it leaks",
        "--yes",
        "--json",
    ];
    let revoked = ada.run(&revoke).json();
    assert_eq!(revoked["revoked"], true);
    assert_eq!(offered(&api).await, "1.1.0");
    let file = fs::read_to_string(ada.project.path().join("launchway.trust.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(file["revoked"], json!([bad["sha256"]]));
    assert!(file["floors"]["c-production"].as_u64() >= Some(3), "{file}");

    // With the new file and with the old one, whose role says so.
    for developer in [&ada, &ci] {
        let refused = publish(developer, "1.4.0", "bad", &["--build-number", "9"]);
        assert!(
            refused.code == 1 && refused.stderr.contains("was revoked"),
            "{refused:?}"
        );
    }
    ada.run(&["trust", "verify"]).check();
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_signs_without_the_trust_file() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let Crew { ada, ci, .. } = Crew::of(&deployment);
    let file = ci.project.path().join("launchway.trust.json");
    fs::remove_file(&file).unwrap();
    let refused = publish(&ci, "1.1.0", "unsigned", &[]);
    let expected = "this project has no launchway.trust.json for com.example.app";
    assert!(refused.code == 1 && refused.stderr.contains(expected), "{refused:?}");
    assert_eq!(offered(&deployment.api()).await, Value::Null);
    let list = ada
        .run(&["update", "list", "--status", "awaiting_signature", "--json"])
        .json();
    let id = list["items"][0].text("id").to_owned();
    let refused = ci.run(&["update", "sign", &id, "--sha256", &"0".repeat(64)]);
    assert!(refused.code == 1 && refused.stderr.contains(expected), "{refused:?}");

    // The file of another repository is refused too.
    let other = Developer::new(&deployment, &deployment.team().key);
    let init: Vec<&str> = INIT
        .iter()
        .map(|word| if *word == BUNDLE { "com.example.other" } else { *word })
        .collect();
    other.run(&init).check();
    let foreign = fs::read_to_string(other.project.path().join("launchway.trust.json")).unwrap();
    fs::write(&file, foreign).unwrap();
    let refused = publish(&ci, "1.1.0", "unsigned", &[]);
    assert!(refused.code == 1 && refused.stderr.contains(expected), "{refused:?}");
}
