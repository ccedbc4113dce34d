//! Who asks, and in which organization.

use std::net::IpAddr;

use launchway_domain::actor::Actor;
use launchway_domain::build::Runner;
use launchway_domain::id::OrgId;
use launchway_domain::key::Key;
use launchway_domain::org::{Org, Session, User};
use launchway_domain::tenancy::Role;
use launchway_domain::time::EpochMs;
use launchway_store::Tx;

use crate::api_error::ApiError;

/// What a user without an organization is told.
pub const NO_ORGANIZATION: &str = "You are not a member of any organization; ask to be invited to one";

/// What a caller is told whose membership ended after the request was admitted.
pub const NOT_A_MEMBER: &str = "You are not a member of this organization any more; ask one of its admins";
/// What a caller is told whose role became a lesser one after the request was admitted.
pub const LESSER_ROLE: &str = "Your role in this organization has changed; try again with the role that you have now";

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
    /// The users whom it claims to have signed in before, each with the proof.
    pub devices: Vec<(String, String)>,
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
    pub fn home(&self) -> Result<OrgId, ApiError> {
        self.org
            .as_ref()
            .map(|org| org.id)
            .ok_or_else(|| ApiError::Forbidden(NO_ORGANIZATION.to_owned()))
    }

    /// Asks again whether the caller is let in: for what goes on after its request was admitted.
    ///
    /// # Errors
    /// The key, the session or the membership is over, or the role became a lesser one.
    async fn recheck(&self, tx: &mut Tx, now: EpochMs) -> Result<(), ApiError> {
        let mut org = tx.org(self.home()?);
        match &self.who {
            Who::Key { key, .. } => works(org.key_works(key.id, now).await?),
            Who::Session { session, .. } => self.reaches(org.session_role(session.id, now).await?),
        }
    }

    /// Whether the caller is still let in: for streams, which end when it is not.
    pub async fn is_let_in(&self, tx: &mut Tx, now: EpochMs) -> Result<bool, ApiError> {
        match self.recheck(tx, now).await {
            Ok(()) => Ok(true),
            Err(ApiError::InvalidKey | ApiError::Forbidden(_)) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// The same for a change: what the caller is let in by does not end before the change is durable.
    pub async fn hold(&self, tx: &mut Tx, now: EpochMs) -> Result<(), ApiError> {
        let mut org = tx.org(self.home()?);
        match &self.who {
            Who::Key { key, .. } => works(org.hold_key(key.id, now).await?),
            Who::Session { session, .. } => self.reaches(org.hold_session(session.id, now).await?),
        }
    }

    /// Whether a role is at least the one that the request was admitted with.
    fn reaches(&self, role: Option<Role>) -> Result<(), ApiError> {
        match role {
            None => Err(ApiError::Forbidden(NOT_A_MEMBER.to_owned())),
            Some(role) if Some(role) < self.role => Err(ApiError::Forbidden(LESSER_ROLE.to_owned())),
            Some(_) => Ok(()),
        }
    }
}

fn works(key_works: bool) -> Result<(), ApiError> {
    key_works.then_some(()).ok_or(ApiError::InvalidKey)
}

/// An admitted runner.
#[derive(Clone, Debug)]
pub struct RunnerCaller {
    /// Its record.
    pub runner: Runner,
    /// Where the call came from.
    pub origin: Origin,
}
