//! Sessions: signing in and out. What a user does with the account stands in the audit log of each of the user's
//! organizations.

use std::sync::Arc;

use launchway_domain::actor::Actor;
use launchway_domain::id::{SessionId, UserId};
use launchway_domain::org::{Session, User, normal_email};
use launchway_store::{AuditRow, System, Tx};

use crate::app::App;
use crate::caller::{Browser, Origin};
use crate::failure::Failure;
use crate::http::limits::client_name;
use crate::ops::audit_lines::AuditLines;
use crate::random::token_hash;

/// The audit log's name of a sign-in.
pub const SIGN_IN: &str = "user.sign_in";
/// Failed sign-ins a minute for one account, and for one client address.
const FAILURES_PER_ACCOUNT: u32 = 5;
const FAILURES_PER_ADDRESS: u32 = 20;
const WRONG_PASSWORD: &str = "The address or the password is wrong";

/// A signed-in browser: the session and the cookie's token.
pub struct SignedIn {
    /// The session.
    pub session: Session,
    /// Its user.
    pub user: User,
    /// What the cookie carries.
    pub token: String,
}

/// Checks address and password and makes a session.
pub async fn sign_in(app: &Arc<App>, email: &str, password: &str, browser: &Browser) -> Result<SignedIn, Failure> {
    let user = prove(app, email, password, browser).await?;
    let mut tx = app.db.write().await?;
    let mut system = tx.system("a session belongs to a user, not to a tenant");
    let signed_in = open_session(app, &mut system, user, browser).await?;
    let (user, session) = (signed_in.user.id, signed_in.session.id);
    let line = line(app, Actor::User(user), SIGN_IN, session, Some(&browser.origin));
    commit_told(app, tx, user, line).await?;
    Ok(signed_in)
}

/// A line about an account, without anything that proves who somebody is.
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
pub async fn commit_told(app: &App, mut tx: Tx, user: UserId, line: AuditRow) -> Result<(), Failure> {
    let mut lines = AuditLines::default();
    lines.add_for_user(&mut tx, user, &line).await?;
    lines.write(app, &mut tx).await?;
    Ok(tx.commit().await?)
}

/// Tells of a refused sign-in. Beside the answer, so that its time does not tell that there is such an account.
fn tell_refusal(app: &Arc<App>, user: UserId, browser: &Browser) {
    let line = line(
        app,
        Actor::User(user),
        "user.refuse_sign_in",
        user,
        Some(&browser.origin),
    );
    let app = app.clone();
    tokio::spawn(async move {
        let told = match app.db.write().await {
            Ok(tx) => commit_told(&app, tx, user, line).await,
            Err(error) => Err(error.into()),
        };
        if let Err(error) = told {
            tracing::warn!(%error, "a refused sign-in could not be written to the audit log");
        }
    });
}

/// The user who has this address and password. Failures slow down per account and per client address. Each try counts
/// before the password is looked at, so that many at once are not more than one after the other; the right one is taken
/// back.
pub async fn prove(app: &Arc<App>, email: &str, password: &str, browser: &Browser) -> Result<User, Failure> {
    let email = normal_email(email).unwrap_or_default();
    let now = app.clock.now();
    let subjects = [
        (format!("account:{email}"), FAILURES_PER_ACCOUNT),
        (
            format!("address:{}", client_name(browser.origin.address)),
            FAILURES_PER_ADDRESS,
        ),
    ];
    for (subject, limit) in &subjects {
        let quota = app.calls.count(subject, *limit, now).await?;
        if quota.exceeded {
            return Err(Failure::RateLimited(quota.wait(now)));
        }
    }
    let known = account(app, &email).await?;
    let hash = known.as_ref().map(|(_, hash)| hash.as_str());
    let fits = app.passwords.verify(password, hash).await?;
    match known {
        Some((user, _)) if fits => {
            for (subject, _) in &subjects {
                app.calls.take_back(subject, now).await?;
            }
            return Ok(user);
        }
        Some((user, _)) => tell_refusal(app, user.id, browser),
        None => {}
    }
    Err(Failure::NotProven(WRONG_PASSWORD.to_owned()))
}

/// The account of an address and the hash of its password.
pub async fn account(app: &App, email: &str) -> Result<Option<(User, String)>, Failure> {
    let mut tx = app.db.read().await?;
    Ok(tx.system("nobody is signed in yet").user_by_email(email).await?)
}

/// Makes a session. The one that the browser had ends: its cookie is replaced.
pub async fn open_session(
    app: &App,
    system: &mut System<'_>,
    user: User,
    browser: &Browser,
) -> Result<SignedIn, Failure> {
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
    Ok(SignedIn { session, user, token })
}

/// Ends a session of a user: the one that asks, by signing out, or another.
pub async fn end_session(
    app: &App,
    user: UserId,
    session: SessionId,
    action: EndSession,
    origin: &Origin,
) -> Result<(), Failure> {
    let mut tx = app.db.write().await?;
    let ended = tx
        .system("a session belongs to a user, not to a tenant")
        .delete_session(user, session)
        .await?;
    if !ended {
        return Err(Failure::NoSuch("session"));
    }
    let action = match action {
        EndSession::SignOut => "user.sign_out",
        EndSession::Revoke => "session.revoke",
    };
    let line = line(app, Actor::User(user), action, session, Some(origin));
    commit_told(app, tx, user, line).await
}

/// How a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndSession {
    /// Its browser signs out.
    SignOut,
    /// The user ends it from a list.
    Revoke,
}
