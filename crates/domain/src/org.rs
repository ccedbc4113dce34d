//! The stored records of organizations, users, members, invitations and sessions (`docs/reference/callers.md#organizations`).

use crate::id::{InvitationId, OrgId, SessionId, UserId};
use crate::tenancy::{Role, Tier};
use crate::time::{DAY, EpochMs};

/// How long an invitation link works.
pub const INVITATION_LIFE: EpochMs = 7 * DAY;
/// How long a session lives without being used.
pub const SESSION_IDLE: EpochMs = 30 * DAY;
/// How long a session lives however often it is used.
pub const SESSION_LIFE: EpochMs = 90 * DAY;
/// How long the operator's link for a new password works.
pub const RESET_LIFE: EpochMs = DAY;

/// The tenant: everything else belongs to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Org {
    /// Its id.
    pub id: OrgId,
    /// The name people see.
    pub name: String,
    /// How many calls a minute it may make.
    pub tier: Tier,
    /// When it was made.
    pub created_at: EpochMs,
}

/// Somebody who signs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The user's id.
    pub id: UserId,
    /// The address, in lower case.
    pub email: String,
    /// When the account was made.
    pub created_at: EpochMs,
}

/// A user in an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The user.
    pub user_id: UserId,
    /// The user's address.
    pub email: String,
    /// What the user may do.
    pub role: Role,
    /// When the user joined.
    pub created_at: EpochMs,
}

/// A link that lets one address join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// Its id.
    pub id: InvitationId,
    /// The organization that invites.
    pub org_id: OrgId,
    /// Whom it is for, in lower case.
    pub email: String,
    /// The role it gives.
    pub role: Role,
    /// When it was made.
    pub created_at: EpochMs,
    /// When it stops working.
    pub expires_at: EpochMs,
    /// When it was taken.
    pub accepted_at: Option<EpochMs>,
}

words! {
    /// Whether an invitation can be taken.
    InvitationStatus, "pending, accepted, expired",
    /// It waits to be taken.
    Pending = "pending",
    /// Somebody took it.
    Accepted = "accepted",
    /// Its time is over.
    Expired = "expired",
}

impl Invitation {
    /// Whether it can be taken at this time.
    pub fn status(&self, now: EpochMs) -> InvitationStatus {
        match self.accepted_at {
            Some(_) => InvitationStatus::Accepted,
            None if self.expires_at <= now => InvitationStatus::Expired,
            None => InvitationStatus::Pending,
        }
    }
}

/// A browser that is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Who is signed in.
    pub user_id: UserId,
    /// What the browser calls itself.
    pub user_agent: String,
    /// The address it signed in from.
    pub address: String,
    /// When it signed in.
    pub created_at: EpochMs,
    /// When it was last used, to the minute.
    pub last_used_at: EpochMs,
}

impl Session {
    /// When the session ends unless it is used before: at the latest when its whole life is over.
    pub fn expires_at(&self) -> EpochMs {
        (self.last_used_at + SESSION_IDLE).min(self.created_at + SESSION_LIFE)
    }
}

/// An e-mail address as accounts are found by: trimmed, lower case, `x@y`, at most 254 characters; `None` otherwise.
pub fn normal_email(text: &str) -> Option<String> {
    let email = text.trim().to_lowercase();
    let (name, host) = email.split_once('@')?;
    let plain = !email
        .chars()
        .any(|letter| letter.is_whitespace() || letter.is_control());
    (plain && !name.is_empty() && !host.is_empty() && !host.contains('@') && email.len() <= 254).then_some(email)
}

/// A name that people give to something: trimmed, 1 to 100 characters, no control characters; `None` otherwise.
pub fn normal_name(text: &str) -> Option<String> {
    let name = text.trim();
    let right = !name.is_empty() && name.chars().count() <= 100 && !name.chars().any(char::is_control);
    right.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_whatever_their_case() {
        assert_eq!(normal_email(" Ada@Example.COM ").as_deref(), Some("ada@example.com"));
        for text in [
            "",
            "ada",
            "@example.com",
            "ada@",
            "a@b@c",
            "a b@c",
            "a\u{0}@c",
            &format!("{}@c", "a".repeat(253)),
        ] {
            assert_eq!(normal_email(text), None, "{text:?}");
        }
    }

    #[test]
    fn names_are_short_and_visible() {
        assert_eq!(normal_name("  CI  ").as_deref(), Some("CI"));
        for text in ["", "   ", "a\nb", &"x".repeat(101)] {
            assert_eq!(normal_name(text), None, "{text:?}");
        }
    }
}
