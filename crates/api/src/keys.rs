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
    /// The display name, 1 to 100 characters.
    #[schema(min_length = 1, max_length = 100, example = "CI")]
    pub name: String,
    /// The key's scopes: one or more of `build`, `submit`, `update`.
    #[schema(min_items = 1, example = json!(["update"]))]
    pub scopes: Vec<open::Scope>,
    /// The number of days until the key expires, 1 to 3650. Without it, the key does not expire.
    #[schema(minimum = 1, maximum = 3650)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in_days: Option<i64>,
}

/// The record of an API key. The key itself is returned only once, when it is created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApiKey)]
pub struct KeyView {
    /// `key_…`.
    pub id: String,
    /// `active`, `revoked` or `expired`.
    pub status: open::KeyStatus,
    /// The display name.
    pub name: String,
    /// The first 12 characters of the key.
    pub prefix: String,
    /// The key's scopes: `build`, `submit`, `update`; `admin` on keys that the operator created with it or an admin confirmed in the browser.
    pub scopes: Vec<open::Scope>,
    /// When it was created.
    pub created_at: String,
    /// Who created it: a user id, a key id or `operator`.
    pub created_by: String,
    /// When it was last used, rounded to the minute; null if never.
    pub last_used_at: Option<String>,
    /// When it expires; null if it does not.
    pub expires_at: Option<String>,
}

/// The response to `POST /api-keys`, the only one that carries the key.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = CreatedApiKey)]
pub struct CreatedKey {
    /// The record.
    #[serde(flatten)]
    pub record: KeyView,
    /// The key. Absent when an idempotent request is repeated.
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
