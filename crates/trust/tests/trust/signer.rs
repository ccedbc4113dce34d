//! The client of a developer, who verifies before signing the next version of a role.

use std::collections::BTreeMap;

use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;
use launchway_trust::client::Client;
use launchway_trust::metadata::Key;
use launchway_trust::{RoleError, TrustFile, UpdateRole};

use crate::repository::{NOW, PACKAGE, Repository, drive, outcome, production, update};

fn role(configuration: &str) -> UpdateRole {
    UpdateRole::Configuration(Configuration::parse(configuration).unwrap())
}

fn signer(repository: &Repository, file: &TrustFile) -> (Client, Result<(), RoleError>) {
    let mut client = Client::open_for_signer(file, &repository.identity.bundle_id, None).unwrap();
    let outcome = drive(&mut client.refresh_for_signer(), |name| {
        repository.files.get(name).map(|text| text.as_bytes().to_vec())
    });
    (client, outcome)
}

#[test]
fn a_signer_takes_the_roles_of_every_configuration() {
    let mut repository = Repository::new();
    let key = *repository.ci_key.public();
    repository.delegate(&role("staging"), &[key], 1);
    repository.delegate(&role("unsigned"), &[key], 1);
    repository.sign_targets();
    repository.publish_update(&role("staging"), Platform::Ios, &update("1.1.0", 2), PACKAGE);
    repository.publish();

    let (client, taken) = signer(&repository, &repository.trust_file());
    taken.unwrap();
    let has = |name: &str| client.metadata().role(name).is_some();
    assert_eq!(
        [has("c-production"), has("c-staging"), has("c-unsigned")],
        [true, true, false]
    );
    assert_eq!(client.expired_roles(NOW), []);

    // A phone cannot tell a role that nobody signed from one that is withheld.
    let configuration = Configuration::parse("unsigned").unwrap();
    let bundle_id = &repository.identity.bundle_id;
    let mut phone = Client::open(&repository.trust_file(), bundle_id, Some(&configuration), None).unwrap();
    assert_eq!(outcome(repository.refresh(&mut phone)), "c-unsigned not-listed");
}

#[test]
fn a_signer_takes_what_has_expired_and_hears_of_it() {
    let mut repository = Repository::new();
    repository.sign_role_as(&production(), 2, NOW);
    repository.publish();
    assert_eq!(
        outcome(repository.refresh(&mut repository.client())),
        "c-production expired"
    );

    let (client, taken) = signer(&repository, &repository.trust_file());
    taken.unwrap();
    assert_eq!(client.metadata().role("c-production").unwrap().version(), 2);
    assert_eq!(client.expired_roles(NOW), [("c-production".to_owned(), NOW)]);
    let much_later = client.expired_roles(i64::MAX);
    let names: Vec<_> = much_later.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(names, ["root", "timestamp", "snapshot", "targets", "c-production"]);
}

#[test]
fn a_signer_refuses_a_role_below_the_floor_of_the_file() {
    let repository = Repository::new();
    let file = TrustFile {
        floors: BTreeMap::from([("c-production".to_owned(), 2)]),
        ..repository.trust_file()
    };
    assert_eq!(outcome(signer(&repository, &file).1), "c-production below-floor");
}

#[test]
fn a_key_has_a_name_for_people_and_the_id_of_its_point() {
    let mut repository = Repository::new();
    let public = *repository.ci_key.public();
    let named = Key::with_name(public, "Ada");
    assert_eq!((named.name(), named.public()), (Some("Ada"), Some(&public)));
    assert_eq!(Key::from(public).name(), None);
    let delegations = repository.targets.delegations.as_mut().unwrap();
    delegations.keys.insert(public.id(), named);
    repository.sign_targets();
    repository.publish();
    let mut phone = repository.client();
    repository.refresh(&mut phone).unwrap();
    let delegations = phone.metadata().targets().unwrap().body().delegations.as_ref().unwrap();
    assert_eq!(delegations.keys[&public.id()].name(), Some("Ada"));
}
