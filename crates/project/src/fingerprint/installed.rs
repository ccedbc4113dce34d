//! The installed packages of a JavaScript project, as Node resolves them: in `node_modules` of the requiring directory,
//! then of its parents, through links. npm, pnpm and workspaces therefore give the same result.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::problem::CollectError;
use super::text_file;
use crate::packages::Packages;
use crate::source::Source;
use crate::workspace::{ProjectSource, root_above};

/// Packages that are visited for one project.
const MOST_PACKAGES: usize = 50_000;

/// An installed package.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// The installed version.
    pub version: String,
    /// The request for it: a version range, or the source that replaces one.
    pub wanted: String,
    /// Its directory, with links resolved.
    pub folder: PathBuf,
    /// Its `package.json`.
    pub manifest: Value,
}

impl Package {
    /// Whether the package contains this file or directory.
    pub fn has(&self, path: &str) -> bool {
        self.folder.join(path).exists()
    }

    /// Whether a file at the top level of the package has a name with this suffix.
    pub fn has_file_ending(&self, end: &str) -> bool {
        let names = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        names
            .map(|entry| entry.file_name())
            .any(|name| name.to_string_lossy().ends_with(end))
    }

    /// Whether its content may change without its version: it comes from a directory or a repository, not from a
    /// registry.
    pub fn is_local(&self) -> bool {
        const NOT_A_REGISTRY: [&str; 10] = [
            "file:",
            "link:",
            "portal:",
            "workspace:",
            "git",
            "http:",
            "https:",
            "ssh:",
            "bitbucket:",
            "gist:",
        ];
        let from = NOT_A_REGISTRY.iter().any(|start| self.wanted.starts_with(start));
        // `owner/repository` of GitHub. A range has no slash, and an alias of a scoped name begins with `npm:`.
        let repository = self.wanted.contains('/') && !self.wanted.contains(':');
        from || repository || !self.folder.components().any(|part| part.as_os_str() == "node_modules")
    }
}

/// The packages of a project.
pub struct Installed {
    root: PathBuf,
    /// The directory of the lockfile: the project, or the workspace that it belongs to.
    place: PathBuf,
    manifest: Value,
    locked: Map<String, Value>,
}

/// Selects dependencies of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependencyScope {
    /// Those in `package.json`, including development dependencies: the tools of Capacitor and React Native link all of
    /// them.
    Direct,
    /// The runtime dependencies, with their own dependencies.
    Production,
    /// All of the above, and peer dependencies: the tools of Expo link all of them.
    Everything,
}

impl Installed {
    /// Reads the packages of the project in `root`, a path without links.
    ///
    /// # Errors
    /// `package.json` or a lockfile is invalid, or no packages are installed.
    pub fn open(root: &Path) -> Result<Self, CollectError> {
        let manifest = text_file::json(&root.join("package.json"), "package.json")?.unwrap_or_default();
        let place = root_above(root).unwrap_or_else(|| root.to_owned());
        let installed = Self {
            root: root.to_owned(),
            manifest,
            locked: read_lockfile(&place)?,
            place,
        };
        if !installed.manifest.is_object() {
            return Err(CollectError::broken(
                "package.json",
                "it is missing, or not a JSON object",
            ));
        }
        let needs_some = requests(DependencyScope::Production, &installed.manifest, true)
            .next()
            .is_some();
        let has_folder = root.ancestors().any(|folder| folder.join("node_modules").is_dir());
        if needs_some && !has_folder {
            if root.ancestors().any(|folder| folder.join(".pnp.cjs").exists()) {
                return Err(CollectError::PlugAndPlay);
            }
            return Err(installed.not_installed("node_modules"));
        }
        Ok(installed)
    }

    /// The `package.json` of the project.
    pub const fn manifest(&self) -> &Value {
        &self.manifest
    }

