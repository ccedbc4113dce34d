//! Lists and deletions: the two responses that every resource shares (`docs/reference/conventions.md#lists`).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::open;

/// One page of a list, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    /// The items of this page.
    pub items: Vec<T>,
    /// How many items there are in all.
    pub total: i64,
    /// How many items a page holds at most, as served (1 to 100).
    pub limit: i64,
    /// How many items were skipped.
    pub offset: i64,
}

/// The answer to a DELETE.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Deleted {
    /// The resource that was named.
    pub id: String,
    /// `deleted`; `revoked` for an API key, a session and a runner; `changed` for a password.
    #[schema(example = "deleted")]
    pub status: open::DoneStatus,
}

/// The answer to a GET that reads one resource where `id` names it, and lists otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum OneOrPage<T> {
    /// The resource.
    One(T),
    /// A page of them.
    Page(Page<T>),
}
