//! The folder of trusted metadata: one file for each role, its name quoted, its bytes as they were received.

use std::fs;
use std::path::{Path, PathBuf};

use launchway_domain::percent;

use crate::Failure;

pub struct MetadataDir(PathBuf);

impl MetadataDir {
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// The trusted file of a role, if there is one.
    pub fn read(&self, role: &str) -> Result<Option<Vec<u8>>, Failure> {
        match fs::read(self.path(role)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Replaces it as a whole.
    pub fn write(&self, role: &str, bytes: &[u8]) -> Result<(), Failure> {
        let temporary = self.0.join("new");
        fs::write(&temporary, bytes)?;
        Ok(fs::rename(temporary, self.path(role))?)
    }

    fn path(&self, role: &str) -> PathBuf {
        self.0.join(format!("{}.json", percent::encode(role)))
    }
}
