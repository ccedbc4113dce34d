//! The record of an API key (`docs/reference/callers.md#key-record`). The text of a key is in [`crate::api_key`].

use crate::id::{DeviceLoginId, KeyId, OrgId};
use crate::scope::Scope;
use crate::time::EpochMs;

/// An API key as it is kept: never the key itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its id.
    pub id: KeyId,
    /// The organization it was created in, the only one it acts in (`docs/reference/callers.md#organization-of-a-key`).
    pub org_id: OrgId,
    /// What people call it.
    pub name: String,
    /// The first 12 characters of the key.
    pub prefix: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// The actor that made it, as text.
    pub created_by: String,
    /// When it was made.
    pub created_at: EpochMs,
    /// When it stops working by itself.
    pub expires_at: Option<EpochMs>,
    /// When it was revoked.
    pub revoked_at: Option<EpochMs>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<EpochMs>,
    /// The browser sign-in that made it; `None` for a key that was made otherwise.
    pub device_login: Option<DeviceLoginId>,
}

words! {
    /// Whether a key works.
    KeyStatus, "active, revoked, expired",
    /// It works.
    Active = "active",
    /// Somebody revoked it.
    Revoked = "revoked",
    /// Its time is over.
    Expired = "expired",
}

impl Key {
    /// Whether the key works at this time. Revoked wins over expired.
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
