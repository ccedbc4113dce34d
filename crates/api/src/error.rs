//! The error body: exactly `error` and `message` (`docs/reference/conventions.md#error-body`).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The body of every error response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Error)]
pub struct ErrorBody {
    /// The reason phrase of the status, such as `Bad Request`.
    #[schema(example = "Bad Request")]
    pub error: String,
    /// What is wrong and what to do.
    #[schema(example = "id is required")]
    pub message: String,
}
