//! What a project lacks to use the SDK: changes of its files, and what only people can do.

use std::path::Path;

use ignore::WalkBuilder;

use super::native_edit::NativeFile;
use super::{entry, expo, manifest, nativescript, package, script};
use crate::framework::Framework;
use crate::packages::{Packages, join};
use crate::source::{FileError, Source};
use crate::workspace::ProjectSource;

/// A file and its new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Its path from the root of the project, with forward slashes.
    pub path: String,
    /// Its text.
    pub before: String,
    /// Its text with the addition.
    pub after: String,
}

/// Something that only people can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManualStep {
    /// What to do, and where.
    pub what: String,
    /// The lines to add.
    pub lines: Vec<String>,
}

/// What a project lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    /// In files whose form is known.
    pub changes: Vec<FileChange>,
    /// Elsewhere.
    pub steps: Vec<ManualStep>,
}

/// An app in the project in `root`.
#[derive(Clone, Copy, Debug)]
pub struct AppFolder<'a> {
    /// The root of the project.
    pub root: &'a Path,
    /// The directory of the app, from the root.
    pub directory: &'a str,
    /// Its framework.
    pub framework: Framework,
}

/// Whether there is an SDK for apps of this framework.
pub const fn has_sdk(framework: Framework) -> bool {
    !matches!(framework, Framework::Flutter)
}

impl Additions {
    /// Looks what an app lacks. `version` is that of the SDK.
    ///
    /// # Errors
    /// A file of the app cannot be read.
    pub fn find(app: AppFolder<'_>, version: &str) -> Result<Self, FileError> {
        let source = Source::new(app.root);
        let mut found = Self::default();
        match (package(app.framework), Packages::read(&source, app.directory)) {
            (Some(package), Some(packages)) => {
                found.add_dependency(&source, app, &packages, (package, version))?;
                found.add_call(&source, app, &packages, package)?;
                match app.framework {
                    Framework::Expo => found.add_plugin(&source, app, package),
                    Framework::NativeScript => found.add_hook(&source, app, &packages),
                    _ => {}
                }
            }
            // A broken `package.json` is reported elsewhere.
            (Some(_), None) => {}
            (None, _) if has_sdk(app.framework) => found.add_native_step(app),
            (None, _) => {}
        }
        found.add_native_edits(&source, app)?;
        Ok(found)
    }

