//! The rules of update packages (`docs/reference/updates.md#package`): a package is a ZIP that every device unpacks in
//! the same way, inside its own folder, to what the archive declares.
//!
//! Readers of ZIP trust different parts of an archive: some the directory at the end, some the headers before each
//! entry, and some search for either. So all parts must agree and cover the file without gap or overlap; then every
//! reader sees the same entries.
//!
//! Memory is bounded by [`Limits::max_files`] times [`Limits::max_path`]; time by the size of the file and
//! [`Limits::max_unpacked`].
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

mod archive;
mod contents;
mod directory;
mod end;
mod entry_name;
mod error;
mod extra;
mod fields;
#[cfg(unix)]
mod inspect;
mod local;
pub mod path;
mod source;

pub use archive::{Archive, PackedData};
pub use directory::Entry;
pub use entry_name::EntryName;
pub use error::{EntryError, PackageError};
#[cfg(unix)]
pub use inspect::{Inspected, inspect, inspect_into};
use serde::{Deserialize, Serialize};

/// The number of bytes that are read and unpacked at a time.
const CHUNK: usize = 1 << 16;

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
