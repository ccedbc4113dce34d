//! Parses untrusted input: unpacks source archives, and finds the plan of a source. A crash or exploit of a parser must
//! not reach the runner, which may be part of a server. So the runner starts this program again, as the user of the
//! build and in its sandbox, and accepts only a bounded answer.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::inside::Inside;
use crate::plan::{self, PlanRequest};
use crate::source::SourceError;
use crate::source::archive::{self, Bounds};
use crate::stop::Stopper;
use crate::workspace::Workspace;

/// The hidden first argument of the program.
pub(crate) const COMMAND: &str = "__source";
/// The file name of the answer in the workspace.
const ANSWER: &str = "source.json";
/// The maximum size of an answer: a plan has at most a hundred scripts of 64 KiB, plus escapes.
const MAX_ANSWER: u64 = 64 << 20;
/// The memory limit in bytes: archives need a small part of it, and machines have more.
const MEMORY: u64 = 4 << 30;

/// What to do with a source.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Unpack an archive.
    Unpack {
        /// The path of the archive.
        archive: PathBuf,
        /// The name of the archive, which determines its format.
        name: String,
        /// The path for a temporary directory, which must not exist.
        beside: PathBuf,
        /// The empty directory to unpack it to.
        to: PathBuf,
        /// The maximum number of bytes in all files.
        bytes: u64,
        /// The maximum number of entries.
        entries: u64,
    },
    /// Find the plan.
    Plan {
        /// The directory of the source.
        source: PathBuf,
        /// What is wanted of it.
        plan_request: PlanRequest,
    },
}

/// The result of a task.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer<T> {
    /// The task succeeded.
    Done(T),
    /// The source is invalid: why.
    Refused(String),
    /// The machine failed: why.
    Failed(String),
}

/// The command line for a task.
///
/// # Errors
/// A path is not UTF-8.
pub(crate) fn command(program: &Path, workspace: &Workspace, task: &Task) -> io::Result<Vec<String>> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    Ok(vec![
        text(program),
        COMMAND.to_owned(),
        text(&workspace.root.join(ANSWER)),
        serde_json::to_string(task)?,
    ])
}

/// Takes the answer out of the workspace; `None` if it is missing or invalid.
pub(crate) fn take_answer<T: DeserializeOwned>(workspace: &Workspace) -> Option<Answer<T>> {
    let read = || -> io::Result<Answer<T>> {
        let inside = Inside::open(&workspace.root)?;
        let file = inside.read(Path::new(ANSWER))?;
        let mut json = Vec::new();
        file.take(MAX_ANSWER).read_to_end(&mut json)?;
        inside.remove_file(Path::new(ANSWER))?;
        Ok(serde_json::from_slice(&json)?)
    };
    read().ok()
}

/// Runs the task that the arguments after [`COMMAND`] describe.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<String> = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
    let [place, task] = words.as_slice() else {
        return ExitCode::FAILURE;
    };
    let done = limit_memory().and_then(|()| {
        let json = match serde_json::from_str(task)? {
            Task::Unpack {
                archive,
                name,
                beside,
                to,
                bytes,
                entries,
            } => serde_json::to_vec(&unpack(&archive, &name, (&beside, &to), Bounds { bytes, entries })),
            Task::Plan { source, plan_request } => {
                serde_json::to_vec(&match plan::plan_for_source(&source, &plan_request) {
                    Ok(resolved) => Answer::Done(resolved),
                    Err(problem) => Answer::Refused(problem),
                })
            }
        };
        fs::write(place, json?)
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn unpack(archive: &Path, name: &str, (beside, to): (&Path, &Path), bounds: Bounds) -> Answer<()> {
    // The runner kills this process when it stops the build.
    let stopper = Stopper::default();
    match archive::unpack((archive, name), (beside, to), bounds, &stopper) {
        Ok(()) => Answer::Done(()),
        Err(error @ (SourceError::Entry { .. } | SourceError::Invalid(_))) => Answer::Refused(error.to_string()),
        Err(error) => Answer::Failed(error.to_string()),
    }
}

fn limit_memory() -> io::Result<()> {
    let most = getrlimit(Resource::Data)
        .maximum
        .map_or(MEMORY, |most| most.min(MEMORY));
    let limit = Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    match setrlimit(Resource::Data, limit) {
        // Not every system applies the limit to its own allocator.
        Err(_) if cfg!(target_os = "macos") => Ok(()),
        limited => limited.map_err(io::Error::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Resolved;

    #[test]
    fn an_answer_may_hold_anything() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace::make(directory.path().join("build"), None).unwrap();
        let place = workspace.root.join(ANSWER);
        for text in ["", "[]", "null", "{\"Done\": {\"plan\": 7}}", &"[".repeat(1 << 20)] {
            fs::write(&place, text).unwrap();
            assert_eq!(take_answer::<Resolved>(&workspace), None);
        }
        assert_eq!(take_answer::<Resolved>(&workspace), None);
        let good = serde_json::to_vec(&Answer::Done(())).unwrap();
        fs::write(directory.path().join("outside"), &good).unwrap();
        std::os::unix::fs::symlink("../outside", &place).unwrap();
        assert_eq!(take_answer::<()>(&workspace), None);
        fs::remove_file(&place).unwrap();
        fs::write(&place, &good).unwrap();
        assert_eq!(take_answer::<()>(&workspace), Some(Answer::Done(())));
        // The answer was removed.
        assert!(!place.exists());
    }
}
