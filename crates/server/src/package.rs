//! Inspects update packages before they are published (`docs/reference/updates.md#package`): a ZIP that every device
//! unpacks in the same way, inside its own folder, to what the archive declares.
//!
//! Readers of ZIP trust different parts of an archive: some the directory at the end, some the headers before each
//! entry, and some search for either. So all parts must agree and cover the file without gap or overlap; then every
//! reader sees the same entries. Each entry is unpacked, without storing it, to determine its true size and checksum.
//!
//! Memory is bounded by [`Limits::max_files`] times [`Limits::max_path`]; time by the size of the file and
//! [`Limits::max_unpacked`].

mod contents;
mod directory;
mod end;
mod error;
mod extra;
mod fields;
mod names;

use std::fs::File;

use contents::Unpacker;
pub use error::{EntryError, EntryName, PackageError};
use fields::Archive;
use serde::{Deserialize, Serialize};

/// The limits on a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The maximum number of entries, files and folders together.
    pub max_files: u64,
    /// The maximum size of all files, unpacked, in bytes.
    pub max_unpacked: u64,
    /// The maximum ratio of unpacked to packed size, of an entry and of the whole, above 1 MiB unpacked.
    pub max_ratio: u64,
    /// The maximum length of a path in bytes.
    pub max_path: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_files: 20_000,
            max_unpacked: 2 << 30,
            max_ratio: 200,
            max_path: 512,
        }
    }
}

impl Limits {
    /// Whether a ratio is that of a ZIP bomb. Below one MiB none is, because text compresses well.
    fn is_bomb(&self, packed: u64, unpacked: u64) -> bool {
        unpacked > 1 << 20 && unpacked > packed.saturating_mul(self.max_ratio)
    }
}

/// The contents of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inspected {
    /// The number of files, without folders.
    pub file_count: u64,
    /// The size of all files, unpacked, in bytes.
    pub unpacked_size: u64,
}

/// Inspects the whole package in `file`, which must not change meanwhile. The position of `file` is neither used nor
/// moved. Blocking and CPU-bound: 100 MiB take about a second.
///
/// # Errors
/// The first [`PackageError`]. Only [`PackageError::Unreadable`] is not the fault of the package.
pub fn inspect(file: &File, limits: &Limits) -> Result<Inspected, PackageError> {
    let archive = Archive::new(file)?;
    let directory = directory::read(&archive, limits)?;
    names::check_collisions(&directory.entries)?;
    let unpacked = directory
        .entries
        .iter()
        .fold(0u64, |sum, entry| sum.saturating_add(entry.unpacked));
    if unpacked > limits.max_unpacked {
        return Err(PackageError::TooLarge {
            limit: limits.max_unpacked,
        });
    }
    if let Some(bomb) = directory
        .entries
        .iter()
        .find(|entry| limits.is_bomb(entry.packed, entry.unpacked))
    {
        return Err(bomb.refused(EntryError::Bomb {
            ratio: limits.max_ratio,
        }));
    }
    if limits.is_bomb(archive.len, unpacked) {
        return Err(PackageError::Bomb {
            ratio: limits.max_ratio,
        });
    }
    let file_count = directory.entries.iter().filter(|entry| !entry.is_folder()).count();
    if file_count == 0 {
        return Err(PackageError::Empty);
    }
    Unpacker::new(&archive).check(directory)?;
    Ok(Inspected {
        file_count: file_count as u64,
        unpacked_size: unpacked,
    })
}

#[cfg(test)]
mod tests;
