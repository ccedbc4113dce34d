//! What this machine verified of a repository before: the trusted files and floors, and every root that was seen.

use std::fs;
use std::io;
use std::path::PathBuf;

use launchway_trust::RepositoryId;
use launchway_trust::client::StoredTrust;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::private_file;

/// The directory of a repository in the user's configuration directory.
#[derive(Clone, Debug)]
pub struct Memory {
    directory: Option<PathBuf>,
}

impl Memory {
    pub fn of(environment: &Environment, repository: RepositoryId) -> Self {
        let directory = private_file::directory(environment);
        Self {
            directory: directory.map(|directory| directory.join("trust").join(repository.to_string())),
        }
    }

    /// What was verified before. A file that cannot be read counts as none: the committed file is where trust begins.
    pub fn load(&self) -> Option<StoredTrust> {
        let bytes = fs::read(self.directory.as_ref()?.join("verified.json")).ok()?;
        StoredTrust::from_json(&bytes).ok()
    }

    pub fn save(&self, verified: &StoredTrust) -> Result<(), Failure> {
        match &self.directory {
            Some(directory) => private_file::write(&directory.join("verified.json"), &verified.to_json()),
            None => Ok(()),
        }
    }

    /// Keeps a root, so that it can be given back to a server that lost it.
    pub fn save_root(&self, version: u64, text: &str) -> Result<(), Failure> {
        match &self.directory {
            Some(directory) => private_file::write(&directory.join(format!("{version}.root.json")), text),
            None => Ok(()),
        }
    }

    /// A root that was kept.
    pub fn root(&self, version: u64) -> Result<Option<String>, Failure> {
        let Some(directory) = &self.directory else {
            return Ok(None);
        };
        let path = directory.join(format!("{version}.root.json"));
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::failed(format!("cannot read {}: {error}", path.display()))),
        }
    }
}
