//! The audit log: who did what, when, from where, on which resource.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A line of the audit log. It holds no secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditLine)]
pub struct AuditView {
    /// Its number in the organization's log, from 1.
    pub seq: i64,
    /// When.
    pub at: String,
    /// Who: a user id, a key id, `operator` or `service`.
    #[schema(example = "user_01h455vb4pex5vsknk084sn02q")]
    pub actor: String,
    /// What was done.
    #[schema(example = "key.revoke")]
    pub action: String,
    /// On which resource: its id, or what it goes by.
    pub resource: String,
    /// What the resource was; null when it was made.
    #[schema(value_type = Option<Object>)]
    pub before: Option<Value>,
    /// What it became; null when it was removed.
    #[schema(value_type = Option<Object>)]
    pub after: Option<Value>,
    /// The client address; null for what was not done over the network.
    pub address: Option<String>,
    /// The `X-Request-Id` of the request; null where there was none.
    pub request_id: Option<String>,
    /// Chains the line to the one before it.
    pub hash: String,
}
