//! Who makes a request, and in which organization.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use launchway_domain::actor::Actor;
use launchway_domain::build::Runner;
use launchway_domain::id::{KeyId, OrgId, UserId};
use launchway_domain::key::Key;
use launchway_domain::org::{Org, Session, User};
use launchway_domain::tenancy::Role;
use launchway_domain::time::EpochMs;
use launchway_store::Tx;

use crate::api_error::ApiError;

/// The message for a user without an organization.
pub const NO_ORGANIZATION: &str = "You are not a member of an organization. Ask an admin for an invitation.";

/// The message for a caller whose membership ended after the request was admitted.
pub const NOT_A_MEMBER: &str = "You are no longer a member of this organization. Ask one of its admins.";
/// The message for a caller whose role was lowered after the request was admitted.
pub const LESSER_ROLE: &str = "Your role in this organization has changed. Try again with your current role.";

/// How a caller is authenticated.
#[derive(Clone, Debug)]
pub enum Who {
    /// An API key.
    Key {
        /// The key.
        key: Key,
        /// The organization that it acts in.
        org: Org,
        /// For a key of a browser sign-in, the role of the user who approved it, which limits the key.
        role: Option<Role>,
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

/// An admitted caller: authenticated, within its rate limit, and allowed by scope or role.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The authentication.
    pub who: Who,
    /// The organization that the call acts in; `None` only for a user without organizations.
    pub org: Option<Org>,
    /// The caller's role there; `None` for a key that is in nobody's name.
    pub role: Option<Role>,
    /// The origin of the call.
    pub origin: Origin,
}

/// The origin of a request.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The client's address as reported by trusted proxies.
    pub address: IpAddr,
    /// The request's id.
    pub request_id: String,
}

/// A browser, or a similar program, that asks to be signed in.
#[derive(Clone, Debug)]
pub struct Browser {
    /// Its `User-Agent`.
    pub agent: String,
    /// The session token in its cookie, valid or not.
    pub token: Option<String>,
    /// The users that it claims to have signed in before, each with its proof.
    pub devices: Vec<(String, String)>,
    /// The origin of its request.
    pub origin: Origin,
}

impl Caller {
    /// The actor for audit rows and `createdBy`.
    pub fn actor(&self) -> Actor {
        match &self.who {
            Who::Key { key, .. } => Actor::Key(key.id),
            Who::Session { user, .. } => Actor::User(user.id),
        }
    }

    /// The member whose role limits the caller; `None` for a key that is in nobody's name.
    pub fn user(&self) -> Option<UserId> {
        match &self.who {
            Who::Key { role: None, .. } => None,
            Who::Key { key, .. } => key.created_by.parse().ok(),
            Who::Session { user, .. } => Some(user.id),
        }
    }

    /// The key of the caller.
    pub fn key(&self) -> Option<KeyId> {
        match &self.who {
            Who::Key { key, .. } => Some(key.id),
            Who::Session { .. } => None,
        }
    }

    /// The organization that the call acts in. Admission rejects users without one wherever an endpoint needs it.
    pub fn org_id(&self) -> Result<OrgId, ApiError> {
        self.org
            .as_ref()
            .map(|org| org.id)
            .ok_or_else(|| ApiError::Forbidden(NO_ORGANIZATION.to_owned()))
    }

    /// Repeats the admission check, for work that continues after the request was admitted.
    ///
    /// # Errors
    /// The key, the session or the membership has ended, or the role was lowered.
    async fn recheck(&self, tx: &mut Tx, now: EpochMs) -> Result<(), ApiError> {
        let mut org = tx.org(self.org_id()?);
        match &self.who {
            Who::Key { key, role: None, .. } => works(org.is_active_key(key.id, now).await?),
            Who::Key { key, .. } => works(org.browser_key_role(key.id, now).await? >= self.role),
            Who::Session { session, .. } => self.reaches(org.session_role(session.id, now).await?),
        }
    }

    /// Whether the caller is still admitted. Streams end when it is not.
    pub async fn is_let_in(&self, tx: &mut Tx, now: EpochMs) -> Result<bool, ApiError> {
        match self.recheck(tx, now).await {
            Ok(()) => Ok(true),
            Err(ApiError::InvalidKey | ApiError::Forbidden(_)) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Repeats the admission check for a change, and locks what admits the caller until the change is durable.
    pub async fn hold(&self, tx: &mut Tx, now: EpochMs) -> Result<(), ApiError> {
        self.hold_role(tx, now).await?;
        self.hold_key(tx, now).await
    }

    /// The part of [`Caller::hold`] that concerns sessions and members. Members are locked before keys.
    pub async fn hold_role(&self, tx: &mut Tx, now: EpochMs) -> Result<(), ApiError> {
        let mut org = tx.org(self.org_id()?);
        match (&self.who, self.user()) {
            (Who::Session { session, .. }, _) => self.reaches(org.hold_session(session.id, now).await?),
            (Who::Key { .. }, Some(user)) => works(org.hold_member(user).await? >= self.role),
            (Who::Key { .. }, None) => Ok(()),
        }
    }

    /// The part of [`Caller::hold`] that concerns keys.
    pub async fn hold_key(&self, tx: &mut Tx, now: EpochMs) -> Result<(), ApiError> {
        match self.key() {
            Some(key) => works(tx.org(self.org_id()?).hold_key(key, now).await?),
            None => Ok(()),
        }
    }

    /// Checks that a role is at least the one that the request was admitted with.
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
    /// The origin of the call.
    pub origin: Origin,
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    /// The admitted caller; the route table decides which routes have one.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts
            .extensions
            .get::<Caller>()
            .cloned()
            .ok_or(ApiError::NoAuthentication)
    }
}

impl<S: Sync> FromRequestParts<S> for RunnerCaller {
    type Rejection = ApiError;

    /// The admitted runner.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let runner = parts.extensions.get::<RunnerCaller>().cloned();
        runner.ok_or(ApiError::NoAuthentication)
    }
}
