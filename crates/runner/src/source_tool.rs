//! Reads what strangers sent: unpacks archives of sources, and finds plans in them. A defect that a file brings to light in a
//! parser must not reach the runner, which may be inside a server. So the runner starts this program again for it, as the user
//! of the build and behind its sandbox, and takes nothing but a bounded answer.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::inside::Inside;
use crate::plan::{self, Wish};
use crate::source::SourceError;
use crate::source::archive::{self, Bounds};
use crate::stop::Stopper;
use crate::workspace::Workspace;

/// The hidden first argument of the program.
pub(crate) const COMMAND: &str = "__source";
/// The answer's place in the workspace.
const ANSWER: &str = "source.json";
/// An answer is not longer: a plan has a hundred scripts of 64 KiB at most, and their escapes.
const MOST_ANSWER: u64 = 64 << 20;
/// Bytes of memory: no archive needs a fraction of it, and the machine has more.
const MEMORY: u64 = 4 << 30;

/// What to do with a source.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Unpack an archive.
    Unpack {
        /// The archive.
        archive: PathBuf,
        /// Its name, which tells its format.
        name: String,
        /// A directory on the way, which is not there.
        beside: PathBuf,
        /// The empty directory to unpack it to.
        to: PathBuf,
        /// Bytes of all files at most.
        bytes: u64,
        /// Entries at most.
        entries: u64,
    },
    /// Find the plan.
    Plan {
        /// The directory of the source.
        source: PathBuf,
        /// What is wanted of it.
        wish: Wish,
    },
}

/// How it went.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer<T> {
    /// Well.
    Done(T),
    /// The source is at fault; what is wrong with it.
    Refused(String),
    /// The machine is at fault.
    Failed(String),
}

/// The words of the command for a task.
///
/// # Errors
/// A path is none that can be told.
pub(crate) fn command(program: &Path, workspace: &Workspace, task: &Task) -> io::Result<Vec<String>> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    Ok(vec![
        text(program),
        COMMAND.to_owned(),
        text(&workspace.root.join(ANSWER)),
        serde_json::to_string(task)?,
    ])
}

/// Takes the answer out of the workspace; nothing when there is none, or something that is none.
pub(crate) fn take_answer<T: DeserializeOwned>(workspace: &Workspace) -> Option<Answer<T>> {
    let read = || -> io::Result<Answer<T>> {
        let inside = Inside::open(&workspace.root)?;
        let file = inside.read(Path::new(ANSWER))?;
        let mut json = Vec::new();
        file.take(MOST_ANSWER).read_to_end(&mut json)?;
        inside.remove_file(Path::new(ANSWER))?;
        Ok(serde_json::from_slice(&json)?)
    };
    read().ok()
}

/// Does the task that the arguments behind [`COMMAND`] tell.
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
            Task::Plan { source, wish } => serde_json::to_vec(&match plan::of_source(&source, &wish) {
                Ok(resolved) => Answer::Done(resolved),
                Err(problem) => Answer::Refused(problem),
            }),
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
    // The runner ends this process when it stops the build.
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
        // Not every system limits it for its own allocator.
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
        // It was taken.
        assert!(!place.exists());
    }
}
