//! Attacks on what a server serves, each with the refusal that a phone reports.

use launchway_domain::platform::Platform;
use launchway_domain::time::{DAY, EpochMs};
use launchway_trust::client::Client;
use launchway_trust::draft::Draft;
use launchway_trust::json::{self, Value};
use launchway_trust::metadata::{MetaFile, Snapshot, Targets, Timestamp};
use launchway_trust::{Identity, RepositoryId, TopLevel, UpdateRole};
use ring::rand::SystemRandom;

use crate::repository::{NOW, PACKAGE, Repository, key, keys, outcome, production, role_keys, update};

#[test]
fn a_file_that_its_keys_did_not_sign_is_refused() {
    for role in ["timestamp", "snapshot", "targets", "c-production"] {
        let mut repository = Repository::new();
        let name = repository.name_of(role);
        let changed = change(&repository.files[&name], |signed| {
            let Value::Object(members) = signed else { unreachable!() };
            members.insert("x-more".to_owned(), Value::Bool(true));
        });
        repository.files.insert(name, changed);
        assert_eq!(
            outcome(repository.refresh(&mut repository.client())),
            format!("{role} too-few-signatures")
        );
    }
}

#[test]
fn the_server_cannot_sign_for_developers() {
    for (role, name) in [("targets", "1.targets.json"), ("c-production", "1.c-production.json")] {
        let mut repository = Repository::new();
        let mut forged: Draft = Draft::from_bytes::<Targets>(repository.files[name].as_bytes()).unwrap();
        let online = repository.root.authority(TopLevel::Snapshot);
        forged
            .sign(online, &repository.online_key, &SystemRandom::new())
            .unwrap();
        let text = forged.to_text().unwrap();
        let without = change_file(&text, |file| {
            let Value::Object(members) = file else { unreachable!() };
            let Some(Value::Array(signatures)) = members.get_mut("signatures") else {
                unreachable!()
            };
            let server = repository.online_key.public().id();
            signatures.retain(|signature| signature.get("keyid").and_then(Value::as_text) == Some(&server));
        });
        repository.files.insert(name.to_owned(), without);
        let refused = outcome(repository.refresh(&mut repository.client()));
        assert_eq!(refused, format!("{role} too-few-signatures"));
    }
}

#[test]
fn a_key_that_was_removed_signs_no_more() {
    let mut repository = Repository::new();
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    let stolen = std::mem::replace(&mut repository.ci_key, key());
    let new = *repository.ci_key.public();
    repository.delegate(&production(), &[new], 1);
    repository.sign_targets();
    repository.sign_role(&production());
    repository.publish();
    repository.refresh(&mut client).unwrap();

    // The thief controls the server too, and signs the next version.
    let (delegated, targets) = (repository.targets.clone(), repository.versions["targets"]);
    repository.ci_key = stolen;
    let stolen = *repository.ci_key.public();
    repository.delegate(&production(), &[stolen], 1);
    repository.publish_update(&production(), Platform::Android, &update("9.9.9", 9), b"evil");
    repository.targets = delegated;
    repository.versions.insert("targets".to_owned(), targets);
    repository.publish();
    assert_eq!(
        outcome(repository.refresh(&mut client)),
        "c-production too-few-signatures"
    );
}

#[test]
fn one_key_for_two_roles_lets_nobody_swap_their_files() {
    // One key signs everything.
    let mut repository = Repository::new();
    let staging: UpdateRole = "c-staging".parse().unwrap();
    repository.ci_key = key();
    repository.root.keys.extend(keys([repository.ci_key.public()]));
    repository.root.targets = role_keys(&[&repository.root_key, &repository.ci_key], 1);
    repository.sign_root(&[]);
    let ci = *repository.ci_key.public();
    repository.delegate(&production(), &[ci, *repository.root_key.public()], 1);
    repository.delegate(&staging, &[ci], 1);
    repository.sign_targets();
    repository.sign_role(&production());
    repository.publish_update(&staging, Platform::Android, &update("9.0.0", 9), PACKAGE);
    repository.sign_role_as(&staging, 900, NOW + DAY);
    (0..5).for_each(|_| repository.sign_targets());
    repository.publish();
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();

    let listed = repository.file::<Snapshot>(&repository.name_of("snapshot")).unwrap();
    for (real, other) in [
        ("c-staging", "c-production"),
        ("c-staging", "targets"),
        ("targets", "c-production"),
    ] {
        let (version, text) = (
            repository.versions[real],
            repository.files[&repository.name_of(real)].clone(),
        );
        let mut snapshot = listed.body().clone();
        snapshot
            .meta
            .insert(format!("{other}.json"), MetaFile::of_version(version));
        sign_snapshot(&mut repository, &snapshot, listed.version() + 1);
        repository.files.insert(format!("{version}.{other}.json"), text);
        let mut client = client.clone();
        assert_eq!(
            outcome(repository.refresh(&mut client)),
            format!("{other} other-content")
        );
        assert!(client.floors().learned_floors()[other].version < version);
    }
}

