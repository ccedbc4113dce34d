//! The secrets with which App Store Connect signs its events. Each is derived from the id of its credential and the number
//! of its rotations, so none is stored.

use launchway_api::credentials::StoreEvents;
use launchway_app_stores::app_store::webhook::WebhookSecret;
use launchway_domain::id::CredentialId;
use launchway_domain::mac::MacKey;
use launchway_domain::time::EpochMs;
use launchway_domain::webhook::OLD_SECRET_LIFE;
use launchway_store::StoreEventsRow;
use zeroize::Zeroizing;

/// Derives the secrets.
pub struct AppStoreEventSecrets {
    key: MacKey,
}

impl AppStoreEventSecrets {
    /// Derives secrets from this key.
    pub fn new(key: [u8; 32]) -> Self {
        Self { key: MacKey::new(&key) }
    }

    /// Whether an event of a credential was signed with its secret, or with the previous one within a day of the rotation.
    pub fn verifies(&self, id: CredentialId, row: &StoreEventsRow, now: EpochMs, body: &[u8], signature: &str) -> bool {
        let is_recent = row.rotations > 0 && now - row.rotated_at < OLD_SECRET_LIFE;
        let previous = is_recent.then_some(row.rotations - 1);
        let mut valid = std::iter::once(row.rotations).chain(previous);
        valid.any(|rotations| self.of(id, rotations).verifies(body, signature))
    }

    /// What App Store Connect needs to know to send its events for a credential to this address.
    pub fn event_settings(&self, public_url: &str, id: CredentialId, rotations: i64) -> StoreEvents {
        StoreEvents {
            url: format!("{public_url}/store-events/app-store/{id}"),
            secret: self.text(id, rotations).to_string(),
        }
    }

    fn of(&self, id: CredentialId, rotations: i64) -> WebhookSecret {
        WebhookSecret::new(self.text(id, rotations))
    }

    fn text(&self, id: CredentialId, rotations: i64) -> Zeroizing<String> {
        let (uuid, count) = (id.uuid(), rotations.to_be_bytes());
        // The first secret is the one that releases without rotation gave out. A part has a fixed length.
        let parts: &[&[u8]] = match rotations {
            0 => &[uuid.as_bytes()],
            _ => &[uuid.as_bytes(), &count],
        };
        Zeroizing::new(hex::encode(self.key.of(parts)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use launchway_domain::id::OrgId;

    #[test]
    fn a_secret_belongs_to_its_credential_and_installation() {
        let (id, other) = (CredentialId::new(1, [1; 10]), CredentialId::new(1, [2; 10]));
        let secrets = AppStoreEventSecrets::new([7; 32]);
        let signature = secrets.of(id, 0).sign(b"event");
        assert!(secrets.of(id, 0).verifies(b"event", &signature));
        assert!(!secrets.of(other, 0).verifies(b"event", &signature));
        let elsewhere = AppStoreEventSecrets::new([8; 32]);
        assert!(!elsewhere.of(id, 0).verifies(b"event", &signature));
        assert_eq!(secrets.text(id, 0).len(), 64);
    }

    #[test]
    fn a_secret_is_valid_for_a_day_after_its_rotation() {
        let (id, secrets) = (CredentialId::new(1, [1; 10]), AppStoreEventSecrets::new([7; 32]));
        let row = |rotations| StoreEventsRow {
            org: OrgId::new(1, [3; 10]),
            rotations,
            rotated_at: 1_000,
        };
        for (signed, rotations, age, wanted) in [
            (0, 0, 0, true),
            (1, 0, 0, false),
            (0, 1, 0, true),
            (0, 1, OLD_SECRET_LIFE - 1, true),
            (0, 1, OLD_SECRET_LIFE, false),
            (1, 1, OLD_SECRET_LIFE, true),
            (0, 2, 0, false),
            (1, 2, 0, true),
        ] {
            let signature = secrets.of(id, signed).sign(b"event");
            let verified = secrets.verifies(id, &row(rotations), 1_000 + age, b"event", &signature);
            assert_eq!(verified, wanted, "{signed} of {rotations} after {age}");
        }
    }
}
