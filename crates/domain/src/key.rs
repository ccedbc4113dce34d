//! The record of an API key (`docs/reference/callers.md#key-record`). The text of a key is in [`crate::api_key`].

use crate::id::{DeviceLoginId, KeyId, OrgId};
use crate::scope::Scope;
use crate::time::EpochMs;

/// An API key as it is stored: never the key itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its id.
    pub id: KeyId,
    /// The organization it was created in, the only one it acts in (`docs/reference/callers.md#organization-of-a-key`).
    pub org_id: OrgId,
    /// Its display name.
    pub name: String,
    /// The first 12 characters of the key.
    pub prefix: String,
    /// The scopes it grants.
    pub scopes: Vec<Scope>,
    /// The actor that created it, as text.
    pub created_by: String,
    /// When it was created.
    pub created_at: EpochMs,
    /// When it expires.
    pub expires_at: Option<EpochMs>,
    /// When it was revoked.
    pub revoked_at: Option<EpochMs>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<EpochMs>,
    /// The browser sign-in that created it; `None` for any other key.
    pub device_login: Option<DeviceLoginId>,
}

words! {
    /// Whether a key works.
    KeyStatus:
    /// It can be used.
    Active = "active",
    /// Somebody revoked it.
    Revoked = "revoked",
    /// It has expired.
    Expired = "expired",
}

impl Key {
    /// The status of the key at `now`. Revoked takes precedence over expired.
    pub fn status(&self, now: EpochMs) -> KeyStatus {
        if self.revoked_at.is_some() {
            KeyStatus::Revoked
        } else if self.expires_at.is_some_and(|end| end <= now) {
            KeyStatus::Expired
        } else {
            KeyStatus::Active
        }
    }
}
