//! The token with which a device reports the result of an update: HMAC-SHA256 over bundle, device, update and expiry.
//! Also the number under which a reporting device is counted.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use launchway_domain::id::UpdateId;
use launchway_domain::mac::{MacKey, SHORT};
use launchway_domain::report::DeviceEventKind;
use launchway_domain::time::{DAY, EpochMs, SECOND};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// How long after the check a device may report with its token.
const LIFE: EpochMs = 30 * DAY;
const EXPIRY: usize = 8;
const DEVICE: usize = 8;
const UPDATE: usize = 16;
const CLAIM: usize = EXPIRY + DEVICE + UPDATE;
/// The length of a token as text: base64 has four digits for three bytes, and no padding here.
const TEXT: usize = (CLAIM + SHORT) * 4 / 3;

/// No token starts like this: as an expiry, it would be millions of years away.
const COUNTED_BY: &[u8] = b"counted by 1";

/// Signs and verifies report tokens. All nodes of a database have the same key, even after a rotation of the master
/// key.
pub struct ReportTokens {
    key: MacKey,
}

/// The contents of a valid token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportClaim {
    /// The update that the check offered.
    pub update_id: UpdateId,
    /// 64 bits of an unkeyed hash of the device's id. Anybody can compute it, so it must not be used for sampling.
    pub unkeyed: i64,
}

impl ReportTokens {
    /// Signs and verifies with this key.
    pub fn new(key: [u8; 32]) -> Self {
        Self { key: MacKey::new(&key) }
    }

    /// Appends the token for a device that was offered an update of a bundle, as text.
    pub fn sign(&self, out: &mut Vec<u8>, bundle_id: &str, update_id: UpdateId, device_id: &str, now: EpochMs) {
        let mut token = [0; CLAIM + SHORT];
        token[..EXPIRY].copy_from_slice(&((now + LIFE) / SECOND).to_be_bytes());
        token[EXPIRY..EXPIRY + DEVICE].copy_from_slice(&Sha256::digest(device_id.as_bytes())[..DEVICE]);
        token[EXPIRY + DEVICE..CLAIM].copy_from_slice(update_id.uuid().as_bytes());
        let mac = self.mac_of(bundle_id, &token[..CLAIM]);
        token[CLAIM..].copy_from_slice(&mac);
        let mut text = [0; TEXT];
        // Its length is that of the encoded token.
        let _ = BASE64_URL_SAFE_NO_PAD.encode_slice(token, &mut text);
        out.extend_from_slice(&text);
    }

    /// What a report says of a device without a token: of a client of another service.
    pub fn claim(&self, update_id: UpdateId, device_id: &str) -> ReportClaim {
        let mut unkeyed = [0; DEVICE];
        unkeyed.copy_from_slice(&Sha256::digest(device_id.as_bytes())[..DEVICE]);
        ReportClaim {
            update_id,
            unkeyed: i64::from_be_bytes(unkeyed),
        }
    }

    /// The contents of a token for this bundle; `None` if it is forged, for another bundle, or expired.
    pub fn read(&self, bundle_id: &str, token: &str, now: EpochMs) -> Option<ReportClaim> {
        let bytes: [u8; CLAIM + SHORT] = BASE64_URL_SAFE_NO_PAD.decode(token).ok()?.try_into().ok()?;
        let (claim, mac) = bytes.split_at(CLAIM);
        if !bool::from(self.mac_of(bundle_id, claim).ct_eq(mac)) {
            return None;
        }
        let expires = i64::from_be_bytes(claim[..EXPIRY].try_into().ok()?);
        let unkeyed = i64::from_be_bytes(claim[EXPIRY..EXPIRY + DEVICE].try_into().ok()?);
        let update: [u8; UPDATE] = claim[EXPIRY + DEVICE..].try_into().ok()?;
        let update_id = UpdateId::from_uuid(uuid::Uuid::from_bytes(update));
        (expires > now / SECOND).then_some(ReportClaim { update_id, unkeyed })
    }

