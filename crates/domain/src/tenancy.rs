//! Organizations: the roles of their members (`docs/reference/callers.md#roles`), tiers and their rate limits.

words! {
    /// What a member may do; each role includes the ones before it.
    Role, error = "role must be member, admin or owner",
    /// Builds, submits and updates.
    Member = "member",
    /// Also environment variables, keys, webhooks, credentials, runners and members.
    Admin = "admin",
    /// Also the organization itself.
    Owner = "owner",
}

words! {
    /// The tier of an organization: how many calls a minute it may make.
    Tier, error = "tier must be free, pro or enterprise",
    /// 60 calls a minute.
    Free = "free",
    /// 300 calls a minute.
    Pro = "pro",
    /// 1000 calls a minute.
    Enterprise = "enterprise",
}

impl Tier {
    /// Calls a minute (`docs/reference/conventions.md#tiers`).
    pub const fn requests_per_minute(self) -> u32 {
        match self {
            Tier::Free => 60,
            Tier::Pro => 300,
            Tier::Enterprise => 1000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_allow_what_the_reference_says() {
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
