//! Creating metadata: signatures from several places, and what the server signs.

use std::collections::BTreeMap;

use launchway_domain::platform::Platform;
use launchway_domain::time::DAY;
use launchway_trust::draft::{Draft, SignError};
use launchway_trust::json::MAX_INTEGER;
use launchway_trust::metadata::{Body as _, Metadata, Root, Snapshot, Targets};
use launchway_trust::online::{OnlineError, OnlineRequest, online_version, sign_online};
use launchway_trust::{Sha256, TopLevel};
use ring::rand::SystemRandom;

use crate::repository::{NOW, Repository, key, keys, production, role_keys, update};

#[test]
fn a_file_is_signed_in_several_places() {
    let repository = Repository::new();
    let (first, second, stranger) = (key(), key(), key());
    let mut root = repository.root.clone();
    root.keys.extend(keys([first.public(), second.public()]));
    root.root = role_keys(&[&first, &second], 2);
    let authority = root.authority(TopLevel::Root);
    let random = SystemRandom::new();

    let mut draft = Draft::new(&repository.header(1, NOW), &root);
    draft.sign(authority, &first, &random).unwrap();
    assert_eq!(draft.sign(authority, &stranger, &random), Err(SignError::NoSigner));
    let text = draft.to_text().unwrap();
    let signers_of = |text: &str| {
        let file: Metadata<Root> = Metadata::parse(text.as_bytes()).unwrap();
        (authority.signers_of(&file).len(), authority.verify(&file).is_ok())
    };
    assert_eq!(signers_of(&text), (1, false));

    let mut draft = Draft::from_bytes::<Root>(text.as_bytes()).unwrap();
    let signature = hex::encode(second.sign(draft.message(), &random).unwrap());
    let (id, other) = (second.public().id(), first.public().id());
    assert_eq!(
        draft.attach(authority, &stranger.public().id(), &signature),
        Err(SignError::NoSigner)
    );
    assert_eq!(draft.attach(authority, &other, &signature), Err(SignError::Signature));
    assert_eq!(
        draft.attach(authority, &id, &signature.to_uppercase()),
        Err(SignError::Signature)
    );
    assert_eq!(draft.attach(authority, &id, ""), Err(SignError::Signature));
    draft.attach(authority, &id, &signature).unwrap();
    assert_eq!(signers_of(&draft.to_text().unwrap()), (2, true));
}

#[test]
fn a_file_that_clients_would_not_read_is_not_made() {
    let repository = Repository::new();
    let mut targets = Targets::default();
    for build in 0..400 {
        targets.publish(
            &production(),
            Platform::Ios,
            &update("1.0.0", build),
            Sha256::of(b""),
            0,
        );
    }
    let error = Draft::new(&repository.header(1, NOW), &targets).to_text().unwrap_err();
    assert!(error.size > error.limit && error.limit == Targets::LIMIT);
}

#[test]
fn online_versions_rise_and_follow_the_clock() {
    let version = |last, now| online_version(last, now).ok();
    assert_eq!(version(None, NOW), Some(NOW as u64 / 1000));
    assert_eq!(version(Some(5), NOW), Some(NOW as u64 / 1000));
    assert_eq!(version(Some(NOW as u64), NOW), Some(NOW as u64 + 1));
    assert_eq!(version(None, -5), Some(1));
    assert_eq!(version(Some(MAX_INTEGER as u64 - 1), NOW), Some(MAX_INTEGER as u64));
    assert_eq!(version(Some(MAX_INTEGER as u64), NOW), None);
    assert_eq!(version(Some(u64::MAX), NOW), None);
}

#[test]
fn a_snapshot_keeps_removed_roles_and_lowers_none() {
    let repository = Repository::new();
    let before = repository.file::<Snapshot>(&repository.name_of("snapshot")).unwrap();
    let sign = |roles: &BTreeMap<String, u64>| {
        let request = OnlineRequest {
            root: &repository.root,
            identity: &repository.identity,
            previous_snapshot: Some((before.version(), before.body())),
            previous_timestamp: None,
            roles,
            now: NOW,
            expires: NOW + DAY,
        };
        sign_online(&request, &repository.online_key, &SystemRandom::new())
    };
    let signed = sign(&BTreeMap::from([("targets".to_owned(), 2)])).unwrap();
    let snapshot: Metadata<Snapshot> = Metadata::parse(signed.snapshot.as_bytes()).unwrap();
    assert_eq!(snapshot.version(), before.version() + 1);
    assert_eq!(snapshot.body().role("targets").unwrap().version, 2);
    assert_eq!(snapshot.body().role("c-production").unwrap().version, 1);
    let falls = sign(&BTreeMap::from([("targets".to_owned(), 0)])).unwrap_err();
    assert!(matches!(
        falls,
        OnlineError::RoleFalls {
            listed: 1,
            found: 0,
            ..
        }
    ));
}
