//! The commands that build a project, for each framework, platform and distribution.

mod android;
mod apple;
mod capacitor;
mod flutter;
mod native;
mod nativescript;
mod react_native;

use launchway_domain::build::plan::{ArtifactRule, CacheRule, Step};
use launchway_domain::build::{BuildType, Distribution};
use launchway_domain::platform::Platform;

use crate::file::profile::Profile;
use crate::framework::Framework;
use crate::packages::{Packages, join};
use crate::shell::quote;
use crate::source::Source;
use crate::trust_file;

/// Longest cache key. A cache with a longer key is omitted.
const LONGEST_KEY: usize = 100;
/// The name of the step that writes the fingerprint.
const EMBED: &str = "embed fingerprint";

/// An app to build.
#[derive(Clone, Copy, Debug)]
pub struct App<'a> {
    /// The files of the source.
    pub source: &'a Source,
    /// The directory of the project, with its settings and trust file; empty for the root.
    pub base: &'a str,
    /// Its directory in the source; empty for the root.
    pub directory: &'a str,
    /// Its JavaScript packages.
    pub packages: Option<&'a Packages>,
    /// The build profile, merged with those that it extends.
    pub profile: &'a Profile,
    /// The target platform.
    pub platform: Platform,
    /// Debug or release.
    pub build_type: BuildType,
    /// How it reaches devices.
    pub distribution: Distribution,
}

/// A framework's commands for an app. Paths are relative to the root of the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preset {
    /// The labels that a runner must have.
    pub labels: Vec<String>,
    /// The steps that install packages.
    pub install: Vec<Step>,
    /// The steps that build.
    pub build: Vec<Step>,
    /// The files that the build produces.
    pub artifacts: Vec<ArtifactRule>,
    /// The directories to keep between builds.
    pub cache: Vec<CacheRule>,
}

/// Why a framework cannot build an app.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PresetError {
    /// The framework does not support the platform.
    #[error(
        "There is no preset for {framework} projects on {platform}. Define steps in [build.<profile>.{platform}] of \
         launchway.toml."
    )]
    Platform {
        /// The framework.
        framework: &'static str,
        /// The platform.
        platform: Platform,
    },
    /// A file that the commands need is missing.
    #[error("{0} is missing. {1}.")]
    Missing(String, &'static str),
    /// There are several schemes or projects, and nothing selects one.
    #[error("There are several {what}: {}. {fix}.", .found.join(", "))]
    Several {
        /// What there is more than one of.
        what: &'static str,
        /// Their names.
        found: Vec<String>,
        /// How to select one.
        fix: &'static str,
    },
}

/// The framework's commands for an app.
///
/// # Errors
/// The framework cannot build the app: why, and what to do.
pub fn preset(framework: Framework, app: &App<'_>) -> Result<Preset, PresetError> {
    match framework {
        Framework::NativeScript => nativescript::preset(app),
        Framework::Capacitor => capacitor::preset(app),
        Framework::Expo => react_native::expo(app),
        Framework::ReactNative => react_native::bare(app),
        Framework::Flutter => flutter::preset(app),
        Framework::Gradle => native::gradle(app),
        Framework::Xcode => native::xcode(app),
    }
}

impl App<'_> {
    /// A path of the app, relative to the root of the source.
    fn place(&self, path: &str) -> String {
        join(self.directory, path)
    }

    fn has_file(&self, path: &str) -> bool {
        self.source.has_file(&self.place(path))
    }

    fn has_directory(&self, path: &str) -> bool {
        self.source.has_directory(&self.place(path))
    }

    fn text(&self, path: &str) -> Option<String> {
        self.source.text(&self.place(path))
    }

    /// The names in a directory of the app that are safe to display and to write into a script.
    fn names(&self, path: &str) -> Vec<String> {
        let mut names = self.source.names(&self.place(path));
        names.retain(|name| !name.contains(char::is_control));
        names
    }

    fn is_release(&self) -> bool {
        self.build_type == BuildType::Release
    }

    /// `Debug` or `Release`, in the spelling of Gradle and Xcode.
    fn variant(&self) -> &'static str {
        match self.build_type {
            BuildType::Debug => "Debug",
            BuildType::Release => "Release",
        }
    }

    /// A step that runs in a directory of the app.
    fn step(&self, name: &str, directory: &str, script: &str) -> Step {
        step_in(name, &self.place(directory), script)
    }

    /// Writes the fingerprint into the native project, so that the app can report it, and the root of signed updates in a
    /// project that has one. Runs after packages and native project exist, and before anything is built from them.
    fn embed(&self) -> Step {
        let command = match self.source.has_file(&join(self.base, trust_file::NAME)) {
            true => "embed",
            false => "fingerprint embed",
        };
        self.step(EMBED, "", &format!("launchway {command} {}", self.platform))
    }

    /// The same for a native project that an earlier step generated from the configuration, so that its files do not
    /// count.
    fn embed_generated(&self) -> Step {
        let embed = self.embed();
        Step {
            run: format!("{} --generated", embed.run),
            ..embed
        }
    }

    fn artifact(&self, path: &str, kind: &str) -> ArtifactRule {
        ArtifactRule {
            path: self.place(path),
            kind: kind.to_owned(),
        }
    }

    fn unsupported(&self, framework: Framework) -> PresetError {
        PresetError::Platform {
            framework: framework.title(),
            platform: self.platform,
        }
    }
}

impl Preset {
    /// Installs the JavaScript packages, and keeps the downloads.
    fn install_packages(&mut self, packages: &Packages) {
        self.install
            .push(step_in("install packages", &packages.place, packages.install()));
        if let Some(lockfile) = &packages.lockfile {
            self.keep("packages", lockfile, packages.store());
        }
    }

    /// Keeps directories for as long as a file does not change.
    fn keep(&mut self, name: &str, file: &str, paths: &[&str]) {
        let key = format!("{name}-{{{{ hash \"{file}\" }}}}");
        let odd = |letter: char| letter == '"' || letter == '}' || letter.is_control();
        if key.chars().count() <= LONGEST_KEY && !file.contains(odd) {
            let paths = paths.iter().map(ToString::to_string).collect();
            self.cache.push(CacheRule { key, paths });
        }
    }
}

/// The command of NativeScript.
pub(crate) fn ns(packages: &Packages) -> String {
    match packages.can_run("nativescript") {
        true => format!("{} ns", packages.exec()),
        // The package `ns` is unrelated, so that it must never be downloaded.
        false => "ns".to_owned(),
    }
}

/// A step that runs in a directory of the source.
fn step_in(name: &str, directory: &str, script: &str) -> Step {
    Step {
        name: name.to_owned(),
        run: in_directory(directory, script.trim_end()),
        timeout_seconds: None,
    }
}

/// A script that starts in a directory of the source.
pub fn in_directory(directory: &str, script: &str) -> String {
    match directory {
        "" => script.to_owned(),
        directory => format!("cd -- {}\n{script}", quote(directory)),
    }
}
