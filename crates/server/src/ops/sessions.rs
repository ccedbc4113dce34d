//! Sessions: signing in and out. What a user does with the account is recorded in the audit log of each of the user's
//! organizations.

use std::sync::Arc;

use launchway_domain::actor::Actor;
use launchway_domain::id::{SessionId, UserId};
use launchway_domain::org::{Session, User};
use launchway_os::random::token_hash;
use launchway_store::{AuditRow, System, Tx};

use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::{Browser, Origin};
use crate::ops::audit_lines::AuditLines;
use crate::ops::known_devices;
use crate::ops::proof::{AuthenticatedUser, Authentication, FirstStep, NO_PASSWORD, first_step, prove, second_step};
use crate::ops::provider_sign_in::{RevokedAccess, take_invitations};

/// The audit action of a sign-in.
pub const SIGN_IN: &str = "user.sign_in";

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

/// Authenticates by address, password and, if the account requires one, code, and creates a session.
pub async fn sign_in(
    app: &Arc<App>,
    email: &str,
    password: &str,
    code: Option<&str>,
    browser: &Browser,
) -> Result<SignedIn, ApiError> {
    let known = prove(app, email, password, code, browser).await?;
    sign_in_user(app, known, browser).await
}

/// The result of the first step of a page's sign-in.
pub enum SignInOutcome {
    /// The browser is signed in.
    In(SignedIn),
    /// The browser is signed in to an account that somebody else may have created: its previous access was dropped.
    Claimed(SignedIn, RevokedAccess),
    /// The account requires a code.
    NeedsCode(FirstStep),
}

/// The first step of a page's sign-in: address and password.
pub async fn start_sign_in(
    app: &Arc<App>,
    email: &str,
    password: &str,
    browser: &Browser,
) -> Result<SignInOutcome, ApiError> {
    let proven = first_step(app, email, password, browser).await?;
    continue_sign_in(app, proven, browser).await
}

/// Signs in a user who has proven enough, or asks for the code.
pub async fn continue_sign_in(app: &App, proven: Authentication, browser: &Browser) -> Result<SignInOutcome, ApiError> {
    Ok(match proven {
        Authentication::User(known) => SignInOutcome::In(sign_in_user(app, known, browser).await?),
        Authentication::CodeNeeded(first) => SignInOutcome::NeedsCode(first),
    })
}

/// The second step: the code.
pub async fn finish_sign_in(
    app: &Arc<App>,
    first: &FirstStep,
    code: &str,
    browser: &Browser,
) -> Result<SignedIn, ApiError> {
    let known = second_step(app, first, code, browser).await?;
    sign_in_user(app, known, browser).await
}

/// Creates a session for an authenticated user. A user without a password came through the provider, which has also
/// verified the address.
pub async fn sign_in_user(app: &App, known: AuthenticatedUser, browser: &Browser) -> Result<SignedIn, ApiError> {
    if known.hash == NO_PASSWORD {
        take_invitations(app, &known.user, browser).await?;
    }
    let mut tx = app.db.write().await?;
    let mut system = tx.system("a session belongs to a user, not to a tenant");
    known.hold(&mut system).await?;
    let signed_in = open_session(app, &mut system, known.user, browser).await?;
    let (user, session) = (signed_in.user.id, signed_in.session.id);
    let line = line(app, Actor::User(user), SIGN_IN, session, Some(&browser.origin));
    commit_with_audit(app, tx, user, line).await?;
    Ok(signed_in)
}

/// An audit line about an account, without any secret.
pub fn line(app: &App, actor: Actor, action: &str, resource: impl ToString, origin: Option<&Origin>) -> AuditRow {
    AuditRow {
        at: app.clock.now(),
        actor: actor.to_string(),
        action: action.to_owned(),
        resource: resource.to_string(),
        before: None,
        after: None,
        address: origin.map(|origin| origin.address.to_string()).unwrap_or_default(),
        request_id: origin.map(|origin| origin.request_id.clone()).unwrap_or_default(),
    }
}

/// Commits a change of a user's account, with a line in the log of each of the user's organizations.
pub async fn commit_with_audit(app: &App, mut tx: Tx, user: UserId, line: AuditRow) -> Result<(), ApiError> {
    let mut lines = AuditLines::default();
    lines.add_for_user(&mut tx, user, &line).await?;
    lines.write(app, &mut tx).await?;
    Ok(tx.commit().await?)
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

/// Ends a session of a user: the current one, by signing out, or another.
pub async fn end_session(
    app: &App,
    user: UserId,
    session: SessionId,
    action: EndSession,
    origin: &Origin,
) -> Result<(), ApiError> {
    let mut tx = app.db.write().await?;
    let ended = tx
        .system("a session belongs to a user, not to a tenant")
        .delete_session(user, session)
        .await?;
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