    /// The packages that `package.json` requests, directly or indirectly. `of_others` are for other platforms.
    ///
    /// # Errors
    /// A package is missing or invalid. Development and optional dependencies, and those for other platforms, may be
    /// missing.
    pub fn find(&self, which: DependencyScope, of_others: &[&str]) -> Result<Vec<Package>, CollectError> {
        let (mut found, mut seen) = (BTreeMap::new(), HashSet::new());
        let mut left = VecDeque::from([(self.root.clone(), self.manifest.clone())]);
        while let Some((folder, manifest)) = left.pop_front() {
            let is_own = folder == self.root;
            for (name, wanted, needed) in requests(which, &manifest, is_own) {
                let Some(package) = self.resolve(&folder, name, wanted)? else {
                    if needed && is_own && !of_others.contains(&name) {
                        return Err(self.not_installed(name));
                    }
                    continue;
                };
                if which != DependencyScope::Direct && seen.len() < MOST_PACKAGES && seen.insert(package.folder.clone())
                {
                    left.push_back((package.folder.clone(), package.manifest.clone()));
                }
                // Of two versions, the one nearer to the app is linked.
                found.entry(name.to_owned()).or_insert(package);
            }
        }
        let found: Vec<Package> = found.into_values().collect();
        let counts = |package: &&Package| !of_others.contains(&package.name.as_str());
        let mut counting = found.iter().filter(counts);
        counting.try_for_each(|package| self.check_lock(package))?;
        Ok(found)
    }

    /// The package of this name as the project itself resolves it.
    ///
    /// # Errors
    /// The package is invalid.
    pub fn find_package(&self, name: &str) -> Result<Option<Package>, CollectError> {
        let wanted = [
            "dependencies",
            "devDependencies",
            "optionalDependencies",
            "peerDependencies",
        ];
        let wanted = wanted.iter().find_map(|group| self.manifest[group][name].as_str());
        self.resolve(&self.root, name, wanted.unwrap_or_default())
    }

    /// The error for a required package that is missing.
    pub fn not_installed(&self, what: &str) -> CollectError {
        CollectError::NotInstalled {
            what: what.to_owned(),
            run: self.installer().to_owned(),
        }
    }

    /// The error for a package that every app of the framework needs, whether or not `package.json` names it.
    pub fn missing(&self, name: &str) -> CollectError {
        let groups = ["dependencies", "devDependencies", "optionalDependencies"];
        if groups.iter().any(|group| self.manifest[group].get(name).is_some()) {
            return self.not_installed(name);
        }
        let add = match self.installer().split(' ').next() {
            Some(manager @ ("pnpm" | "yarn" | "bun")) => format!("{manager} add"),
            _ => "npm install".to_owned(),
        };
        CollectError::NotInstalled {
            what: name.to_owned(),
            run: format!("{add} {name}"),
        }
    }

    fn resolve(&self, from: &Path, name: &str, wanted: &str) -> Result<Option<Package>, CollectError> {
        for above in from.ancestors().filter(|folder| !folder.ends_with("node_modules")) {
            let place = above.join("node_modules").join(name);
            let shown = || {
                let file = place.join("package.json");
                file.strip_prefix(&self.root).unwrap_or(&file).display().to_string()
            };
            let Some(manifest) = text_file::json(&place.join("package.json"), &shown())? else {
                continue;
            };
            if !manifest.is_object() {
                return Err(CollectError::broken(shown(), "it is not a JSON object"));
            }
            let folder = fs::canonicalize(&place).map_err(|error| CollectError::unreadable(shown(), error))?;
            return Ok(Some(Package {
                name: name.to_owned(),
                version: manifest["version"].as_str().unwrap_or("0.0.0").to_owned(),
                wanted: wanted.to_owned(),
                folder,
                manifest,
            }));
        }
        Ok(None)
    }