    /// 64 bits under which a device is counted for one kind of report of one update. The caller chooses the device's
    /// id, and of many devices only a sample by these bits is stored. So the bits are keyed: nobody can search for ids
    /// that are all in the sample, and an id that is in one sample reveals nothing about another.
    pub fn device(&self, claim: &ReportClaim, kind: impl Into<DeviceEventKind>) -> i64 {
        let kind: DeviceEventKind = kind.into();
        let (update, unkeyed) = (claim.update_id.uuid(), claim.unkeyed.to_be_bytes());
        let mac = self
            .key
            .short(&[COUNTED_BY, update.as_bytes(), &unkeyed, kind.as_str().as_bytes()]);
        let [a, b, c, d, e, f, g, h, ..] = mac;
        i64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    fn mac_of(&self, bundle_id: &str, claim: &[u8]) -> [u8; SHORT] {
        let has_upper = bundle_id.bytes().any(|byte| byte.is_ascii_uppercase());
        let bundle_id = match has_upper {
            true => Cow::Owned(bundle_id.to_ascii_lowercase()),
            false => Cow::Borrowed(bundle_id),
        };
        self.key.short(&[claim, bundle_id.as_bytes()])
    }
}

#[cfg(test)]
mod tests {
    use launchway_domain::report::ReportKind;

    use super::*;

    fn sign(tokens: &ReportTokens, bundle_id: &str, update: UpdateId, device: &str) -> String {
        let mut token = Vec::new();
        tokens.sign(&mut token, bundle_id, update, device, 0);
        String::from_utf8(token).expect("ASCII")
    }

    #[test]
    fn a_token_is_for_its_bundle_and_time() {
        let tokens = ReportTokens::new([7; 32]);
        let update = UpdateId::new(1, [1; 10]);
        let token = sign(&tokens, "com.example.App", update, "device-1");
        let claim = tokens.read("com.example.app", &token, 0).expect("valid");
        assert_eq!(claim.update_id, update);
        assert_eq!(tokens.read("com.example.other", &token, 0), None);
        assert_eq!(tokens.read("com.example.app", &token, LIFE), None);
        assert_eq!(ReportTokens::new([8; 32]).read("com.example.app", &token, 0), None);
        assert_ne!(
            tokens.read(
                "com.example.app",
                &sign(&tokens, "com.example.app", update, "device-2"),
                0
            ),
            Some(claim)
        );
    }

    /// The attack: device ids whose plain hashes end in so many zero bits that a sample would include all of them.
    #[test]
    fn ids_that_were_searched_for_are_sampled_like_any_others() {
        const SAMPLE: i64 = 0x3f;
        let (tokens, update) = (ReportTokens::new([7; 32]), UpdateId::new(1, [1; 10]));
        let claim_of = |device: &str| {
            let token = sign(&tokens, "com.example.app", update, device);
            tokens.read("com.example.app", &token, 0).expect("valid")
        };
        let found: Vec<ReportClaim> = (0..)
            .map(|number| claim_of(&format!("device-{number}")))
            .filter(|claim| claim.unkeyed & SAMPLE == 0)
            .take(100)
            .collect();
        let other = UpdateId::new(2, [1; 10]);
        for (update_id, kind) in [
            (update, ReportKind::Installed),
            (update, ReportKind::Failed),
            (other, ReportKind::Installed),
        ] {
            let of = |claim: &ReportClaim| tokens.device(&ReportClaim { update_id, ..*claim }, kind);
            let sampled = found.iter().filter(|claim| of(claim) & SAMPLE == 0).count();
            assert!(sampled < 10, "{sampled} of {} for {kind:?} of {update_id}", found.len());
        }
    }

    #[test]
    fn a_device_has_its_own_number_for_each_update_and_kind() {
        let (update, other) = (UpdateId::new(1, [1; 10]), UpdateId::new(2, [1; 10]));
        let claim = |update_id, unkeyed| ReportClaim { update_id, unkeyed };
        let mut numbers = std::collections::BTreeSet::new();
        let mut groups = 0;
        for key in [[7; 32], [8; 32]] {
            let (node, beside) = (ReportTokens::new(key), ReportTokens::new(key));
            for update in [update, other] {
                for kind in DeviceEventKind::ALL {
                    for device in [1, 2] {
                        let number = node.device(&claim(update, device), kind);
                        assert_eq!(number, beside.device(&claim(update, device), kind));
                        numbers.insert(number);
                        groups += 1;
                    }
                }
            }
        }
        assert_eq!(numbers.len(), groups);
    }

    #[test]
    fn every_changed_character_breaks_it() {
        let tokens = ReportTokens::new([7; 32]);
        let token = sign(&tokens, "com.example.app", UpdateId::new(1, [1; 10]), "device-1");
        for place in 0..token.len() {
            let mut forged = token.clone().into_bytes();
            forged[place] = if forged[place] == b'A' { b'B' } else { b'A' };
            let forged = String::from_utf8(forged).expect("ASCII");
            assert_eq!(tokens.read("com.example.app", &forged, 0), None, "{place}");
        }
    }
}
