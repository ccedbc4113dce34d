//! Credentials for signing and for the app stores (`docs/reference/submissions.md#credentials`).

use std::fmt;

use launchway_domain::credential::Credential;
use launchway_domain::time::{EpochMs, iso};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::open;
use crate::secret::SecretText;

/// `POST /credentials`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateCredential {
    /// `app_store_connect_key`, `google_service_account`, `android_keystore`, `apple_certificate` or `provisioning_profile`.
    #[schema(example = "android_keystore")]
    pub kind: open::CredentialKind,
    /// The display name, 1 to 100 characters. Defaults to the name that the file contains.
    #[schema(max_length = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The file in base64: a keystore (PKCS#12 or JKS), a `.p12`, a `.p8`, a service account's JSON, a provisioning profile.
    #[schema(value_type = String, format = Byte)]
    pub content: SecretText,
    /// The password of the keystore or `.p12`.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<SecretText>,
    /// The alias of the key; required if the keystore holds several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The key's own password, if it differs from the keystore's.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_password: Option<SecretText>,
    /// The id of an App Store Connect key.
    #[schema(example = "2X9R4HXF34")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// The issuer id of an App Store Connect team key; an individual key has none.
    #[schema(example = "57246542-96fe-1a63-e053-0824d011072a")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_id: Option<String>,
    /// The app that may use it. Defaults to every app.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundle_id: Option<String>,
}

/// A credential. Its file and passwords are never returned; only builds and submissions receive them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Credential)]
pub struct CredentialView {
    /// `credential_…`.
    pub id: String,
    /// `active` or `expired`.
    pub status: open::CredentialStatus,
    /// The kind, such as `android_keystore`.
    pub kind: open::CredentialKind,
    /// The display name.
    pub name: String,
    /// The app that may use it; null for every app.
    pub bundle_id: Option<String>,
    /// SHA-256 in lower-case hex: of the certificate, of the public key if there is no certificate, or of a profile's file.
    pub fingerprint: String,
    /// Metadata read from the file, depending on the kind: alias, team, bundle ids and so on.
    #[schema(value_type = Object)]
    pub facts: Value,
    /// When it expires; null if it does not.
    pub expires_at: Option<String>,
    /// Who created it: a user id or a key id.
    pub created_by: String,
    /// When it was created.
    pub created_at: String,
}

/// A newly created credential, or one whose events got a new secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CredentialTaken {
    /// The credential.
    #[serde(flatten)]
    pub record: CredentialView,
    /// For an `app_store_connect_key`: the webhook to create in App Store Connect, so that it reports changes immediately. Shown once.
    /// Absent when an idempotent request is repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_events: Option<StoreEvents>,
}

/// A webhook to create in App Store Connect.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreEvents {
    /// The payload URL.
    pub url: String,
    /// The secret with which App Store Connect signs its requests.
    pub secret: String,
}

impl fmt::Debug for StoreEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreEvents({})", self.url)
    }
}

/// The event `credential.expiring`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CredentialExpiring {
    /// The credential.
    #[serde(flatten)]
    pub record: CredentialView,
    /// The number of days before expiry at which this notice is sent.
    pub days_left: i64,
}

impl CredentialView {
    /// The view of a credential at `now` (epoch milliseconds).
    pub fn of(credential: &Credential, now: EpochMs) -> Self {
        Self {
            id: credential.id.to_string(),
            status: credential.status(now).into(),
            kind: open::CredentialKind::of(&credential.kind),
            name: credential.name.clone(),
            bundle_id: credential.bundle_id.as_ref().map(ToString::to_string),
            fingerprint: credential.fingerprint.clone(),
            facts: credential.facts.clone(),
            expires_at: credential.expires_at.map(iso),
            created_by: credential.created_by.clone(),
            created_at: iso(credential.created_at),
        }
    }
}