#[test]
fn metadata_of_another_repository_or_app_is_refused() {
    let mut repository = Repository::new();
    let mut client = repository.client();
    let own = repository.identity.clone();
    let other_app = Identity {
        bundle_id: "com.example.other".parse().unwrap(),
        ..own.clone()
    };
    let other_repository = Identity {
        repository: RepositoryId::from_bytes([8; 16]),
        ..own.clone()
    };
    for other in [other_app, other_repository] {
        repository.identity = other.clone();
        repository.publish();
        assert_eq!(
            outcome(repository.refresh(&mut client)),
            "timestamp other-repository-or-app"
        );
        repository.identity = own.clone();
        repository.publish();
        repository.refresh(&mut client).unwrap();
        // One developer with two apps signs both with one key, and the server swaps the files.
        repository.identity = other.clone();
        repository.sign_role(&production());
        repository.identity = own.clone();
        repository.publish();
        assert_eq!(
            outcome(repository.refresh(&mut client)),
            "c-production other-repository-or-app"
        );
        repository.identity = other;
        repository.sign_root(&[]);
        assert_eq!(outcome(repository.refresh(&mut client)), "root other-repository-or-app");
        repository.identity = own.clone();
        repository.root_version -= 1;
        repository.sign_root(&[]);
        repository.sign_role(&production());
        repository.publish();
        repository.refresh(&mut client).unwrap();
    }
}

#[test]
fn an_app_that_carries_the_root_of_another_does_not_open_it() {
    let repository = Repository::new();
    let open = |file: &launchway_trust::TrustFile, bundle_id: &str| {
        outcome(Client::open(file, &bundle_id.parse().unwrap(), None, None))
    };
    let mut file = repository.trust_file();
    assert_eq!(open(&file, "com.example.app"), "accepted");
    assert_eq!(open(&file, "COM.example.APP"), "accepted");
    assert_eq!(open(&file, "com.example.other"), "root other-repository-or-app");
    file.repository = RepositoryId::from_bytes([8; 16]);
    assert_eq!(open(&file, "com.example.app"), "root other-repository-or-app");
}

#[test]
fn a_file_that_replaced_keys_signed_is_used_no_longer() {
    let mut repository = Repository::new();
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    repository.delegate(&production(), &[*key().public()], 1);
    repository.sign_targets();
    repository.publish();
    // The version is the one that the client has.
    assert_eq!(
        outcome(repository.refresh(&mut client)),
        "c-production too-few-signatures"
    );
}

#[test]
fn what_is_too_long_is_refused_before_it_is_read() {
    let limits = [
        ("timestamp", 4 << 10),
        ("snapshot", 16 << 10),
        ("c-production", 64 << 10),
        ("root", 32 << 10),
    ];
    for (role, limit) in limits {
        let mut repository = Repository::new();
        if role == "root" {
            repository.sign_root(&[]);
        }
        let name = repository.name_of(role);
        let text = repository.files[&name].clone();
        let padded = |length: usize| text.clone() + &" ".repeat(length - text.len());
        repository.files.insert(name.clone(), padded(limit));
        assert_eq!(
            outcome(repository.refresh(&mut repository.client())),
            "accepted",
            "{role}"
        );
        repository.files.insert(name, padded(limit + 1));
        let refused = repository.refresh(&mut repository.client()).unwrap_err();
        assert_eq!(refused.to_string(), format!("{role}: is longer than {limit} bytes"));
    }
}

pub fn sign_snapshot(repository: &mut Repository, snapshot: &Snapshot, version: u64) {
    sign_snapshot_until(repository, snapshot, version, NOW + DAY);
}

pub fn sign_snapshot_until(repository: &mut Repository, snapshot: &Snapshot, version: u64, expires: EpochMs) {
    let mut draft = Draft::new(&repository.header(version, expires), snapshot);
    let authority = repository.root.authority(TopLevel::Snapshot);
    draft
        .sign(authority, &repository.online_key, &SystemRandom::new())
        .unwrap();
    let name = format!("{version}.snapshot.json");
    repository.files.insert(name, draft.to_text().unwrap());
    let timestamp = Timestamp {
        snapshot: MetaFile::of_version(version),
    };
    sign_timestamp(repository, &timestamp, version);
}

pub fn sign_timestamp(repository: &mut Repository, timestamp: &Timestamp, version: u64) {
    let mut draft = Draft::new(&repository.header(version, NOW + DAY), timestamp);
    let authority = repository.root.authority(TopLevel::Timestamp);
    draft
        .sign(authority, &repository.online_key, &SystemRandom::new())
        .unwrap();
    repository
        .files
        .insert("timestamp.json".to_owned(), draft.to_text().unwrap());
}

/// The file with another `signed`, and the previous signatures.
pub fn change(text: &str, change: impl FnOnce(&mut Value)) -> String {
    change_file(text, |file| {
        let Value::Object(members) = file else { unreachable!() };
        change(members.get_mut("signed").unwrap());
    })
}

pub fn change_file(text: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut file = json::parse(text.as_bytes(), text.len()).unwrap();
    change(&mut file);
    json::to_text(&file)
}
