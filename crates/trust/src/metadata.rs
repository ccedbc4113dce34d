//! A file of metadata: who signed it, and what it says (`docs/reference/trust.md#metadata`).

mod authority;
mod delegations;
pub(crate) mod fields;
mod meta_file;
mod online;
mod root;
mod targets;

use std::collections::BTreeSet;

use launchway_domain::time::{self, EpochMs};

use crate::digest::lower_hex;
pub use crate::form_error::FormError;
use crate::identity::{FIELD as IDENTITY, Identity};
use crate::json::{self, JsonError, Object, Value};
use fields::Fields;

pub use authority::{Authority, Key, Keys, RoleKeys, SignatureCountError};
pub use delegations::{Delegation, Delegations};
pub use meta_file::{FileMismatchError, MetaFile};
pub use online::{Snapshot, Timestamp};
pub use root::Root;
pub use targets::{MAX_REVOKED, Target, Targets};

/// `spec_version` of every file that is written here. Any version `1.x` is read.
pub const SPEC_VERSION: &str = "1.0.31";

/// Why bytes are not metadata of the expected type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// They are not strict JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A field is missing or not of its form.
    #[error(transparent)]
    Form(#[from] FormError),
    /// `_type` is another.
    #[error("is not of the type `{expected}`")]
    Type {
        /// The type that was asked for.
        expected: &'static str,
    },
    /// `spec_version` is not `1.x`.
    #[error("follows a version of the specification other than 1.x")]
    SpecVersion,
    /// Two signatures have the same key id.
    #[error("is signed twice with one key id")]
    DuplicateSignature,
}

/// The content of one type of metadata, without the fields that all types share.
pub trait Body: Sized {
    /// The value of `_type`.
    const TYPE: &'static str;
    /// The most bytes that a file of this type has.
    const LIMIT: usize;

    /// Writes the members of `signed` that are this type's own.
    fn write(&self, members: &mut Object);

    #[doc(hidden)]
    fn read(members: &mut Object) -> Result<Self, FormError>;
}

/// The fields that every `signed` has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Counts up with every change.
    pub version: u64,
    /// When the file expires. Files have whole seconds.
    pub expires: EpochMs,
    /// The repository and app it belongs to; `None` in repositories of other systems.
    pub identity: Option<Identity>,
}

/// A file of metadata as it was received. Nothing in it is trusted before its signatures were
/// [verified](Authority::verify).
#[derive(Clone, Debug)]
pub struct Metadata<T> {
    header: Header,
    body: T,
    bytes: Vec<u8>,
    message: Vec<u8>,
    signatures: Vec<Signature>,
}

/// A signature that can be read; whether it verifies, [`Authority::signers_of`] says.
#[derive(Clone, Debug)]
struct Signature {
    key_id: String,
    der: Vec<u8>,
}

impl<T: Body> Metadata<T> {
    /// Reads a file. Its bytes are kept as they are: they are what is stored, served and hashed.
    ///
    /// # Errors
    /// See [`MetadataError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, MetadataError> {
        let mut file = Fields::of(json::parse(bytes, T::LIMIT)?, "signed")?;
        let signatures = read_signatures(file.array("signatures")?)?;
        let signed = file.value("signed")?;
        // Written from everything that was parsed, unknown fields included, so that what is verified is what is used.
        let message = json::canonical(&signed);
        let mut signed = Fields::of(signed, "signed")?;
        if signed.text("_type")? != T::TYPE {
            return Err(MetadataError::Type { expected: T::TYPE });
        }
        if !is_spec_version_1(&signed.text("spec_version")?) {
            return Err(MetadataError::SpecVersion);
        }
        let header = Header {
            version: signed.positive("version")?,
            expires: read_time(&signed.text("expires")?).ok_or(FormError { field: "expires" })?,
            identity: Identity::take(signed.members())?,
        };
        Ok(Self {
            header,
            body: T::read(signed.members())?,
            bytes: bytes.to_vec(),
            message,
            signatures,
        })
    }

    /// The fields that every `signed` has.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The version.
    pub fn version(&self) -> u64 {
        self.header.version
    }

    /// The content of this type.
    pub fn body(&self) -> &T {
        &self.body
    }

    /// The file as it was received.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The canonical form of `signed`, over which signatures are made.
    pub fn message(&self) -> &[u8] {
        &self.message
    }

    /// Whether the file has expired at this time.
    pub fn is_expired(&self, now: EpochMs) -> bool {
        self.header.expires <= now
    }

    /// The readable signatures, each with the key id that it names.
    pub fn signatures(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.signatures
            .iter()
            .map(|signature| (signature.key_id.as_str(), signature.der.as_slice()))
    }
}

/// The value of `signed` with this header and content.
pub(crate) fn signed_value<T: Body>(header: &Header, body: &T) -> Value {
    let mut members = json::object([
        ("_type", T::TYPE.into()),
        ("expires", write_time(header.expires).into()),
        ("spec_version", SPEC_VERSION.into()),
        ("version", header.version.into()),
    ]);
    if let Some(identity) = &header.identity {
        members.insert(IDENTITY.to_owned(), identity.to_value());
    }
    body.write(&mut members);
    Value::Object(members)
}

/// Skips signatures that are not lower-case hexadecimal digits: they never count, and do not invalidate the file.
fn read_signatures(items: Vec<Value>) -> Result<Vec<Signature>, MetadataError> {
    let mut ids = BTreeSet::new();
    let mut signatures = Vec::new();
    for item in items {
        let mut item = Fields::of(item, "signatures")?;
        let key_id = item.text("keyid")?;
        if !ids.insert(key_id.clone()) {
            return Err(MetadataError::DuplicateSignature);
        }
        if let Some(der) = lower_hex(&item.text("sig")?) {
            signatures.push(Signature { key_id, der });
        }
    }
    Ok(signatures)
}

fn is_spec_version_1(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.strip_prefix("1.")
        .is_some_and(|rest| rest.split('.').all(is_number))
}

/// Reads `2026-11-20T10:00:00Z`: UTC in whole seconds, and nothing else.
fn read_time(text: &str) -> Option<EpochMs> {
    time::from_iso(&format!("{}.000Z", text.strip_suffix('Z')?))
}

fn write_time(time: EpochMs) -> String {
    let mut text = time::iso(time);
    text.replace_range(19..23, "");
    text
}
