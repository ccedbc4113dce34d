//! Signing in: by password, by password and code, or by what the provider has verified.

use std::sync::Arc;

use launchway_domain::actor::Actor;
use launchway_domain::org::User;

use crate::accounts::join_new;
use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::Browser;
use crate::proof::{AuthenticatedUser, Authentication, FirstStep, NO_PASSWORD, first_step, prove, second_step};
use crate::sessions::{OF_NO_TENANT, SignedIn, commit_sign_in};
use crate::write::Write;

const REASON: &str = "who was invited is not in the tenant yet";

/// What an account lost when the provider first verified its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevokedAccess {
    /// The names of the valid keys that the account had created.
    pub keys: Vec<String>,
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
    let tx = app.db.write().await?;
    let mut write = Write::of_account(app, tx, known.user.id, Some(&browser.origin));
    known.hold(&mut write.system(OF_NO_TENANT)).await?;
    commit_sign_in(write, known.user, browser).await
}

/// Accepts all pending invitations of a user without a password: only the provider signs such a user in, and a link
/// cannot. A user with a password accepts invitations by their links and the password, because somebody else may have
/// created an account with that address before.
async fn take_invitations(app: &App, user: &User, browser: &Browser) -> Result<(), ApiError> {
    loop {
        let now = app.clock.now();
        let mut tx = app.db.read().await?;
        let found = tx.system(REASON).invitation_by_email(&user.email, now).await?;
        drop(tx);
        let Some(invitation) = found else { return Ok(()) };
        let mut write = Write::open(app, invitation.org_id, Actor::User(user.id), Some(&browser.origin)).await?;
        // Not accepted: it was withdrawn meanwhile.
        if write.system(REASON).accept_invitation(invitation.id, now).await? {
            join_new(&mut write, invitation.org_id, user, invitation.role).await?;
        }
        write.commit().await?;
    }
}
