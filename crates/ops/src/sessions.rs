//! Sessions: opened and ended. What a user does with the account is recorded in the audit log of each of the user's
//! organizations.

use launchway_domain::actor::Actor;
use launchway_domain::id::{SessionId, UserId};
use launchway_domain::org::{Session, User};
use launchway_os::random::token_hash;
use launchway_store::System;

use crate::api_error::ApiError;
use crate::app::App;
use crate::audit_lines::{commit_with_audit, line};
use crate::caller::{Browser, Origin};
use crate::known_devices;
use crate::write::Write;

/// Why sessions are outside of tenants.
pub(super) const OF_NO_TENANT: &str = "a session belongs to a user, not to a tenant";

/// A signed-in browser: the session and the cookie's token.
pub struct SignedIn {
    /// The session.
    pub session: Session,
    /// Its user.
    pub user: User,
    /// The session token for the cookie.
    pub token: String,
    /// The cookie value that makes the device a known one.
    pub device: String,
}

/// Creates a session. It replaces the browser's previous one.
pub async fn open_session(
    app: &App,
    system: &mut System<'_>,
    user: User,
    browser: &Browser,
) -> Result<SignedIn, ApiError> {
    let now = app.clock.now();
    if let Some(token) = &browser.token
        && let Some(old) = system.session_by_token(&token_hash(token), now).await?
    {
        system.delete_session(old.user_id, old.id).await?;
    }
    let session = Session {
        id: app.random.id(now),
        user_id: user.id,
        user_agent: browser.agent.chars().take(200).collect(),
        address: browser.origin.address.to_string(),
        created_at: now,
        last_used_at: now,
    };
    let token = app.random.token();
    system.create_session(&session, &token_hash(&token)).await?;
    let device = known_devices::mark(app, system, &user).await?;
    Ok(SignedIn {
        session,
        user,
        token,
        device,
    })
}

/// Commits a change that ends with its user's sign-in: creates the session, and records it in the audit log.
pub(super) async fn commit_sign_in(mut write: Write<'_>, user: User, browser: &Browser) -> Result<SignedIn, ApiError> {
    let app = write.app();
    let signed_in = open_session(app, &mut write.system(OF_NO_TENANT), user, browser).await?;
    write
        .audit_for_user(signed_in.user.id, "user.sign_in", signed_in.session.id)
        .await?;
    write.commit().await?;
    Ok(signed_in)
}

/// Ends a session of a user: the current one, by signing out, or another.
pub async fn end_session(
    app: &App,
    user: UserId,
    session: SessionId,
    action: EndSession,
    origin: &Origin,
) -> Result<(), ApiError> {
    let mut tx = app.db.write().await?;
    let ended = tx.system(OF_NO_TENANT).delete_session(user, session).await?;
    if !ended {
        return Err(ApiError::NoSuch("session"));
    }
    let action = match action {
        EndSession::SignOut => "user.sign_out",
        EndSession::Revoke => "session.revoke",
    };
    let line = line(app, Actor::User(user), action, session, Some(origin));
    commit_with_audit(app, tx, user, line).await
}

/// How a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndSession {
    /// Its browser signs out.
    SignOut,
    /// The user revokes it in a list.
    Revoke,
}
