//! What phones remember of the developers' roles after the server's key is replaced.

use std::collections::BTreeMap;

use launchway_domain::configuration::Configuration;
use launchway_domain::time::DAY;
use launchway_trust::client::Client;
use launchway_trust::json::MAX_INTEGER;
use launchway_trust::metadata::Targets;
use launchway_trust::{Sha256, SigningKey, UpdateRole};

use crate::repository::{NOW, PACKAGE, Repository, key, outcome, production};

#[test]
fn a_new_online_key_resets_snapshot_and_timestamp() {
    let mut repository = Repository::new();
    repository.now += 100 * DAY;
    repository.publish();
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    // The server's clock was a hundred days ahead.
    repository.now -= 100 * DAY;
    repository.replace_online_key();
    repository.publish();
    assert_eq!(outcome(repository.refresh(&mut client)), "accepted");
    assert_eq!(client.metadata().timestamp().unwrap().version(), NOW as u64 / 1000);
}

#[test]
fn a_new_online_key_brings_no_older_role_back() {
    for role in ["c-production", "targets"] {
        let mut repository = Repository::new();
        repository.sign_targets();
        repository.sign_role(&production());
        repository.publish();
        let mut client = repository.client();
        repository.refresh(&mut client).unwrap();
        repository.versions.insert(role.to_owned(), 1);
        repository.replace_online_key();
        repository.publish();
        assert_eq!(outcome(repository.refresh(&mut client)), format!("{role} below-floor"));
        // A phone that never saw the newer version accepts the older one: this much a compromised server can do.
        assert_eq!(outcome(repository.refresh(&mut repository.client())), "accepted");
    }
}

#[test]
fn a_thief_of_a_key_who_uses_up_its_versions_is_recovered_from() {
    let mut repository = Repository::new();
    repository.sign_role_as(&production(), MAX_INTEGER.unsigned_abs(), NOW + DAY);
    repository.publish();
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();

    replace_ci_key(&mut repository, 2);
    repository.replace_online_key();
    repository.publish();
    assert_eq!(outcome(repository.refresh(&mut client)), "accepted");
    assert_eq!(client.floors().learned_floors()["c-production"].version, 2);
}

#[test]
fn a_floor_stands_while_enough_of_its_keys_remain() {
    // The threshold, and the keys: the old one alone, the old and a new one, the new one alone.
    for (threshold, keeps_old, adds_new, expected) in [
        (1, true, false, "c-production below-floor"),
        (1, true, true, "c-production below-floor"),
        (1, false, true, "accepted"),
    ] {
        let mut repository = Repository::new();
        repository.sign_role(&production());
        repository.publish();
        let mut client = repository.client();
        repository.refresh(&mut client).unwrap();
        let (old, new) = (*repository.ci_key.public(), key());
        let mut signers = Vec::new();
        signers.extend(keeps_old.then_some(old));
        signers.extend(adds_new.then_some(*new.public()));
        repository.delegate(&production(), &signers, threshold);
        if !keeps_old {
            repository.ci_key = new;
        }
        repository.sign_targets();
        repository.sign_role_as(&production(), 1, NOW + DAY);
        repository.replace_online_key();
        repository.publish();
        assert_eq!(
            outcome(repository.refresh(&mut client)),
            expected,
            "{keeps_old} {adds_new}"
        );
    }
}

#[test]
fn the_floors_that_an_app_carries_hold_from_its_first_start() {
    let repository = Repository::new();
    for (role, floor, expected) in [
        ("c-production", 1, "accepted"),
        ("c-production", 2, "c-production below-floor"),
        ("targets", 2, "targets below-floor"),
        ("c-staging", 99, "accepted"),
    ] {
        let mut file = repository.trust_file();
        file.floors = BTreeMap::from([(role.to_owned(), floor)]);
        let mut client = repository.client_with(&file, None);
        assert_eq!(outcome(repository.refresh(&mut client)), expected, "{role} {floor}");
        assert!(client.metadata().role("c-production").is_some() == (expected == "accepted"));
    }
}

#[test]
fn the_floors_that_an_app_carries_never_fall() {
    let mut repository = Repository::new();
    let mut file = repository.trust_file();
    file.floors = BTreeMap::from([("c-production".to_owned(), 5)]);
    replace_ci_key(&mut repository, 2);
    repository.replace_online_key();
    repository.publish();
    let mut client = repository.client_with(&file, None);
    assert_eq!(outcome(repository.refresh(&mut client)), "c-production below-floor");
}

