//! The signature of a CodePush package, `.codepushrelease`: a JSON Web Token with the package's hash, signed by the developer's RSA
//! key (`docs/reference/codepush.md#signature`). This module writes and reads it; whoever holds the key signs it.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use launchway_domain::time::{EpochMs, SECOND};
use serde::Deserialize;

/// The maximum size of a signature in bytes. One by a key of 8192 bits has 1.6 KiB.
const MAX_SIGNATURE_BYTES: usize = 8192;
/// The only algorithm that the clients verify.
const HEADER: &str = r#"{"alg":"RS256","typ":"JWT"}"#;

/// The first two parts of the token, `header.claims`: what is signed with RSASSA-PKCS1-v1_5 and SHA-256. The signature follows after a
/// dot, in base64url without padding.
pub fn signed_text(package_hash: &str, now: EpochMs) -> String {
    let claims = serde_json::json!({ "claimVersion": "1.0.0", "contentHash": package_hash, "iat": now / SECOND });
    let encode = |text: &str| BASE64_URL_SAFE_NO_PAD.encode(text);
    format!("{}.{}", encode(HEADER), encode(&claims.to_string()))
}

/// The content of a `.codepushrelease` file: what was signed, and its signature.
pub fn signed_file(signed_text: &str, signature: &[u8]) -> String {
    format!("{signed_text}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
}

/// What a `.codepushrelease` file says. Nothing here verifies its signature, which only a device with the public key can.
#[derive(Debug, PartialEq, Eq)]
pub struct SignedHash {
    /// The hash of the package that was signed.
    pub content_hash: String,
}

/// The claims that clients read.
#[derive(Deserialize)]
struct Claims {
    #[serde(rename = "contentHash")]
    content_hash: String,
}

impl SignedHash {
    /// Reads the content of a `.codepushrelease` file; `None` if it is no such token.
    pub fn read(file: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(file)
            .ok()
            .filter(|text| text.len() <= MAX_SIGNATURE_BYTES)?;
        let mut parts = text.trim().split('.');
        let (_, claims, signature) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || signature.is_empty() {
            return None;
        }
        let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).ok()?;
        let Claims { content_hash } = serde_json::from_slice(&claims).ok()?;
        Some(Self { content_hash })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_signed_file_is_read_as_it_is_written() {
        let hash = "ab".repeat(32);
        let file = signed_file(&signed_text(&hash, 1_700_000_000_000), &[255; 256]);
        assert_eq!(
            SignedHash::read(file.as_bytes()),
            Some(SignedHash { content_hash: hash })
        );
        assert_eq!(file.split('.').count(), 3);
    }

    #[test]
    fn a_signature_names_the_hash_that_was_signed() {
        let text = signed_text("6fed", 1_700_000_000_123);
        let claims = text.split_once('.').unwrap().1;
        let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).unwrap();
        assert_eq!(
            String::from_utf8(claims).unwrap(),
            r#"{"claimVersion":"1.0.0","contentHash":"6fed","iat":1700000000}"#
        );
        let file = format!("{text}.c2ln\n");
        let content_hash = "6fed".to_owned();
        assert_eq!(SignedHash::read(file.as_bytes()), Some(SignedHash { content_hash }));
    }

    #[test]
    fn anything_else_is_no_signature() {
        let text = signed_text("6fed", 0);
        let long = format!("{text}.{}", "c".repeat(MAX_SIGNATURE_BYTES));
        for file in [
            "",
            "a",
            "a.b",
            "a.b.c",
            "..",
            &text,
            &format!("{text}."),
            &format!("{text}.a.b"),
            &long,
        ] {
            assert_eq!(SignedHash::read(file.as_bytes()), None, "{file}");
        }
        assert_eq!(SignedHash::read(b"\xff.\xff.\xff"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = SignedHash::read(&bytes);
        }
    }
}
