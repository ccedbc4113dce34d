//! Creates and changes organizations.

use launchway_api::orgs::OrgView;
use launchway_domain::id::UserId;
use launchway_domain::org::{Org, normalize_name};
use launchway_domain::tenancy::{Role, Tier};

use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::{Caller, Who};
use crate::write::{NOTHING, Write};

/// Checks that the caller may create an organization; returns the user that will own it.
pub fn may_create(app: &App, caller: &Caller) -> Result<UserId, ApiError> {
    match &caller.who {
        Who::Session { user, .. } if app.config.open_organizations => Ok(user.id),
        _ => Err(ApiError::Forbidden(
            "Only the operator of this server can create organizations".to_owned(),
        )),
    }
}

/// Validates the name of an organization.
pub fn name(text: &str) -> Result<String, ApiError> {
    normalize_name(text).ok_or_else(|| ApiError::bad("name must have 1 to 100 visible characters"))
}

/// A new organization in the default tier, not stored yet.
pub fn plan(app: &App, name: String) -> Org {
    let now = app.clock.now();
    Org {
        id: app.random.id(now),
        name,
        tier: app.config.default_tier,
        created_at: now,
    }
}

/// Creates an organization with its first owner.
pub async fn create(write: &mut Write<'_>, org: &Org, owner: UserId) -> Result<OrgView, ApiError> {
    insert(write, org).await?;
    let now = write.now();
    write
        .system("the organization was made in this transaction")
        .join(org.id, owner, Role::Owner, now)
        .await?;
    Ok(OrgView::of(org, Some(Role::Owner)))
}

/// Creates an organization without members.
pub async fn insert(write: &mut Write<'_>, org: &Org) -> Result<(), ApiError> {
    write
        .system("an organization has no tenant above it")
        .create_org(org)
        .await?;
    write
        .audit("org.create", org.id, NOTHING, Some(&OrgView::of(org, None)))
        .await
}

/// Changes the name.
pub async fn change(write: &mut Write<'_>, name: Option<String>) -> Result<Org, ApiError> {
    let before = record(write).await?;
    let Some(name) = name.filter(|name| *name != before.name) else {
        return Ok(before);
    };
    write.org().rename(&name).await?;
    let after = Org { name, ..before.clone() };
    write
        .audit(
            "org.change",
            after.id,
            Some(&OrgView::of(&before, None)),
            Some(&OrgView::of(&after, None)),
        )
        .await?;
    Ok(after)
}

/// Changes the tier. Only the operator can.
pub async fn set_tier(write: &mut Write<'_>, tier: Tier) -> Result<Org, ApiError> {
    let before = record(write).await?;
    write.org().set_tier(tier).await?;
    let after = Org { tier, ..before.clone() };
    write
        .audit(
            "org.set_tier",
            after.id,
            Some(&OrgView::of(&before, None)),
            Some(&OrgView::of(&after, None)),
        )
        .await?;
    Ok(after)
}

/// The organization, locked until this change ends.
pub async fn record(write: &mut Write<'_>) -> Result<Org, ApiError> {
    write.org().lock().await?;
    write.org().record().await?.ok_or(ApiError::NoSuch("organization"))
}
