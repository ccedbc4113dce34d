//! The names of roles: the four of every repository, and those that Launchway delegates to
//! (`docs/reference/trust.md#roles`).

use std::fmt;
use std::str::FromStr;

use launchway_domain::configuration::Configuration;

/// A top-level role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TopLevel {
    /// Names the keys of all four.
    Root,
    /// Names the version of the snapshot.
    Timestamp,
    /// Names the versions of all targets roles.
    Snapshot,
    /// Delegates to the roles of configurations.
    Targets,
}

impl TopLevel {
    /// All of them, in the order of the client's workflow.
    pub const ALL: [TopLevel; 4] = [
        TopLevel::Root,
        TopLevel::Timestamp,
        TopLevel::Snapshot,
        TopLevel::Targets,
    ];

    /// The name in metadata.
    pub const fn name(self) -> &'static str {
        match self {
            TopLevel::Root => "root",
            TopLevel::Timestamp => "timestamp",
            TopLevel::Snapshot => "snapshot",
            TopLevel::Targets => "targets",
        }
    }
}

impl fmt::Display for TopLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A role that signs updates.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UpdateRole {
    /// `c-<configuration>`: for the apps of one configuration.
    Configuration(Configuration),
    /// `any`: for the apps of every configuration.
    Any,
}

/// The text does not name a role that signs updates. The message follows the name of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be `any` or `c-` and the label of a configuration")]
pub struct UpdateRoleError;

impl UpdateRole {
    /// The only path that is delegated to the role: its own folder, then platform and file.
    pub fn path_pattern(&self) -> String {
        format!("{self}/*/*")
    }
}

impl FromStr for UpdateRole {
    type Err = UpdateRoleError;

    fn from_str(text: &str) -> Result<Self, UpdateRoleError> {
        if text == "any" {
            return Ok(Self::Any);
        }
        let label = text.strip_prefix("c-").ok_or(UpdateRoleError)?;
        Configuration::parse(label)
            .map(Self::Configuration)
            .map_err(|_| UpdateRoleError)
    }
}

impl fmt::Display for UpdateRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configuration(label) => write!(f, "c-{label}"),
            Self::Any => f.write_str("any"),
        }
    }
}
