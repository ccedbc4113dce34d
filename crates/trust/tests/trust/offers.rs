//! Which offers of a server an app accepts: signed, for this app, and newer than what runs.

use launchway_domain::build_number::CurrentBuild;
use launchway_domain::platform::Platform;
use launchway_domain::time::DAY;
use launchway_domain::version::Version;
use launchway_trust::client::{App, Client, Offer, OfferError};
use launchway_trust::json::{Value, object};
use launchway_trust::{Sha256, UpdateRole};

use crate::repository::{NOW, PACKAGE, Repository, production, update};

/// The server's offer of the update that [`Repository::new`] signed.
fn offer() -> Offer<'static> {
    Offer {
        platform: Platform::Android,
        version: "1.1.0",
        build_number: "2",
        sha256: Sha256::of(PACKAGE),
        length: PACKAGE.len() as u64,
    }
}

fn decide(client: &Client, offer: &Offer<'_>, runs: (&str, &str), fingerprint: Option<&str>) -> String {
    let version = Version::parse(runs.0).unwrap();
    let app = App {
        platform: Platform::Android,
        fingerprint,
        version: &version,
        build: CurrentBuild::parse(runs.1).ok(),
    };
    outcome(client.accept(offer, &app, NOW))
}

fn outcome<T>(result: Result<T, OfferError>) -> String {
    result.map_or_else(|refusal| refusal.code().to_owned(), |_| "accepted".to_owned())
}

fn refreshed(repository: &Repository) -> Client {
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    client
}

#[test]
fn an_offer_that_was_signed_is_taken_with_what_was_signed() {
    let client = refreshed(&Repository::new());
    let version = Version::parse("1.0.0").unwrap();
    let app = App {
        platform: Platform::Android,
        fingerprint: Some("native-1"),
        version: &version,
        build: None,
    };
    let accepted = client.accept(&offer(), &app, NOW).unwrap();
    assert_eq!(accepted.role, production());
    assert_eq!(accepted.path, "c-production/android/1.1.0_2.zip");
    assert_eq!(
        (accepted.sha256, accepted.length),
        (Sha256::of(PACKAGE), PACKAGE.len() as u64)
    );
    assert_eq!(accepted.update, update("1.1.0", 2));
}

#[test]
fn an_offer_that_differs_from_what_was_signed_is_refused() {
    let client = refreshed(&Repository::new());
    let changed = |change: fn(&mut Offer<'_>)| {
        let mut offer = offer();
        change(&mut offer);
        decide(&client, &offer, ("1.0.0", "1"), Some("native-1"))
    };
    assert_eq!(changed(|_| ()), "accepted");
    assert_eq!(changed(|offer| offer.version = "1.1.0+metadata"), "accepted");
    assert_eq!(changed(|offer| offer.version = "1.1"), "accepted");
    assert_eq!(changed(|offer| offer.build_number = "002"), "accepted");
    assert_eq!(changed(|offer| offer.sha256 = Sha256::of(b"evil")), "other-package");
    assert_eq!(changed(|offer| offer.length += 1), "other-package");
    assert_eq!(changed(|offer| offer.version = "1.1.1"), "not-signed");
    assert_eq!(changed(|offer| offer.build_number = "3"), "not-signed");
    assert_eq!(changed(|offer| offer.version = "../1"), "malformed-answer");
    assert_eq!(changed(|offer| offer.build_number = ""), "malformed-answer");
    assert_eq!(changed(|offer| offer.platform = Platform::Ios), "other-platform");
}

#[test]
fn an_update_is_taken_by_the_native_app_that_it_is_for() {
    let client = refreshed(&Repository::new());
    for (fingerprint, expected) in [
        (Some("native-1"), "accepted"),
        (Some("native-2"), "other-fingerprint"),
        (None, "other-fingerprint"),
    ] {
        assert_eq!(decide(&client, &offer(), ("1.0.0", "1"), fingerprint), expected);
    }
}

#[test]
fn only_what_is_newer_is_taken() {
    let client = refreshed(&Repository::new());
    for (runs, expected) in [
        (("1.0.9", "7"), "accepted"),
        (("1.1.0-rc.1", "7"), "accepted"),
        (("1.1.0", "1"), "accepted"),
        (("1.1.0", "2"), "not-newer"),
        (("1.1.0", "2.0.1"), "not-newer"),
        (("1.1.0", ""), "not-newer"),
        (("1.1.1", "1"), "not-newer"),
    ] {
        assert_eq!(decide(&client, &offer(), runs, Some("native-1")), expected, "{runs:?}");
    }
}

