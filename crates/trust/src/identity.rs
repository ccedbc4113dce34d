//! Which repository and app metadata is of: the field `x-launchway`
//! (`docs/reference/trust.md#repository-and-app`).

use std::fmt;
use std::str::FromStr;

use launchway_domain::bundle_id::BundleId;

use crate::digest::lower_hex;
use crate::form_error::FormError;
use crate::json::{Object, Value, object};

/// The name of the field.
pub(crate) const FIELD: &str = "x-launchway";

/// The id of a repository: 128 random bits, written as 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepositoryId([u8; 16]);

/// The text is not the id of a repository. The message follows the name of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 32 lower-case hexadecimal digits")]
pub struct RepositoryIdError;

impl RepositoryId {
    /// The id of these random bits.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl FromStr for RepositoryId {
    type Err = RepositoryIdError;

    fn from_str(text: &str) -> Result<Self, RepositoryIdError> {
        let bytes = lower_hex(text).ok_or(RepositoryIdError)?;
        bytes.try_into().map(Self).map_err(|_| RepositoryIdError)
    }
}

impl fmt::Display for RepositoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for RepositoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The repository and the app that metadata is of. Equal whatever the letter case of the bundle id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The repository.
    pub repository: RepositoryId,
    /// The app.
    pub bundle_id: BundleId,
}

impl Identity {
    /// The value of the field `x-launchway`.
    pub(crate) fn to_value(&self) -> Value {
        Value::Object(object([
            ("bundleId", self.bundle_id.as_str().into()),
            ("repository", self.repository.to_string().into()),
        ]))
    }

    /// Takes the field out of `members`; `None` where there is none.
    pub(crate) fn take(members: &mut Object) -> Result<Option<Self>, FormError> {
        let Some(value) = members.remove(FIELD) else {
            return Ok(None);
        };
        let text = |name| value.get(name).and_then(Value::as_text);
        let repository = text("repository").and_then(|text| text.parse().ok());
        let bundle_id = text("bundleId").and_then(|text| BundleId::parse(text).ok());
        repository
            .zip(bundle_id)
            .map(|(repository, bundle_id)| Self { repository, bundle_id })
            .map(Some)
            .ok_or(FormError { field: FIELD })
    }
}
