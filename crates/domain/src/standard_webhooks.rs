//! Signatures of Standard Webhooks 1.0: HMAC-SHA256 over `id.timestamp.body`, and secrets as `whsec_` and base64.

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

/// Length of a secret in bytes.
pub const SECRET_BYTES: usize = 32;
/// The header with the id of the event; the same for every attempt.
pub const ID_HEADER: &str = "webhook-id";
/// The header with the time of the attempt, in epoch seconds.
pub const TIMESTAMP_HEADER: &str = "webhook-timestamp";
/// The header with the signatures.
pub const SIGNATURE_HEADER: &str = "webhook-signature";

const PREFIX: &str = "whsec_";

/// The key that signs the deliveries of a webhook. It is never printed, and it is wiped when it is dropped.
#[derive(Clone)]
pub struct Secret(Zeroizing<[u8; SECRET_BYTES]>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    /// Makes a secret of these random bytes.
    pub fn new(bytes: Zeroizing<[u8; SECRET_BYTES]>) -> Secret {
        Secret(bytes)
    }

    /// Restores a secret from [`Secret::bytes`]; `None` if the length is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Option<Secret> {
        let mut secret = Zeroizing::new([0; SECRET_BYTES]);
        if bytes.len() != SECRET_BYTES {
            return None;
        }
        secret.copy_from_slice(bytes);
        Some(Secret(secret))
    }

    /// The bytes, for sealing.
    pub fn bytes(&self) -> &[u8; SECRET_BYTES] {
        &self.0
    }

    /// The text that receivers verify with, for the only response that shows it.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", BASE64_STANDARD.encode(*self.0))
    }

    fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&*self.0).expect("HMAC takes keys of any length");
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(body);
        format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()))
    }
}

/// The value of [`SIGNATURE_HEADER`]: one signature for each secret, separated by spaces. `timestamp` is in seconds.
pub fn signatures<'s>(secrets: impl IntoIterator<Item = &'s Secret>, id: &str, timestamp: i64, body: &[u8]) -> String {
    let each: Vec<String> = secrets
        .into_iter()
        .map(|secret| secret.sign(id, timestamp, body))
        .collect();
    each.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn secret(byte: u8) -> Secret {
        Secret::new(Zeroizing::new([byte; SECRET_BYTES]))
    }

    /// Computed independently: `printf '%s' 'msg_1.1700000000.{"a":1}' | openssl dgst -sha256 -mac HMAC -macopt
    /// hexkey:0707… -binary | base64`.
    #[test]
    fn signs_as_others_do() {
        let signed = signatures([&secret(7)], "msg_1", 1_700_000_000, br#"{"a":1}"#);
        assert_eq!(signed, "v1,LInk7lWC3DLGgRP3k/Xpm933fgj/SEGrik4mpkLgnKE=");
        assert_eq!(secret(7).reveal(), "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=");
    }

    #[test]
    fn two_secrets_make_two_signatures() {
        let both = signatures([&secret(1), &secret(2)], "a", 1, b"b");
        let each = [secret(1), secret(2)].map(|secret| signatures([&secret], "a", 1, b"b"));
        assert_eq!(both, each.join(" "));
    }

    #[test]
    fn is_not_printed() {
        assert_eq!(format!("{:?}", secret(7)), "Secret(…)");
    }

    proptest! {
        #[test]
        fn every_part_is_signed(id in "[a-z]{1,5}", at in 0i64..9999, body: Vec<u8>, other_id in "[a-z]{1,5}", other_at in 0i64..9999, other_body: Vec<u8>) {
            let one = signatures([&secret(1)], &id, at, &body);
            let other = signatures([&secret(1)], &other_id, other_at, &other_body);
            prop_assert_eq!(one == other, (&id, at, &body) == (&other_id, other_at, &other_body));
            prop_assert_ne!(signatures([&secret(2)], &id, at, &body), one);
        }

        #[test]
        fn is_read_as_it_was_kept(bytes: [u8; SECRET_BYTES], cut in 0..SECRET_BYTES) {
            let secret = Secret::from_bytes(&bytes).unwrap();
            prop_assert_eq!(secret.bytes(), &bytes);
            prop_assert!(Secret::from_bytes(&bytes[..cut]).is_none());
        }
    }
}
