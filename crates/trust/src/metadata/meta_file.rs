//! What one file of metadata says about another: its version, and sometimes its length and hashes.

use std::collections::BTreeMap;

use super::FormError;
use super::fields::Fields;
use crate::digest::Sha256;
use crate::json::{Object, Value, object};

/// What is known of another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaFile {
    /// Its version.
    pub version: u64,
    /// Its length in bytes.
    pub length: Option<u64>,
    /// Its hashes by the name of the algorithm, in hexadecimal digits.
    pub hashes: Option<BTreeMap<String, String>>,
}

/// A file is not the one that was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileMismatchError {
    /// Its length differs.
    #[error("does not have the signed length")]
    Length,
    /// Its hash differs, or none of the hashes that were signed is SHA-256.
    #[error("does not have the signed SHA-256")]
    Hash,
}

impl MetaFile {
    /// What Launchway writes: the version alone.
    pub fn of_version(version: u64) -> Self {
        Self {
            version,
            length: None,
            hashes: None,
        }
    }

    /// Checks `bytes` against the length and hashes that are listed.
    ///
    /// # Errors
    /// See [`FileMismatchError`].
    pub fn check(&self, bytes: &[u8]) -> Result<(), FileMismatchError> {
        if self.length.is_some_and(|length| length != bytes.len() as u64) {
            return Err(FileMismatchError::Length);
        }
        let Some(hashes) = &self.hashes else { return Ok(()) };
        match hashes.get("sha256") {
            Some(hash) if *hash == Sha256::of(bytes).to_string() => Ok(()),
            _ => Err(FileMismatchError::Hash),
        }
    }

    pub(super) fn read(value: Value) -> Result<Self, FormError> {
        let mut fields = Fields::of(value, "meta")?;
        Ok(Self {
            version: fields.positive("version")?,
            length: fields.has("length").then(|| fields.count("length")).transpose()?,
            hashes: fields.has("hashes").then(|| read_hashes(&mut fields)).transpose()?,
        })
    }

    pub(super) fn to_value(&self) -> Value {
        let mut members = object([("version", self.version.into())]);
        if let Some(length) = self.length {
            members.insert("length".to_owned(), length.into());
        }
        if let Some(hashes) = &self.hashes {
            members.insert("hashes".to_owned(), hashes_value(hashes));
        }
        Value::Object(members)
    }
}

/// Reads the field `hashes`: at least one, each a text.
pub(super) fn read_hashes(fields: &mut Fields) -> Result<BTreeMap<String, String>, FormError> {
    let invalid = FormError { field: "hashes" };
    let members: Object = fields.object("hashes")?;
    if members.is_empty() {
        return Err(invalid);
    }
    let texts = members.into_iter().map(|(name, value)| match value {
        Value::Text(text) => Ok((name, text)),
        _ => Err(invalid),
    });
    texts.collect()
}

pub(super) fn hashes_value(hashes: &BTreeMap<String, String>) -> Value {
    let members = hashes.iter().map(|(name, text)| (name.clone(), text.clone().into()));
    Value::Object(members.collect())
}
