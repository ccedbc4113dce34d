//! Sign-in through the OpenID Connect provider: its verified address names an account, or an invitation that makes one. It
//! never makes an organization.

use std::sync::Arc;

use launchway_domain::actor::Actor;
use launchway_domain::org::User;

use crate::app::App;
use crate::caller::Browser;
use crate::failure::Failure;
use crate::ops::accounts::{self, join_new, valid_email};
use crate::ops::proof::{NO_PASSWORD, account, proven_elsewhere};
use crate::ops::sessions::{Entered, entered, let_in};
use crate::ops::write::Write;

const REASON: &str = "who was invited is not in the tenant yet";

/// Lets in whose address this is: it was proven to the provider, in place of a password. An account that asks for codes does
/// so here too.
pub async fn enter(app: &Arc<App>, email: &str, browser: &Browser) -> Result<Entered, Failure> {
    let known = valid_email(email)?;
    // Lower case makes some letters of other scripts ASCII ones: what was verified is another address then.
    if known != email.trim().to_ascii_lowercase() {
        return Err(nobody(email));
    }
    match account(app, &known).await? {
        Some((user, hash)) => entered(app, proven_elsewhere(app, user, &hash).await?, browser).await,
        None => {
            let user = new_account(app, known, browser).await?;
            let_in(app, user, browser).await.map(Entered::In)
        }
    }
}

fn nobody(email: &str) -> Failure {
    Failure::Forbidden(format!(
        "{email} has no account here and no invitation; ask an admin of your organization to invite this address"
    ))
}

/// Makes an account that has no password, by the oldest invitation of its address.
async fn new_account(app: &App, email: String, browser: &Browser) -> Result<User, Failure> {
    let now = app.clock.now();
    let mut tx = app.db.read().await?;
    let found = tx.system(REASON).invitation_by_email(&email, now).await?;
    drop(tx);
    let invitation = found.ok_or_else(|| nobody(&email))?;
    let user = accounts::new_user(app, &email);
    let mut write = Write::open(app, invitation.org_id, Actor::User(user.id), Some(&browser.origin)).await?;
    if !write.system(REASON).accept_invitation(invitation.id, now).await? {
        return Err(nobody(&user.email));
    }
    accounts::insert_user(&mut write, &user, NO_PASSWORD).await?;
    accounts::join(&mut write, invitation.org_id, &user, invitation.role).await?;
    write.commit().await?;
    Ok(user)
}

/// Takes every invitation that waits for a user who has no password: the provider alone signs such a user in, and no link can.
/// Who has a password takes invitations by their links, with it: somebody else may have made an account of that address before.
pub(super) async fn take_invitations(app: &App, user: &User, browser: &Browser) -> Result<(), Failure> {
    loop {
        let now = app.clock.now();
        let mut tx = app.db.read().await?;
        let found = tx.system(REASON).invitation_by_email(&user.email, now).await?;
        drop(tx);
        let Some(invitation) = found else { return Ok(()) };
        let mut write = Write::open(app, invitation.org_id, Actor::User(user.id), Some(&browser.origin)).await?;
        // Not taken: it was taken back meanwhile.
        if write.system(REASON).accept_invitation(invitation.id, now).await? {
            join_new(&mut write, invitation.org_id, user, invitation.role).await?;
        }
        write.commit().await?;
    }
}
