//! Accounts: signing in and out, first run, accepting an invitation, a new password.

use std::sync::Arc;

use launchway_api::orgs::MemberView;
use launchway_domain::actor::Actor;
use launchway_domain::id::OrgId;
use launchway_domain::org::{Invitation, InvitationStatus, Member, Org, RESET_LIFE, User, normalize_email};
use launchway_domain::tenancy::Role;
use launchway_domain::time::EpochMs;
use launchway_os::random::token_hash;
use launchway_store::System;

use crate::api_error::ApiError;
use crate::app::App;
use crate::audit_lines::{commit_with_audit, line};
use crate::caller::{Browser, Origin};
use crate::failed_tries::{self, account};
use crate::proof::{self, AuthenticatedUser, prove, prove_presence};
use crate::sessions::{SignedIn, commit_sign_in, open_session};
use crate::write::{NOTHING, Write};
use crate::{departures, orgs};

/// The key of the metadata row with the hash of the first-run token.
pub const SETUP: &str = "setup_token";
pub(super) const OF_NO_TENANT: &str = "an account belongs to no tenant";
const DEAD_LINK: &str = "This link was already used or has expired. Ask for a new one.";

/// The token of the first-run link, while there is no organization. Each start makes a new one.
pub async fn offer_setup(app: &App) -> Result<Option<String>, ApiError> {
    let mut tx = app.db.write().await?;
    let mut system = tx.system("the installation's own facts");
    if system.has_orgs().await? {
        return Ok(None);
    }
    let token = app.random.token();
    system.set_meta(SETUP, &token_hash(&token)).await?;
    tx.commit().await?;
    Ok(Some(token))
}

/// Whether the first-run link with this token is still valid.
pub async fn setup_is_open(app: &App, token: &str) -> Result<bool, ApiError> {
    let mut tx = app.db.read().await?;
    let mut system = tx.system("the installation's own facts");
    Ok(!system.has_orgs().await? && system.meta(SETUP).await? == Some(token_hash(token)))
}

/// First run: creates the first organization and its owner, and signs the owner in.
pub async fn set_up(
    app: &App,
    request: &launchway_api::auth::Setup,
    browser: &Browser,
) -> Result<(SignedIn, Org), ApiError> {
    let dead = || ApiError::NotProven(DEAD_LINK.to_owned());
    if !setup_is_open(app, &request.token).await? {
        return Err(dead());
    }
    let name = normalize_name(&request.organization)?;
    let email = valid_email(&request.email)?;
    let hash = app.passwords.hash(&request.password).await?;
    let org = orgs::plan(app, name);
    let mut write = Write::open(app, org.id, Actor::Operator, Some(&browser.origin)).await?;
    let mut system = write.system("first run: there is no tenant yet");
    // Checked again: another request may have used the link meanwhile.
    if system.has_orgs().await? || system.meta(SETUP).await? != Some(token_hash(&request.token)) {
        return Err(dead());
    }
    system.drop_meta(SETUP).await?;
    orgs::insert(&mut write, &org).await?;
    let user = create_user(&mut write, &email, &hash).await?;
    join(&mut write, org.id, &user, Role::Owner).await?;
    Ok((commit_sign_in(write, user, browser).await?, org))
}

/// Creates an account; rejects an address that already has one.
pub async fn create_user(write: &mut Write<'_>, email: &str, password_hash: &str) -> Result<User, ApiError> {
    let user = new_user(write.app(), email);
    insert_user(write, &user, password_hash).await?;
    Ok(user)
}

/// An account that is not stored yet.
pub(super) fn new_user(app: &App, email: &str) -> User {
    let now = app.clock.now();
    User {
        id: app.random.id(now),
        email: email.to_owned(),
        created_at: now,
    }
}

/// Stores an account; rejects an address that already has one.
pub(super) async fn insert_user(write: &mut Write<'_>, user: &User, password_hash: &str) -> Result<(), ApiError> {
    let mut system = write.system(OF_NO_TENANT);
    if system.create_user(user, password_hash).await? {
        Ok(())
    } else {
        Err(ApiError::bad(format!("{} already has an account", user.email)))
    }
}

/// Adds a user to an organization; rejects one who is already a member.
pub async fn join(write: &mut Write<'_>, org: OrgId, user: &User, role: Role) -> Result<(), ApiError> {
    if join_new(write, org, user, role).await? {
        Ok(())
    } else {
        Err(ApiError::bad(format!("{} is already a member", user.email)))
    }
}

/// Adds a user to an organization. Returns false and changes nothing if the user is already a member.
pub(super) async fn join_new(write: &mut Write<'_>, org: OrgId, user: &User, role: Role) -> Result<bool, ApiError> {
    let now = write.now();
    let mut system = write.system("the invitation or the operator names the organization");
    if !system.join(org, user.id, role, now).await? {
        return Ok(false);
    }
    let member = Member {
        user_id: user.id,
        email: user.email.clone(),
        role,
        created_at: now,
    };
    write
        .audit("member.add", user.id, NOTHING, Some(&MemberView::of(&member)))
        .await?;
    Ok(true)
}

/// The invitation of a valid link, and the name of the inviting organization.
pub async fn look_at_invitation(app: &App, token: &str) -> Result<(Invitation, String), ApiError> {
    let mut tx = app.db.read().await?;
    let dead = || ApiError::NotProven(DEAD_LINK.to_owned());
    let mut system = tx.system("who holds the link is in no tenant yet");
    let invitation = system.invitation_by_token(&token_hash(token)).await?.ok_or_else(dead)?;
    if invitation.status(app.clock.now()) != InvitationStatus::Pending {
        return Err(dead());
    }
    let org = tx.org(invitation.org_id).record().await?.ok_or_else(dead)?;
    Ok((invitation, org.name))
}

