//! What changes make of the files of a repository, and how they are shown.

use launchway_trust::json;

use super::*;
use crate::trust::change::describe;
use crate::trust::fixture::{Fixture, NOW, key, production};
use crate::trust::repository::header;

fn update_role() -> DeveloperRole {
    DeveloperRole::Update(production())
}

#[tokio::test]
async fn a_key_is_added_to_a_role_and_taken_out() {
    let fixture = Fixture::new().await;
    let (repository, ada) = (fixture.verified(), key());
    let mut next = NextVersions::of(&repository);
    let named = Key::with_name(*ada.public(), "Ada");
    next.add_key(&update_role(), named.clone(), Some(2)).expect("a change");
    next.complete().expect("complete");
    // One signature no longer suffices for the present version of the role.
    assert_eq!(
        (next.root.is_some(), next.targets.is_some(), next.roles.len()),
        (false, true, 1)
    );
    let lines = describe(&next);
    let short = &ada.public().id()[..12];
    assert!(
        lines.contains(&format!("  adds key {short} (Ada) to c-production")),
        "{lines:?}"
    );
    assert!(
        lines.contains(&"  c-production needs 2 instead of 1 of 2 signatures".to_owned()),
        "{lines:?}"
    );
    assert!(
        lines[0].starts_with("targets: version 1 → version 2, expires "),
        "{lines:?}"
    );
    next.add_key(&update_role(), Key::from(*fixture.signing_key.public()), None)
        .expect_err("it signs already");

    let mut next = NextVersions::of(&repository);
    next.add_key(&update_role(), named, None).expect("a change");
    let id = fixture.signing_key.public().id();
    next.remove_key(&update_role(), &id, None).expect("a change");
    let delegations = next.targets.as_ref().and_then(|next| next.body.delegations.clone());
    let keys: Vec<String> = delegations.expect("roles").keys.into_keys().collect();
    assert_eq!(keys, [ada.public().id()], "keys that sign nothing are left out");
    next.complete().expect("complete");
    assert_eq!(
        next.roles.keys().collect::<Vec<_>>(),
        [&production()],
        "nobody signed the present version"
    );
}

#[tokio::test]
async fn a_role_keeps_as_many_keys_as_must_sign() {
    let fixture = Fixture::new().await;
    let repository = fixture.verified();
    let id = fixture.signing_key.public().id();
    let last = NextVersions::of(&repository).remove_key(&update_role(), &id, None);
    assert_eq!(
        last.expect_err("the last key").message,
        "the threshold of c-production would be 1, and the number of its keys 0"
    );
    let key = Key::from(*key().public());
    let beyond = NextVersions::of(&repository).add_key(&DeveloperRole::Root, key, Some(4));
    beyond.expect_err("three keys cannot sign four times");
}

#[tokio::test]
async fn a_new_role_is_created_with_its_key() {
    let fixture = Fixture::new().await;
    let repository = fixture.verified();
    let key = Key::from(*key().public());
    for (name, needs_file) in [("c-staging", false), ("any", true)] {
        let role: DeveloperRole = name.parse().expect("a role");
        let mut next = NextVersions::of(&repository);
        next.add_key(&role, key.clone(), None).expect("a change");
        next.complete().expect("complete");
        assert!(describe(&next).contains(&format!("  creates the role {name}")));
        assert_eq!(next.roles.len(), usize::from(needs_file), "{name}");
        assert_eq!(next.authorities(&role).len(), 1);
    }
}

#[tokio::test]
async fn a_lost_key_is_replaced_in_every_role() {
    let fixture = Fixture::new().await;
    let (repository, new) = (fixture.verified(), key());
    let mut next = NextVersions::of(&repository);
    let lost = fixture.root_key.public().id();
    let changed = next.replace_key(&lost, &Key::from(*new.public())).expect("a change");
    assert_eq!(changed, [DeveloperRole::Root, DeveloperRole::Targets]);
    next.complete().expect("complete");
    let root = next.root.as_ref().expect("a root");
    assert!(!root.body.keys.contains_key(&lost));
    assert_eq!(root.header.version, 2);
    // The lost key signed the present targets.
    assert!(next.targets.is_some());
    // Signed by the recovery key, which the present root and the next one name.
    assert_eq!(next.authorities(&DeveloperRole::Root).len(), 2);
}

