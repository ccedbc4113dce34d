//! The packages that a JavaScript project has installed, as Node finds them: in `node_modules` of the folder that asks, then above, and
//! seen through links. So npm, pnpm and workspaces come to the same.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::problem::CollectError;
use super::text_file;

/// Packages that are looked at below one project.
const MOST_PACKAGES: usize = 50_000;

/// An installed package.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version, as installed.
    pub version: String,
    /// What asks for it: a range, or where it comes from instead.
    pub wanted: String,
    /// Where it is, without links.
    pub folder: PathBuf,
    /// Its `package.json`.
    pub manifest: Value,
}

impl Package {
    /// Whether the package has this file or folder.
    pub fn has(&self, path: &str) -> bool {
        self.folder.join(path).exists()
    }

    /// Whether a file directly in the package has a name with this end.
    pub fn has_file_ending(&self, end: &str) -> bool {
        let names = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        names
            .map(|entry| entry.file_name())
            .any(|name| name.to_string_lossy().ends_with(end))
    }

    /// Whether its content may change without its version: it is from a folder or a repository, not from a registry.
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
        // `owner/repository` of GitHub; a range has no slash, an alias of a scoped name begins with `npm:`.
        let repository = self.wanted.contains('/') && !self.wanted.contains(':');
        from || repository || !self.folder.components().any(|part| part.as_os_str() == "node_modules")
    }
}

/// The packages of a project.
pub struct Installed {
    root: PathBuf,
    manifest: Value,
    locked: Map<String, Value>,
}

/// Which of a project's dependencies are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those of `package.json` itself, also for development: the tools of Capacitor and React Native link all of them.
    Direct,
    /// Those that the app runs with, and theirs.
    Production,
    /// All of the above, and what they ask for beside them: the tools of Expo link all of them.
    Everything,
}

impl Installed {
    /// The packages of the project in `root`, a path without links.
    ///
    /// # Errors
    /// `package.json` or a lockfile is broken, or nothing is installed.
    pub fn open(root: &Path) -> Result<Self, CollectError> {
        let manifest = text_file::json(&root.join("package.json"), "package.json")?.unwrap_or_default();
        let installed = Self {
            root: root.to_owned(),
            manifest,
            locked: locked(root)?,
        };
        if !installed.manifest.is_object() {
            return Err(CollectError::broken(
                "package.json",
                "it is no JSON object, or there is none",
            ));
        }
        let needs_some = wanted(Which::Production, &installed.manifest, true).next().is_some();
        let has_folder = root.ancestors().any(|folder| folder.join("node_modules").is_dir());
        if needs_some && !has_folder {
            if root.ancestors().any(|folder| folder.join(".pnp.cjs").exists()) {
                return Err(CollectError::PlugAndPlay);
            }
            return Err(installed.not_installed("node_modules"));
        }
        Ok(installed)
    }

    /// The project's own `package.json`.
    pub const fn manifest(&self) -> &Value {
        &self.manifest
    }

    /// What `package.json` asks for, or would get.
    ///
    /// # Errors
    /// A package is missing or broken. What is only for development or optional may be missing.
    pub fn find(&self, which: Which) -> Result<Vec<Package>, CollectError> {
        let (mut found, mut seen) = (BTreeMap::new(), HashSet::new());
        let mut left = VecDeque::from([(self.root.clone(), self.manifest.clone())]);
        while let Some((folder, manifest)) = left.pop_front() {
            let is_own = folder == self.root;
            for (name, wanted, needed) in wanted(which, &manifest, is_own) {
                let Some(package) = self.resolve(&folder, name, wanted)? else {
                    if needed && is_own {
                        return Err(self.not_installed(name));
                    }
                    continue;
                };
                if which != Which::Direct && seen.len() < MOST_PACKAGES && seen.insert(package.folder.clone()) {
                    left.push_back((package.folder.clone(), package.manifest.clone()));
                }
                // Of two versions the one nearer to the app is linked.
                found.entry(name.to_owned()).or_insert(package);
            }
        }
        let found: Vec<Package> = found.into_values().collect();
        found.iter().try_for_each(|package| self.check_lock(package))?;
        Ok(found)
    }

    /// The package of this name that the project itself would get.
    ///
    /// # Errors
    /// It is broken.
    pub fn named(&self, name: &str) -> Result<Option<Package>, CollectError> {
        let wanted = [
            "dependencies",
            "devDependencies",
            "optionalDependencies",
            "peerDependencies",
        ];
        let wanted = wanted.iter().find_map(|group| self.manifest[group][name].as_str());
        self.resolve(&self.root, name, wanted.unwrap_or_default())
    }

    /// The failure of a package that must be there and is not.
    pub fn not_installed(&self, what: &str) -> CollectError {
        CollectError::NotInstalled {
            what: what.to_owned(),
            run: self.installer(),
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
                return Err(CollectError::broken(shown(), "it is no JSON object"));
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

    /// That the installed version is the one that npm's lockfile has for it.
    fn check_lock(&self, package: &Package) -> Result<(), CollectError> {
        // The version of one in a folder is the one in the folder.
        if package.is_local() {
            return Ok(());
        }
        let place = package.folder.strip_prefix(&self.root).ok().and_then(Path::to_str);
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

    /// The command that installs what the lockfile says.
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
        found.unwrap_or("npm install")
    }
}

const NPM_LOCK: &str = "package-lock.json";

/// What npm's lockfile says of each folder; nothing when there is none. The other lockfiles are only looked at for what
/// a merge left in them.
fn locked(root: &Path) -> Result<Map<String, Value>, CollectError> {
    for name in ["pnpm-lock.yaml", "yarn.lock"] {
        let text = text_file::read(&root.join(name), name)?.unwrap_or_default();
        if let Some(line) = text.lines().position(|line| line.starts_with("<<<<<<< ")) {
            let problem = format!("a merge was left unresolved at line {}", line + 1);
            return Err(CollectError::broken(name, problem));
        }
    }
    match text_file::json(&root.join(NPM_LOCK), NPM_LOCK)? {
        Some(Value::Object(mut lock)) => match lock.remove("packages") {
            Some(Value::Object(packages)) => Ok(packages),
            _ => Ok(Map::new()),
        },
        Some(_) => Err(CollectError::broken(NPM_LOCK, "it is no JSON object")),
        None => Ok(Map::new()),
    }
}

/// Name, range and need of what a `package.json` asks for.
fn wanted(which: Which, manifest: &Value, is_own: bool) -> impl Iterator<Item = (&str, &str, bool)> {
    const ALL: [(&str, bool); 4] = [
        ("dependencies", true),
        ("optionalDependencies", false),
        ("peerDependencies", false),
        ("devDependencies", false),
    ];
    let counts = move |group: &str| match (which, group) {
        (_, "dependencies") => true,
        (Which::Direct, group) => group == "devDependencies",
        (Which::Production, group) => group == "optionalDependencies",
        (Which::Everything, group) => is_own || group != "devDependencies",
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

/// A name that is a path of one or two parts and leads nowhere else.
fn is_name(name: &str) -> bool {
    let parts = || name.split('/');
    let good = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', '\0']);
    parts().all(good) && (parts().count() == 1 || (parts().count() == 2 && name.starts_with('@')))
}
