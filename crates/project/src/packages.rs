//! `package.json`, and the package manager that its lockfile names.

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::shell::quote;
use crate::source::{FileError, Source};

/// A JavaScript package manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manager {
    /// npm, with a lockfile.
    Npm,
    /// npm, without a lockfile.
    NpmUnlocked,
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
const LOCKFILES: [(&str, Manager); 6] = [
    ("bun.lock", Manager::Bun),
    ("bun.lockb", Manager::Bun),
    ("pnpm-lock.yaml", Manager::Pnpm),
    ("yarn.lock", Manager::Yarn),
    ("package-lock.json", Manager::Npm),
    ("npm-shrinkwrap.json", Manager::Npm),
];

/// The JavaScript packages of an app.
#[derive(Clone, Debug, PartialEq)]
pub struct Packages {
    /// The package manager.
    pub manager: Manager,
    /// The directory to install in, which has the lockfile: that of the app or a parent. Empty for the root of the
    /// source.
    pub place: String,
    /// The lockfile, relative to the root of the source; `None` when there is none.
    pub lockfile: Option<String>,
    /// The `package.json` of the app, followed by those of its parents.
    manifests: Vec<Value>,
}

impl Packages {
    /// Reads the packages of the app in `directory`, which is empty for the root of the source; `None` when it has
    /// none.
    pub fn read(source: &Source, directory: &str) -> Option<Packages> {
        let places: Vec<&str> = ancestors(directory).collect();
        let manifest = |place: &&str| serde_json::from_str(&source.text(&join(place, "package.json"))?).ok();
        let own: Value = manifest(&directory)?;
        let manifests = std::iter::once(own)
            .chain(places[1..].iter().filter_map(manifest))
            .collect();
        let found = places.iter().find_map(|place| {
            let has = |(name, _): &&(&str, Manager)| source.has_file(&join(place, name));
            let (name, manager) = LOCKFILES.iter().find(has)?;
            Some(((*place).to_owned(), join(place, name), *manager))
        });
        Some(match found {
            Some((place, lockfile, manager)) => Packages {
                manager: match manager {
                    Manager::Yarn if is_berry(source, &place, &lockfile) => Manager::YarnBerry,
                    manager => manager,
                },
                place,
                lockfile: Some(lockfile),
                manifests,
            },
            None => Packages {
                manager: Manager::NpmUnlocked,
                place: directory.to_owned(),
                lockfile: None,
                manifests,
            },
        })
    }

    /// Lockfiles beside the one that counts, relative to the root of the source.
    pub fn other_lockfiles(&self, source: &Source) -> Vec<String> {
        let names = LOCKFILES.iter().map(|(name, _)| join(&self.place, name));
        names
            .filter(|name| self.lockfile.as_ref() != Some(name) && source.has_file(name))
            .collect()
    }

    /// What is obviously wrong with the lockfile: it is unreadable, has merge conflicts, or is not JSON although npm
    /// needs JSON.
    pub fn lockfile_problem(&self, source: &Source) -> Option<String> {
        let name = self.lockfile.as_ref()?;
        let text = match source.read(name) {
            Ok(text) => text?,
            // A lockfile may exceed the size limit of text files, and some lockfiles are binary.
            Err(FileError::TooLarge(_)) => return None,
            Err(_) if name.ends_with(".lockb") => return None,
            Err(problem) => return Some(problem.to_string()),
        };
        if text.lines().any(|line| line.starts_with("<<<<<<< ")) {
            return Some(format!("{name} is broken: it has unresolved merge conflicts"));
        }
        if self.manager != Manager::Npm {
            return None;
        }
        let json: Result<IgnoredAny, _> = serde_json::from_str(&text);
        json.err().map(|error| format!("{name} is broken: {error}"))
    }

