//! Parses untrusted files — apps, update packages, credentials — in a separate process: this program, started with a
//! hidden command. That process receives the file on standard input and no environment, and restricts itself before it
//! reads the first byte (`confine.rs`). If a file triggers a defect in a parser, only that process dies: the file is
//! refused, with a sentence about how the process ended.
//!
//! The number of such processes, and how organizations share them, is in `places.rs`.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

mod batch;
mod confine;
mod content_id;
pub mod credential_form;
mod entry;
mod expo_export;
mod package_files;
mod places;
mod process;
mod trial;
mod work;

use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use launchway_binaries::BinaryFacts;
use launchway_credentials::Kind;
use launchway_domain::platform::Platform;
use launchway_domain::release::Format;
use launchway_domain::time::EpochMs;
use launchway_foreign::capgo::PackedFiles;
use launchway_foreign::expo::PackedExport;
use launchway_package::Limits;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use zeroize::Zeroizing;

pub use entry::entry;
pub use places::{Place, PlaceError, Places};
use process::{ProcessFailure, run};

/// The hidden first argument.
const COMMAND: &str = "__inspect";
/// The whole environment of such a process: its allocator commits memory on demand. By default it would reserve more at
/// its start than the process is allowed.
pub const ENVIRONMENT: [(&str, &str); 2] = [
    ("MIMALLOC_ARENA_EAGER_COMMIT", "0"),
    ("MIMALLOC_ARENA_RESERVE", "65536"),
];
/// A process that has not answered by then is killed. Its limit on CPU time is lower (`confine.rs`), so this applies to
/// a busy machine or a hanging disk.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Starts inspection processes.
#[derive(Clone, Debug)]
pub struct Inspector {
    program: PathBuf,
    arguments: Vec<OsString>,
    timeout: Duration,
}

/// What an inspection process is started for. It is passed as an argument, so it contains no secrets.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Task {
    /// Standard input is an app.
    App,
    /// Standard input is an update package of this format.
    Package(Limits, Format),
    /// Standard input is an update package of format `archive`, whose files are listed.
    Files(Limits),
    /// Standard input is a package with an export of Expo, which is read for this platform.
    Export(Limits, Platform),
    /// Standard input is a credential with its passwords, in the form that is sealed.
    Credential(CredentialTask),
    /// Standard input is a sequence of files, for the fuzzer.
    Batch,
    /// Tries, for the tests, what such a process must not be able to do.
    Trial(trial::Trial),
}

/// How to parse a credential.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct CredentialTask {
    kind: String,
    bundle_id: Option<String>,
    now: EpochMs,
}

/// The answer of an inspection process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer<T> {
    /// The file is valid, and these are its facts.
    Read(T),
    /// The file is refused; the sentence is for the user.
    Refused(String),
    /// The file could not be read, for a reason other than its contents.
    Unreadable(String),
}

/// The facts about an accepted credential.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CredentialFacts {
    /// The name in the file.
    pub name: String,
    /// Lower-case hex SHA-256 of what identifies the credential.
    pub fingerprint: String,
    /// When it expires, for kinds that do.
    pub expires_at: Option<EpochMs>,
    /// The other facts, without those that are columns of the record.
    pub facts: Value,
}

/// The facts about an accepted update package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageFacts {
    /// The number of files, without folders.
    pub file_count: u64,
    /// The SHA-256 of the list of files; `None` if they are too large for a list.
    pub manifest: Option<String>,
    /// How clients of its format identify the content; `None` for formats whose clients do not.
    #[serde(default)]
    pub content_id: Option<String>,
}

/// The facts about an accepted export of Expo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExportFacts {
    /// Those of every package.
    pub package: PackageFacts,
    /// The files of the platform.
    pub export: PackedExport,
}

/// The facts about an accepted package whose files are listed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilesFacts {
    /// Those of every package.
    pub package: PackageFacts,
    /// Its files; `None` if some client could not install them one by one.
    pub files: Option<PackedFiles>,
}

/// Why a file is refused: a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectionError(pub String);

impl std::fmt::Display for InspectionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a file cannot be inspected, for a reason other than its contents. The log says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InspectorError {
    /// No process can be run.
    #[error("The server cannot inspect the file now. Try again in a moment.")]
    NoProcess,
    /// The process cannot read the file.
    #[error("The server cannot read the file now. Try again in a moment.")]
    Unreadable,
}

