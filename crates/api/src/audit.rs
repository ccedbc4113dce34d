//! The audit log: who did what, when, from where, on which resource.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// An entry of the audit log. It contains no secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditLine)]
pub struct AuditView {
    /// The entry's number in the organization's log, from 1.
    pub seq: i64,
    /// When it happened.
    pub at: String,
    /// Who did it: a user id, a key id, `operator` or `service`.
    #[schema(example = "user_01h455vb4pex5vsknk084sn02q")]
    pub actor: String,
    /// The action.
    #[schema(example = "key.revoke")]
    pub action: String,
    /// The resource: its id, or its name where it has no id.
    pub resource: String,
    /// The resource before the change; null if it was created.
    #[schema(value_type = Option<Object>)]
    pub before: Option<Value>,
    /// The resource after the change; null if it was removed.
    #[schema(value_type = Option<Object>)]
    pub after: Option<Value>,
    /// The client's IP address; null if the action did not come over the network.
    pub address: Option<String>,
    /// The `X-Request-Id` of the request; null without a request.
    pub request_id: Option<String>,
    /// The hash that chains this entry to the previous one.
    pub hash: String,
}
