//! The secrets with which App Store Connect signs its events. Each is derived from the id of its credential, so none is
//! stored, and looking one up needs no database.

use launchway_api::credentials::StoreEvents;
use launchway_app_stores::app_store::webhook::WebhookSecret;
use launchway_domain::id::CredentialId;
use launchway_domain::mac::MacKey;
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

    /// The secret for events of a credential.
    pub fn of(&self, id: CredentialId) -> WebhookSecret {
        WebhookSecret::new(self.text(id))
    }

    /// What App Store Connect needs to know to send its events for a credential to this address.
    pub fn event_settings(&self, public_url: &str, id: CredentialId) -> StoreEvents {
        StoreEvents {
            url: format!("{public_url}/store-events/app-store/{id}"),
            secret: self.text(id).to_string(),
        }
    }

    fn text(&self, id: CredentialId) -> Zeroizing<String> {
        Zeroizing::new(hex::encode(self.key.of(&[id.uuid().as_bytes()])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_belongs_to_its_credential_and_installation() {
        let (id, other) = (CredentialId::new(1, [1; 10]), CredentialId::new(1, [2; 10]));
        let secrets = AppStoreEventSecrets::new([7; 32]);
        let signature = secrets.of(id).sign(b"event");
        assert!(secrets.of(id).verifies(b"event", &signature));
        assert!(!secrets.of(other).verifies(b"event", &signature));
        assert!(!AppStoreEventSecrets::new([8; 32]).of(id).verifies(b"event", &signature));
        assert_eq!(secrets.text(id).len(), 64);
    }
}
