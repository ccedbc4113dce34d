//! Who may sign for a role, and whether enough of them did
//! (`docs/reference/trust.md#thresholds`).

use std::collections::{BTreeMap, BTreeSet};

use super::fields::Fields;
use super::{Body, FormError, Metadata};
use crate::json::{Object, Value};
use crate::key::{KEY_TYPE, PublicKey, SCHEME};

/// The name of the field with the name that developers gave to a key.
const NAME: &str = "x-launchway-name";

/// A key as metadata lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    value: Value,
    public: Option<PublicKey>,
}

/// The keys of a file by key id. Ids are opaque.
pub type Keys = BTreeMap<String, Key>;

/// Which keys may sign for a role, and how many of them must.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleKeys {
    /// Ids of keys, each once.
    pub key_ids: Vec<String>,
    /// How many distinct keys must sign.
    pub threshold: u64,
}

/// Fewer distinct keys signed than must.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is signed by {valid} of the {threshold} keys that must sign")]
pub struct SignatureCountError {
    /// How many distinct keys signed.
    pub valid: u64,
    /// How many must.
    pub threshold: u64,
}

/// What decides whether a file speaks for a role.
#[derive(Clone, Copy, Debug)]
pub struct Authority<'a> {
    keys: &'a Keys,
    role: &'a RoleKeys,
}

impl Key {
    /// The public key; `None` for a key of an unsupported type or form, which never counts.
    pub fn public(&self) -> Option<&PublicKey> {
        self.public.as_ref()
    }

    /// The key with a name for people. Its id is that of the key without a name.
    pub fn with_name(public: PublicKey, name: &str) -> Self {
        let mut key = Self::from(public);
        if let Value::Object(members) = &mut key.value {
            members.insert(NAME.to_owned(), name.into());
        }
        key
    }

    /// The name that developers gave to the key. It is text of the metadata, of any length.
    pub fn name(&self) -> Option<&str> {
        self.value.get(NAME)?.as_text()
    }

    fn read(value: Value) -> Result<Self, FormError> {
        if !matches!(value, Value::Object(_)) {
            return Err(FormError { field: "keys" });
        }
        let text = |name| value.get(name).and_then(Value::as_text);
        let supported = text("keytype") == Some(KEY_TYPE) && text("scheme") == Some(SCHEME);
        let pem = value.get("keyval").and_then(|keyval| keyval.get("public"));
        let public = pem.and_then(Value::as_text).filter(|_| supported);
        Ok(Self {
            public: public.and_then(|pem| PublicKey::from_pem(pem).ok()),
            value,
        })
    }
}

impl From<PublicKey> for Key {
    fn from(public: PublicKey) -> Self {
        Self {
            value: public.to_value(),
            public: Some(public),
        }
    }
}

impl RoleKeys {
    pub(super) fn read(fields: &mut Fields) -> Result<Self, FormError> {
        let key_ids = fields.texts("keyids")?;
        if key_ids.iter().collect::<BTreeSet<_>>().len() != key_ids.len() {
            return Err(FormError { field: "keyids" });
        }
        Ok(Self {
            key_ids,
            threshold: fields.positive("threshold")?,
        })
    }

    pub(super) fn write(&self, members: &mut Object) {
        let key_ids = self.key_ids.iter().map(|id| id.clone().into()).collect();
        members.insert("keyids".to_owned(), Value::Array(key_ids));
        members.insert("threshold".to_owned(), self.threshold.into());
    }
}

impl<'a> Authority<'a> {
    /// The authority of a role whose keys are listed in `keys`.
    pub(super) fn new(keys: &'a Keys, role: &'a RoleKeys) -> Self {
        Self { keys, role }
    }

    /// How many distinct keys must sign.
    pub fn threshold(&self) -> u64 {
        self.role.threshold
    }

    /// The distinct keys that may sign. Two ids of one key are one key.
    pub fn signers(&self) -> BTreeSet<PublicKey> {
        self.role.key_ids.iter().filter_map(|id| self.key(id)).collect()
    }

    /// Each key id of the role, with its key where that is supported.
    pub fn key_ids(&self) -> impl Iterator<Item = (&'a str, Option<PublicKey>)> {
        self.role.key_ids.iter().map(move |id| (id.as_str(), self.key(id)))
    }

    /// The distinct keys of the role that signed the file.
    pub fn signers_of<T: Body>(&self, metadata: &Metadata<T>) -> BTreeSet<PublicKey> {
        let of_role = |id: &&str| self.role.key_ids.iter().any(|known| known == id);
        metadata
            .signatures()
            .filter(|(id, _)| of_role(id))
            .filter_map(|(id, signature)| {
                let key = self.key(id)?;
                key.verifies(metadata.message(), signature).then_some(key)
            })
            .collect()
    }

    /// Checks that enough distinct keys of the role signed the file.
    ///
    /// # Errors
    /// Fewer keys signed than the threshold.
    pub fn verify<T: Body>(&self, metadata: &Metadata<T>) -> Result<(), SignatureCountError> {
        let valid = self.signers_of(metadata).len() as u64;
        let threshold = self.role.threshold;
        if valid >= threshold {
            Ok(())
        } else {
            Err(SignatureCountError { valid, threshold })
        }
    }

    fn key(&self, id: &str) -> Option<PublicKey> {
        self.keys.get(id)?.public
    }
}

/// Reads the field `keys` of a root or of delegations.
pub(super) fn read_keys(fields: &mut Fields) -> Result<Keys, FormError> {
    let keys = fields.object("keys")?.into_iter();
    keys.map(|(id, value)| Ok((id, Key::read(value)?))).collect()
}

/// What [`read_keys`] reads.
pub(super) fn keys_value(keys: &Keys) -> Value {
    Value::Object(keys.iter().map(|(id, key)| (id.clone(), key.value.clone())).collect())
}
