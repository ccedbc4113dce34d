//! The cipher: XChaCha20-Poly1305, with the place of a value as associated data
//! (`docs/reference/environment.md#sealing`).

use base64::Engine;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use launchway_domain::id::OrgId;
use launchway_os::random::Random;
use zeroize::Zeroizing;

use crate::master_key::{MasterKey, Purpose, derive};

const NONCE: usize = 24;
/// The version of the sealed form, which is its first byte.
const FORM: u8 = 1;

/// Where a value belongs. It opens only there, whatever row its ciphertext is moved to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The id of the record.
    pub record: String,
    /// The column, and any further data that must not change independently of the value.
    pub field: &'a str,
}

impl<'a> Place<'a> {
    /// A field of a record.
    pub fn new(record: impl ToString, field: &'a str) -> Self {
        Self {
            record: record.to_string(),
            field,
        }
    }
}

/// The key of an organization, or of the installation. It has no `Debug`, so that no log can contain it.
pub struct DataKey(Zeroizing<[u8; 32]>);

impl DataKey {
    /// A new random key.
    pub fn make(random: &dyn Random) -> DataKey {
        let mut bytes = Zeroizing::new([0; 32]);
        random.fill(&mut *bytes);
        DataKey(bytes)
    }

    /// Derives a key for one purpose (HKDF-SHA256, RFC 5869).
    pub fn derive(&self, purpose: Purpose) -> Zeroizing<[u8; 32]> {
        derive(&self.0, purpose)
    }

    /// Seals a value of an organization for its place: base64 of version, nonce and ciphertext.
    pub fn seal(&self, org: OrgId, place: &Place<'_>, value: &[u8], random: &dyn Random) -> String {
        seal(
            &self.0,
            &associated(&org.to_string(), &place.record, place.field),
            value,
            random,
        )
    }

    /// Opens a value in its place; `None` if it was not sealed for that place under this key.
    pub fn open(&self, org: OrgId, place: &Place<'_>, sealed: &str) -> Option<Zeroizing<Vec<u8>>> {
        open(
            &self.0,
            &associated(&org.to_string(), &place.record, place.field),
            sealed,
        )
    }
}

/// Seals a value that belongs to no organization, under a key of the installation for one purpose.
pub(crate) fn seal_own(key: &[u8; 32], place: &Place<'_>, value: &[u8], random: &dyn Random) -> String {
    seal(key, &associated("", &place.record, place.field), value, random)
}

/// Opens a value of [`seal_own`]; `None` if it was not sealed for this place under this key.
pub(crate) fn open_own(key: &[u8; 32], place: &Place<'_>, sealed: &str) -> Option<Zeroizing<Vec<u8>>> {
    open(key, &associated("", &place.record, place.field), sealed)
}

impl MasterKey {
    /// Seals the key of an organization, or of the installation if `None`.
    pub fn seal_data_key(&self, key: &DataKey, org: Option<OrgId>, random: &dyn Random) -> String {
        seal(&self.derive(Purpose::DataKeys), &owner(org), &*key.0, random)
    }

    /// Opens the key of an organization or of the installation; `None` if it was not sealed for it by this master key.
    pub fn open_data_key(&self, sealed: &str, org: Option<OrgId>) -> Option<DataKey> {
        let bytes = open(&self.derive(Purpose::DataKeys), &owner(org), sealed)?;
        let mut key = Zeroizing::new([0; 32]);
        if bytes.len() != key.len() {
            return None;
        }
        key.copy_from_slice(&bytes);
        Some(DataKey(key))
    }
}

fn owner(org: Option<OrgId>) -> Vec<u8> {
    associated(&org.map(|org| org.to_string()).unwrap_or_default(), "data key", "")
}

/// Organization, record and field, each prefixed with its length, so that different places never encode alike.
fn associated(org: &str, record: &str, field: &str) -> Vec<u8> {
    let mut bytes = b"launchway 1".to_vec();
    for part in [org, record, field] {
        bytes.extend((part.len() as u64).to_be_bytes());
        bytes.extend(part.as_bytes());
    }
    bytes
}