/// Accepts an invitation: for a new account with a new password; otherwise with the current one, and a code if the
/// account requires one.
pub async fn accept_invitation(
    app: &Arc<App>,
    token: &str,
    password: &str,
    code: Option<&str>,
    browser: &Browser,
) -> Result<SignedIn, ApiError> {
    let (invitation, _) = look_at_invitation(app, token).await?;
    let (known, is_new) = match account(app, &invitation.email).await? {
        // The limits on wrong passwords apply here too.
        Some(_) => (prove(app, &invitation.email, password, code, browser).await?, false),
        None => {
            let hash = app.passwords.hash(password).await?;
            let user = new_user(app, &invitation.email);
            (AuthenticatedUser { user, hash }, true)
        }
    };
    let user = known.user.clone();
    let mut write = Write::open(app, invitation.org_id, Actor::User(user.id), Some(&browser.origin)).await?;
    let now = write.now();
    let mut system = write.system("the link names the tenant");
    if !system.accept_invitation(invitation.id, now).await? {
        return Err(ApiError::NotProven(DEAD_LINK.to_owned()));
    }
    match is_new {
        true => insert_user(&mut write, &user, &known.hash).await?,
        false => known.hold(&mut write.system("the link names the tenant")).await?,
    }
    join(&mut write, invitation.org_id, &user, invitation.role).await?;
    commit_sign_in(write, user, browser).await
}

/// The user with an email address that the operator names.
pub(super) async fn user_with_email(system: &mut System<'_>, email: &str) -> Result<User, ApiError> {
    let email = valid_email(email)?;
    let found = system.user_by_email(&email).await?;
    let (user, _) = found.ok_or_else(|| ApiError::bad(format!("{email} has no account")))?;
    Ok(user)
}

/// A link that lets a user set a new password, for the operator to pass on.
pub async fn offer_reset(app: &App, email: &str) -> Result<String, ApiError> {
    let mut tx = app.db.write().await?;
    let mut system = tx.system(OF_NO_TENANT);
    let user = user_with_email(&mut system, email).await?;
    let token = app.random.token();
    system
        .create_reset_link(user.id, &token_hash(&token), app.clock.now() + RESET_LIFE)
        .await?;
    let line = line(app, Actor::Operator, "user.offer_reset", user.id, None);
    commit_with_audit(app, tx, user.id, line).await?;
    Ok(token)
}

/// Sets a new password by a link. Ends every session of the user, and all pending access that the user granted: it may
/// come from somebody who knew the old password.
pub async fn reset_password(app: &App, token: &str, password: &str, origin: &Origin) -> Result<(), ApiError> {
    const REASON: &str = "who holds the link is not signed in";
    let (token, now) = (token_hash(token), app.clock.now());
    let dead = || ApiError::NotProven(DEAD_LINK.to_owned());
    // Checked before hashing the password, which is expensive, and again when it is set.
    let living = app.db.read().await?.system(REASON).reset_link_user(&token, now).await?;
    living.ok_or_else(dead)?;
    let hash = app.passwords.hash(password).await?;
    let mut tx = app.db.write().await?;
    let mut system = tx.system(REASON);
    let user = system.use_reset_link(&token, now).await?.ok_or_else(dead)?;
    // Ends the sessions first: access that they are creating then exists by the next step, which ends it.
    system.set_password(user, &hash).await?;
    failed_tries::forget(&mut system, user).await?;
    let mut write = Write::of_account(app, tx, user, Some(origin));
    write.audit_for_user(user, "user.reset_password", user).await?;
    departures::end_access_everywhere(&mut write, user).await?;
    write.commit().await
}

/// Sets a new password for a user who proves the current one, or the first one for a user who has just signed in
/// through the provider. Ends every session of the user; the browser gets a new one.
pub async fn change_password(
    app: &Arc<App>,
    user: &User,
    signed_in_at: EpochMs,
    current: &str,
    new: &str,
    browser: &Browser,
) -> Result<SignedIn, ApiError> {
    let present = prove_presence(app, user, signed_in_at, current, browser).await;
    let proven = present.map_err(|failure| match failure {
        ApiError::NotProven(_) => ApiError::bad("current password is wrong"),
        other => other,
    })?;
    let hash = app.passwords.hash(new).await?;
    let mut tx = app.db.write().await?;
    let mut system = tx.system(OF_NO_TENANT);
    proof::hold(&mut system, user.id, &proven).await?;
    system.set_password(user.id, &hash).await?;
    failed_tries::forget(&mut system, user.id).await?;
    let signed_in = open_session(app, &mut system, user.clone(), browser).await?;
    let user = signed_in.user.id;
    let line = line(
        app,
        Actor::User(user),
        "user.change_password",
        user,
        Some(&browser.origin),
    );
    commit_with_audit(app, tx, user, line).await?;
    Ok(signed_in)
}

/// Parses an email address from a caller.
pub fn valid_email(text: &str) -> Result<String, ApiError> {
    normalize_email(text).ok_or_else(|| ApiError::bad("email must be an address such as ada@example.com"))
}

fn normalize_name(text: &str) -> Result<String, ApiError> {
    launchway_domain::org::normalize_name(text)
        .ok_or_else(|| ApiError::bad("organization must have 1 to 100 visible characters"))
}
