//! Metadata on its way to its threshold: signed by one key after the other, here or elsewhere.

use std::collections::BTreeMap;

use ring::rand::SystemRandom;

use crate::digest::lower_hex;
use crate::json::{self, Value, object};
use crate::metadata::{Authority, Body, Header, Metadata, MetadataError, signed_value};
use crate::signing_key::{SigningKey, SigningKeyError};

/// A file of metadata and the signatures that it has so far.
#[derive(Clone, Debug)]
pub struct Draft {
    signed: Value,
    message: Vec<u8>,
    signatures: BTreeMap<String, String>,
    limit: usize,
}

/// Why a signature is not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// The key is not one of the role's.
    #[error("the key is not authorized for this role")]
    NoSigner,
    /// The signature is not one of the key over this file.
    #[error("the signature is not valid for this key and file")]
    Signature,
    /// The key cannot sign.
    #[error(transparent)]
    Key(#[from] SigningKeyError),
}

/// A file would be longer than clients read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the signed file has {size} bytes, more than the {limit} that clients read")]
pub struct FileSizeError {
    /// Its bytes.
    pub size: usize,
    /// The most that clients read.
    pub limit: usize,
}

impl Draft {
    /// A file that nobody signed yet.
    pub fn new<T: Body>(header: &Header, body: &T) -> Self {
        Self::of::<T>(signed_value(header, body))
    }

    /// A file that somebody began to sign. Signatures that cannot be read are left out.
    ///
    /// # Errors
    /// It is not metadata of this type.
    pub fn from_bytes<T: Body>(bytes: &[u8]) -> Result<Self, MetadataError> {
        let metadata: Metadata<T> = Metadata::parse(bytes)?;
        let file = json::parse(bytes, T::LIMIT)?;
        let mut draft = Self::of::<T>(file.get("signed").cloned().unwrap_or(Value::Null));
        draft.signatures = metadata
            .signatures()
            .map(|(id, signature)| (id.to_owned(), hex::encode(signature)))
            .collect();
        Ok(draft)
    }

    fn of<T: Body>(signed: Value) -> Self {
        Self {
            message: json::canonical(&signed),
            signed,
            signatures: BTreeMap::new(),
            limit: T::LIMIT,
        }
    }

    /// What is signed.
    pub fn message(&self) -> &[u8] {
        &self.message
    }

    /// Signs as an id under which `authority` lists the key. A root that replaces keys is signed under the old and the new
    /// authority.
    ///
    /// # Errors
    /// The key may not sign, or cannot.
    pub fn sign(&mut self, authority: Authority<'_>, key: &SigningKey, random: &SystemRandom) -> Result<(), SignError> {
        let signature = key.sign(&self.message, random)?;
        // One id suffices: ids of one key count once.
        let mut listed = authority.key_ids();
        let (id, _) = listed
            .find(|(_, listed)| listed.as_ref() == Some(key.public()))
            .ok_or(SignError::NoSigner)?;
        self.signatures.insert(id.to_owned(), hex::encode(signature));
        Ok(())
    }

    /// Adds a signature, in lower-case hexadecimal digits of its DER, that was made elsewhere.
    ///
    /// # Errors
    /// `authority` does not list the id, or the signature does not verify.
    pub fn attach(&mut self, authority: Authority<'_>, key_id: &str, signature: &str) -> Result<(), SignError> {
        let listed = authority.key_ids().find(|(id, _)| *id == key_id);
        let key = listed.and_then(|(_, key)| key).ok_or(SignError::NoSigner)?;
        let der = lower_hex(signature).ok_or(SignError::Signature)?;
        if !key.verifies(&self.message, &der) {
            return Err(SignError::Signature);
        }
        self.signatures.insert(key_id.to_owned(), signature.to_owned());
        Ok(())
    }

    /// The file, in ASCII. It may have too few signatures: parse it and call [`Authority::verify`].
    ///
    /// # Errors
    /// Clients would not read it.
    pub fn to_text(&self) -> Result<String, FileSizeError> {
        let signatures = self.signatures.iter().map(|(id, signature)| {
            let members = object([("keyid", id.clone().into()), ("sig", signature.clone().into())]);
            Value::Object(members)
        });
        let members = object([
            ("signatures", Value::Array(signatures.collect())),
            ("signed", self.signed.clone()),
        ]);
        let text = json::to_text(&Value::Object(members));
        let (size, limit) = (text.len(), self.limit);
        if size <= limit {
            Ok(text)
        } else {
            Err(FileSizeError { size, limit })
        }
    }
}