#[test]
fn a_revoked_package_is_not_taken() {
    let repository = Repository::new();
    let mut file = repository.trust_file();
    file.revoked.insert(Sha256::of(PACKAGE));
    let mut client = repository.client_with(&file, None);
    repository.refresh(&mut client).unwrap();
    assert_eq!(decide(&client, &offer(), ("1.0.0", "1"), Some("native-1")), "revoked");
}

#[test]
fn nothing_is_taken_when_anything_is_missing_or_expired() {
    let mut repository = Repository::new();
    let runs = ("1.0.0", "1");
    assert_eq!(
        decide(&repository.client(), &offer(), runs, Some("native-1")),
        "missing"
    );
    let client = refreshed(&repository);
    let version = Version::parse("1.0.0").unwrap();
    let app = App {
        platform: Platform::Android,
        fingerprint: Some("native-1"),
        version: &version,
        build: None,
    };
    for (days, expected) in [(0, "accepted"), (7, "expired"), (365, "expired")] {
        assert_eq!(outcome(client.accept(&offer(), &app, NOW + days * DAY)), expected);
    }
    // The timestamp arrived, the rest did not.
    repository.sign_role(&production());
    repository.publish();
    repository.files.remove(&repository.name_of("snapshot"));
    let mut stopped = client.clone();
    repository.refresh(&mut stopped).unwrap_err();
    assert_eq!(decide(&stopped, &offer(), runs, Some("native-1")), "other-version");
}

#[test]
fn the_role_of_the_configuration_is_asked_before_that_of_all() {
    let mut repository = Repository::new();
    let ci = *repository.ci_key.public();
    repository.delegate(&UpdateRole::Any, &[ci], 1);
    repository.sign_targets();
    repository.publish_update(&UpdateRole::Any, Platform::Android, &update("1.1.0", 2), b"for all");
    repository.publish_update(
        &UpdateRole::Any,
        Platform::Android,
        &update("1.3.0", 4),
        b"for all, newer",
    );
    repository.publish();
    let client = refreshed(&repository);
    let of = |version, build_number, package: &[u8]| Offer {
        version,
        build_number,
        sha256: Sha256::of(package),
        length: package.len() as u64,
        ..offer()
    };
    let decide = |offer: &Offer<'_>| decide(&client, offer, ("1.0.0", "1"), Some("native-1"));
    assert_eq!(decide(&of("1.1.0", "2", PACKAGE)), "accepted");
    assert_eq!(decide(&of("1.1.0", "2", b"for all")), "other-package");
    assert_eq!(decide(&of("1.3.0", "4", b"for all, newer")), "accepted");
}

#[test]
fn an_update_of_another_configuration_is_refused() {
    let mut repository = Repository::new();
    let ci = *repository.ci_key.public();
    let staging: UpdateRole = "c-staging".parse().unwrap();
    repository.delegate(&staging, &[ci], 1);
    repository.sign_targets();
    repository.publish_update(&staging, Platform::Android, &update("1.4.0", 5), b"staged");
    repository.publish();
    let client = refreshed(&repository);
    let offer = Offer {
        version: "1.4.0",
        build_number: "5",
        sha256: Sha256::of(b"staged"),
        length: 6,
        ..offer()
    };
    assert_eq!(decide(&client, &offer, ("1.0.0", "1"), Some("native-1")), "not-signed");
}

#[test]
fn a_role_whose_delegation_was_taken_back_signs_nothing() {
    let mut repository = Repository::new();
    let client = refreshed(&repository);
    let runs = ("1.0.0", "1");
    assert_eq!(decide(&client, &offer(), runs, Some("native-1")), "accepted");
    repository.targets.delegations = None;
    repository.sign_targets();
    repository.publish();
    assert_eq!(
        decide(&refreshed(&repository), &offer(), runs, Some("native-1")),
        "not-signed"
    );
}

#[test]
fn what_a_role_says_otherwise_than_its_path_is_refused() {
    for (field, value) in [
        ("version", "1.2.0"),
        ("buildNumber", "3"),
        ("manifest", "none"),
        ("version", "one"),
    ] {
        let mut repository = Repository::new();
        let targets = repository.roles.get_mut(&production()).unwrap();
        let target = targets.targets.values_mut().next().unwrap();
        let Some(Value::Object(custom)) = &mut target.custom else {
            unreachable!()
        };
        custom.extend(object([(field, value.into())]));
        repository.sign_role(&production());
        repository.publish();
        let client = refreshed(&repository);
        assert_eq!(
            decide(&client, &offer(), ("1.0.0", "1"), Some("native-1")),
            "other-package"
        );
    }
}
