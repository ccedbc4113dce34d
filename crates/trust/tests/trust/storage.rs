//! What a phone stores between two starts, and what a newer app does with it.

use launchway_domain::time::DAY;
use launchway_trust::client::StoredTrust;
use launchway_trust::{RepositoryId, TrustFile, TrustFileError};

use crate::repository::{Repository, key, keys, outcome, production, role_keys};

#[test]
fn a_phone_goes_on_where_it_was() {
    let mut repository = Repository::new();
    repository.sign_root(&[]);
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    let stored = StoredTrust::from_json(client.stored_trust().to_json().as_bytes()).unwrap();
    assert_eq!(stored, client.stored_trust());
    let mut again = repository.client_with(&repository.trust_file(), Some(&stored));
    assert_eq!(again.stored_trust(), stored);
    assert_eq!(
        repository.refresh(&mut again).unwrap(),
        ["3.root.json", "timestamp.json"]
    );
}

#[test]
fn what_was_seen_once_counts_after_a_start() {
    let mut repository = Repository::new();
    let old = repository.files["timestamp.json"].clone();
    repository.publish();
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    repository.files.insert("timestamp.json".to_owned(), old);
    let mut again = repository.client_with(&repository.trust_file(), Some(&client.stored_trust()));
    assert_eq!(outcome(repository.refresh(&mut again)), "timestamp rollback");
}

#[test]
fn stored_text_that_nobody_wrote_is_refused_without_harm() {
    let client = Repository::new().client();
    let text = client.stored_trust().to_json();
    for end in (0..text.len()).step_by(7) {
        assert!(StoredTrust::from_json(&text.as_bytes()[..end]).is_err());
    }
    for broken in [
        "{}",
        "[]",
        "null",
        "",
        &text.replace("lineage", "line"),
        &text.replace('1', "x"),
    ] {
        assert!(StoredTrust::from_json(broken.as_bytes()).is_err(), "{broken}");
    }
}

#[test]
fn a_newer_app_keeps_newer_roots_that_contain_its_own() {
    let mut repository = Repository::new();
    for _ in 0..3 {
        repository.sign_root(&[]);
    }
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    let mut file = repository.trust_file();
    file.root = repository.files["2.root.json"].clone();
    let newer = repository.client_with(&file, Some(&client.stored_trust()));
    assert_eq!(newer.metadata().root().version(), 4);
}

#[test]
fn a_newer_app_drops_roots_that_do_not_contain_its_own() {
    let mut repository = Repository::new();
    repository.sign_root(&[]);
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    let stored = client.stored_trust();

    // The app's root is a different second one: someone with the keys misled the phone.
    repository.root_version = 1;
    repository.root_expires += DAY;
    repository.sign_root(&[]);
    let mut file = repository.trust_file();
    file.root = repository.files["2.root.json"].clone();
    let newer = repository.client_with(&file, Some(&stored));
    assert_eq!(newer.metadata().root().bytes(), file.root.as_bytes());
    assert_eq!(newer.floors().learned_floors(), client.floors().learned_floors());

    // Or it is newer than everything that the phone has seen.
    repository.sign_root(&[]);
    file.root = repository.files["3.root.json"].clone();
    assert_eq!(
        repository.client_with(&file, Some(&stored)).metadata().root().version(),
        3
    );
}

#[test]
fn files_that_the_newer_root_does_not_sign_are_forgotten() {
    let mut repository = Repository::new();
    let mut client = repository.client();
    repository.refresh(&mut client).unwrap();
    repository.replace_online_key();
    repository.publish();
    let mut file = repository.trust_file();
    file.root = repository.files["2.root.json"].clone();
    let newer = repository.client_with(&file, Some(&client.stored_trust()));
    let trusted = newer.metadata();
    assert!(trusted.timestamp().is_none() && trusted.snapshot().is_none() && trusted.targets().is_some());
}

#[test]
fn an_app_that_begins_a_new_repository_forgets_the_old_one() {
    let mut old = Repository::new();
    old.sign_role(&production());
    old.publish();
    let mut client = old.client();
    old.refresh(&mut client).unwrap();

    let mut new = Repository::new();
    new.identity.repository = RepositoryId::from_bytes([9; 16]);
    new.root_version = 0;
    let root = key();
    new.root.keys.extend(keys([root.public()]));
    new.root.root = role_keys(&[&root], 1);
    new.root_key = root;
    new.files.remove("1.root.json");
    new.sign_root(&[]);
    let client = new.client_with(&new.trust_file(), Some(&client.stored_trust()));
    assert!(client.floors().learned_floors().is_empty() && client.metadata().targets().is_none());
}

#[test]
fn the_trust_file_reads_back_as_it_was_written() {
    let mut file = Repository::new().trust_file();
    file.floors.insert("c-production".to_owned(), 17);
    file.revoked.insert(launchway_trust::Sha256::of(b"bad"));
    assert_eq!(TrustFile::parse(file.to_json().as_bytes()), Ok(file.clone()));
    assert!(file.to_json().is_ascii());

    let text = file.to_json();
    for (from, to) in [
        ("\"floors\":", "\"ceilings\":"),
        ("\"revoked\":[", "\"revoked\":[1,"),
        (":17}", ":0}"),
        (":17}", ":\"17\"}"),
        ("{\"floors\"", "{\"minimum\":1,\"floors\""),
    ] {
        let broken = text.replacen(from, to, 1);
        assert_ne!(broken, text);
        let refused = TrustFile::parse(broken.as_bytes());
        assert!(matches!(refused, Err(TrustFileError::Form(_))), "{to}: {refused:?}");
    }
    assert!(matches!(TrustFile::parse(b"{"), Err(TrustFileError::Json(_))));
}