impl Inspector {
    /// Starts this very program, even if its file has been replaced since; its `main` calls [`entry`].
    ///
    /// # Errors
    /// The path of the program is unknown.
    pub fn this_program() -> std::io::Result<Inspector> {
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe()?
        };
        Ok(Inspector::through(program, [], TIMEOUT))
    }

    /// Starts another program, with these arguments before its own, and kills it after `timeout`.
    pub fn through(program: PathBuf, arguments: impl Into<Vec<OsString>>, timeout: Duration) -> Inspector {
        Inspector {
            program,
            arguments: arguments.into(),
            timeout,
        }
    }

    /// The facts that an app states about itself. `file` may be at any position.
    ///
    /// # Errors
    /// [`InspectorError`] if the app could not be inspected; the inner error is the reason why it is refused.
    pub async fn app(&self, file: File) -> Result<Result<BinaryFacts, InspectionError>, InspectorError> {
        self.ask(&Task::App, "app", file.into(), None).await
    }

    /// The contents of an update package of a format.
    ///
    /// # Errors
    /// As [`Inspector::app`].
    pub async fn package(
        &self,
        file: File,
        limits: Limits,
        format: Format,
    ) -> Result<Result<PackageFacts, InspectionError>, InspectorError> {
        self.with_time_for(&limits)
            .ask(&Task::Package(limits, format), "package", file.into(), None)
            .await
    }

    /// The contents of an update package of format `archive`, and where its files are.
    ///
    /// # Errors
    /// As [`Inspector::app`].
    pub async fn files(
        &self,
        file: File,
        limits: Limits,
    ) -> Result<Result<FilesFacts, InspectionError>, InspectorError> {
        self.with_time_for(&limits)
            .ask(&Task::Files(limits), "package", file.into(), None)
            .await
    }

    /// The contents of a package with an export of Expo, and its files of a platform.
    ///
    /// # Errors
    /// As [`Inspector::app`].
    pub async fn export(
        &self,
        file: File,
        limits: Limits,
        platform: Platform,
    ) -> Result<Result<ExportFacts, InspectionError>, InspectorError> {
        self.with_time_for(&limits)
            .ask(&Task::Export(limits, platform), "package", file.into(), None)
            .await
    }

    /// The same with more time for large packages.
    fn with_time_for(&self, limits: &Limits) -> Inspector {
        Inspector {
            timeout: self.timeout.saturating_add(Duration::from_secs(more_seconds(limits))),
            ..self.clone()
        }
    }

    /// The facts about a credential, which is passed as the JSON that will be sealed.
    ///
    /// # Errors
    /// As [`Inspector::app`].
    pub async fn credential(
        &self,
        kind: Kind,
        bundle_id: Option<String>,
        now: EpochMs,
        sealable: Zeroizing<Vec<u8>>,
    ) -> Result<Result<CredentialFacts, InspectionError>, InspectorError> {
        let task = CredentialTask {
            kind: kind.as_str().to_owned(),
            bundle_id,
            now,
        };
        self.ask(&Task::Credential(task), "credential", Stdio::piped(), Some(sealable))
            .await
    }

    async fn ask<T: serde::de::DeserializeOwned>(
        &self,
        task: &Task,
        what: &str,
        input: Stdio,
        content: Option<Zeroizing<Vec<u8>>>,
    ) -> Result<Result<T, InspectionError>, InspectorError> {
        let not_run = |error: std::io::Error| {
            tracing::error!(%error, "cannot run a process to inspect a file");
            InspectorError::NoProcess
        };
        let task = serde_json::to_string(task)
            .map_err(std::io::Error::from)
            .map_err(not_run)?;
        let said = match run(self, &task, input, content).await.map_err(not_run)? {
            Ok(said) => said,
            Err(died) => return Ok(Err(refused(what, died))),
        };
        match serde_json::from_slice(&said) {
            Ok(Answer::Read(found)) => Ok(Ok(found)),
            Ok(Answer::Refused(sentence)) => Ok(Err(InspectionError(sentence))),
            Ok(Answer::Unreadable(problem)) => {
                tracing::error!(problem, "cannot read a file to inspect");
                Err(InspectorError::Unreadable)
            }
            Err(_) => Ok(Err(refused(what, ProcessFailure::Crashed))),
        }
    }
}

/// Additional seconds for packages whose limits exceed the default, at 16 MiB a second.
fn more_seconds(limits: &Limits) -> u64 {
    limits.max_unpacked.saturating_sub(Limits::default().max_unpacked) >> 24
}

fn refused(what: &str, died: ProcessFailure) -> InspectionError {
    let how = match died {
        ProcessFailure::Crashed => "crashed",
        ProcessFailure::OutOfMemory => "used too much memory",
        ProcessFailure::OutOfTime => "took too long",
    };
    InspectionError(format!(
        "Cannot read the {what}: its inspection {how}. Create the file again with the usual tools. If that does not \
         help, contact the operator of this server."
    ))
}
