//! Packages within the limits of file lists (`docs/reference/file-lists.md#packages`), hashed while they are unpacked.

use std::io::{Read, Seek, Write};

use launchway_package::{Entry, Limits, PackageError};

use crate::digest::{Digest, HashWriter};
use crate::limits::{FileListError, MAX_FILES, MAX_PATH, MAX_TOTAL};

/// The limits of a package that a device installs. How well it is compressed is for the server to judge.
const LIMITS: Limits = Limits {
    max_files: MAX_FILES as u64,
    max_unpacked: MAX_TOTAL,
    max_ratio: u64::MAX,
    max_path: MAX_PATH,
};

/// Why a package has no file list.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The package is refused, or cannot be read or unpacked.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// Its files do not make a list.
    #[error(transparent)]
    FileList(#[from] FileListError),
}

/// An open package.
pub struct Archive<R>(launchway_package::Archive<R>);

impl<R: Read + Seek> Archive<R> {
    /// Reads the directory. The entries themselves are checked when they are unpacked.
    ///
    /// # Errors
    /// The first fault of the directory, its paths or sizes.
    pub fn open(source: R) -> Result<Self, PackageError> {
        launchway_package::Archive::open(source, &LIMITS).map(Self)
    }

    /// The entries in the order of the file, folders included.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        self.0.entries()
    }

    /// Unpacks the entry at `index` into `target` and returns the digest of its content. What was written is worthless
    /// if this fails.
    ///
    /// # Errors
    /// The entry is not what the directory declares, or a side cannot be read or written.
    ///
    /// # Panics
    /// If there is no entry at `index`.
    pub fn unpack(&mut self, index: usize, target: &mut dyn Write) -> Result<Digest, PackageError> {
        let mut hashed = HashWriter::new(target);
        self.0.unpack(index, &mut hashed)?;
        Ok(hashed.finish())
    }
}
