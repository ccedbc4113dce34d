//! Sign-in through the OpenID Connect provider: its verified address names an account, or an invitation that makes one. It
//! never makes an organization.

use std::sync::Arc;

use launchway_domain::actor::Actor;

use crate::app::App;
use crate::caller::Browser;
use crate::failure::Failure;
use crate::ops::accounts::{self, valid_email};
use crate::ops::proof::{NO_PASSWORD, account, proven_elsewhere};
use crate::ops::sessions::{Entered, SIGN_IN, SignedIn, entered, open_session};
use crate::ops::write::Write;

/// Lets in whose address this is: it was proven to the provider, in place of a password. An account that asks for codes does
/// so here too.
pub async fn enter(app: &Arc<App>, email: &str, browser: &Browser) -> Result<Entered, Failure> {
    let email = valid_email(email)?;
    match account(app, &email).await? {
        Some((user, hash)) => entered(app, proven_elsewhere(app, user, &hash).await?, browser).await,
        None => join(app, &email, browser).await.map(Entered::In),
    }
}

/// Takes the oldest invitation of an address, with an account that has no password.
async fn join(app: &Arc<App>, email: &str, browser: &Browser) -> Result<SignedIn, Failure> {
    const REASON: &str = "who was invited is in no tenant yet";
    let nobody = || {
        Failure::Forbidden(format!(
            "{email} has no account here and no invitation; ask an admin of your organization to invite this address"
        ))
    };
    let now = app.clock.now();
    let found = app
        .db
        .read()
        .await?
        .system(REASON)
        .invitation_by_email(email, now)
        .await?;
    let invitation = found.ok_or_else(nobody)?;
    let user = accounts::new_user(app, email);
    let mut write = Write::open(app, invitation.org_id, Actor::User(user.id), Some(&browser.origin)).await?;
    if !write.system(REASON).accept_invitation(invitation.id, now).await? {
        return Err(nobody());
    }
    accounts::insert_user(&mut write, &user, NO_PASSWORD).await?;
    accounts::join(&mut write, invitation.org_id, &user, invitation.role).await?;
    let mut system = write.system("a session belongs to a user, not to a tenant");
    let signed_in = open_session(app, &mut system, user, browser).await?;
    write
        .audit_for_user(signed_in.user.id, SIGN_IN, signed_in.session.id)
        .await?;
    write.commit().await?;
    Ok(signed_in)
}