    /// Whether the app lacks nothing.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.steps.is_empty()
    }

    fn add_dependency(
        &mut self,
        source: &Source,
        app: AppFolder<'_>,
        packages: &Packages,
        (package, version): (&str, &str),
    ) -> Result<(), FileError> {
        if packages.depends_on(package) {
            return Ok(());
        }
        let (path, range) = (join(app.directory, "package.json"), format!("^{version}"));
        let before = source.read(&path)?.unwrap_or_default();
        match manifest::with_dependency(&before, package, &range) {
            Some(after) => self.changes.push(FileChange { path, before, after }),
            None => self.steps.push(ManualStep {
                what: format!("add {package} to the dependencies in {path}"),
                lines: vec![format!("\"{package}\": \"{range}\"")],
            }),
        }
        Ok(())
    }

    fn add_call(
        &mut self,
        source: &Source,
        app: AppFolder<'_>,
        packages: &Packages,
        package: &str,
    ) -> Result<(), FileError> {
        if entry::calls_sync(&app.root.join(app.directory), app.framework) {
            return Ok(());
        }
        let path = entry::entry_file(source, app.directory, app.framework, packages);
        let before = match &path {
            Some(path) => source.read(path)?,
            None => None,
        };
        let after = before.as_ref().and_then(|before| script::with_call(before, package));
        match (path, before, after) {
            (Some(path), Some(before), Some(after)) => self.changes.push(FileChange { path, before, after }),
            (path, ..) => {
                let place = path.unwrap_or_else(|| "the script that starts the app".to_owned());
                self.steps.push(ManualStep {
                    what: format!("import and call the SDK in {place}"),
                    lines: script::lines(package).to_vec(),
                });
            }
        }
        Ok(())
    }

    /// Expo generates the native projects, so that a plugin edits them.
    fn add_plugin(&mut self, source: &Source, app: AppFolder<'_>, package: &str) {
        let Some(config) = expo::without_plugin(source, app.directory, package) else {
            return;
        };
        let (path, before) = (config.path, config.before);
        match config.after {
            Some(after) => self.changes.push(FileChange { path, before, after }),
            None => self.steps.push(ManualStep {
                what: format!("list {package} as the first of the plugins in {path}"),
                lines: vec![format!("plugins: ['{package}']")],
            }),
        }
    }

    /// The runtime of NativeScript on iOS starts what the build names.
    fn add_hook(&mut self, source: &Source, app: AppFolder<'_>, packages: &Packages) {
        // A workspace may have the package at its root.
        let is_member = ProjectSource::find(app.root, app.directory).is_workspace();
        let packages = Some(packages).filter(|_| !is_member);
        let Some(config) = nativescript::without_hook(source, app.directory, packages) else {
            return;
        };
        let (path, before) = (config.path, config.before);
        match config.after {
            Some(after) => self.changes.push(FileChange { path, before, after }),
            None => self.steps.push(ManualStep {
                what: format!("add the hook of the SDK, by the path of its package, in {path}"),
                lines: vec![nativescript::HOOK.to_owned()],
            }),
        }
    }

    /// The builds of Gradle and Xcode projects are code, which is not edited.
    fn add_native_step(&mut self, app: AppFolder<'_>) {
        if entry::calls_sync(&app.root.join(app.directory), app.framework) {
            return;
        }
        let (what, lines) = match app.framework {
            Framework::Xcode => (
                "add the Swift package of the SDK in Xcode, and start it before the first window",
                ["let launchway = Launchway.start()", "launchway.sync()"],
            ),
            _ => (
                "add the sources of the SDK to the Gradle build, and call it in the first activity",
                [
                    "Launchway launchway = Launchway.start(context);",
                    "launchway.calls().sync(callback);",
                ],
            ),
        };
        self.steps.push(ManualStep {
            what: what.to_owned(),
            lines: std::iter::once("[sdk] # in launchway.toml: builds embed its settings")
                .chain(lines)
                .map(str::to_owned)
                .collect(),
        });
    }

    /// The native projects of React Native ask the SDK for the bundle.
    fn add_native_edits(&mut self, source: &Source, app: AppFolder<'_>) -> Result<(), FileError> {
        for (path, file) in native_files(app) {
            let Some(before) = source.read(&path)? else { continue };
            if file.asks_sdk(&before) {
                continue;
            }
            match file.with_sdk(&before) {
                Some(after) => self.changes.push(FileChange { path, before, after }),
                None => self.steps.push(ManualStep {
                    what: format!("load the bundle of the SDK in {path}, {}", file.place()),
                    lines: file.lines().into_iter().map(str::to_owned).collect(),
                }),
            }
        }
        Ok(())
    }
}

/// The native files of React Native and Expo that name the bundle, from the root of the project. Other frameworks have none, even
/// where a file has the same name.
pub fn native_files(app: AppFolder<'_>) -> Vec<(String, NativeFile)> {
    if !matches!(app.framework, Framework::ReactNative | Framework::Expo) {
        return Vec::new();
    }
    let places = [("android/app/src/main", 12), ("ios", 3)];
    let mut found = Vec::new();
    for (place, depth) in places {
        let place = join(app.directory, place);
        let folder = app.root.join(&place);
        let walk = WalkBuilder::new(&folder)
            .follow_links(false)
            .max_depth(Some(depth))
            .filter_entry(|entry| !matches!(entry.file_name().to_str(), Some("Pods" | "build" | "res" | "assets")))
            .build();
        for entry in walk.flatten() {
            let Some(file) = entry.file_name().to_str().and_then(NativeFile::of_name) else {
                continue;
            };
            if let Some(inner) = entry.path().strip_prefix(&folder).ok().and_then(Path::to_str) {
                found.push((format!("{place}/{}", inner.replace('\\', "/")), file));
            }
        }
    }
    found.sort_by(|(this, _), (that, _)| this.cmp(that));
    found
}

#[cfg(test)]
mod tests;
