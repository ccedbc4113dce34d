//! The lockfiles of JavaScript packages, and the package managers that write them.

use serde_json::Value;

use crate::source::{Source, join};

/// The file in which pnpm finds the members of a workspace.
pub const PNPM_WORKSPACE: &str = "pnpm-workspace.yaml";

/// A JavaScript package manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manager {
    /// npm.
    Npm,
    /// Yarn 1.
    Yarn,
    /// Yarn 2 and later.
    YarnBerry,
    /// pnpm.
    Pnpm,
    /// Bun.
    Bun,
}

/// Lockfile names. The first one that exists in a directory counts.
pub const LOCKFILES: [(&str, Manager); 6] = [
    ("bun.lock", Manager::Bun),
    ("bun.lockb", Manager::Bun),
    ("pnpm-lock.yaml", Manager::Pnpm),
    ("yarn.lock", Manager::Yarn),
    ("package-lock.json", Manager::Npm),
    ("npm-shrinkwrap.json", Manager::Npm),
];

impl Manager {
    /// The name of its program.
    pub const fn as_str(self) -> &'static str {
        match self {
            Manager::Npm => "npm",
            Manager::Yarn | Manager::YarnBerry => "yarn",
            Manager::Pnpm => "pnpm",
            Manager::Bun => "bun",
        }
    }

    /// Whether it writes the lockfile of this manager. Both generations of Yarn have a `yarn.lock`.
    pub fn writes(self, of: Manager) -> bool {
        self.as_str() == of.as_str()
    }
}

/// The manager that `packageManager` of a `package.json` names, such as `pnpm@9.1.0`.
pub fn stated_manager(manifest: &Value) -> Option<Manager> {
    let (name, version) = manifest["packageManager"].as_str()?.split_once('@')?;
    match name {
        "npm" => Some(Manager::Npm),
        "pnpm" => Some(Manager::Pnpm),
        "bun" => Some(Manager::Bun),
        "yarn" if version.starts_with("1.") => Some(Manager::Yarn),
        "yarn" => Some(Manager::YarnBerry),
        _ => None,
    }
}

/// The manager whose settings are in the directory; npm if there are none.
pub fn configured_manager(source: &Source, place: &str) -> Manager {
    if source.has_file(&join(place, PNPM_WORKSPACE)) {
        return Manager::Pnpm;
    }
    match source.has_file(&join(place, ".yarnrc.yml")) {
        true => Manager::YarnBerry,
        false => Manager::Npm,
    }
}

/// Whether a directory has a lockfile.
pub fn has_lockfile(source: &Source, place: &str) -> bool {
    LOCKFILES.iter().any(|(name, _)| source.has_file(&join(place, name)))
}

/// Yarn 2 and later have a different settings file and lockfile format.
pub fn is_berry(source: &Source, place: &str, lockfile: &str) -> bool {
    source.has_file(&join(place, ".yarnrc.yml"))
        || source
            .text(lockfile)
            .is_some_and(|text| text.lines().take(20).any(|line| line.starts_with("__metadata:")))
}
