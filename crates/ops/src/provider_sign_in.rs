//! Sign-in through the OpenID Connect provider: its verified address identifies an account, or an invitation that
//! creates one. It never creates an organization.

use std::sync::Arc;

use launchway_domain::actor::Actor;
use launchway_domain::org::User;

use crate::accounts::{self, valid_email};
use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::Browser;
use crate::departures;
use crate::failed_tries::account;
use crate::proof::{AuthenticatedUser, NO_PASSWORD, authentication_of};
use crate::sign_in::{RevokedAccess, SignInOutcome, continue_sign_in, sign_in_user};
use crate::write::Write;

const REASON: &str = "who was invited is not in the tenant yet";

/// Signs in the user of an address that the provider has verified, in place of a password. An account with two-factor
/// codes requires one here too.
pub async fn sign_in(app: &Arc<App>, email: &str, browser: &Browser) -> Result<SignInOutcome, ApiError> {
    let known = valid_email(email)?;
    // Lower-casing maps some letters of other scripts to ASCII: the result would differ from the verified address.
    if known != email.trim().to_ascii_lowercase() {
        return Err(nobody(email));
    }
    let Some((user, hash)) = account(app, &known).await? else {
        let user = new_account(app, known, browser).await?;
        return sign_in_user(app, without_password(user), browser)
            .await
            .map(SignInOutcome::In);
    };
    match claim(app, &user, &hash, browser).await? {
        Some(dropped) => sign_in_user(app, without_password(user), browser)
            .await
            .map(|signed_in| SignInOutcome::Claimed(signed_in, dropped)),
        None => continue_sign_in(app, authentication_of(app, user, &hash).await?, browser).await,
    }
}

fn without_password(user: User) -> AuthenticatedUser {
    let hash = NO_PASSWORD.to_owned();
    AuthenticatedUser { user, hash }
}

/// Takes over an account for the user whose address the provider verified. Until then, anybody who held an invitation
/// for the address may have created the account: so the first verification ends its password, sessions, two-factor
/// codes and the access that it granted. `None` if nothing needs to end: the address was verified before, or only the
/// provider has signed the user in.
async fn claim(app: &App, user: &User, hash: &str, browser: &Browser) -> Result<Option<RevokedAccess>, ApiError> {
    const REASON: &str = "an account belongs to no tenant";
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
    // Ends the sessions first: access that they are creating then exists by the next step, which ends it.
    system.set_password(user.id, NO_PASSWORD).await?;
    system.remove_two_factor(user.id).await?;
    let mut write = Write::of_account(app, tx, user.id, Some(&browser.origin));
    write.audit_for_user(user.id, "user.claim_by_provider", user.id).await?;
    let departures = departures::end_access_everywhere(&mut write, user.id).await?;
    write.commit().await?;
    let keys = departures.into_iter().flat_map(|departure| departure.keys_to_review);
    Ok(Some(RevokedAccess {
        keys: keys.map(|key| key.name).collect(),
    }))
}

fn nobody(email: &str) -> ApiError {
    ApiError::Forbidden(format!(
        "{email} has no account here and no invitation. Ask an admin of your organization to invite this address."
    ))
}

/// Creates an account without a password, from the oldest invitation of its address.
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
