//! The client's workflow: what is fetched, in which order, and every refusal on the way.

use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;
use launchway_domain::time::DAY;
use launchway_trust::client::{self, Client};
use launchway_trust::draft::Draft;
use launchway_trust::json::MAX_INTEGER;
use launchway_trust::metadata::{MetaFile, Snapshot};
use launchway_trust::{TopLevel, UpdateRole};
use ring::rand::SystemRandom;

use crate::attacks::sign_snapshot;
use crate::repository::{NOW, PACKAGE, Repository, drive, key, keys, outcome, production, role_keys, update};

#[test]
fn a_phone_fetches_everything_once_and_then_only_news() {
    let repository = Repository::new();
    let mut client = repository.client();
    let snapshot = repository.name_of("snapshot");
    let first = [
        "2.root.json",
        "timestamp.json",
        &snapshot,
        "1.targets.json",
        "1.c-production.json",
    ];
    assert_eq!(repository.refresh(&mut client).unwrap(), first);
    assert_eq!(
        repository.refresh(&mut client).unwrap(),
        ["2.root.json", "timestamp.json"]
    );
}

#[test]
fn the_role_of_all_configurations_is_fetched_if_delegated() {
    let mut repository = Repository::new();
    let ci = *repository.ci_key.public();
    repository.delegate(&UpdateRole::Any, &[ci], 1);
    repository.sign_targets();
    repository.publish_update(&UpdateRole::Any, Platform::Android, &update("1.2.0", 3), PACKAGE);
    repository.publish();
    let asked = repository.refresh(&mut repository.client()).unwrap();
    assert!(asked.ends_with(&["1.c-production.json".to_owned(), "1.any.json".to_owned()]));

    let staging = Configuration::parse("staging").unwrap();
    let bundle_id = &repository.identity.bundle_id;
    let mut other = Client::open(&repository.trust_file(), bundle_id, Some(&staging), None).unwrap();
    let asked = repository.refresh(&mut other).unwrap();
    assert!(asked.contains(&"1.any.json".to_owned()) && !asked.contains(&"1.c-production.json".to_owned()));
}

#[test]
fn a_phone_that_was_off_for_three_years_recovers() {
    let mut repository = Repository::new();
    for year in 1..=3 {
        repository.now = NOW + year * 365 * DAY;
        repository.root_expires = repository.now + 365 * DAY;
        let new_key = key();
        repository.root.keys.extend(keys([new_key.public()]));
        repository.root.root = role_keys(&[&new_key], 1);
        repository.root.targets = role_keys(&[&new_key], 1);
        repository.sign_root(&[&new_key]);
        repository.root_key = new_key;
    }
    repository.sign_targets();
    repository.sign_role(&production());
    repository.publish();
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    assert_eq!(client.metadata().root().version(), 4);

    repository.now += 366 * DAY;
    assert_eq!(outcome(repository.refresh(&mut client)), "root expired");
}

#[test]
fn whatever_expired_is_refused_and_named() {
    for (role, days) in [("timestamp", 7), ("c-production", 180), ("root", 365)] {
        let mut repository = Repository::new();
        let mut client = repository.client();
        repository.refresh(&mut client).unwrap();
        repository.now = NOW + days * DAY - 1;
        if role == "root" {
            repository.sign_targets();
            repository.sign_role(&production());
        }
        if role != "timestamp" {
            repository.publish();
        }
        assert_eq!(outcome(repository.refresh(&mut client)), "accepted", "{role}");
        repository.now += 1;
        assert_eq!(outcome(repository.refresh(&mut client)), format!("{role} expired"));
    }
}

#[test]
fn a_clock_before_the_app_was_built_counts_as_that_time() {
    assert_eq!(client::now(NOW - 365 * DAY, NOW), NOW);
    assert_eq!(client::now(NOW + 1, NOW), NOW + 1);
}

