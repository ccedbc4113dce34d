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
    /// The display name, 1 to 100 characters.
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

/// An organization from the caller's point of view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Organization)]
pub struct OrgView {
    /// `org_…`.
    pub id: String,
    /// `active`.
    pub status: open::ActiveStatus,
    /// The display name.
    pub name: String,
    /// `free`, `pro` or `enterprise`: the tier, which sets limits and quotas.
    pub tier: open::Tier,
    /// The caller's role in the organization, for the key of a browser sign-in that of its user; null for any other key.
    pub role: Option<open::Role>,
    /// When it was created.
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
    /// The email address that the member signs in with.
    pub email: String,
    /// `owner`, `admin` or `member`.
    pub role: open::Role,
    /// When the user joined the organization.
    pub created_at: String,
}

/// The access that ended when a member was removed or got a lower role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndedAccess {
    /// The number of pending invitations, both created by the member and for the member's own email address.
    pub invitations: u64,
    /// The number of one-time tokens for runners.
    pub runner_tokens: u64,
    /// The number of approved browser sign-ins whose key was not fetched yet.
    pub sign_ins: u64,
    /// The number of API keys created by a browser sign-in.
    pub keys: u64,
    /// The number of the user's sessions that no longer have access to the organization; 0 if the member stays.
    pub sessions: i64,
}

/// A key that the member created and that still works. An admin decides whether to keep it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyToReview {
    /// `key_…`.
    pub id: String,
    /// The display name.
    pub name: String,
    /// The first 12 characters of the key.
    pub prefix: String,
    /// The key's scopes.
    pub scopes: Vec<open::Scope>,
    /// When it was last used, rounded to the minute; null if never.
    pub last_used_at: Option<String>,
}

/// A runner that the member enrolled and that still claims builds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnerToReview {
    /// `runner_…`.
    pub id: String,
    /// The display name.
    pub name: String,
    /// When the server last heard from it.
    pub last_seen_at: String,
}

/// The access of a member who was removed or got a lower role: what ended, and what an admin must decide.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Departure {
    /// The access that ended.
    pub ended: EndedAccess,
    /// The newest 100 keys that the member created and that still work. Revoke those that nobody needs.
    pub keys_to_review: Vec<KeyToReview>,
    /// The newest 100 runners that the member enrolled. Revoke those that nobody needs.
    pub runners_to_review: Vec<RunnerToReview>,
}

/// The response to `DELETE /orgs/members`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RemovedMember {
    /// `user_…`.
    pub id: String,
    /// `deleted`.
    pub status: open::DoneStatus,
    /// The effect on the member's access.
    #[serde(flatten)]
    pub departure: Departure,
}

/// The response to `PATCH /orgs/members`: the member and, only if the new role is lower, what that ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedMember {
    /// The member.
    #[serde(flatten)]
    pub member: MemberView,
    /// The access that ended; present only if the new role is lower.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<EndedAccess>,
    /// The newest 100 keys that the member created and that still work; present only if the new role is lower.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys_to_review: Option<Vec<KeyToReview>>,
    /// The newest 100 runners that the member enrolled; present only if the new role is lower.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runners_to_review: Option<Vec<RunnerToReview>>,
}

impl ChangedMember {
    /// The response for `member`, with what a lower role ended.
    pub fn of(member: MemberView, departure: Option<Departure>) -> Self {
        let mut changed = Self {
            member,
            ended: None,
            keys_to_review: None,
            runners_to_review: None,
        };
        if let Some(departure) = departure {
            changed.ended = Some(departure.ended);
            changed.keys_to_review = Some(departure.keys_to_review);
            changed.runners_to_review = Some(departure.runners_to_review);
        }
        changed
    }
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
    /// The invited email address. Only an account with this address can accept the invitation.
    #[schema(example = "ada@example.com")]
    pub email: String,
    /// `owner`, `admin` or `member`. Defaults to `member`.
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
    /// The invited email address.
    pub email: String,
    /// The role that the invited user gets.
    pub role: open::Role,
    /// When it was created.
    pub created_at: String,
    /// When the link expires.
    pub expires_at: String,
    /// The link to give to the invited person. Only the response that created the invitation carries it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

impl OrgView {
    /// The view of an organization for a caller with this role.
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
    /// The view of a member.
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
    /// The view of a key that still works.
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
    /// The view of a runner that still claims builds.
    pub fn of(runner: &Runner) -> Self {
        Self {
            id: runner.id.to_string(),
            name: runner.name.clone(),
            last_seen_at: iso(runner.last_seen_at),
        }
    }
}

impl InvitationView {
    /// The view of an invitation at `now` (epoch milliseconds), without its link.
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
