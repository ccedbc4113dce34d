//! SHA-256, written as 64 lower-case hexadecimal digits.

use std::fmt;
use std::str::FromStr;

/// A SHA-256 hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256([u8; 32]);

/// The text is not a hash. The message follows the name of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a SHA-256 hash of 64 lower-case hexadecimal digits")]
pub struct Sha256Error;

impl Sha256 {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
        let mut hash = [0; 32];
        hash.copy_from_slice(digest.as_ref());
        Self(hash)
    }

    /// The hash that somebody computed.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl FromStr for Sha256 {
    type Err = Sha256Error;

    fn from_str(text: &str) -> Result<Self, Sha256Error> {
        let bytes = lower_hex(text).ok_or(Sha256Error)?;
        bytes.try_into().map(Self).map_err(|_| Sha256Error)
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The bytes that lower-case hexadecimal digits spell. One spelling for each value.
pub(crate) fn lower_hex(text: &str) -> Option<Vec<u8>> {
    let lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    lower.then(|| hex::decode(text).ok())?
}
