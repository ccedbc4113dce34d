//! File lists and packages against hand-made archives, hostile ones, and the vectors that all SDKs share.

// Tells clippy that the functions below are test code, where `unwrap` is allowed.
#![cfg(test)]

mod archives;
mod file_lists;
mod vectors;

use std::io::Cursor;

use launchway_delta::archive::ArchiveError;
use launchway_delta::{Digest, FileList, FileListError, ListedFile};

/// The list of the package in `bytes`.
fn list_of(bytes: &[u8]) -> Result<FileList, ArchiveError> {
    FileList::of_archive(Cursor::new(bytes))
}

/// The list of these paths and contents.
fn list(files: &[(&str, &[u8])]) -> Result<FileList, FileListError> {
    let listed = |(path, content): &(&str, &[u8])| ListedFile {
        path: (*path).to_owned(),
        size: content.len() as u64,
        sha256: Digest::of(content),
    };
    FileList::new(files.iter().map(listed).collect())
}
