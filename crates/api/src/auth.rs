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
    /// The user's email address.
    #[schema(example = "ada@example.com")]
    pub email: String,
    /// The user's password.
    pub password: String,
    /// A code of the authenticator app, or a recovery code; required if the account uses two-factor codes.
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
    /// The owner's email address.
    pub email: String,
    /// The owner's password, at least 12 characters.
    pub password: String,
}

/// `POST /auth/invitation`: accepts an invitation.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptInvitation {
    /// The token from the link.
    pub token: String,
    /// A new password, or the current one if the email address already has an account.
    pub password: String,
    /// A code of the authenticator app, or a recovery code; required if that account uses two-factor codes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// `POST /auth/reset`: sets a new password with a link from the operator.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResetPassword {
    /// The token from the link.
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
    /// The service's environment: `production` or `development`.
    pub environment: open::ServiceEnvironment,
    /// The signed-in user; null for a key.
    pub user: Option<UserView>,
    /// The API key; null for a session.
    pub key: Option<KeyView>,
    /// The organization in which calls act unless they name another; null for a user without one.
    pub organization: Option<OrgView>,
    /// The organizations that the caller may name.
    pub organizations: Vec<OrgView>,
    /// The sizes that the server takes; absent from older servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<SizeLimits>,
}

/// The largest files that the server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SizeLimits {
    /// Bytes of the source of a build, packed.
    pub source: u64,
    /// Bytes of the package of an update.
    pub package: u64,
    /// Bytes of all files in a package together.
    pub unpacked_package: u64,
}

/// The record of a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = User)]
pub struct UserView {
    /// `user_…`.
    pub id: String,
    /// The email address that the user signs in with.
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
    /// Whether it is the session of this request.
    pub current: bool,
    /// The browser's `User-Agent`.
    pub user_agent: String,
    /// The IP address of the sign-in.
    pub address: String,
    /// When the user signed in.
    pub created_at: String,
    /// When it was last used, rounded to the minute.
    pub last_used_at: String,
    /// When it expires unless it is used before.
    pub expires_at: String,
}

impl UserView {
    /// The record of a user.
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
