//! API keys (`docs/reference/callers.md#api-keys`).

use launchway_domain::key::Key;
use launchway_domain::time::{EpochMs, iso};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::open;

/// `POST /api-keys`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateKey {
    /// What people call the key, 1 to 100 characters.
    #[schema(min_length = 1, max_length = 100, example = "CI")]
    pub name: String,
    /// What the key may do: one or more of `build`, `submit`, `update`.
    #[schema(min_items = 1, example = json!(["update"]))]
    pub scopes: Vec<open::Scope>,
    /// Days after which the key stops working, 1 to 3650; without it the key does not expire.
    #[schema(minimum = 1, maximum = 3650)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in_days: Option<i64>,
}

/// An API key as it is listed. The key itself is never shown again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApiKey)]
pub struct KeyView {
    /// `key_…`.
    pub id: String,
    /// `active`, `revoked` or `expired`.
    pub status: open::KeyStatus,
    /// What people call the key.
    pub name: String,
    /// The first 12 characters of the key.
    pub prefix: String,
    /// What the key may do: `build`, `submit`, `update`; `admin` on keys that the operator made so.
    pub scopes: Vec<open::Scope>,
    /// When it was made.
    pub created_at: String,
    /// Who made it: a user id, a key id or `operator`.
    pub created_by: String,
    /// When it was last used, to the minute; null when never.
    pub last_used_at: Option<String>,
    /// When it stops working; null when it does not.
    pub expires_at: Option<String>,
}

/// The answer to `POST /api-keys`, the only one that carries the key.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = CreatedApiKey)]
pub struct CreatedKey {
    /// The record.
    #[serde(flatten)]
    pub record: KeyView,
    /// The key, shown this once. Absent when an idempotent request is answered again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl KeyView {
    /// The record of a key at `now` (epoch milliseconds).
    pub fn of(key: &Key, now: EpochMs) -> Self {
        Self {
            id: key.id.to_string(),
            status: key.status(now).into(),
            name: key.name.clone(),
            prefix: key.prefix.clone(),
            scopes: key.scopes.iter().copied().map(open::Scope::from).collect(),
            created_at: iso(key.created_at),
            created_by: key.created_by.clone(),
            last_used_at: key.last_used_at.map(iso),
            expires_at: key.expires_at.map(iso),
        }
    }
}
