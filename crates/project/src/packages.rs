//! `package.json`, and the package manager that its lockfile names.

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::lockfile::{LOCKFILES, configured_manager, is_berry, stated_manager};
use crate::shell::quote;
use crate::source::{FileError, Source, ancestors};
use crate::workspace;

pub use crate::lockfile::Manager;
pub use crate::source::join;

/// The JavaScript packages of an app.
#[derive(Clone, Debug, PartialEq)]
pub struct Packages {
    /// The package manager.
    pub manager: Manager,
    /// The directory to install in: the one with the lockfile, or else the root of the workspace, or else that of the
    /// app. Empty for the root of the source.
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
        let stated = places.iter().find_map(|place| stated_manager(&manifest(place)?));
        let found = places.iter().find_map(|place| {
            let has = |(name, _): &&(&str, Manager)| source.has_file(&join(place, name));
            let is_stated = |entry: &&(&str, Manager)| stated.is_some_and(|stated| stated.writes(entry.1));
            let there = || LOCKFILES.iter().filter(has);
            let (name, manager) = there().find(is_stated).or_else(|| there().next())?;
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
            None => {
                let place = workspace::root_within(source, directory).unwrap_or_else(|| directory.to_owned());
                Packages {
                    manager: stated.unwrap_or_else(|| configured_manager(source, &place)),
                    place,
                    lockfile: None,
                    manifests,
                }
            }
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

    /// The command that makes or regenerates the lockfile.
    pub const fn lockfile_command(&self) -> &'static str {
        match self.manager {
            Manager::Npm => "npm install",
            Manager::Yarn => "yarn install",
            // In CI it would change nothing otherwise.
            Manager::YarnBerry => "yarn install --no-immutable",
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

    /// The command that installs the packages: those of the lockfile if there is one.
    pub const fn install(&self) -> &'static str {
        if self.lockfile.is_none() {
            return self.lockfile_command();
        }
        match self.manager {
            Manager::Npm => "npm ci",
            Manager::Yarn => "yarn install --frozen-lockfile",
            Manager::YarnBerry => "yarn install --immutable",
            Manager::Pnpm => "pnpm install --frozen-lockfile",
            Manager::Bun => "bun install --frozen-lockfile",
        }
    }

    /// The command that runs a script of `package.json`.
    pub fn script(&self, name: &str) -> String {
        let runner = match self.manager {
            Manager::Npm => "npm run",
            Manager::Yarn | Manager::YarnBerry => "yarn run",
            Manager::Pnpm => "pnpm run",
            Manager::Bun => "bun run",
        };
        format!("{runner} {}", quote(name))
    }

    /// The prefix of a command that runs a program of a package.
    pub fn exec(&self) -> &'static str {
        match self.manager {
            Manager::Npm => "npx",
            Manager::Yarn | Manager::YarnBerry => "yarn",
            Manager::Pnpm => "pnpm exec",
            Manager::Bun => "bunx",
        }
    }

    /// The cache directory of the package manager.
    pub fn store(&self) -> &'static [&'static str] {
        match self.manager {
            Manager::Npm => &["~/.npm"],
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

fn depends(manifest: &Value, name: &str) -> bool {
    ["dependencies", "devDependencies"]
        .iter()
        .any(|list| manifest.get(list).and_then(|list| list.get(name)).is_some())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Names and texts.
    type Files<'a> = &'a [(&'a str, &'a str)];

    fn project(files: Files<'_>) -> (tempfile::TempDir, Source) {
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
            ("README", "", Manager::Npm, "npm install"),
            ("pnpm-workspace.yaml", "", Manager::Pnpm, "pnpm install"),
            (".yarnrc.yml", "", Manager::YarnBerry, "yarn install --no-immutable"),
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
    fn a_workspace_without_a_lockfile_gets_one_at_its_root() {
        let app = ("apps/mobile/package.json", "{}");
        let listed = r#"{"workspaces": ["apps/*"]}"#;
        let yarn = r#"{"workspaces": ["apps/*"], "packageManager": "yarn@4.9.1"}"#;
        let yarn_1 = r#"{"workspaces": ["apps/*"], "packageManager": "yarn@1.22.22+sha512.0"}"#;
        let rows: [(Files<'_>, &str, &str); 5] = [
            (&[("package.json", listed), app], "", "npm install"),
            (&[("package.json", yarn), app], "", "yarn install --no-immutable"),
            (&[("package.json", yarn_1), app], "", "yarn install"),
            (
                &[("pnpm-workspace.yaml", "packages:\n  - apps/*\n"), app],
                "",
                "pnpm install",
            ),
            (&[("package.json", "{}"), app], "apps/mobile", "npm install"),
        ];
        for (files, place, install) in rows {
            let (_directory, source) = project(files);
            let packages = Packages::read(&source, "apps/mobile").expect("packages");
            assert_eq!(
                (packages.place.as_str(), packages.install()),
                (place, install),
                "{files:?}"
            );
        }
    }

    #[test]
    fn of_two_lockfiles_that_of_the_stated_manager_counts() {
        let stated = r#"{"packageManager": "npm@11.0.0"}"#;
        let files = [("package.json", stated), ("yarn.lock", ""), ("package-lock.json", "{}")];
        let (_directory, source) = project(&files);
        let packages = Packages::read(&source, "").expect("packages");
        assert_eq!(packages.lockfile.as_deref(), Some("package-lock.json"));
        for other in ["deno@1.0.0", "npm", "5"] {
            let text = format!(r#"{{"packageManager": "{other}"}}"#);
            let (_directory, source) = project(&[("package.json", &text), ("yarn.lock", "")]);
            let packages = Packages::read(&source, "").expect("packages");
            assert_eq!(packages.lockfile.as_deref(), Some("yarn.lock"), "{other}");
        }
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
}
