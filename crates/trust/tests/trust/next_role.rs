//! The next version of a role: what it keeps, what it revokes, and what a publication may change.

use std::collections::BTreeSet;

use launchway_domain::platform::Platform;
use launchway_domain::time::{DAY, EpochMs};
use launchway_trust::draft::Draft;
use launchway_trust::json::MAX_INTEGER;
use launchway_trust::metadata::{Body as _, MAX_REVOKED, Metadata, Targets};
use launchway_trust::next_role::{Pruning, PublicationError, RevocationLimitError, check_publication};
use launchway_trust::{Sha256, Update, UpdateRole};
use ring::rand::SystemRandom;

use crate::repository::{NOW, PACKAGE, Repository, key, production, update};

/// Prunes a role that has these targets, published this many days ago.
fn prune(targets: &mut Targets, days: impl Fn(&str) -> Option<EpochMs>) -> Vec<String> {
    let published_at = |path: &str| days(path).map(|days| NOW - days * DAY);
    targets.prune(&Pruning {
        role: &production(),
        published_at: &published_at,
        now: NOW,
        signers: 3,
    })
}

#[test]
fn a_role_keeps_the_newest_of_each_platform() {
    let mut targets = Targets::default();
    for build in 1..=20 {
        for platform in [Platform::Ios, Platform::Android] {
            targets.publish(&production(), platform, &update("1.0.0", build), Sha256::of(b""), 0);
        }
    }
    let removed = prune(&mut targets, |_| Some(1));
    assert_eq!((targets.targets.len(), removed.len()), (16, 24));
    assert!(targets.targets.contains_key("c-production/ios/1.0.0_13.zip"));
    assert!(removed.contains(&"c-production/ios/1.0.0_12.zip".to_owned()));
    assert!(prune(&mut targets, |_| Some(1)).is_empty());
}

#[test]
fn a_role_keeps_a_years_newest_of_each_fingerprint() {
    let mut targets = Targets::default();
    for build in 1..=20 {
        let mut update = update("1.0.0", build);
        // 1 to 4 are for one native app, 5 to 8 for another, and so on.
        update.fingerprint = Some(format!("native-{}", (build - 1) / 4));
        targets.publish(&production(), Platform::Ios, &update, Sha256::of(b""), 0);
    }
    let age = |path: &str| {
        let build: i64 = path.rsplit(['_', '.']).nth(1).unwrap().parse().unwrap();
        Some((20 - build) * 40)
    };
    prune(&mut targets, age);
    let builds: BTreeSet<u64> = targets
        .targets
        .values()
        .map(|target| Update::of(target).unwrap().build())
        .collect();
    // 12 was published 320 days ago, 8 and 4 longer than a year.
    assert_eq!(builds, [12, 13, 14, 15, 16, 17, 18, 19, 20].into());
    prune(&mut targets, |_| None);
    assert_eq!(targets.targets.len(), 9);
}

#[test]
fn a_role_stays_within_what_clients_read_and_keeps_the_newest() {
    let mut targets = Targets::default();
    for build in 1..=300 {
        let mut update = update("1.0.0", build);
        update.fingerprint = Some(format!("{build:0128}"));
        targets.publish(&production(), Platform::Ios, &update, Sha256::of(b""), u64::MAX >> 11);
    }
    prune(&mut targets, |_| None);
    let kept = targets.targets.len();
    assert!((8..300).contains(&kept));
    assert!(targets.targets.contains_key("c-production/ios/1.0.0_300.zip"));

    // Signed by three keys, the file is within the limit, but close to it.
    let signers = [key(), key(), key()];
    let mut repository = Repository::new();
    let publics: Vec<_> = signers.iter().map(|key| *key.public()).collect();
    repository.delegate(&production(), &publics, 3);
    let delegations = repository.targets.delegations.as_ref().unwrap();
    let authority = delegations.authority(delegations.get("c-production").unwrap());
    let mut draft = Draft::new(&repository.header(MAX_INTEGER as u64, NOW), &targets);
    for key in &signers {
        draft.sign(authority, key, &SystemRandom::new()).unwrap();
    }
    assert!(draft.to_text().unwrap().len() > Targets::LIMIT - 2048);
}