    /// The command that regenerates the lockfile.
    pub fn lockfile_command(&self) -> &'static str {
        match self.manager {
            Manager::Npm | Manager::NpmUnlocked => "npm install",
            Manager::Yarn | Manager::YarnBerry => "yarn install",
            Manager::Pnpm => "pnpm install",
            Manager::Bun => "bun install",
        }
    }

    /// Whether the app depends on a package.
    pub fn depends_on(&self, name: &str) -> bool {
        self.manifests.first().is_some_and(|manifest| depends(manifest, name))
    }

    /// Whether the app, or the repository for all its apps, depends on a package.
    pub fn can_run(&self, name: &str) -> bool {
        self.manifests.iter().any(|manifest| depends(manifest, name))
    }

    /// A value of the app's own `package.json`.
    pub fn value(&self, pointer: &str) -> Option<&Value> {
        self.manifests.first()?.pointer(pointer)
    }

    /// The command that installs the packages of the lockfile.
    pub fn install(&self) -> &'static str {
        match self.manager {
            Manager::Npm => "npm ci",
            Manager::NpmUnlocked => "npm install",
            Manager::Yarn => "yarn install --frozen-lockfile",
            Manager::YarnBerry => "yarn install --immutable",
            Manager::Pnpm => "pnpm install --frozen-lockfile",
            Manager::Bun => "bun install --frozen-lockfile",
        }
    }

    /// The command that runs a script of `package.json`.
    pub fn script(&self, name: &str) -> String {
        let runner = match self.manager {
            Manager::Npm | Manager::NpmUnlocked => "npm run",
            Manager::Yarn | Manager::YarnBerry => "yarn run",
            Manager::Pnpm => "pnpm run",
            Manager::Bun => "bun run",
        };
        format!("{runner} {}", quote(name))
    }

    /// The prefix of a command that runs a program of a package.
    pub fn exec(&self) -> &'static str {
        match self.manager {
            Manager::Npm | Manager::NpmUnlocked => "npx",
            Manager::Yarn | Manager::YarnBerry => "yarn",
            Manager::Pnpm => "pnpm exec",
            Manager::Bun => "bunx",
        }
    }

    /// The cache directory of the package manager.
    pub fn store(&self) -> &'static [&'static str] {
        match self.manager {
            Manager::Npm | Manager::NpmUnlocked => &["~/.npm"],
            Manager::Yarn => &["~/.cache/yarn", "~/Library/Caches/Yarn"],
            Manager::YarnBerry => &["~/.yarn/berry"],
            Manager::Pnpm => &["~/.local/share/pnpm/store", "~/Library/pnpm/store"],
            Manager::Bun => &["~/.bun/install/cache"],
        }
    }
}

/// The problem with the `package.json` of the app in `directory`, if it exists and [`Packages::read`] returns `None`.
pub fn manifest_problem(source: &Source, directory: &str) -> Option<String> {
    let name = join(directory, "package.json");
    let text = match source.read(&name) {
        Ok(text) => text?,
        Err(problem) => return Some(problem.to_string()),
    };
    let json: Result<IgnoredAny, _> = serde_json::from_str(&text);
    json.err().map(|error| format!("{name} is broken: {error}"))
}

/// Yarn 2 and later have a different settings file and lockfile format.
fn is_berry(source: &Source, place: &str, lockfile: &str) -> bool {
    source.has_file(&join(place, ".yarnrc.yml"))
        || source
            .text(lockfile)
            .is_some_and(|text| text.lines().take(20).any(|line| line.starts_with("__metadata:")))
}

fn depends(manifest: &Value, name: &str) -> bool {
    ["dependencies", "devDependencies"]
        .iter()
        .any(|list| manifest.get(list).and_then(|list| list.get(name)).is_some())
}

/// A directory and its parents, down to the empty path, which is the root of the source.
fn ancestors(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |place| match place.rsplit_once('/') {
        Some((parent, _)) => Some(parent),
        None => (!place.is_empty()).then_some(""),
    })
}

