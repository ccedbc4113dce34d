//! What people call the things whose ids other responses contain (`docs/reference/conventions.md#names-beside-ids`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The largest number of ids in one request.
pub const MAX_IDS: usize = 100;

/// `GET /names?ids=`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Names {
    /// The names by id: the e-mail address of a member, the name of an API key, a runner or a credential. An id that
    /// names nothing of the organization is missing.
    #[schema(example = json!({"user_01h455vb4pex5vsknk084sn02q": "ada@example.com"}))]
    pub names: BTreeMap<String, String>,
}
