//! Why a project has no fingerprint, and how to solve the problem.

use launchway_domain::fingerprint::DocumentError;

/// Why a project has no fingerprint. Paths inside the project are relative to it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CollectError {
    /// A required package is missing from `node_modules`, or `node_modules` itself is missing.
    #[error("{what} is not installed; run `{run}` first")]
    NotInstalled {
        /// The missing package or directory.
        what: String,
        /// The command that installs it.
        run: String,
    },
    /// Yarn's Plug'n'Play installation, which has no `node_modules`.
    #[error(
        "cannot read the packages in .pnp.cjs; set `nodeLinker: node-modules` in .yarnrc.yml and run `yarn install`"
    )]
    PlugAndPlay,
    /// The installed version differs from that in the lockfile.
    #[error("{name} {installed} is installed, but {lockfile} says {locked}; run `{run}` first")]
    Stale {
        /// The package.
        name: String,
        /// The version in `node_modules`.
        installed: String,
        /// The lockfile.
        lockfile: &'static str,
        /// The version in the lockfile.
        locked: String,
        /// The command that installs the version of the lockfile.
        run: &'static str,
    },
    /// The native project does not exist yet.
    #[error("{folder} does not exist; run `{run}` first")]
    NoFolder {
        /// Its directory.
        folder: String,
        /// The command that generates it.
        run: &'static str,
    },
    /// The framework does not support this platform.
    #[error("{0} apps do not run on {1}")]
    Platform(&'static str, &'static str),
    /// The content of a file is invalid.
    #[error("{path} is broken: {problem}")]
    Broken {
        /// The file.
        path: String,
        /// The problem.
        problem: String,
    },
    /// An I/O error.
    #[error("cannot read {path}: {problem}")]
    Unreadable {
        /// The file or directory.
        path: String,
        /// The error of the operating system.
        problem: String,
    },
    /// A link to a path outside the project.
    #[error("{0} is a link to outside the project; move its target into the project, or exclude it")]
    LinkOut(String),
    /// A broken or circular link.
    #[error("{0} is a broken link; fix it, or exclude it")]
    BrokenLink(String),
    /// A link to a directory that contains it.
    #[error("{0} is a link to a folder that contains it; remove it, or exclude it")]
    LinkLoop(String),
    /// A pipe, a device or another special file.
    #[error("{0} is neither a file nor a folder; remove it, or exclude it")]
    NoFile(String),
    /// A name that is not UTF-8.
    #[error("{0} has a name that is not UTF-8; rename it")]
    Name(String),
    /// Too many files, or directories nested too deeply.
    #[error("{0} has more files than a native project should; exclude files that are not native in .fingerprintignore")]
    TooMuch(String),
    /// An invalid pattern in `launchway.toml` or in the settings of the framework.
    #[error("the pattern `{pattern}` in {place} {problem}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The file that contains it.
        place: &'static str,
        /// The problem.
        problem: &'static str,
    },
    /// A problem in a package from a directory.
    #[error("in the package {name}: {error}")]
    Package {
        /// The package.
        name: String,
        /// The problem.
        error: Box<CollectError>,
    },
    /// No framework is recognized.
    #[error(
        "no app for {0} found here: no configuration of NativeScript, Capacitor, Expo, React Native or Flutter, and \
         no native project"
    )]
    NoApp(&'static str),
    /// The result exceeds a limit of documents.
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
