//! The state that survives a crash of the runner: builds in progress, their logs, and their outcomes until the server
//! has them.
//!
//! Each attempt of a build has a directory. `build.json` describes the build; `outcome.json`, once written, is the
//! outcome; `log` is the log; `artifacts/` contains the artifacts; `deaths.json` counts the runners that crashed while
//! they delivered it. The directory is removed when the server has everything or rejects it, or after too many crashes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use launchway_api::open;
use launchway_api::runner::{BuildError, Phase};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The directory of all builds whose end the server has not confirmed.
#[derive(Clone, Debug)]
pub struct Journal {
    directory: PathBuf,
}

/// One attempt of a build in the journal.
#[derive(Clone, Debug)]
pub struct Record {
    /// The directory of the attempt.
    directory: PathBuf,
    /// The build.
    pub build: BuildInHand,
}

/// An attempt that the runner executes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BuildInHand {
    /// The id of the build, `build_…`.
    pub build_id: String,
    /// The attempt number, which is the fencing token.
    pub attempt: u32,
    /// The offset in the build's log at which the log of this attempt begins.
    pub log_offset: u64,
}

/// The outcome of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// `success`, `failed` or `canceled`.
    pub status: open::BuildResult,
    /// Why the build failed.
    pub error: Option<BuildError>,
    /// The phases of the attempt.
    pub phases: Vec<Phase>,
    /// The artifacts of the attempt.
    pub artifacts: Vec<Artifact>,
    /// The fingerprint document.
    pub fingerprint: Option<Value>,
    /// The `lwfp-2` hash of the same document.
    #[serde(default)]
    pub lwfp2: Option<String>,
    /// Problems that did not stop the build, one sentence each.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// An artifact of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// The kind, such as `apk`.
    pub kind: String,
    /// The file name.
    pub name: String,
    /// The size in bytes.
    pub size: u64,
    /// The SHA-256 in lower-case hex.
    pub sha256: String,
    /// The id, `artifact_…`, once object storage has the file.
    pub id: Option<String>,
}

impl Journal {
    /// Opens the journal in a directory, which is created if missing.
    ///
    /// # Errors
    /// An I/O error.
    pub fn open(directory: PathBuf) -> io::Result<Journal> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        Ok(Journal { directory })
    }

    /// Records that the runner has a build. Anything left of the same attempt is removed.
    ///
    /// # Errors
    /// An I/O error.
    pub fn begin(&self, build: BuildInHand) -> io::Result<Record> {
        let directory = self.directory.join(key(&build.build_id, build.attempt));
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        for private in [directory.clone(), directory.join("artifacts")] {
            fs::DirBuilder::new().mode(0o700).create(private)?;
        }
        write(&directory.join("build.json"), &build)?;
        Ok(Record { directory, build })
    }

    /// The builds that were in progress when a runner ended. An unreadable record was never complete and is removed.
    ///
    /// # Errors
    /// An I/O error.
    pub fn left_over(&self) -> io::Result<Vec<Record>> {
        let mut records = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let directory = entry?.path();
            match read(&directory.join("build.json")) {
                Some(build) => records.push(Record { directory, build }),
                None => fs::remove_dir_all(&directory)?,
            }
        }
        records.sort_by(|one, other| one.directory.cmp(&other.directory));
        Ok(records)
    }
}

impl Record {
    /// The unique key of the attempt.
    pub fn key(&self) -> String {
        key(&self.build.build_id, self.build.attempt)
    }

    /// The path of the log.
    pub fn log(&self) -> PathBuf {
        self.directory.join("log")
    }

    /// The path of the artifact with number `index`.
    pub fn artifact(&self, index: usize) -> PathBuf {
        self.directory.join("artifacts").join(index.to_string())
    }

    /// The outcome, if it is known.
    pub fn outcome(&self) -> Option<Outcome> {
        read(&self.directory.join("outcome.json"))
    }

    /// Records the outcome, or how much of it the server has.
    ///
    /// # Errors
    /// An I/O error.
    pub fn set_outcome(&self, outcome: &Outcome) -> io::Result<()> {
        write(&self.directory.join("outcome.json"), outcome)
    }

    /// How many runners crashed while they delivered it.
    pub fn deaths(&self) -> u32 {
        read(&self.directory.join("deaths.json")).unwrap_or_default()
    }

    /// Records how many runners crashed while they delivered it. A delivery counts itself when it begins, and reverts
    /// that when it ends normally.
    ///
    /// # Errors
    /// An I/O error.
    pub fn set_deaths(&self, deaths: u32) -> io::Result<()> {
        write(&self.directory.join("deaths.json"), &deaths)
    }

    /// Removes the record and its files.
    ///
    /// # Errors
    /// An I/O error.
    pub fn forget(&self) -> io::Result<()> {
        // `build.json` first, as it makes the directory a record: a partial record must not be found again.
        match fs::remove_file(self.directory.join("build.json")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        match fs::remove_dir_all(&self.directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// The key of an attempt, safe as a file name: ids of the server consist of letters, digits and `_`.
pub fn key(build_id: &str, attempt: u32) -> String {
    format!("{build_id}-{attempt}")
}

/// Writes a file atomically and durably: it survives a power failure, complete or not at all.
fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut private = OpenOptions::new();
    private.write(true).create(true).truncate(true).mode(0o600);
    let mut file = private.open(&beside)?;
    file.write_all(&serde_json::to_vec(value)?)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    match path.parent() {
        Some(directory) => File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use launchway_domain::build::BuildResult;

    use super::*;

    fn build(attempt: u32) -> BuildInHand {
        BuildInHand {
            build_id: "build_1".to_owned(),
            attempt,
            log_offset: 7,
        }
    }

    #[test]
    fn remembers_builds_until_they_are_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let journal = Journal::open(directory.path().join("journal")).unwrap();
        let first = journal.begin(build(1)).unwrap();
        let second = journal.begin(build(2)).unwrap();
        let outcome = Outcome {
            status: BuildResult::Success.into(),
            error: None,
            phases: Vec::new(),
            artifacts: Vec::new(),
            fingerprint: None,
            lwfp2: None,
            warnings: Vec::new(),
        };
        second.set_outcome(&outcome).unwrap();
        let again = Journal::open(directory.path().join("journal"))
            .unwrap()
            .left_over()
            .unwrap();
        assert_eq!(
            again.iter().map(|record| record.build.clone()).collect::<Vec<_>>(),
            [build(1), build(2)]
        );
        assert_eq!((again[0].outcome(), again[1].outcome()), (None, Some(outcome)));
        assert_eq!(again[0].deaths(), 0);
        again[0].set_deaths(3).unwrap();
        assert_eq!((first.deaths(), second.deaths()), (3, 0));
        first.forget().unwrap();
        first.forget().unwrap();
        assert_eq!(journal.left_over().unwrap().len(), 1);
        // A new record of the same attempt has no outcome.
        assert_eq!(journal.begin(build(2)).unwrap().outcome(), None);
    }

    #[test]
    fn what_is_broken_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let journal = Journal::open(directory.path().to_owned()).unwrap();
        let record = journal.begin(build(1)).unwrap();
        fs::write(record.directory.join("build.json"), "{\"buildId\":").unwrap();
        assert!(journal.left_over().unwrap().is_empty());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
