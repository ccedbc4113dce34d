//! Who did something, as recorded in audit rows, events and `createdBy` fields.

use std::fmt;

use crate::id::{KeyId, RunnerId, UserId};

/// The originator of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Actor {
    /// A signed-in user.
    User(UserId),
    /// An API key.
    Key(KeyId),
    /// The operator, through the `admin` commands or the first-run link.
    Operator,
    /// A runner, for a build that it has leased.
    Runner(RunnerId),
    /// The service itself, in a job.
    Service,
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Actor::User(id) => id.fmt(f),
            Actor::Key(id) => id.fmt(f),
            Actor::Runner(id) => id.fmt(f),
            Actor::Operator => f.write_str("operator"),
            Actor::Service => f.write_str("service"),
        }
    }
}
