//! Members and invitations of an organization.

use launchway_api::open;
use launchway_api::orgs::{CreateInvitation, Departure, InvitationView, MemberView, RemovedMember};
use launchway_api::words::DoneStatus;
use launchway_domain::actor::Actor;
use launchway_domain::id::{InvitationId, UserId};
use launchway_domain::org::{INVITATION_LIFE, Invitation, Member, Org, normalize_email};
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Role;
use launchway_os::random::token_hash;
use launchway_store::LastOwner;

use crate::accounts::valid_email;
use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::{Caller, Who};
use crate::departures::{self, end_access};
use crate::write::{NOTHING, Write};

const OWNERS_ONLY: &str = "Only an owner can add or remove owners";
const LAST_OWNER: &str = "The organization needs an owner. Make another member an owner first.";

/// Parses a role from a body.
pub fn role(given: &open::Role) -> Result<Role, ApiError> {
    given.checked().map_err(|unknown| ApiError::bad(unknown.to_string()))
}

/// Whether the caller may change owners: an owner may, also with the key of a browser sign-in, and so may a key with the
/// admin scope that the operator created.
fn may_touch_owners(caller: &Caller) -> bool {
    match caller.who {
        Who::Key { role, .. } => role.is_none_or(|role| role == Role::Owner),
        Who::Session { .. } => caller.role == Some(Role::Owner),
    }
}

/// Checks that the caller may give a member this role.
pub fn may_change(caller: &Caller, before: &Member, role: Role) -> Result<(), ApiError> {
    if (before.role == Role::Owner || role == Role::Owner) && before.role != role && !may_touch_owners(caller) {
        return Err(ApiError::Forbidden(OWNERS_ONLY.to_owned()));
    }
    Ok(())
}

/// Changes the role of a member, who must be locked. A lesser role ends the access that the member granted with the
/// former one.
pub async fn change(
    write: &mut Write<'_>,
    caller: &Caller,
    id: UserId,
    role: Role,
) -> Result<(Member, Option<Departure>), ApiError> {
    let before = write.org().member(id).await?.ok_or(ApiError::NoSuch("member"))?;
    may_change(caller, &before, role)?;
    let departure = match role < before.role {
        true => Some(end_access(write, id, Some(&before.email)).await?),
        false => None,
    };
    write
        .org()
        .set_role(id, role)
        .await?
        .map_err(|LastOwner| ApiError::bad(LAST_OWNER))?;
    let after = Member { role, ..before.clone() };
    write
        .audit(
            "member.change",
            id,
            Some(&MemberView::of(&before)),
            Some(&MemberView::of(&after)),
        )
        .await?;
    if let Some(departure) = &departure {
        departures::audit(write, id, departure).await?;
    }
    Ok((after, departure))
}

/// Checks that the caller may remove the member with this id, as it was sent: admins may remove anybody, everybody may
/// leave. Part of the check of scope and role, so it precedes the validation of the request.
pub fn may_remove(caller: &Caller, id: Option<&str>) -> Result<(), ApiError> {
    match &caller.who {
        Who::Key { key, .. } if key.scopes.contains(&Scope::Admin) => Ok(()),
        Who::Key { .. } => Err(ApiError::MissingScope(Scope::Admin)),
        Who::Session { user, .. } => {
            let leaves = id == Some(user.id.to_string().as_str());
            if leaves || caller.role >= Some(Role::Admin) {
                Ok(())
            } else {
                Err(ApiError::Forbidden(
                    "This requires the role admin in the organization, but your role is member".to_owned(),
                ))
            }
        }
    }
}

/// Removes a member, who must be locked, and the access that the member granted.
pub async fn remove(write: &mut Write<'_>, caller: &Caller, id: UserId) -> Result<Departure, ApiError> {
    let member = write.org().member(id).await?.ok_or(ApiError::NoSuch("member"))?;
    let leaves = caller.actor() == Actor::User(id);
    if member.role == Role::Owner && !leaves && !may_touch_owners(caller) {
        return Err(ApiError::Forbidden(OWNERS_ONLY.to_owned()));
    }
    take_out(write, &member).await
}

/// Removes a member for the operator.
pub async fn remove_by_operator(app: &App, email: &str, org: &Org) -> Result<RemovedMember, ApiError> {
    let email = valid_email(email)?;
    let none = || ApiError::bad(format!("{email} is not a member of {}", org.name));
    let mut write = Write::open(app, org.id, Actor::Operator, None).await?;
    let mut system = write.system("an account belongs to no tenant");
    let (user, _) = system.user_by_email(&email).await?.ok_or_else(none)?;
    write.org().lock_member(user.id).await?;
    let member = write.org().member(user.id).await?.ok_or_else(none)?;
    let departure = take_out(&mut write, &member).await?;
    write.commit().await?;
    Ok(RemovedMember {
        id: user.id.to_string(),
        status: DoneStatus::Deleted.into(),
        departure,
    })
}

/// Removes a member, whoever requested it.
async fn take_out(write: &mut Write<'_>, member: &Member) -> Result<Departure, ApiError> {
    let id = member.user_id;
    let mut departure = end_access(write, id, Some(&member.email)).await?;
    departures::count_sessions(write, id, &mut departure).await?;
    write
        .org()
        .remove_member(id)
        .await?
        .map_err(|LastOwner| ApiError::bad(LAST_OWNER))?;
    write
        .audit("member.remove", id, Some(&MemberView::of(member)), NOTHING)
        .await?;
    departures::audit(write, id, &departure).await?;
    Ok(departure)
}

/// A validated request for an invitation.
#[derive(Clone, Debug)]
pub struct InvitationPlan {
    email: String,
    role: Role,
}

/// Validates a request for an invitation.
pub fn plan_invitation(caller: &Caller, request: &CreateInvitation) -> Result<InvitationPlan, ApiError> {
    let email = normalize_email(&request.email)
        .ok_or_else(|| ApiError::bad("email must be an address such as ada@example.com"))?;
    let role = request.role.as_ref().map(role).transpose()?.unwrap_or(Role::Member);
    if role == Role::Owner && !may_touch_owners(caller) {
        return Err(ApiError::Forbidden(OWNERS_ONLY.to_owned()));
    }
    Ok(InvitationPlan { email, role })
}

/// Creates an invitation; returns it with the token of its link.
pub async fn invite(write: &mut Write<'_>, plan: InvitationPlan) -> Result<(Invitation, String), ApiError> {
    let (now, random, by) = (write.now(), write.app().random.clone(), write.actor_text());
    let token = random.token();
    let invitation = Invitation {
        id: random.id(now),
        org_id: write.org_id(),
        email: plan.email,
        role: plan.role,
        created_at: now,
        expires_at: now + INVITATION_LIFE,
        accepted_at: None,
    };
    write
        .org()
        .create_invitation(&invitation, &token_hash(&token), &by)
        .await?;
    write
        .audit(
            "invitation.create",
            invitation.id,
            NOTHING,
            Some(&InvitationView::of(&invitation, now)),
        )
        .await?;
    Ok((invitation, token))
}

/// Withdraws an invitation.
pub async fn uninvite(write: &mut Write<'_>, id: InvitationId) -> Result<(), ApiError> {
    let now = write.now();
    let before = write
        .org()
        .invitation(id)
        .await?
        .ok_or(ApiError::NoSuch("invitation"))?;
    write.org().delete_invitation(id).await?;
    write
        .audit(
            "invitation.delete",
            id,
            Some(&InvitationView::of(&before, now)),
            NOTHING,
        )
        .await
}