fn seal(key: &[u8; 32], associated: &[u8], value: &[u8], random: &dyn Random) -> String {
    let mut nonce = [0; NONCE];
    random.fill(&mut nonce);
    let payload = Payload {
        msg: value,
        aad: associated,
    };
    let ciphertext = XChaCha20Poly1305::new(key.into())
        .encrypt(&XNonce::from(nonce), payload)
        .expect("values are far below the cipher's limit");
    let mut bytes = vec![FORM];
    bytes.extend(nonce);
    bytes.extend(ciphertext);
    BASE64_STANDARD_NO_PAD.encode(bytes)
}

fn open(key: &[u8; 32], associated: &[u8], sealed: &str) -> Option<Zeroizing<Vec<u8>>> {
    let bytes = BASE64_STANDARD_NO_PAD.decode(sealed).ok()?;
    let (form, rest) = bytes.split_first()?;
    let (nonce, ciphertext) = rest.split_at_checked(NONCE)?;
    if *form != FORM {
        return None;
    }
    let payload = Payload {
        msg: ciphertext,
        aad: associated,
    };
    let nonce: [u8; NONCE] = nonce.try_into().ok()?;
    let value = XChaCha20Poly1305::new(key.into()).decrypt(&XNonce::from(nonce), payload);
    value.ok().map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use launchway_os::random::SystemRandom;
    use proptest::prelude::*;

    fn org(number: u8) -> OrgId {
        OrgId::new(1_700_000_000_000, [number; 10])
    }

    #[test]
    fn a_value_opens_in_its_place_only() {
        let key = DataKey::make(&SystemRandom);
        let place = Place::new("env_1", "value");
        let sealed = key.seal(org(1), &place, b"hunter2", &SystemRandom);
        assert_eq!(key.open(org(1), &place, &sealed).expect("opens").as_slice(), b"hunter2");
        assert!(key.open(org(2), &place, &sealed).is_none(), "another organization");
        assert!(
            key.open(org(1), &Place::new("env_2", "value"), &sealed).is_none(),
            "another row"
        );
        assert!(
            key.open(org(1), &Place::new("env_1", "path"), &sealed).is_none(),
            "another field"
        );
        assert!(
            key.open(org(1), &Place::new("env_1v", "alue"), &sealed).is_none(),
            "a moved border"
        );
        assert!(
            DataKey::make(&SystemRandom).open(org(1), &place, &sealed).is_none(),
            "another key"
        );
        assert_ne!(
            sealed,
            key.seal(org(1), &place, b"hunter2", &SystemRandom),
            "each sealing has its nonce"
        );
    }

    #[test]
    fn a_data_key_opens_for_its_owner_only() {
        let (master, other) = (MasterKey::from_bytes([1; 32]), MasterKey::from_bytes([2; 32]));
        let key = DataKey::make(&SystemRandom);
        let sealed = master.seal_data_key(&key, Some(org(1)), &SystemRandom);
        assert_eq!(*master.open_data_key(&sealed, Some(org(1))).expect("opens").0, *key.0);
        assert!(master.open_data_key(&sealed, Some(org(2))).is_none());
        assert!(master.open_data_key(&sealed, None).is_none());
        assert!(other.open_data_key(&sealed, Some(org(1))).is_none());
    }

    proptest! {
        #[test]
        fn any_change_of_the_ciphertext_is_noticed(value: Vec<u8>, at: prop::sample::Index, flip in 1u8..=255) {
            let key = DataKey::make(&SystemRandom);
            let place = Place::new("env_1", "value");
            let sealed = key.seal(org(1), &place, &value, &SystemRandom);
            let mut bytes = BASE64_STANDARD_NO_PAD.decode(&sealed).expect("base64");
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            prop_assert!(key.open(org(1), &place, &BASE64_STANDARD_NO_PAD.encode(&bytes)).is_none());
            bytes.truncate(at);
            prop_assert!(key.open(org(1), &place, &BASE64_STANDARD_NO_PAD.encode(&bytes)).is_none());
        }
    }
}