#[test]
fn a_file_that_must_exist_is_missed() {
    for role in ["timestamp", "snapshot", "targets", "c-production"] {
        let mut repository = Repository::new();
        repository.files.remove(&repository.name_of(role));
        assert_eq!(
            outcome(repository.refresh(&mut repository.client())),
            format!("{role} missing")
        );
    }
    let mut repository = Repository::new();
    repository.versions.remove("c-production");
    let snapshot = Snapshot {
        meta: [("targets.json".to_owned(), MetaFile::of_version(1))].into(),
    };
    sign_snapshot(&mut repository, &snapshot, (NOW / 1000) as u64 + 1);
    assert_eq!(
        outcome(repository.refresh(&mut repository.client())),
        "c-production not-listed"
    );
}

#[test]
fn a_role_is_delegated_to_for_its_own_paths_only() {
    for paths in [
        vec!["*/*/*"],
        vec!["c-production/*/*", "c-staging/*/*"],
        vec![],
        vec!["c-production/*"],
    ] {
        let mut repository = Repository::new();
        let delegations = repository.targets.delegations.as_mut().unwrap();
        delegations.roles[0].paths = paths.into_iter().map(str::to_owned).collect();
        repository.sign_targets();
        repository.publish();
        assert_eq!(
            outcome(repository.refresh(&mut repository.client())),
            "c-production other-paths"
        );
    }
}

#[test]
fn what_was_accepted_before_a_refusal_stays() {
    let mut repository = Repository::new();
    repository.sign_root(&[]);
    repository.files.remove("1.targets.json");
    let mut client = repository.client();
    assert_eq!(outcome(repository.refresh(&mut client)), "targets missing");
    let trusted = client.metadata();
    assert_eq!(trusted.root().version(), 2);
    assert!(trusted.timestamp().is_some() && trusted.snapshot().is_some() && trusted.targets().is_none());
}

#[test]
fn a_root_needs_both_the_old_and_the_new_keys() {
    let mut repository = Repository::new();
    let new_key = key();
    repository.root.keys.extend(keys([new_key.public()]));
    repository.root.root = role_keys(&[&new_key], 1);
    repository.sign_root(&[]);
    let mut client = repository.client();
    assert_eq!(outcome(repository.refresh(&mut client)), "root too-few-signatures");

    let mut foreign = Draft::new(&repository.header(2, NOW + DAY), &repository.root);
    let authority = repository.root.authority(TopLevel::Root);
    foreign.sign(authority, &new_key, &SystemRandom::new()).unwrap();
    repository
        .files
        .insert("2.root.json".to_owned(), foreign.to_text().unwrap());
    assert_eq!(outcome(repository.refresh(&mut client)), "root too-few-signatures");

    repository.root_version = 1;
    repository.sign_root(&[&new_key]);
    assert_eq!(outcome(repository.refresh(&mut client)), "accepted");
}

#[test]
fn a_root_that_skips_a_version_is_refused() {
    let mut repository = Repository::new();
    repository.sign_root(&[]);
    repository.sign_root(&[]);
    let third = repository.files["3.root.json"].clone();
    repository.files.insert("2.root.json".to_owned(), third);
    assert_eq!(
        outcome(repository.refresh(&mut repository.client())),
        "root other-version"
    );
}

#[test]
fn a_chain_of_roots_without_end_is_left_after_a_while() {
    let mut repository = Repository::new();
    for _ in 0..300 {
        repository.sign_root(&[]);
    }
    let mut client = repository.client();
    let asked = repository.refresh(&mut client).unwrap();
    assert_eq!(asked.iter().filter(|name| name.ends_with("root.json")).count(), 256);
    repository.refresh(&mut client).unwrap();
    assert_eq!(client.metadata().root().version(), 301);
}

#[test]
fn versions_are_compared_up_to_the_highest() {
    let mut repository = Repository::new();
    let highest = MAX_INTEGER.unsigned_abs();
    repository.sign_role_as(&production(), highest, NOW + DAY);
    repository.publish();
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    assert_eq!(client.floors().learned_floors()["c-production"].version, highest);
}

#[test]
fn bytes_that_nobody_asked_for_change_nothing() {
    let repository = Repository::new();
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    let mut refresh = client.refresh(NOW);
    drive(&mut refresh, |name| {
        repository.files.get(name).map(|text| text.clone().into_bytes())
    })
    .unwrap();
    assert_eq!(refresh.take(b"{}"), Ok(false));
    assert_eq!(refresh.report_missing(), Ok(()));
}
