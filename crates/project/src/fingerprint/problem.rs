//! Why a project has no fingerprint: what is wrong, and what to do.

use launchway_domain::fingerprint::DocumentError;

/// Why a project has no fingerprint. Paths are relative to the project where they lie in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CollectError {
    /// What counts is not in `node_modules`, or there is none.
    #[error("{what} is not installed; run `{run}` first")]
    NotInstalled {
        /// What is missing.
        what: String,
        /// What installs it.
        run: &'static str,
    },
    /// Yarn's installation without `node_modules`.
    #[error(
        "packages in .pnp.cjs cannot be read; set `nodeLinker: node-modules` in .yarnrc.yml and run `yarn install`"
    )]
    PlugAndPlay,
    /// What is installed is not what the lockfile says.
    #[error("{name} {installed} is installed, but {lockfile} says {locked}; run `{run}` first")]
    Stale {
        /// The package.
        name: String,
        /// Its version in `node_modules`.
        installed: String,
        /// The lockfile.
        lockfile: &'static str,
        /// Its version there.
        locked: String,
        /// What brings both together.
        run: &'static str,
    },
    /// The native project is not there yet.
    #[error("{folder} does not exist; run `{run}` first")]
    NoFolder {
        /// Its folder.
        folder: String,
        /// What makes it.
        run: &'static str,
    },
    /// The framework does not make apps for this platform.
    #[error("{0} apps do not run on {1}")]
    Platform(&'static str, &'static str),
    /// A file is there, but its content is not what it should be.
    #[error("{path} is broken: {problem}")]
    Broken {
        /// The file.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// The operating system says no.
    #[error("{path} cannot be read: {problem}")]
    Unreadable {
        /// The file or folder.
        path: String,
        /// What it says.
        problem: String,
    },
    /// A link that leads out of the project.
    #[error("{0} is a link that leads out of the project; put what it points to into the project, or exclude it")]
    LinkOut(String),
    /// A link that leads nowhere, or to itself.
    #[error("{0} is a link that leads nowhere; mend it, or exclude it")]
    BrokenLink(String),
    /// A link to a folder that it lies in.
    #[error("{0} is a link to a folder that it lies in; remove it, or exclude it")]
    LinkLoop(String),
    /// A pipe, a device or the like.
    #[error("{0} is neither file nor folder; remove it, or exclude it")]
    NoFile(String),
    /// The name is not UTF-8.
    #[error("{0} has a name that is not UTF-8; rename it")]
    Name(String),
    /// Too many files, or folders in folders.
    #[error("{0} holds more files than a native project does; exclude what is not native in .fingerprintignore")]
    TooMuch(String),
    /// A pattern of `launchway.toml` or of the framework's own settings.
    #[error("the pattern '{pattern}' in {place} {problem}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Where it stands.
        place: &'static str,
        /// What is wrong.
        problem: &'static str,
    },
    /// Something in a package from a folder.
    #[error("in the package {name}: {error}")]
    Package {
        /// The package.
        name: String,
        /// What is wrong.
        error: Box<CollectError>,
    },
    /// No framework is recognised.
    #[error(
        "no app for {0} is found here: there is no configuration of NativeScript, Capacitor, Expo, React Native or \
         Flutter, and no native project"
    )]
    NoApp(&'static str),
    /// What was found breaks a limit of documents.
    #[error("{0}")]
    Document(#[from] DocumentError),
}

impl CollectError {
    pub(super) fn broken(path: impl Into<String>, problem: impl ToString) -> Self {
        Self::Broken {
            path: path.into(),
            problem: problem.to_string(),
        }
    }

    pub(super) fn in_package(self, name: &str) -> Self {
        Self::Package {
            name: name.to_owned(),
            error: Box::new(self),
        }
    }

    pub(super) fn unreadable(path: impl Into<String>, problem: impl ToString) -> Self {
        Self::Unreadable {
            path: path.into(),
            problem: problem.to_string(),
        }
    }
}
