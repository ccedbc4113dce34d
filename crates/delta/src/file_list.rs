//! The file list of a package: its form, its canonical bytes and its digest, the `manifest`
//! (`docs/reference/file-lists.md`).

mod builder;
mod canonical;
mod parser;

use std::io;

use launchway_package::{EntryName, path};

use crate::archive::{Archive, ArchiveError};
use crate::digest::{Digest, HashWriter};
pub use builder::FileListBuilder;

pub use crate::limits::{FileListError, MAX_FILES, MAX_PATH, MAX_TOTAL};

/// The name of this form of list, which is part of its bytes.
pub const ALGORITHM: &str = "lwfl-1";
/// The most canonical bytes of a list: as many files as allowed, with the longest paths.
pub const MAX_CANONICAL: usize = 24 << 20;

/// One file of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// Its path, exactly as in the package.
    pub path: String,
    /// Its bytes.
    pub size: u64,
    /// The digest of its content.
    pub sha256: Digest,
}

/// The files of a package in the order of their paths' bytes. Every value keeps all rules of file lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileList {
    files: Vec<ListedFile>,
}

/// Checks the path of a file.
fn check_path(path: &[u8]) -> Result<&str, FileListError> {
    path::check_file(path, MAX_PATH).map_err(|error| FileListError::Path {
        path: EntryName::new(path),
        error,
    })
}

impl FileList {
    /// A list of these files, in any order.
    ///
    /// # Errors
    /// The first rule of file lists that they break.
    pub fn new(mut files: Vec<ListedFile>) -> Result<Self, FileListError> {
        if files.is_empty() {
            return Err(FileListError::Empty);
        }
        if files.len() > MAX_FILES {
            return Err(FileListError::TooManyFiles);
        }
        for file in &files {
            check_path(file.path.as_bytes())?;
        }
        let total = files.iter().fold(0u64, |sum, file| sum.saturating_add(file.size));
        if total > MAX_TOTAL {
            return Err(FileListError::TooLarge);
        }
        path::check_collisions(files.iter().map(|file| file.path.as_str()))?;
        files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Ok(Self { files })
    }

    /// The list of what a package holds. Reads and unpacks the whole package, to nowhere.
    ///
    /// # Errors
    /// The package is not one that every reader unpacks alike, or its files do not make a list.
    pub fn of_archive(source: impl io::Read + io::Seek) -> Result<Self, ArchiveError> {
        let mut archive = Archive::open(source)?;
        let mut files = Vec::with_capacity(archive.entries().len());
        for index in 0..archive.entries().len() {
            let sha256 = archive.unpack(index, &mut io::sink())?;
            let entry = &archive.entries()[index];
            if !entry.is_folder() {
                files.push(ListedFile {
                    path: entry.path().to_owned(),
                    size: entry.size(),
                    sha256,
                });
            }
        }
        Ok(Self::new(files)?)
    }

    /// Reads canonical bytes. Every other text is refused, also one with the same meaning.
    ///
    /// # Errors
    /// Where the bytes stop being canonical, or which rule the files break.
    pub fn parse(bytes: &[u8]) -> Result<Self, FileListError> {
        parser::parse(bytes)
    }

    /// The files, in the order of their paths' bytes.
    #[must_use]
    pub fn files(&self) -> &[ListedFile] {
        &self.files
    }

    /// The file with this path.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<&ListedFile> {
        let index = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        self.files.get(index)
    }

    /// Writes the canonical bytes.
    ///
    /// # Errors
    /// What `target` answers.
    pub fn write_canonical(&self, target: &mut impl io::Write) -> io::Result<()> {
        canonical::write(&self.files, target)
    }

    /// The canonical bytes.
    #[must_use]
    pub fn canonical(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self.write_canonical(&mut bytes) {
            Ok(()) => bytes,
            Err(_) => unreachable!("writing to memory does not fail"),
        }
    }

    /// The digest of the canonical bytes, without holding them in memory.
    #[must_use]
    pub fn manifest(&self) -> Digest {
        let mut hash = HashWriter::new(io::sink());
        match self.write_canonical(&mut hash) {
            Ok(()) => hash.finish(),
            Err(_) => unreachable!("hashing does not fail"),
        }
    }
}

/// Reads a file to its end and makes its line of a list, in memory of constant size.
///
/// # Errors
/// What `source` answers; a file larger than [`MAX_TOTAL`] is `FileTooLarge`.
pub fn hash_file(path: String, source: &mut impl io::Read) -> io::Result<ListedFile> {
    let mut hash = HashWriter::new(io::sink());
    let size = io::copy(&mut io::Read::take(source, MAX_TOTAL + 1), &mut hash)?;
    if size > MAX_TOTAL {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(ListedFile {
        path,
        size,
        sha256: hash.finish(),
    })
}
