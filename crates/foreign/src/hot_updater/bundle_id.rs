//! The ids of hot-updater's bundles (`docs/reference/hot-updater.md#bundle-ids`).

use std::fmt;
use std::str::FromStr;

/// The number of characters of an id.
const LENGTH: usize = 36;
/// The id that stands for the built-in content, as bytes of its text.
const NIL: [u8; LENGTH] = *b"00000000-0000-0000-0000-000000000000";

/// The id of a bundle: a UUID in lower case. Clients order bundles by these texts, so ids are of version 7, which begins with the time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BundleId([u8; LENGTH]);

/// The text is not a UUID. The message follows the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a UUID such as 0190a8c6-0000-7000-8000-000000000000")]
pub struct BundleIdError;

impl BundleId {
    /// The id of the built-in content of every app.
    pub const NIL: BundleId = BundleId(NIL);

    /// Parses an id, in any letter case.
    ///
    /// # Errors
    /// The text is not a UUID with its hyphens.
    pub fn parse(text: &str) -> Result<Self, BundleIdError> {
        let mut bytes: [u8; LENGTH] = text.as_bytes().try_into().map_err(|_| BundleIdError)?;
        bytes.make_ascii_lowercase();
        let has_form = bytes.iter().zip(NIL).all(|(byte, mark)| match mark {
            b'-' => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
        if has_form { Ok(Self(bytes)) } else { Err(BundleIdError) }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        // Only ASCII passes `parse`.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for BundleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for BundleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for BundleId {
    type Err = BundleIdError;

    fn from_str(text: &str) -> Result<Self, BundleIdError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_in_any_letter_case() {
        let id = BundleId::parse("0190A8C6-abcd-7000-8000-00000000000F").unwrap();
        assert_eq!(id.to_string(), "0190a8c6-abcd-7000-8000-00000000000f");
        assert!(BundleId::NIL < id);
        assert_eq!(BundleId::parse(&BundleId::NIL.to_string()), Ok(BundleId::NIL));
    }

    #[test]
    fn anything_else_is_no_id() {
        for text in [
            "",
            "null",
            "0190a8c6abcd7000800000000000000f",
            "0190a8c6-abcd-7000-8000-00000000000",
            "0190a8c6-abcd-7000-8000-00000000000g",
            "0190a8c60abcd-7000-8000-00000000000f",
            "0190a8c6-abcd-7000-8000-0000000000é",
        ] {
            assert_eq!(BundleId::parse(text), Err(BundleIdError), "{text}");
        }
    }
}
