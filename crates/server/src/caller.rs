//! Who asks, and in which organization.

use std::net::IpAddr;

use launchway_domain::actor::Actor;
use launchway_domain::build::Runner;
use launchway_domain::id::OrgId;
use launchway_domain::key::Key;
use launchway_domain::org::{Org, Session, User};
use launchway_domain::tenancy::Role;

use crate::failure::Failure;

/// What a user without an organization is told.
pub const NO_ORGANIZATION: &str = "You are not a member of any organization; ask to be invited to one";

/// The proof that a caller showed.
#[derive(Clone, Debug)]
pub enum Who {
    /// An API key.
    Key {
        /// The key.
        key: Key,
        /// The organization it acts in.
        org: Org,
    },
    /// A browser session.
    Session {
        /// The session.
        session: Session,
        /// Its user.
        user: User,
        /// The user's organizations.
        memberships: Vec<(Org, Role)>,
    },
}

/// An admitted caller: authenticated, within its rate limit, allowed by scope or role.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The proof.
    pub who: Who,
    /// The organization the call acts in; `None` only for a user who is in none.
    pub org: Option<Org>,
    /// The caller's role there; `None` for a key.
    pub role: Option<Role>,
    /// Where the call came from.
    pub origin: Origin,
}

/// Where a request came from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The client's address, seen through trusted proxies.
    pub address: IpAddr,
    /// The request's id.
    pub request_id: String,
}

/// A browser, or a program like one, that asks to be signed in.
#[derive(Clone, Debug)]
pub struct Browser {
    /// What it calls itself.
    pub agent: String,
    /// The session token that its cookie carries now, living or dead.
    pub token: Option<String>,
    /// Where it is.
    pub origin: Origin,
}

impl Caller {
    /// Who did it, for audit rows and `createdBy`.
    pub fn actor(&self) -> Actor {
        match &self.who {
            Who::Key { key, .. } => Actor::Key(key.id),
            Who::Session { user, .. } => Actor::User(user.id),
        }
    }

    /// The organization the call acts in. Admission refuses users without one wherever an endpoint needs it.
    pub fn home(&self) -> Result<OrgId, Failure> {
        self.org
            .as_ref()
            .map(|org| org.id)
            .ok_or_else(|| Failure::Forbidden(NO_ORGANIZATION.to_owned()))
    }
}

/// An admitted runner.
#[derive(Clone, Debug)]
pub struct RunnerCaller {
    /// Its record.
    pub runner: Runner,
    /// Where the call came from.
    pub origin: Origin,
}
