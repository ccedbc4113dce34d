//! Organizations: roles of their members, tiers and the calls a tier allows (spec part 8, contract part 2).

use std::fmt;
use std::str::FromStr;

/// What a member may do; each role includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Builds, submits and updates.
    Member,
    /// Also environment variables, keys, webhooks, credentials, runners and members.
    Admin,
    /// Also the organization itself.
    Owner,
}

/// The tier of an organization: how many calls a minute it may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// 60 calls a minute.
    Free,
    /// 300 calls a minute.
    Pro,
    /// 1000 calls a minute.
    Enterprise,
}

/// The text names no role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("role must be member, admin or owner")]
pub struct UnknownRole;

/// The text names no tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tier must be free, pro or enterprise")]
pub struct UnknownTier;

impl Role {
    /// Every role, the weakest first.
    pub const ALL: [Role; 3] = [Role::Member, Role::Admin, Role::Owner];

    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::Member => "member",
            Role::Admin => "admin",
            Role::Owner => "owner",
        }
    }
}

impl Tier {
    /// Every tier, the smallest first.
    pub const ALL: [Tier; 3] = [Tier::Free, Tier::Pro, Tier::Enterprise];

    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Tier::Free => "free",
            Tier::Pro => "pro",
            Tier::Enterprise => "enterprise",
        }
    }

    /// Calls a minute (the table of spec part 8).
    pub const fn requests_per_minute(self) -> u32 {
        match self {
            Tier::Free => 60,
            Tier::Pro => 300,
            Tier::Enterprise => 1000,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        Role::ALL
            .into_iter()
            .find(|role| role.as_str() == text)
            .ok_or(UnknownRole)
    }
}

impl FromStr for Tier {
    type Err = UnknownTier;

    fn from_str(text: &str) -> Result<Self, UnknownTier> {
        Tier::ALL
            .into_iter()
            .find(|tier| tier.as_str() == text)
            .ok_or(UnknownTier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_allow_what_the_spec_says() {
        let allowed: Vec<_> = Tier::ALL
            .iter()
            .map(|tier| (tier.as_str(), tier.requests_per_minute()))
            .collect();
        assert_eq!(allowed, [("free", 60), ("pro", 300), ("enterprise", 1000)]);
    }

    #[test]
    fn roles_include_the_weaker_ones() {
        assert!(Role::Owner > Role::Admin && Role::Admin > Role::Member);
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
    }
}
