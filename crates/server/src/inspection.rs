//! Reads files of strangers — apps, update packages, credentials — in a process of their own: this program, started again
//! with a hidden command. That process gets the file as its standard input, no environment, and limits that it puts on itself
//! before it looks at the first byte (`confine.rs`). A defect that a file brings to light in a parser ends that process and
//! never this one: the file is refused, with a sentence about how it ended.
//!
//! How many such processes run at once, and how organizations share them, is in `places.rs`.

mod batch;
mod confine;
mod places;
mod process;
mod trial;
mod work;

use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use launchway_binaries::BinaryFacts;
use launchway_credentials::Kind;
use launchway_domain::time::EpochMs;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use zeroize::Zeroizing;

use crate::api_error::ApiError;
use crate::package::{Inspected, Limits};

pub use places::{Place, Places};
use process::{Died, run};

/// The hidden first argument.
const COMMAND: &str = "__inspect";
/// The whole environment of such a process: its allocator takes memory as it needs it. Otherwise it would take more at its start
/// than the process may have.
pub const ENVIRONMENT: [(&str, &str); 2] = [
    ("MIMALLOC_ARENA_EAGER_COMMIT", "0"),
    ("MIMALLOC_ARENA_RESERVE", "65536"),
];
/// A process that has not answered by then is killed. It may use less processor time than this (`confine.rs`), so this is for
/// a machine that is busy, or a disk that hangs.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Starts the processes that inspect.
#[derive(Clone, Debug)]
pub struct Inspector {
    program: PathBuf,
    arguments: Vec<OsString>,
    timeout: Duration,
}

/// What such a process is started for. It travels as an argument, so nothing in it is secret.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Task {
    /// Standard input is an app.
    App,
    /// Standard input is an update package.
    Package(Limits),
    /// Standard input is a credential with its passwords, as it would be sealed.
    Credential(CredentialTask),
    /// Standard input is one file after the other, for the fuzzer.
    Batch,
    /// Tries what such a process must not be able to do, for the tests.
    Trial(trial::Trial),
}

/// How to read a credential.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct CredentialTask {
    kind: String,
    bundle_id: Option<String>,
    now: EpochMs,
}

/// What a process answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer<T> {
    /// The file is good, and says this.
    Read(T),
    /// Why it is refused; the sentence is for the user.
    Refused(String),
    /// It could not be read, through no fault of its own.
    Unreadable(String),
}

/// What is known of a credential that was accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CredentialFacts {
    /// What the file calls itself.
    pub name: String,
    /// Lower-case hex SHA-256 of what identifies it.
    pub fingerprint: String,
    /// When it ends, for kinds that do.
    pub expires_at: Option<EpochMs>,
    /// The facts but those that stand in the record itself.
    pub facts: Value,
}

/// What is refused, and why: a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectionError(pub String);

impl std::fmt::Display for InspectionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Inspector {
    /// Starts this very program, also when its file was replaced since; its `main` calls [`entry`].
    ///
    /// # Errors
    /// The program does not know where it is.
    pub fn this_program() -> std::io::Result<Inspector> {
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe()?
        };
        Ok(Inspector::through(program, [], TIMEOUT))
    }

    /// Starts another program, with these arguments before its own, and waits so long for its answer.
    pub fn through(program: PathBuf, arguments: impl Into<Vec<OsString>>, timeout: Duration) -> Inspector {
        Inspector {
            program,
            arguments: arguments.into(),
            timeout,
        }
    }

    /// What an app says about itself. `file` is at any position.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] when it could not be looked at; the inner error says why the app is refused.
    pub async fn app(&self, file: File) -> Result<Result<BinaryFacts, InspectionError>, ApiError> {
        self.ask(&Task::App, "app", file.into(), None).await
    }

    /// What is in an update package.
    ///
    /// # Errors
    /// As [`Inspector::app`].
    pub async fn package(&self, file: File, limits: Limits) -> Result<Result<Inspected, InspectionError>, ApiError> {
        let timeout = self.timeout.saturating_add(Duration::from_secs(more_seconds(&limits)));
        let longer = Inspector {
            timeout,
            ..self.clone()
        };
        longer.ask(&Task::Package(limits), "package", file.into(), None).await
    }

    /// What is known of a credential, given as the JSON that is to be sealed.
    ///
    /// # Errors
    /// As [`Inspector::app`].
    pub async fn credential(
        &self,
        kind: Kind,
        bundle_id: Option<String>,
        now: EpochMs,
        sealable: Zeroizing<Vec<u8>>,
    ) -> Result<Result<CredentialFacts, InspectionError>, ApiError> {
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
    ) -> Result<Result<T, InspectionError>, ApiError> {
        let not_run = |error: std::io::Error| {
            tracing::error!(%error, "no process to inspect a file can be run");
            ApiError::Unavailable("The server cannot look into the file now; try again in a moment".to_owned())
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
                tracing::error!(problem, "a file to inspect cannot be read");
                Err(ApiError::Unavailable(
                    "The server cannot read the file now; try again in a moment".to_owned(),
                ))
            }
            Err(_) => Ok(Err(refused(what, Died::Crashed))),
        }
    }
}

/// Seconds more for packages that may unpack to more than usual, at 16 MiB a second.
fn more_seconds(limits: &Limits) -> u64 {
    limits.max_unpacked.saturating_sub(Limits::default().max_unpacked) >> 24
}

fn refused(what: &str, died: Died) -> InspectionError {
    let how = match died {
        Died::Crashed => "crashed",
        Died::OutOfMemory => "took too much memory",
        Died::OutOfTime => "took too long",
    };
    InspectionError(format!(
        "The {what} could not be read: inspecting it {how}. Make the file again with the usual tools; if that does not \
         help, tell the operator of this server."
    ))
}

/// The hidden command by which this program inspects. To be called first thing in `main` with its arguments: when there is an
/// answer, that is what the program ends with.
pub fn entry(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next()? != COMMAND {
        return None;
    }
    let task = arguments
        .next()
        .and_then(|task| serde_json::from_str(task.to_str()?).ok());
    Some(task.map_or(ExitCode::FAILURE, work::run))
}
