//! The responses for lists and deletions, which every resource shares (`docs/reference/conventions.md#lists`).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::open;

/// One page of a list, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    /// The items of this page.
    pub items: Vec<T>,
    /// The total number of items.
    pub total: i64,
    /// The maximum number of items on a page, as applied (1 to 100).
    pub limit: i64,
    /// The number of items that were skipped.
    pub offset: i64,
}

/// The response to a DELETE.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Deleted {
    /// The id of the resource.
    pub id: String,
    /// `deleted`; `revoked` for an API key, a session and a runner; `changed` for a password.
    #[schema(example = "deleted")]
    pub status: open::DoneStatus,
}

/// The response to a GET that returns one resource if `id` names it, and a list otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum OneOrPage<T> {
    /// The resource.
    One(T),
    /// A page of resources.
    Page(Page<T>),
}
