//! Sign-in through the OpenID Connect provider: its verified address names an account, or an invitation that makes one. It
//! never makes an organization.

use std::sync::Arc;

use launchway_domain::actor::Actor;
use launchway_domain::org::User;

use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::Browser;
use crate::ops::accounts::{self, join_new, valid_email};
use crate::ops::departures;
use crate::ops::proof::{Known, NO_PASSWORD, proven_elsewhere};
use crate::ops::sessions::{Entered, entered, let_in};
use crate::ops::tries::account;
use crate::ops::write::Write;

const REASON: &str = "who was invited is not in the tenant yet";

/// Lets in whose address this is: it was proven to the provider, in place of a password. An account that asks for codes does
/// so here too.
pub async fn enter(app: &Arc<App>, email: &str, browser: &Browser) -> Result<Entered, ApiError> {
    let known = valid_email(email)?;
    // Lower case makes some letters of other scripts ASCII ones: what was verified is another address then.
    if known != email.trim().to_ascii_lowercase() {
        return Err(nobody(email));
    }
    let Some((user, hash)) = account(app, &known).await? else {
        let user = new_account(app, known, browser).await?;
        return let_in(app, without_password(user), browser).await.map(Entered::In);
    };
    match claim(app, &user, &hash, browser).await? {
        Some(dropped) => let_in(app, without_password(user), browser)
            .await
            .map(|signed_in| Entered::Claimed(signed_in, dropped)),
        None => entered(app, proven_elsewhere(app, user, &hash).await?, browser).await,
    }
}

fn without_password(user: User) -> Known {
    let hash = NO_PASSWORD.to_owned();
    Known { user, hash }
}

/// What was dropped from an account when the provider first proved whose address it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Keys that the account made and that still work, by name.
    pub keys: Vec<String>,
}

/// Gives an account to whom the provider has proven the address to. Until then anybody who held an invitation for the address
/// may have made the account: at the provider's first word its password, sessions, two-factor codes and the access that it
/// made end. `None` when there is nothing to drop: the address was proven before, or only the provider signed the user in.
async fn claim(app: &App, user: &User, hash: &str, browser: &Browser) -> Result<Option<Dropped>, ApiError> {
    const REASON: &str = "an account stands beside the tenants";
    if app.db.read().await?.system(REASON).is_proven_user(user.id).await? {
        return Ok(None);
    }
    let mut tx = app.db.write().await?;
    let mut system = tx.system(REASON);
    let is_first = system.prove_user(user.id, app.clock.now()).await?;
    if !is_first || hash == NO_PASSWORD {
        tx.commit().await?;
        return Ok(None);
    }
    // Ends the sessions first: what they are in the midst of making is there afterwards, and ends too.
    system.set_password(user.id, NO_PASSWORD).await?;
    system.remove_two_factor(user.id).await?;
    let mut write = Write::of_account(app, tx, user.id, Some(&browser.origin));
    write.audit_for_user(user.id, "user.claim_by_provider", user.id).await?;
    let departures = departures::end_access_everywhere(&mut write, user.id).await?;
    write.commit().await?;
    let keys = departures.into_iter().flat_map(|departure| departure.keys_to_review);
    Ok(Some(Dropped {
        keys: keys.map(|key| key.name).collect(),
    }))
}

fn nobody(email: &str) -> ApiError {
    ApiError::Forbidden(format!(
        "{email} has no account here and no invitation; ask an admin of your organization to invite this address"
    ))
}

/// Makes an account that has no password, by the oldest invitation of its address.
async fn new_account(app: &App, email: String, browser: &Browser) -> Result<User, ApiError> {
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
    write.system(REASON).prove_user(user.id, now).await?;
    accounts::join(&mut write, invitation.org_id, &user, invitation.role).await?;
    write.commit().await?;
    Ok(user)
}

/// Takes every invitation that waits for a user who has no password: the provider alone signs such a user in, and no link can.
/// Who has a password takes invitations by their links, with it: somebody else may have made an account of that address before.
pub(super) async fn take_invitations(app: &App, user: &User, browser: &Browser) -> Result<(), ApiError> {
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
