//! Which trust file takes the place of the one that a native project contains.

use launchway_trust::metadata::{Metadata, Root};
use launchway_trust::{RepositoryId, SuccessionError, TrustFile};

use crate::repository::{Repository, key, keys, role_keys};

/// The trust file with a version of the root.
fn with_root(repository: &Repository, version: u64) -> TrustFile {
    TrustFile {
        root: repository.files[&format!("{version}.root.json")].clone(),
        ..repository.trust_file()
    }
}

#[test]
fn newer_roots_of_the_same_keys_succeed() {
    let mut repository = Repository::new();
    repository.sign_root(&[]);
    repository.replace_online_key();
    let [first, second, third] = [1, 2, 3].map(|version| with_root(&repository, version));
    for (file, before) in [(&first, &first), (&second, &first), (&third, &second), (&third, &first)] {
        assert_eq!(file.check_succeeds(before), Ok(()));
    }
    let older = SuccessionError::Older { found: 1, before: 3 };
    assert_eq!(first.check_succeeds(&third), Err(older));
}

#[test]
fn a_replaced_key_must_have_signed_its_replacement() {
    let mut repository = Repository::new();
    let new = key();
    repository.root.keys.extend(keys([new.public()]));
    repository.root.root = role_keys(&[&new], 1);
    repository.sign_root(&[&new]);
    repository.root_key = new;
    repository.sign_root(&[]);
    let [first, second, third] = [1, 2, 3].map(|version| with_root(&repository, version));
    assert_eq!(second.check_succeeds(&first), Ok(()));
    assert_eq!(third.check_succeeds(&second), Ok(()));
    let unchained = SuccessionError::Unchained { found: 3, before: 1 };
    assert_eq!(third.check_succeeds(&first), Err(unchained));
}

#[test]
fn a_root_of_strangers_does_not_succeed() {
    let own = Repository::new().trust_file();
    // Another root under the same names, by the keys of somebody else.
    let stranger = Repository::new();
    assert_eq!(
        stranger.trust_file().check_succeeds(&own),
        Err(SuccessionError::Different(1))
    );
    let mut newer = stranger;
    newer.sign_root(&[]);
    let unchained = SuccessionError::Unchained { found: 2, before: 1 };
    assert_eq!(with_root(&newer, 2).check_succeeds(&own), Err(unchained));

    let mut other = Repository::new();
    other.identity.repository = RepositoryId::from_bytes([8; 16]);
    other.sign_root(&[]);
    let of_other = with_root(&other, 2);
    assert_eq!(of_other.check_succeeds(&own), Err(SuccessionError::Repository));
    let mixed = TrustFile {
        repository: own.repository,
        ..of_other
    };
    assert_eq!(mixed.check_succeeds(&own), Err(SuccessionError::Identity));
}

#[test]
fn a_root_must_be_signed_by_its_own_keys() {
    let repository = Repository::new();
    let mut file = repository.trust_file();
    file.root = file.root.replace("\"sig\":\"30", "\"sig\":\"31");
    assert!(Metadata::<Root>::parse(file.root.as_bytes()).is_ok());
    let refused = file.read_root().err().map(|error| error.to_string());
    let expected = "has a root that is signed by 0 of the 1 keys that must sign";
    assert_eq!(refused.as_deref(), Some(expected));
    file.root = "{".to_owned();
    assert!(matches!(file.read_root(), Err(SuccessionError::Root(_))));
}
