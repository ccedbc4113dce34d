//! Fingerprints identify the native part of an installed app, so that an update reaches only apps that can run it
//! (`docs/reference/fingerprints.md`). A hash is opaque; a document lists what was hashed, and so shows what changed.

mod canonical;
mod diff;
mod document;
mod framework;

use std::fmt;
use std::str::FromStr;

pub use diff::{Change, NAMED_CHANGES, NATIVE_CODE_DIFFERS, diff, reason};
pub use document::{
    Algorithm, DocumentError, FingerprintDocument, MAX_DOCUMENT_BYTES, MAX_PLUGIN_NAME, MAX_PLUGIN_VERSION, MAX_PLUGINS,
};
pub use framework::Framework;

/// The maximum number of characters of a fingerprint.
pub const MAX_FINGERPRINT_LENGTH: usize = 128;

/// The fingerprint of a native app: 1 to 128 visible ASCII characters, compared byte by byte
/// (`docs/reference/updates.md#fingerprint-of-an-update`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(Box<str>);

/// The text is not a valid fingerprint. The message follows the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 128 visible ASCII characters")]
pub struct FingerprintError;

impl Fingerprint {
    /// Parses a fingerprint.
    ///
    /// # Errors
    /// The text does not have the form of the type; a space is not a visible character.
    pub fn parse(text: &str) -> Result<Self, FingerprintError> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.is_empty() || text.len() > MAX_FINGERPRINT_LENGTH || !visible {
            return Err(FingerprintError);
        }
        Ok(Self(text.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn is_visible_ascii_compared_byte_by_byte() {
        let longest = "f".repeat(MAX_FINGERPRINT_LENGTH);
        for text in ["0", "!~", "sha256:AbC/+=", &longest] {
            assert_eq!(
                Fingerprint::parse(text).map(|read| read.to_string()).as_deref(),
                Ok(text)
            );
        }
        assert_ne!(Fingerprint::parse("abc"), Fingerprint::parse("ABC"));
        let longer = "f".repeat(MAX_FINGERPRINT_LENGTH + 1);
        for text in ["", " ", "a b", "a\n", "a\x7f", "ä", &longer] {
            assert_eq!(Fingerprint::parse(text), Err(FingerprintError), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_kept_as_written_or_refused(text in ".{0,130}|[!-~]{1,130}") {
            if let Ok(read) = Fingerprint::parse(&text) {
                prop_assert_eq!(read.as_str(), text);
            }
        }
    }
}
