//! The roles that developers sign, by the names that commands take.

use std::fmt;
use std::str::FromStr;

use launchway_domain::time::EpochMs;
use launchway_trust::UpdateRole;
use launchway_trust::profile::{ROOT_LIFETIME, TARGETS_LIFETIME, UPDATE_ROLE_LIFETIME};

/// A role that developers sign.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeveloperRole {
    /// Names the keys of the top-level roles.
    Root,
    /// Names the keys of the roles that sign updates.
    Targets,
    /// Signs updates.
    Update(UpdateRole),
}

/// The text is not a role. The message follows the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be root, targets, any, or c- and a configuration, such as c-production")]
pub struct DeveloperRoleError;

impl DeveloperRole {
    /// How long a version of the role is valid.
    pub const fn lifetime(&self) -> EpochMs {
        match self {
            Self::Root => ROOT_LIFETIME,
            Self::Targets => TARGETS_LIFETIME,
            Self::Update(_) => UPDATE_ROLE_LIFETIME,
        }
    }
}

impl FromStr for DeveloperRole {
    type Err = DeveloperRoleError;

    fn from_str(text: &str) -> Result<Self, DeveloperRoleError> {
        match text {
            "root" => Ok(Self::Root),
            "targets" => Ok(Self::Targets),
            other => other.parse().map(Self::Update).map_err(|_| DeveloperRoleError),
        }
    }
}

impl fmt::Display for DeveloperRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("root"),
            Self::Targets => f.write_str("targets"),
            Self::Update(role) => role.fmt(f),
        }
    }
}
