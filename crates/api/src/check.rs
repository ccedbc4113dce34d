//! The response to the public check (`docs/reference/updates.md#result`).
//! The server writes it by hand on its hot path; a test compares that output with this type.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::open;

/// Whether there is an update for an installed app. Fields that do not apply are absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckResult {
    /// Whether an update is available.
    pub update_available: bool,
    /// Whether a new store release is needed (incompatible native changes).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_store_update: Option<bool>,
    /// `ios`, `android` or `visionos`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<open::Platform>,
    /// Version of the update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Build number of the update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_number: Option<String>,
    /// Release notes of the update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_notes: Option<String>,
    /// Pre-signed download URL of the package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// When `url` stops being valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Why a store update is required; null when it is not.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "nullable")]
    pub compatibility_reason: Option<Option<String>>,
    /// `No update available` or `No updates found for this bundle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The update's id; only for a caller that sends `deviceId` or `currentUpdateId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// SHA-256 of the package; only for a caller that sends `deviceId` or `currentUpdateId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The size of the package in bytes; only for a caller that sends `deviceId` or `currentUpdateId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// Whether to install at once; only for a caller that sends `deviceId` or `currentUpdateId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mandatory: Option<bool>,
    /// The token for the device's reports; only for a caller that sends `deviceId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report_token: Option<String>,
    /// The versions of the app's signed metadata; only for a caller that sends `deviceId` or `currentUpdateId`, and only of an
    /// app with a root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustVersions>,
}

/// The versions of an app's signed metadata that this server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TrustVersions {
    /// The version of the root.
    pub root: u64,
    /// The version of the snapshot.
    pub snapshot: u64,
}

/// Distinguishes a null field from an absent one.
mod nullable {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(value: &Option<Option<String>>, serializer: S) -> Result<S::Ok, S::Error> {
        value.as_ref().and_then(Option::as_ref).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
        Option::deserialize(deserializer).map(Some)
    }
}