#[test]
fn the_floors_of_a_newer_app_hold_for_stored_metadata() {
    let repository = Repository::new();
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    for role in ["targets", "c-production"] {
        let mut file = repository.trust_file();
        file.floors = BTreeMap::from([(role.to_owned(), 2)]);
        let mut newer = repository.client_with(&file, Some(&client.stored_trust()));
        assert_eq!(outcome(repository.refresh(&mut newer)), format!("{role} below-floor"));
    }
}

#[test]
fn a_revoked_package_stays_revoked_when_everything_has_expired() {
    let mut repository = Repository::new();
    let (bad, embedded) = (Sha256::of(PACKAGE), Sha256::of(b"an older one"));
    repository.roles.get_mut(&production()).unwrap().revoke(bad).unwrap();
    repository.sign_role(&production());
    repository.publish();
    let mut file = repository.trust_file();
    file.revoked.insert(embedded);
    let mut client = repository.client_with(&file, None);
    assert_eq!(client.revoked_packages(), [embedded].into());
    repository.refresh(&mut client).unwrap();
    assert_eq!(client.revoked_packages(), [bad, embedded].into());

    repository.now += 3 * 365 * DAY;
    let mut later = repository.client_with(&file, Some(&client.stored_trust()));
    assert_eq!(outcome(repository.refresh(&mut later)), "root expired");
    assert_eq!(later.revoked_packages(), [bad, embedded].into());
}

#[test]
fn a_role_takes_a_revocation_back_with_its_next_version_only() {
    let mut repository = Repository::new();
    let bad = Sha256::of(PACKAGE);
    repository.roles.get_mut(&production()).unwrap().revoke(bad).unwrap();
    repository.sign_role(&production());
    repository.publish();
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    // New keys for the role, and a server that withholds its next version.
    replace_ci_key(&mut repository, 3);
    let kept_back = repository.files.remove("3.c-production.json").unwrap();
    repository.publish();
    assert_eq!(outcome(repository.refresh(&mut client)), "c-production missing");
    assert_eq!(client.revoked_packages(), [bad].into());
    repository.files.insert("3.c-production.json".to_owned(), kept_back);
    repository.roles.get_mut(&production()).unwrap().revoked.clear();
    repository.sign_role(&production());
    repository.publish();
    repository.refresh(&mut client).unwrap();
    assert!(client.revoked_packages().is_empty());
}

#[test]
fn what_a_role_revoked_that_is_no_more_counts_no_more() {
    let mut repository = Repository::new();
    let ci = *repository.ci_key.public();
    repository.delegate(&UpdateRole::Any, &[ci], 1);
    repository.sign_targets();
    // A thief of the key of `any` revokes good packages.
    let mut revoking = Targets::default();
    revoking.revoke(Sha256::of(PACKAGE)).unwrap();
    repository.roles.insert(UpdateRole::Any, revoking);
    repository.sign_role_as(&UpdateRole::Any, 9, NOW + DAY);
    repository.publish();
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    assert_eq!(client.revoked_packages().len(), 1);

    let delegations = repository.targets.delegations.as_mut().unwrap();
    delegations.roles.retain(|role| role.name != "any");
    repository.sign_targets();
    repository.publish();
    repository.refresh(&mut client).unwrap();
    assert!(client.revoked_packages().is_empty());
    assert_eq!(client.floors().learned_floors()["any"].version, 9);
}

#[test]
fn an_app_is_told_what_its_own_roles_revoked() {
    let mut repository = Repository::new();
    repository
        .roles
        .get_mut(&production())
        .unwrap()
        .revoke(Sha256::of(PACKAGE))
        .unwrap();
    repository.sign_role(&production());
    repository.publish();
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    // The next binary on this phone is a test build.
    let staging = Configuration::parse("staging").unwrap();
    let stored = client.stored_trust();
    let bundle_id = &repository.identity.bundle_id;
    let other = Client::open(&repository.trust_file(), bundle_id, Some(&staging), Some(&stored)).unwrap();
    assert!(other.revoked_packages().is_empty() && !client.revoked_packages().is_empty());
}

/// From this version on, another key signs for the role.
fn replace_ci_key(repository: &mut Repository, version: u64) -> SigningKey {
    let old = std::mem::replace(&mut repository.ci_key, key());
    let new = *repository.ci_key.public();
    repository.delegate(&production(), &[new], 1);
    repository.sign_targets();
    repository.sign_role_as(&production(), version, NOW + DAY);
    old
}
