//! Sessions, first run, invitations and password resets (`docs/reference/callers.md#sessions`).

use launchway_domain::org::{Session, User};
use launchway_domain::time::iso;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::keys::KeyView;
use crate::open;
use crate::orgs::OrgView;
use crate::words::ActiveStatus;

/// `POST /auth/sign-in`.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// The user's address.
    #[schema(example = "ada@example.com")]
    pub email: String,
    /// The user's password.
    pub password: String,
    /// A code of the authenticator app, or a recovery code, where the account asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "287082")]
    pub code: Option<String>,
}

/// `POST /auth/setup`: the first organization and its owner.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The token of the one-time link that the server printed.
    pub token: String,
    /// The name of the organization.
    pub organization: String,
    /// The owner's address.
    pub email: String,
    /// The owner's password, at least 12 characters.
    pub password: String,
}

/// `POST /auth/invitation`: takes an invitation.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptInvitation {
    /// The token of the link.
    pub token: String,
    /// A new password, or the present one when the address has an account.
    pub password: String,
    /// A code of the authenticator app, or a recovery code, where that account asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// `POST /auth/reset`: sets a new password by a link of the operator.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResetPassword {
    /// The token of the link.
    pub token: String,
    /// The new password, at least 12 characters.
    pub password: String,
}

/// `GET /auth/session`: who is calling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Session)]
pub struct CallerView {
    /// `session_…`, or `key_…` for an API key.
    pub id: String,
    /// `active`.
    pub status: open::ActiveStatus,
    /// `session` or `apiKey`.
    pub kind: open::CallerKind,
    /// `production` or `development`: which of the two services this is.
    pub environment: open::ServiceEnvironment,
    /// The signed-in user; null for a key.
    pub user: Option<UserView>,
    /// The API key; null for a session.
    pub key: Option<KeyView>,
    /// The organization that calls act in unless they name another; null for a user without one.
    pub organization: Option<OrgView>,
    /// Every organization the caller may name.
    pub organizations: Vec<OrgView>,
}

/// A user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = User)]
pub struct UserView {
    /// `user_…`.
    pub id: String,
    /// The address the user signs in with.
    pub email: String,
}

/// A browser session of the caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BrowserSession)]
pub struct SessionView {
    /// `session_…`.
    pub id: String,
    /// `active`.
    pub status: open::ActiveStatus,
    /// Whether it is the one that asks.
    pub current: bool,
    /// What the browser calls itself.
    pub user_agent: String,
    /// The address it signed in from.
    pub address: String,
    /// When it signed in.
    pub created_at: String,
    /// When it was last used, to the minute.
    pub last_used_at: String,
    /// When it ends unless it is used before.
    pub expires_at: String,
}

impl UserView {
    /// A user.
    pub fn of(user: &User) -> Self {
        Self {
            id: user.id.to_string(),
            email: user.email.clone(),
        }
    }
}

impl SessionView {
    /// A session; `current` is whether it is the caller's own.
    pub fn of(session: &Session, current: bool) -> Self {
        Self {
            id: session.id.to_string(),
            status: ActiveStatus::Active.into(),
            current,
            user_agent: session.user_agent.clone(),
            address: session.address.clone(),
            created_at: iso(session.created_at),
            last_used_at: iso(session.last_used_at),
            expires_at: iso(session.expires_at()),
        }
    }
}