    /// Checks that the installed version is the one in npm's lockfile.
    fn check_lock(&self, package: &Package) -> Result<(), CollectError> {
        // A package in a directory has the version of that directory.
        if package.is_local() {
            return Ok(());
        }
        let place = package.folder.strip_prefix(&self.place).ok().and_then(Path::to_str);
        let entry = place.and_then(|place| self.locked.get(&place.replace('\\', "/")));
        match entry.and_then(|entry| entry["version"].as_str()) {
            Some(locked) if locked != package.version => Err(CollectError::Stale {
                name: package.name.clone(),
                installed: package.version.clone(),
                lockfile: NPM_LOCK,
                locked: locked.to_owned(),
                run: self.installer(),
            }),
            _ => Ok(()),
        }
    }

    /// The command that installs the packages of the lockfile.
    fn installer(&self) -> &'static str {
        let commands = [
            (NPM_LOCK, "npm ci"),
            ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
            ("yarn.lock", "yarn install"),
            ("bun.lock", "bun install --frozen-lockfile"),
            ("bun.lockb", "bun install --frozen-lockfile"),
        ];
        let found = self.root.ancestors().find_map(|folder| {
            let mut known = commands.iter();
            known
                .find(|(lockfile, _)| folder.join(lockfile).is_file())
                .map(|(_, command)| *command)
        });
        // Without a lockfile, one of another package manager must not come into being.
        let without_lockfile = || {
            let place = ProjectSource::find(&self.root, "");
            Packages::read(&Source::new(&place.root), &place.base).map(|packages| packages.install())
        };
        found.or_else(without_lockfile).unwrap_or("npm install")
    }
}

const NPM_LOCK: &str = "package-lock.json";

/// The entries of npm's lockfile in a directory, by the directory of the package; empty when there is none. The other
/// lockfiles are only checked for merge conflicts.
fn read_lockfile(root: &Path) -> Result<Map<String, Value>, CollectError> {
    for name in ["pnpm-lock.yaml", "yarn.lock"] {
        let text = text_file::read(&root.join(name), name)?.unwrap_or_default();
        if let Some(line) = text.lines().position(|line| line.starts_with("<<<<<<< ")) {
            let problem = format!("unresolved merge conflict at line {}", line + 1);
            return Err(CollectError::broken(name, problem));
        }
    }
    match text_file::json(&root.join(NPM_LOCK), NPM_LOCK)? {
        Some(Value::Object(mut lock)) => match lock.remove("packages") {
            Some(Value::Object(packages)) => Ok(packages),
            _ => Ok(Map::new()),
        },
        Some(_) => Err(CollectError::broken(NPM_LOCK, "it is not a JSON object")),
        None => Ok(Map::new()),
    }
}

/// Name, range and necessity of each dependency that a `package.json` requests.
fn requests(which: DependencyScope, manifest: &Value, is_own: bool) -> impl Iterator<Item = (&str, &str, bool)> {
    const ALL: [(&str, bool); 4] = [
        ("dependencies", true),
        ("optionalDependencies", false),
        ("peerDependencies", false),
        ("devDependencies", false),
    ];
    let counts = move |group: &str| match (which, group) {
        (_, "dependencies") => true,
        (DependencyScope::Direct, group) => group == "devDependencies",
        (DependencyScope::Production, group) => group == "optionalDependencies",
        (DependencyScope::Everything, group) => is_own || group != "devDependencies",
    };
    let groups = ALL.into_iter().filter(move |(group, _)| counts(group));
    groups.flat_map(move |(group, needed)| {
        let entries = manifest[group].as_object().into_iter().flatten();
        entries.filter_map(move |(name, wanted)| {
            let optional = manifest["peerDependenciesMeta"][name]["optional"] == true;
            let skipped = group == "peerDependencies" && optional;
            let needed = needed && manifest["optionalDependencies"].get(name).is_none();
            (!skipped && is_name(name)).then(|| (name.as_str(), wanted.as_str().unwrap_or_default(), needed))
        })
    })
}

/// Whether the name is a path of one or two parts that stays inside the directory.
fn is_name(name: &str) -> bool {
    let parts = || name.split('/');
    let good = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', '\0']);
    parts().all(good) && (parts().count() == 1 || (parts().count() == 2 && name.starts_with('@')))
}
