//! Workspaces of JavaScript package managers: a repository of several packages that installs them together, with one
//! lockfile at its root (`docs/plans.md#workspaces`). npm, Yarn and Bun list the members under `workspaces` of the root's
//! `package.json`, pnpm in `pnpm-workspace.yaml`.

mod members;

use std::fs;
use std::path::{Path, PathBuf};

use self::members::Members;
use crate::lockfile::has_lockfile;
use crate::source::{Source, ancestors, join};

/// The source that builds of a project need, and where the project is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectSource {
    /// The directory to read and to pack.
    pub root: PathBuf,
    /// The directory of the project, with `launchway.toml`, in it: forward slashes, and empty for the root.
    pub base: String,
}

impl ProjectSource {
    /// The source of the project in `project`, whose app is in `directory` of it: the workspace above that the app
    /// belongs to, or else the project. Both paths are trusted; the files are not.
    pub fn find(project: &Path, directory: &str) -> Self {
        let alone = || Self {
            root: project.to_owned(),
            base: String::new(),
        };
        let place = match project.as_os_str().is_empty() {
            true => Path::new("."),
            false => project,
        };
        let (Ok(place), Ok(app)) = (fs::canonicalize(place), fs::canonicalize(place.join(directory))) else {
            return alone();
        };
        let above = root_above(&app).filter(|root| *root != place);
        let base = above.as_deref().and_then(|root| relative(&place, root));
        match above.zip(base) {
            Some((root, base)) => Self { root, base },
            None => alone(),
        }
    }

    /// A directory of the project, in the source.
    pub fn place(&self, directory: &str) -> String {
        join(&self.base, directory)
    }

    /// Whether the project is a part of a workspace above it.
    pub fn is_workspace(&self) -> bool {
        !self.base.is_empty()
    }
}

/// The root of the workspace that the app in `app` belongs to, a path without links. An app with a lockfile of its own is
/// on its own. Nothing above the repository counts.
pub fn root_above(app: &Path) -> Option<PathBuf> {
    if has_lockfile(&Source::new(app), "") {
        return None;
    }
    declared_above(app)
}

/// The root of the workspace that lists the app in `app`, a path without links, whether or not the app has a lockfile.
pub fn declared_above(app: &Path) -> Option<PathBuf> {
    let top = app.ancestors().find(|directory| directory.join(".git").exists());
    let within = app
        .ancestors()
        .take_while(|directory| top.is_none_or(|top| directory.starts_with(top)));
    let mut above = within.skip(1);
    let root = above.find(|root| relative(app, root).is_some_and(|app| declares(&Source::new(root), "", &app)))?;
    Some(root.to_owned())
}

/// The directory in the source of the workspace that the app in `directory` belongs to: a parent of that directory.
pub fn root_within(source: &Source, directory: &str) -> Option<String> {
    let mut above = ancestors(directory).skip(1);
    let root = above.find(|root| {
        let app = directory.strip_prefix(root).map(|app| app.trim_start_matches('/'));
        app.is_some_and(|app| declares(source, root, app))
    });
    root.map(str::to_owned)
}

/// Whether the workspace whose root is `place` lists the directory `app` below it.
fn declares(source: &Source, place: &str, app: &str) -> bool {
    Members::read(source, place).is_some_and(|members| members.contain(app))
}

fn relative(path: &Path, root: &Path) -> Option<String> {
    let parts = path.strip_prefix(root).ok()?.components();
    let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

#[cfg(test)]
mod tests;