#[tokio::test]
async fn the_key_of_the_server_is_replaced() {
    let fixture = Fixture::new().await;
    let (repository, new) = (fixture.verified(), key());
    let before = repository.online_key().expect("a key");
    let mut next = NextVersions::of(&repository);
    next.replace_online_key(*new.public()).expect("a change");
    next.complete().expect("complete");
    let root = &next.root.as_ref().expect("a root").body;
    assert_eq!(root.snapshot.key_ids, [new.public().id()]);
    assert!(!root.keys.contains_key(&before.id()) && next.targets.is_none());
    let lines = describe(&next).join("\n");
    assert!(
        lines.contains("to timestamp") && lines.contains("from snapshot"),
        "{lines}"
    );
}

#[tokio::test]
async fn a_renewal_changes_version_and_expiry_alone() {
    let fixture = Fixture::new().await;
    let repository = fixture.verified();
    let mut next = NextVersions::of(&repository);
    next.renew(&DeveloperRole::Root, None).expect("a change");
    next.renew(&update_role(), Some(9)).expect("a change");
    next.complete().expect("complete");
    let root = next.root.as_ref().expect("a root");
    assert_eq!((root.header.version, &root.body), (2, repository.root().body()));
    let role = &next.roles[&production()];
    assert_eq!((role.header.version, &role.body), (10, &Targets::default()));
    assert!(role.header.expires > NOW && next.targets.is_none());
    assert_eq!(describe(&next).len(), 2, "nothing else is shown");
}

#[tokio::test]
async fn what_this_version_does_not_know_is_not_left_out() {
    let mut fixture = Fixture::new().await;
    let name = "1.c-production.json";
    let text = fixture.files[name].replace("\"targets\":{}", "\"targets\":{},\"x-of-the-future\":1");
    let value = json::parse(text.as_bytes(), 1 << 16).expect("JSON");
    let message = json::canonical(value.get("signed").expect("a member"));
    let random = ring::rand::SystemRandom::new();
    let signature = hex::encode(fixture.signing_key.sign(&message, &random).expect("a signature"));
    let (head, _) = text.split_once("\"sig\":\"").expect("a signature");
    let (_, tail) = text.split_once("\"}],").expect("the end of the signatures");
    fixture
        .files
        .insert(name.to_owned(), format!("{head}\"sig\":\"{signature}\"}}],{tail}"));

    let repository = fixture.verified();
    let failure = NextVersions::of(&repository)
        .renew(&update_role(), None)
        .expect_err("it is newer");
    assert_eq!(
        failure.message,
        "c-production contains fields that this version of the program does not know"
    );
}

#[tokio::test]
async fn a_role_whose_versions_are_used_up_begins_again() {
    let mut fixture = Fixture::new().await;
    let last = header(&fixture.identity, &update_role(), json::MAX_INTEGER.unsigned_abs(), NOW);
    fixture.publish(&last, &Targets::default());
    let (repository, new, server) = (fixture.verified(), key(), key());
    let stolen = fixture.signing_key.public().id();
    let mut next = NextVersions::of(&repository);
    next.replace_key(&stolen, &Key::from(*new.public())).expect("a change");
    let failure = next.complete().expect_err("clients would refuse version 1");
    assert_eq!(failure.message, "the versions of c-production are used up");

    next.replace_online_key(*server.public()).expect("a change");
    next.complete().expect("complete");
    assert_eq!(next.roles[&production()].header.version, 1);
    assert_eq!(next.targets.as_ref().expect("targets").header.version, 2);

    // With the thief's key still in the role, nothing falls.
    let mut next = NextVersions::of(&repository);
    next.renew(&update_role(), None).expect("a change");
    next.replace_online_key(*server.public()).expect("a change");
    next.complete().expect_err("the thief could sign version 1 too");
}

#[tokio::test]
async fn an_old_role_does_not_bring_back_what_was_revoked() {
    let mut fixture = Fixture::new().await;
    let target = |hash: Sha256| Target {
        length: 1,
        hashes: BTreeMap::from([("sha256".to_owned(), hash.to_string())]),
        custom: None,
    };
    let (good, bad, other) = (Sha256::of(b"good"), Sha256::of(b"bad"), Sha256::of(b"other"));
    let body = Targets {
        targets: [good, bad]
            .map(|hash| (format!("c-production/{hash}"), target(hash)))
            .into(),
        ..Targets::default()
    };
    fixture.publish(&header(&fixture.identity, &update_role(), 2, NOW), &body);
    let repository = fixture.verified();
    let mut next = NextVersions::of(&repository);
    next.renew(&update_role(), Some(5)).expect("a change");
    next.revoke_listed(&production(), &[bad, other].into())
        .expect("a change");
    let body = &next.roles[&production()].body;
    assert_eq!(
        body.revoked,
        [bad],
        "what the role never listed is not its own to revoke"
    );
    assert_eq!(body.targets.len(), 1);
    assert!(describe(&next).contains(&format!("  revokes {bad}")));
}