/// A path in a directory, which may be empty.
pub fn join(directory: &str, path: &str) -> String {
    match (directory, path) {
        ("", path) => path.to_owned(),
        (directory, "") => directory.to_owned(),
        (directory, path) => format!("{directory}/{path}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Source) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for (name, text) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().expect("it lies in the directory")).expect("space");
            fs::write(path, text).expect("space");
        }
        let source = Source::new(directory.path());
        (directory, source)
    }

    #[test]
    fn the_lockfile_names_the_manager() {
        let rows = [
            ("package-lock.json", "", Manager::Npm, "npm ci"),
            ("npm-shrinkwrap.json", "", Manager::Npm, "npm ci"),
            (
                "yarn.lock",
                "# yarn lockfile v1",
                Manager::Yarn,
                "yarn install --frozen-lockfile",
            ),
            (
                "yarn.lock",
                "# x\n__metadata:\n",
                Manager::YarnBerry,
                "yarn install --immutable",
            ),
            ("pnpm-lock.yaml", "", Manager::Pnpm, "pnpm install --frozen-lockfile"),
            ("bun.lock", "", Manager::Bun, "bun install --frozen-lockfile"),
            ("README", "", Manager::NpmUnlocked, "npm install"),
        ];
        for (name, text, manager, install) in rows {
            let (_directory, source) = project(&[("package.json", "{}"), (name, text)]);
            let packages = Packages::read(&source, "").expect("packages");
            assert_eq!((packages.manager, packages.install()), (manager, install), "{name}");
        }
    }

    #[test]
    fn a_repository_of_several_apps_installs_at_its_lockfile() {
        let (_directory, source) = project(&[
            ("package.json", r#"{"devDependencies": {"@capacitor/cli": "7"}}"#),
            ("pnpm-lock.yaml", ""),
            (
                "apps/mobile/package.json",
                r#"{"dependencies": {"expo": "1"}, "scripts": {"build": "x"}}"#,
            ),
        ]);
        let packages = Packages::read(&source, "apps/mobile").expect("packages");
        assert_eq!((packages.place.as_str(), packages.manager), ("", Manager::Pnpm));
        assert_eq!(packages.lockfile.as_deref(), Some("pnpm-lock.yaml"));
        assert!(
            packages.depends_on("expo") && !packages.depends_on("@capacitor/cli") && packages.can_run("@capacitor/cli")
        );
        assert_eq!(packages.value("/scripts/build"), Some(&"x".into()));
        assert_eq!(Packages::read(&source, "apps"), None);
    }

    #[test]
    fn what_is_broken_is_told() {
        let rows = [
            ("package-lock.json", "{", true),
            ("package-lock.json", "{}", false),
            ("yarn.lock", "a@1:\n<<<<<<< HEAD\n  version \"1\"\n", true),
            ("yarn.lock", "# yarn lockfile v1", false),
            ("pnpm-lock.yaml", "{", false),
        ];
        for (name, text, is_broken) in rows {
            let (_directory, source) = project(&[("package.json", "{}"), (name, text)]);
            let problem = Packages::read(&source, "").and_then(|packages| packages.lockfile_problem(&source));
            assert_eq!(problem.is_some(), is_broken, "{name}: {problem:?}");
            assert_eq!(manifest_problem(&source, ""), None);
        }
        let (_directory, source) = project(&[("app/package.json", "{,}")]);
        assert_eq!(
            manifest_problem(&source, "app").as_deref(),
            Some("app/package.json is broken: key must be a string at line 1 column 2")
        );
        assert_eq!(
            (manifest_problem(&source, ""), Packages::read(&source, "app")),
            (None, None)
        );
    }

    #[test]
    fn lockfiles_beside_the_one_that_counts_are_told() {
        let files = [("package.json", "{}"), ("yarn.lock", ""), ("package-lock.json", "{}")];
        let (_directory, source) = project(&files);
        let packages = Packages::read(&source, "").expect("packages");
        assert_eq!(packages.lockfile.as_deref(), Some("yarn.lock"));
        assert_eq!(packages.other_lockfiles(&source), ["package-lock.json"]);
    }

    #[test]
    fn directories_lead_up_to_the_root() {
        assert_eq!(ancestors("a/b/c").collect::<Vec<_>>(), ["a/b/c", "a/b", "a", ""]);
        assert_eq!(ancestors("").collect::<Vec<_>>(), [""]);
    }
}
