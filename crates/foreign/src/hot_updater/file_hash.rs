//! What hot-updater's client verifies an archive by (`docs/reference/hot-updater.md#file-hash`).

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// What stands before a signature.
const SIGNATURE_PREFIX: &str = "sig:";
/// The maximum size of a signature in bytes: that of an RSA key of 8192 bits.
const MAX_SIGNATURE_BYTES: usize = 1024;

/// The SHA-256 of an archive, or a signature of it. An app with a public key only takes signatures, one without only hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileHash {
    /// The SHA-256.
    Sha256([u8; 32]),
    /// RSASSA-PKCS1-v1_5 with SHA-256, over the 32 bytes of the SHA-256.
    Signature(Box<[u8]>),
}

/// The text is neither. The message follows the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a SHA-256 as 64 hexadecimal digits, or `sig:` and a signature in base64 of at most 1024 bytes")]
pub struct FileHashError;

impl FileHash {
    /// Parses the text of an answer.
    ///
    /// # Errors
    /// The text is neither a hash nor a signature.
    pub fn parse(text: &str) -> Result<Self, FileHashError> {
        let Some(signature) = text.strip_prefix(SIGNATURE_PREFIX) else {
            let mut sha256 = [0; 32];
            hex::decode_to_slice(text, &mut sha256).map_err(|_| FileHashError)?;
            return Ok(Self::Sha256(sha256));
        };
        if signature.is_empty() || signature.len() > MAX_SIGNATURE_BYTES.div_ceil(3) * 4 {
            return Err(FileHashError);
        }
        let signature = BASE64_STANDARD.decode(signature).map_err(|_| FileHashError)?;
        Ok(Self::Signature(signature.into()))
    }
}

/// Writes the text of an answer.
impl fmt::Display for FileHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileHash::Sha256(sha256) => f.write_str(&hex::encode(sha256)),
            FileHash::Signature(signature) => write!(f, "{SIGNATURE_PREFIX}{}", BASE64_STANDARD.encode(signature)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hashes_and_signatures_are_written_as_read() {
        let hash = "ab".repeat(32);
        for text in [
            hash.as_str(),
            "sig:c2lnbmF0dXJl",
            &format!("sig:{}", BASE64_STANDARD.encode([7; MAX_SIGNATURE_BYTES])),
        ] {
            assert_eq!(FileHash::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(FileHash::parse(&hash.to_uppercase()).unwrap().to_string(), hash);
    }

    #[test]
    fn anything_else_is_refused() {
        let long = format!("sig:{}", "A".repeat(2000));
        for text in [
            "",
            "ab",
            "sig:",
            "sig:a",
            "sig:c2ln-A==",
            "SIG:c2ln",
            &"g".repeat(64),
            &"a".repeat(66),
            &long,
        ] {
            assert_eq!(FileHash::parse(text), Err(FileHashError), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,80}|sig:[A-Za-z0-9+/=]{0,40}") {
            if let Ok(hash) = FileHash::parse(&text) {
                prop_assert_eq!(FileHash::parse(&hash.to_string()), Ok(hash));
            }
        }
    }
}
