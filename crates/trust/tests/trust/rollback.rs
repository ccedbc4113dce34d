//! Attacks with metadata that is signed, but old, mixed or listed differently.

use launchway_domain::time::{DAY, SECOND};
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{MetaFile, Snapshot, Timestamp};
use launchway_trust::{Sha256, TopLevel};
use ring::rand::SystemRandom;

use crate::attacks::{sign_snapshot, sign_snapshot_until, sign_timestamp};
use crate::repository::{NOW, Repository, key, keys, outcome, production, role_keys};

#[test]
fn an_older_timestamp_or_snapshot_is_refused() {
    let mut repository = Repository::new();
    let mut client = repository.client();
    let old = repository.files["timestamp.json"].clone();
    repository.sign_role(&production());
    repository.publish();
    repository.refresh(&mut client).unwrap();
    repository.files.insert("timestamp.json".to_owned(), old);
    assert_eq!(outcome(repository.refresh(&mut client)), "timestamp rollback");
}

#[test]
fn an_expired_snapshot_under_a_valid_timestamp_is_refused() {
    let mut repository = Repository::new();
    let listed = repository.file::<Snapshot>(&repository.name_of("snapshot")).unwrap();
    let version = listed.version() + 1;
    sign_snapshot_until(&mut repository, listed.body(), version, NOW);
    assert_eq!(
        outcome(repository.refresh(&mut repository.client())),
        "snapshot expired"
    );
    sign_snapshot_until(&mut repository, listed.body(), version, NOW + SECOND);
    assert_eq!(outcome(repository.refresh(&mut repository.client())), "accepted");
}

#[test]
fn a_new_key_of_the_timestamp_alone_lowers_no_snapshot() {
    let mut repository = Repository::new();
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    let listed = repository.file::<Snapshot>(&repository.name_of("snapshot")).unwrap();
    let timestamp_key = key();
    repository.root.keys.extend(keys([timestamp_key.public()]));
    repository.root.timestamp = role_keys(&[&timestamp_key], 1);
    repository.sign_root(&[]);
    let snapshot_key = std::mem::replace(&mut repository.online_key, timestamp_key);
    for (version, expected) in [
        (listed.version() - 1, "snapshot rollback"),
        (listed.version(), "accepted"),
    ] {
        let timestamp = Timestamp {
            snapshot: MetaFile::of_version(version),
        };
        sign_timestamp(&mut repository, &timestamp, version);
        let mut draft = Draft::new(&repository.header(version, NOW + DAY), listed.body());
        let authority = repository.root.authority(TopLevel::Snapshot);
        draft.sign(authority, &snapshot_key, &SystemRandom::new()).unwrap();
        repository
            .files
            .insert(format!("{version}.snapshot.json"), draft.to_text().unwrap());
        assert_eq!(outcome(repository.refresh(&mut client.clone())), expected);
    }
}

#[test]
fn a_taken_server_cannot_list_older_or_fewer_roles() {
    let mut repository = Repository::new();
    repository.sign_role(&production());
    repository.publish();
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    let listed = repository.file::<Snapshot>(&repository.name_of("snapshot")).unwrap();

    let mut older = listed.body().clone();
    older
        .meta
        .insert("c-production.json".to_owned(), MetaFile::of_version(1));
    let mut fewer = listed.body().clone();
    fewer.meta.remove("c-production.json");
    for (snapshot, reason) in [(older, "names-rollback"), (fewer, "no-longer-lists")] {
        sign_snapshot(&mut repository, &snapshot, listed.version() + 1);
        let mut client = client.clone();
        assert_eq!(outcome(repository.refresh(&mut client)), format!("snapshot {reason}"));
        assert_eq!(client.metadata().snapshot().unwrap().version(), listed.version());
    }
    // And a new timestamp cannot name an older snapshot.
    let timestamp = Timestamp {
        snapshot: MetaFile::of_version(1),
    };
    let version = client.metadata().timestamp().unwrap().version() + 1;
    sign_timestamp(&mut repository, &timestamp, version);
    assert_eq!(outcome(repository.refresh(&mut client)), "timestamp names-rollback");
}

#[test]
fn files_of_different_times_are_not_mixed() {
    let mut repository = Repository::new();
    let old = repository.files["1.c-production.json"].clone();
    repository.sign_role(&production());
    repository.publish();
    repository.files.insert("2.c-production.json".to_owned(), old);
    assert_eq!(
        outcome(repository.refresh(&mut repository.client())),
        "c-production other-version"
    );

    let mut repository = Repository::new();
    let first = repository.name_of("snapshot");
    let old = repository.files[&first].clone();
    repository.publish();
    repository.files.insert(repository.name_of("snapshot"), old);
    assert_eq!(
        outcome(repository.refresh(&mut repository.client())),
        "snapshot other-version"
    );
}

#[test]
fn a_file_whose_signed_hash_or_length_differs_is_refused() {
    let mut repository = Repository::new();
    let listed = repository.file::<Snapshot>(&repository.name_of("snapshot")).unwrap();
    let role = repository.files["1.c-production.json"].clone();
    let hashes = |hash: String| Some([("sha256".to_owned(), hash)].into());
    let right = Sha256::of(role.as_bytes()).to_string();
    for (length, hashes, expected) in [
        (role.len(), hashes(right.clone()), "accepted"),
        (role.len() + 1, hashes(right.clone()), "c-production other-file"),
        (role.len(), hashes("0".repeat(64)), "c-production other-file"),
        (
            role.len(),
            Some([("md5".to_owned(), right)].into()),
            "c-production other-file",
        ),
    ] {
        let mut snapshot = listed.body().clone();
        let file = MetaFile {
            version: 1,
            length: Some(length as u64),
            hashes,
        };
        snapshot.meta.insert("c-production.json".to_owned(), file);
        sign_snapshot(&mut repository, &snapshot, listed.version() + 1);
        assert_eq!(outcome(repository.refresh(&mut repository.client())), expected);
    }
}
