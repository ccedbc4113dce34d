//! The token by which a device reports what became of an update: HMAC-SHA256 over bundle, device, update and expiry.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use launchway_domain::id::UpdateId;
use launchway_domain::time::{DAY, EpochMs, SECOND};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::mac::{MacKey, SHORT};

/// A device may report so long after the check that gave the token.
const LIFE: EpochMs = 30 * DAY;
const EXPIRY: usize = 8;
const DEVICE: usize = 8;
const UPDATE: usize = 16;
const CLAIM: usize = EXPIRY + DEVICE + UPDATE;

/// Signs and reads report tokens.
pub struct ReportTokens {
    key: MacKey,
}

/// What a valid token says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportClaim {
    /// The update that the check offered.
    pub update_id: UpdateId,
    /// 64 bits of a hash of the device's id: enough to count each device once.
    pub device: i64,
}

impl ReportTokens {
    /// Tokens under this key.
    pub fn new(key: [u8; 32]) -> Self {
        Self { key: MacKey::new(&key) }
    }

    /// The token for a device that was offered an update of a bundle.
    pub fn sign(&self, bundle_id: &str, update_id: UpdateId, device_id: &str, now: EpochMs) -> String {
        let mut token = [0; CLAIM + SHORT];
        token[..EXPIRY].copy_from_slice(&((now + LIFE) / SECOND).to_be_bytes());
        token[EXPIRY..EXPIRY + DEVICE].copy_from_slice(&Sha256::digest(device_id.as_bytes())[..DEVICE]);
        token[EXPIRY + DEVICE..CLAIM].copy_from_slice(update_id.uuid().as_bytes());
        let mac = self.mac_of(bundle_id, &token[..CLAIM]);
        token[CLAIM..].copy_from_slice(&mac);
        BASE64_URL_SAFE_NO_PAD.encode(token)
    }

    /// What a token says of this bundle; `None` when it is forged, of another bundle, or too old.
    pub fn read(&self, bundle_id: &str, token: &str, now: EpochMs) -> Option<ReportClaim> {
        let bytes: [u8; CLAIM + SHORT] = BASE64_URL_SAFE_NO_PAD.decode(token).ok()?.try_into().ok()?;
        let (claim, mac) = bytes.split_at(CLAIM);
        if !bool::from(self.mac_of(bundle_id, claim).ct_eq(mac)) {
            return None;
        }
        let expires = i64::from_be_bytes(claim[..EXPIRY].try_into().ok()?);
        let device = i64::from_be_bytes(claim[EXPIRY..EXPIRY + DEVICE].try_into().ok()?);
        let update: [u8; UPDATE] = claim[EXPIRY + DEVICE..].try_into().ok()?;
        let update_id = UpdateId::from_uuid(uuid::Uuid::from_bytes(update));
        (expires > now / SECOND).then_some(ReportClaim { update_id, device })
    }

    fn mac_of(&self, bundle_id: &str, claim: &[u8]) -> [u8; SHORT] {
        self.key.short(&[claim, bundle_id.to_ascii_lowercase().as_bytes()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_for_its_bundle_and_time() {
        let tokens = ReportTokens::new([7; 32]);
        let update = UpdateId::new(1, [1; 10]);
        let token = tokens.sign("com.example.App", update, "device-1", 0);
        let claim = tokens.read("com.example.app", &token, 0).expect("valid");
        assert_eq!(claim.update_id, update);
        assert_eq!(tokens.read("com.example.other", &token, 0), None);
        assert_eq!(tokens.read("com.example.app", &token, LIFE), None);
        assert_eq!(ReportTokens::new([8; 32]).read("com.example.app", &token, 0), None);
        assert_ne!(
            tokens.read(
                "com.example.app",
                &tokens.sign("com.example.app", update, "device-2", 0),
                0
            ),
            Some(claim)
        );
    }

    #[test]
    fn every_changed_character_breaks_it() {
        let tokens = ReportTokens::new([7; 32]);
        let token = tokens.sign("com.example.app", UpdateId::new(1, [1; 10]), "device-1", 0);
        for place in 0..token.len() {
            let mut forged = token.clone().into_bytes();
            forged[place] = if forged[place] == b'A' { b'B' } else { b'A' };
            let forged = String::from_utf8(forged).expect("ASCII");
            assert_eq!(tokens.read("com.example.app", &forged, 0), None, "{place}");
        }
    }
}
