//! The stored records of organizations, users, members, invitations and sessions (`docs/reference/callers.md#organizations`).

use crate::id::{InvitationId, OrgId, SessionId, UserId};
use crate::tenancy::{Role, Tier};
use crate::time::{DAY, EpochMs};

/// How long an invitation link is valid.
pub const INVITATION_LIFE: EpochMs = 7 * DAY;
/// How long an unused session lives.
pub const SESSION_IDLE: EpochMs = 30 * DAY;
/// The maximum lifetime of a session, however often it is used.
pub const SESSION_LIFE: EpochMs = 90 * DAY;
/// How long the operator's password reset link is valid.
pub const RESET_LIFE: EpochMs = DAY;

/// A tenant: everything else belongs to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Org {
    /// Its id.
    pub id: OrgId,
    /// Its display name.
    pub name: String,
    /// Its tier, which sets the number of calls a minute.
    pub tier: Tier,
    /// When it was created.
    pub created_at: EpochMs,
}

/// A user account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The user's id.
    pub id: UserId,
    /// The address, in lower case.
    pub email: String,
    /// When the account was created.
    pub created_at: EpochMs,
}

/// A user in an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The user.
    pub user_id: UserId,
    /// The user's address.
    pub email: String,
    /// The user's role.
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
    /// The invited address, in lower case.
    pub email: String,
    /// The role it grants.
    pub role: Role,
    /// When it was created.
    pub created_at: EpochMs,
    /// When it expires.
    pub expires_at: EpochMs,
    /// When it was accepted.
    pub accepted_at: Option<EpochMs>,
}

words! {
    /// Whether an invitation can be accepted.
    InvitationStatus:
    /// It can be accepted.
    Pending = "pending",
    /// It was accepted.
    Accepted = "accepted",
    /// It has expired.
    Expired = "expired",
}

impl Invitation {
    /// The status of the invitation at `now`.
    pub fn status(&self, now: EpochMs) -> InvitationStatus {
        match self.accepted_at {
            Some(_) => InvitationStatus::Accepted,
            None if self.expires_at <= now => InvitationStatus::Expired,
            None => InvitationStatus::Pending,
        }
    }
}

/// A signed-in browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// The signed-in user.
    pub user_id: UserId,
    /// The browser's `User-Agent`.
    pub user_agent: String,
    /// The address it signed in from.
    pub address: String,
    /// When it signed in.
    pub created_at: EpochMs,
    /// When it was last used, to the minute.
    pub last_used_at: EpochMs,
}

impl Session {
    /// When the session expires unless it is used before: at the latest at the end of its maximum lifetime.
    pub fn expires_at(&self) -> EpochMs {
        (self.last_used_at + SESSION_IDLE).min(self.created_at + SESSION_LIFE)
    }
}

/// Normalizes an e-mail address for lookup: trimmed, lower case, `x@y`, at most 254 characters; `None` if it is invalid.
pub fn normalize_email(text: &str) -> Option<String> {
    let email = text.trim().to_lowercase();
    let (name, host) = email.split_once('@')?;
    let plain = !email
        .chars()
        .any(|letter| letter.is_whitespace() || letter.is_control());
    (plain && !name.is_empty() && !host.is_empty() && !host.contains('@') && email.len() <= 254).then_some(email)
}

/// Normalizes a display name: trimmed, 1 to 100 characters, no control characters; `None` if it is invalid.
pub fn normalize_name(text: &str) -> Option<String> {
    let name = text.trim();
    let right = !name.is_empty() && name.chars().count() <= 100 && !name.chars().any(char::is_control);
    right.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_whatever_their_case() {
        assert_eq!(normalize_email(" Ada@Example.COM ").as_deref(), Some("ada@example.com"));
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
            assert_eq!(normalize_email(text), None, "{text:?}");
        }
    }

    #[test]
    fn names_are_short_and_visible() {
        assert_eq!(normalize_name("  CI  ").as_deref(), Some("CI"));
        for text in ["", "   ", "a\nb", &"x".repeat(101)] {
            assert_eq!(normalize_name(text), None, "{text:?}");
        }
    }
}
