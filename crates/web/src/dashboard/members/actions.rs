//! Confirmed changes of a member: the role, and the removal.

use crate::dashboard::confirm::{Action, Done, Facts, Requester};
use crate::dashboard::form_data::FormData;
use crate::dashboard::frame::Notice;
use crate::dashboard::revision::Revision;
use crate::dashboard::show::time;

use launchway_api::open;
use launchway_domain::actor::Actor;
use launchway_domain::id::UserId;
use launchway_domain::org::Member;
use launchway_domain::tenancy::Role;
use launchway_domain::time::iso;
use launchway_ops::api_error::ApiError;
use launchway_ops::members;
use launchway_ops::write::{Target, Write};
use launchway_store::Org;

/// The consequences of a lesser role and of a removal.
const ENDS: &str = "Invitations, runner tokens and command-line sign-ins of this member end. Other API keys stay \
                    valid, and those that need a decision are listed on the members page.";

/// Changes a member's role.
pub struct ChangeRole(Role);
/// Removes a member; members who remove themselves leave the organization.
pub struct Remove;

async fn read(org: &mut Org<'_>, id: UserId) -> Result<(Member, Revision), ApiError> {
    let member = org.member(id).await?.ok_or(ApiError::NoSuch("member"))?;
    let revision = Revision::of(&(id.to_string(), member.role.as_str(), member.created_at))?;
    Ok((member, revision))
}

impl Action for ChangeRole {
    type Id = UserId;

    fn target(id: UserId) -> Option<Target> {
        Some(Target::Member(id))
    }

    fn read(form_data: &FormData) -> Result<Self, ApiError> {
        Ok(ChangeRole(members::role(&open::Role::of(form_data.text("role")?))?))
    }

    async fn facts(&self, org: &mut Org<'_>, by: &Requester<'_>, id: UserId) -> Result<Facts, ApiError> {
        let (member, revision) = read(org, id).await?;
        members::may_change(&by.visitor.caller, &member, self.0)?;
        let follows = match self.0 {
            Role::Member => "Members can build, submit and update. They cannot see settings.",
            Role::Admin => "Admins can also manage the settings: keys, secrets, credentials, webhooks and members",
            Role::Owner => "Owners can do everything, including renaming the organization and changing its owners",
        };
        let mut facts = Facts::new(format!("Change the role of {}?", member.email), "Change role", revision)
            .on("members", "/members", "Members")
            .says(follows)
            .change("Role", member.role, self.0)
            .known("Member since", time(&iso(member.created_at)))
            .field("role", self.0);
        if self.0 < member.role {
            facts = facts.says(ENDS);
        }
        if by.visitor.caller.actor() == Actor::User(id) && self.0 < member.role {
            facts = facts.says("This is your own role, and you cannot restore it yourself");
        }
        Ok(facts)
    }

    async fn make(self, write: &mut Write<'_>, by: &Requester<'_>, id: UserId) -> Result<Done, ApiError> {
        members::change(write, &by.visitor.caller, id, self.0).await?;
        Ok(Done::new("/members", Notice::MEMBER_CHANGED))
    }
}

impl Action for Remove {
    type Id = UserId;

    fn target(id: UserId) -> Option<Target> {
        Some(Target::Member(id))
    }

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(Remove)
    }

    async fn facts(&self, org: &mut Org<'_>, by: &Requester<'_>, id: UserId) -> Result<Facts, ApiError> {
        let (member, revision) = read(org, id).await?;
        members::may_remove(&by.visitor.caller, Some(&id.to_string()))?;
        let name = &by.visitor.org.name;
        let facts = if by.visitor.caller.actor() == Actor::User(id) {
            Facts::new(format!("Leave {name}?"), "Leave", revision)
                .says(format!("You lose access to {name}. An admin can invite you again."))
        } else {
            Facts::new(format!("Remove {}?", member.email), "Remove member", revision)
                .says(format!("{} loses access to {name}", member.email))
        };
        Ok(facts
            .says(ENDS)
            .on("members", "/members", "Members")
            .known("Role", member.role)
            .known("Member since", time(&iso(member.created_at)))
            .danger())
    }

    async fn make(self, write: &mut Write<'_>, by: &Requester<'_>, id: UserId) -> Result<Done, ApiError> {
        members::remove(write, &by.visitor.caller, id).await?;
        let leaves = by.visitor.caller.actor() == Actor::User(id);
        let done = Done::new("/members", Notice::MEMBER_REMOVED);
        Ok(if leaves { done.outside() } else { done })
    }
}
