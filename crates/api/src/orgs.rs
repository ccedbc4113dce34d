//! Organizations, their members and invitations (`docs/reference/callers.md#organizations`).

use launchway_domain::build::Runner;
use launchway_domain::key::Key;
use launchway_domain::org::{Invitation, Member, Org};
use launchway_domain::tenancy::Role;
use launchway_domain::time::{EpochMs, iso};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::open;
use crate::words::ActiveStatus;

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
    pub status: open::ActiveStatus,
    /// The name people see.
    pub name: String,
    /// `free`, `pro` or `enterprise`: how many calls a minute it may make.
    pub tier: open::Tier,
    /// The caller's role in it; null for a key.
    pub role: Option<open::Role>,
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
    pub status: open::ActiveStatus,
    /// The address the member signs in with.
    pub email: String,
    /// `owner`, `admin` or `member`.
    pub role: open::Role,
    /// When the user joined the organization.
    pub created_at: String,
}

/// What ended when a member was removed or got a lesser role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndedAccess {
    /// Invitations that waited: those the member made, and those for the member's own address.
    pub invitations: u64,
    /// One-time tokens for runners.
    pub runner_tokens: u64,
    /// Browser sign-ins that were approved and whose key was not fetched yet.
    pub sign_ins: u64,
    /// API keys that were made by a browser sign-in.
    pub keys: u64,
    /// Sessions of the user that no longer reach the organization; none when the member stays.
    pub sessions: i64,
}

/// A key that the member made and that still works: somebody has to decide whether it stays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyToReview {
    /// `key_…`.
    pub id: String,
    /// What people call the key.
    pub name: String,
    /// The first 12 characters of the key.
    pub prefix: String,
    /// What the key may do.
    pub scopes: Vec<open::Scope>,
    /// When it was last used, to the minute; null when never.
    pub last_used_at: Option<String>,
}

/// A runner that the member let in and that still takes builds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnerToReview {
    /// `runner_…`.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// When it was last heard of.
    pub last_seen_at: String,
}

/// The access of a member who was removed or got a lesser role: what ended, and what is left to decide.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Departure {
    /// What ended.
    pub ended: EndedAccess,
    /// The newest 100 keys that the member made and that still work. Revoke those that nobody needs.
    pub keys_to_review: Vec<KeyToReview>,
    /// The newest 100 runners that the member let in. Revoke those that nobody needs.
    pub runners_to_review: Vec<RunnerToReview>,
}

/// The answer to `DELETE /orgs/members`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RemovedMember {
    /// `user_…`.
    pub id: String,
    /// `deleted`.
    pub status: open::DoneStatus,
    /// What became of the member's access.
    #[serde(flatten)]
    pub departure: Departure,
}

/// The answer to `PATCH /orgs/members`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChangedMember {
    /// The member.
    #[serde(flatten)]
    pub member: MemberView,
    /// What became of the member's access; absent unless the role became a lesser one.
    #[serde(flatten)]
    pub departure: Option<Departure>,
}

/// `PATCH /orgs/members?id=`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeMember {
    /// `owner`, `admin` or `member`.
    #[schema(example = "admin")]
    pub role: open::Role,
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
    pub role: Option<open::Role>,
}

/// An invitation: a link that works once, for 7 days.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Invitation)]
pub struct InvitationView {
    /// `invitation_…`.
    pub id: String,
    /// `pending`, `accepted` or `expired`.
    pub status: open::InvitationStatus,
    /// Whom the link is for.
    pub email: String,
    /// The role the invited user gets.
    pub role: open::Role,
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
            status: ActiveStatus::Active.into(),
            name: org.name.clone(),
            tier: org.tier.into(),
            role: role.map(open::Role::from),
            created_at: iso(org.created_at),
        }
    }
}

impl MemberView {
    /// A member.
    pub fn of(member: &Member) -> Self {
        Self {
            id: member.user_id.to_string(),
            status: ActiveStatus::Active.into(),
            email: member.email.clone(),
            role: member.role.into(),
            created_at: iso(member.created_at),
        }
    }
}

impl KeyToReview {
    /// A key that still works.
    pub fn of(key: &Key) -> Self {
        Self {
            id: key.id.to_string(),
            name: key.name.clone(),
            prefix: key.prefix.clone(),
            scopes: key.scopes.iter().copied().map(open::Scope::from).collect(),
            last_used_at: key.last_used_at.map(iso),
        }
    }
}

impl RunnerToReview {
    /// A runner that still takes builds.
    pub fn of(runner: &Runner) -> Self {
        Self {
            id: runner.id.to_string(),
            name: runner.name.clone(),
            last_seen_at: iso(runner.last_seen_at),
        }
    }
}

impl InvitationView {
    /// An invitation as it stands at `now` (epoch milliseconds), without its link.
    pub fn of(invitation: &Invitation, now: EpochMs) -> Self {
        Self {
            id: invitation.id.to_string(),
            status: invitation.status(now).into(),
            email: invitation.email.clone(),
            role: invitation.role.into(),
            created_at: iso(invitation.created_at),
            expires_at: iso(invitation.expires_at),
            link: None,
        }
    }
}
