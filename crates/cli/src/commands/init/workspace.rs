//! The workspace that the app belongs to, and what it means for the project.

use std::path::Path;

use launchway_project::packages::{Manager, Packages};
use launchway_project::source::Source;
use launchway_project::workspace::ProjectSource;
use serde_json::{Value, json};

/// A workspace above the project.
pub struct Workspace {
    root: String,
    manager: Manager,
    lockfile: Option<String>,
}

impl Workspace {
    /// The workspace of the app in the directory; `None` if the app is on its own.
    pub fn of(here: &Path) -> Option<Self> {
        let place = ProjectSource::find(here, "");
        let packages = Packages::read(&Source::new(&place.root), &place.base).filter(|_| place.is_workspace())?;
        Some(Self {
            root: place.root.display().to_string(),
            manager: packages.manager,
            lockfile: packages.lockfile,
        })
    }

    /// What was found, as a clause.
    pub fn told(&self) -> String {
        let manager = self.manager.as_str();
        match &self.lockfile {
            Some(lockfile) => format!(
                "The app belongs to the workspace in {} ({manager}, {lockfile})",
                self.root
            ),
            None => format!(
                "The app belongs to the workspace in {} ({manager}, no lockfile)",
                self.root
            ),
        }
    }

    /// What follows from it, as a clause.
    pub fn consequence(&self) -> &'static str {
        "builds install its packages there, and the app needs no lockfile of its own"
    }

    /// As the command prints it.
    pub fn json(&self) -> Value {
        json!({ "root": self.root, "packageManager": self.manager.as_str(), "lockfile": self.lockfile })
    }

    /// The same for people.
    pub fn line(&self) -> String {
        format!("{}, installed by {}", self.root, self.manager.as_str())
    }
}
