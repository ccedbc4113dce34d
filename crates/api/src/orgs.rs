//! Organizations, their members and invitations (contract part 2).

use launchway_domain::org::{Invitation, Member, Org};
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::{EpochMs, iso};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `POST /orgs`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateOrg {
    /// The name people see, 1 to 100 characters.
    #[schema(min_length = 1, max_length = 100, example = "Example Apps")]
    pub name: String,
}

/// `PATCH /orgs?id=`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeOrg {
    /// The new name, 1 to 100 characters.
    #[schema(min_length = 1, max_length = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// An organization, as the caller sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Organization)]
pub struct OrgView {
    /// `org_…`.
    pub id: String,
    /// `active`.
    pub status: String,
    /// The name people see.
    pub name: String,
    /// `free`, `pro` or `enterprise`: how many calls a minute it may make.
    #[schema(value_type = String)]
    pub tier: Tier,
    /// The caller's role in it; null for a key.
    #[schema(value_type = Option<String>)]
    pub role: Option<Role>,
    /// When it was made.
    pub created_at: String,
}

/// A member of an organization.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Member)]
pub struct MemberView {
    /// `user_…`.
    pub id: String,
    /// `active`.
    pub status: String,
    /// The address the member signs in with.
    pub email: String,
    /// `owner`, `admin` or `member`.
    #[schema(value_type = String)]
    pub role: Role,
    /// When the user joined the organization.
    pub created_at: String,
}

/// `PATCH /orgs/members?id=`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeMember {
    /// `owner`, `admin` or `member`.
    #[schema(example = "admin")]
    pub role: String,
}

/// `POST /orgs/invitations`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateInvitation {
    /// Whom the link is for; only an account with this address can take it.
    #[schema(example = "ada@example.com")]
    pub email: String,
    /// `owner`, `admin` or `member`; `member` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// An invitation: a link that works once, for 7 days.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Invitation)]
pub struct InvitationView {
    /// `invitation_…`.
    pub id: String,
    /// `pending`, `accepted` or `expired`.
    pub status: String,
    /// Whom the link is for.
    pub email: String,
    /// The role the invited user gets.
    #[schema(value_type = String)]
    pub role: Role,
    /// When it was made.
    pub created_at: String,
    /// When the link stops working.
    pub expires_at: String,
    /// The link to hand over. Only the answer that made the invitation carries it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

impl OrgView {
    /// An organization as a caller with this role sees it.
    pub fn of(org: &Org, role: Option<Role>) -> Self {
        Self {
            id: org.id.to_string(),
            status: "active".to_owned(),
            name: org.name.clone(),
            tier: org.tier,
            role,
            created_at: iso(org.created_at),
        }
    }
}

impl MemberView {
    /// A member.
    pub fn of(member: &Member) -> Self {
        Self {
            id: member.user_id.to_string(),
            status: "active".to_owned(),
            email: member.email.clone(),
            role: member.role,
            created_at: iso(member.created_at),
        }
    }
}

impl InvitationView {
    /// An invitation as it stands at `now` (epoch milliseconds), without its link.
    pub fn of(invitation: &Invitation, now: EpochMs) -> Self {
        Self {
            id: invitation.id.to_string(),
            status: invitation.status(now).to_owned(),
            email: invitation.email.clone(),
            role: invitation.role,
            created_at: iso(invitation.created_at),
            expires_at: iso(invitation.expires_at),
            link: None,
        }
    }
}