#[test]
fn what_is_no_update_of_the_role_is_pruned() {
    let mut targets = Targets::default();
    let staging: UpdateRole = "c-staging".parse().unwrap();
    targets.publish(&staging, Platform::Ios, &update("1.0.0", 1), Sha256::of(b""), 0);
    let own = targets.publish(&production(), Platform::Ios, &update("1.0.0", 1), Sha256::of(b""), 0);
    let renamed = targets.targets[&own].clone();
    targets
        .targets
        .insert("c-production/ios/2.0.0_1.zip".to_owned(), renamed);
    prune(&mut targets, |_| None);
    assert_eq!(targets.targets.keys().collect::<Vec<_>>(), [&own]);
}

#[test]
fn a_revoked_package_is_listed_no_longer() {
    let mut targets = Targets::default();
    let bad = Sha256::of(PACKAGE);
    targets.publish(&production(), Platform::Ios, &update("1.0.0", 1), bad, 1);
    targets.publish(&production(), Platform::Android, &update("1.0.0", 1), bad, 1);
    targets.publish(
        &production(),
        Platform::Android,
        &update("1.0.0", 2),
        Sha256::of(b"good"),
        1,
    );
    targets.revoke(bad).unwrap();
    targets.revoke(bad).unwrap();
    assert_eq!((targets.targets.len(), &targets.revoked[..]), (1, &[bad][..]));
    for number in 1..MAX_REVOKED {
        targets.revoke(Sha256::of(&[number as u8])).unwrap();
    }
    assert_eq!(targets.revoke(Sha256::of(b"one more")), Err(RevocationLimitError));
    assert_eq!(targets.revoke(bad), Ok(()));
}

#[test]
fn a_publication_adds_one_update_and_changes_nothing_else() {
    let mut repository = Repository::new();
    let role = production();
    let bad = Sha256::of(b"bad");
    repository.roles.get_mut(&role).unwrap().revoke(bad).unwrap();
    repository.sign_role(&role);
    let present = repository.file::<Targets>("2.c-production.json").unwrap();
    let path = "c-production/android/1.2.0_3.zip";
    let check = |version, change: fn(&mut Targets)| {
        let mut next = present.body().clone();
        next.publish(
            &production(),
            Platform::Android,
            &update("1.2.0", 3),
            Sha256::of(b"next"),
            4,
        );
        change(&mut next);
        let text = Draft::new(&repository.header(version, NOW), &next).to_text().unwrap();
        let next: Metadata<Targets> = Metadata::parse(text.as_bytes()).unwrap();
        check_publication(Some(&present), &next, path)
    };
    assert_eq!(check(3, |_| ()), Ok(()));
    assert_eq!(
        check(3, |next| next.targets.retain(|path, _| path.contains("1.2.0"))),
        Ok(())
    );
    assert_eq!(
        check(4, |_| ()),
        Err(PublicationError::Version { expected: 3, found: 4 })
    );
    assert_eq!(
        check(2, |_| ()),
        Err(PublicationError::Version { expected: 3, found: 2 })
    );
    assert_eq!(
        check(3, |next| next.revoke(Sha256::of(b"next")).unwrap()),
        Err(PublicationError::Lacks { path: path.to_owned() })
    );
    let changed = Err(PublicationError::Changes {
        path: "c-production/android/1.1.0_2.zip".to_owned(),
    });
    assert_eq!(
        check(3, |next| next
            .targets
            .values_mut()
            .for_each(|target| target.length += 1)),
        changed
    );
    let add =
        |next: &mut Targets| drop(next.publish(&production(), Platform::Ios, &update("1.2.0", 3), Sha256::of(b""), 0));
    assert!(matches!(check(3, add), Err(PublicationError::Changes { .. })));
    assert_eq!(
        check(3, |next| next.revoked.clear()),
        Err(PublicationError::Unrevokes { sha256: bad })
    );
    let first = repository.file::<Targets>("1.c-production.json").unwrap();
    assert_eq!(
        check_publication(None, &first, "c-production/android/1.1.0_2.zip"),
        Ok(())
    );
}
