//! What survives the death of the runner: builds in hand, their logs, and what came of them until the server has it.
//!
//! Each attempt of a build has a directory, in which `build.json` says what it is, `outcome.json`, once it is there, what
//! came of it, `log` is its log, `artifacts/` holds what it gave, and `deaths.json` counts the runners that died while they
//! delivered it. The directory goes when the server has it all, does not want it, or when that many runners died.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use launchway_api::open;
use launchway_api::runner::{BuildError, Phase};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The directory of all builds that the server has not heard the end of.
#[derive(Clone, Debug)]
pub struct Journal {
    directory: PathBuf,
}

/// One attempt of a build in the journal.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its directory.
    directory: PathBuf,
    /// What it is.
    pub build: BuildInHand,
}

/// An attempt of a build that the runner has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BuildInHand {
    /// `build_…`.
    pub build_id: String,
    /// The fencing number.
    pub attempt: u32,
    /// The offset in the build's log at which this attempt's begins.
    pub log_offset: u64,
}

/// What came of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// `success`, `failed` or `canceled`.
    pub status: open::BuildResult,
    /// Why it failed.
    pub error: Option<BuildError>,
    /// Its phases.
    pub phases: Vec<Phase>,
    /// What it gave.
    pub artifacts: Vec<Artifact>,
    /// The document of the native code.
    pub fingerprint: Option<Value>,
    /// The `lwfp-2` hash of the same.
    #[serde(default)]
    pub lwfp2: Option<String>,
    /// What did not fit but did not stop it, a sentence each.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// A file that a build gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// What it is, such as `apk`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Lower-case hex SHA-256.
    pub sha256: String,
    /// `artifact_…`, once the storage has it.
    pub id: Option<String>,
}

impl Journal {
    /// The journal in a directory, which is made if need be.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn open(directory: PathBuf) -> io::Result<Journal> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        Ok(Journal { directory })
    }

    /// Notes that the runner has a build. What was left of the same attempt is forgotten.
    ///
    /// # Errors
    /// What the operating system says.
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

    /// The builds that were in hand when a runner ended. What is unreadable was never whole and is removed.
    ///
    /// # Errors
    /// What the operating system says.
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
    /// A name for the attempt that no other has.
    pub fn key(&self) -> String {
        key(&self.build.build_id, self.build.attempt)
    }

    /// Where its log is.
    pub fn log(&self) -> PathBuf {
        self.directory.join("log")
    }

    /// Where its artifact number `index` is.
    pub fn artifact(&self, index: usize) -> PathBuf {
        self.directory.join("artifacts").join(index.to_string())
    }

    /// What came of it, if that is known.
    pub fn outcome(&self) -> Option<Outcome> {
        read(&self.directory.join("outcome.json"))
    }

    /// Notes what came of it, or how much of that the server has.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn set_outcome(&self, outcome: &Outcome) -> io::Result<()> {
        write(&self.directory.join("outcome.json"), outcome)
    }

    /// How many runners have died while they delivered it.
    pub fn deaths(&self) -> u32 {
        read(&self.directory.join("deaths.json")).unwrap_or_default()
    }

    /// Notes how many runners have died while they delivered it. Who begins notes itself among them, and takes that back when
    /// it ends in order.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn set_deaths(&self, deaths: u32) -> io::Result<()> {
        write(&self.directory.join("deaths.json"), &deaths)
    }

    /// Forgets it.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn forget(&self) -> io::Result<()> {
        // First what makes it a record: half of one must not come back.
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

/// A name for an attempt of a build, good as a file's name: the ids of the server are letters, digits and `_`.
pub fn key(build_id: &str, attempt: u32) -> String {
    format!("{build_id}-{attempt}")
}

/// Writes a file that is there as a whole or not at all, and stays after a power cut.
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
        // The same attempt anew knows nothing of the old one.
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
