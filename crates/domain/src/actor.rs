//! Who did something, as audit rows, events and `createdBy` fields tell it.

use std::fmt;

use crate::id::{KeyId, RunnerId, UserId};

/// The doer of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Actor {
    /// A signed-in user.
    User(UserId),
    /// An API key.
    Key(KeyId),
    /// Whoever runs the server, through its `admin` commands or its first-run link.
    Operator,
    /// A runner, about a build that it has.
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
