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
    /// What people call it, 1 to 100 characters; the file's own name for itself when absent.
    #[schema(max_length = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The file in base64: a keystore (PKCS#12 or JKS), a `.p12`, a `.p8`, a service account's JSON, a provisioning profile.
    #[schema(value_type = String, format = Byte)]
    pub content: SecretText,
    /// Opens the keystore or the `.p12`.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<SecretText>,
    /// Names the key in a keystore that holds several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// Opens the key in a keystore, where its password is another one.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_password: Option<SecretText>,
    /// The id of an App Store Connect key.
    #[schema(example = "2X9R4HXF34")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// The issuer of a team's App Store Connect key; an individual key has none.
    #[schema(example = "57246542-96fe-1a63-e053-0824d011072a")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_id: Option<String>,
    /// The app it is for; every app when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundle_id: Option<String>,
}

/// A credential. Its file and passwords are never shown again; builds and submissions get them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Credential)]
pub struct CredentialView {
    /// `credential_…`.
    pub id: String,
    /// `active` or `expired`.
    pub status: open::CredentialStatus,
    /// Such as `android_keystore`.
    pub kind: open::CredentialKind,
    /// What people call it.
    pub name: String,
    /// The app it is for; null for every app.
    pub bundle_id: Option<String>,
    /// Lower-case hex SHA-256 of the certificate, of the public key where there is none, or of a profile's file.
    pub fingerprint: String,
    /// What was read from the file: alias, team, bundle ids and so on, by kind.
    #[schema(value_type = Object)]
    pub facts: Value,
    /// When it ends; null when it does not.
    pub expires_at: Option<String>,
    /// Who gave it.
    pub created_by: String,
    /// When.
    pub created_at: String,
}

/// A credential that was just taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CredentialTaken {
    /// The credential.
    #[serde(flatten)]
    pub record: CredentialView,
    /// Of an `app_store_connect_key`: what to tell App Store Connect so that it tells of changes at once, shown this once.
    /// Absent when an idempotent request is answered again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_events: Option<StoreEvents>,
}

/// A webhook to be made in App Store Connect.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreEvents {
    /// The payload URL.
    pub url: String,
    /// The secret that it signs with.
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
    /// Which notice this is: the days before the end at which it is given.
    pub days_left: i64,
}

impl CredentialView {
    /// A credential as it stands at `now` (epoch milliseconds).
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
