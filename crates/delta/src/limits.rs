//! The limits of file lists, and why files do not make one (`docs/reference/file-lists.md`).

use launchway_package::EntryName;
use launchway_package::path::{Collision, PathError};

/// The most files of a list.
pub const MAX_FILES: usize = 20_000;
/// The most bytes of all files together.
pub const MAX_TOTAL: u64 = 2 << 30;
/// The most bytes of a path.
pub const MAX_PATH: usize = 512;

/// Why files do not make a list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileListError {
    /// There is no file.
    #[error("a file list needs at least one file")]
    Empty,
    /// There are more files than allowed.
    #[error("a file list has at most {MAX_FILES} files")]
    TooManyFiles,
    /// The files are larger than allowed.
    #[error("the files of a list have at most {MAX_TOTAL} bytes together")]
    TooLarge,
    /// A path is not allowed, alone or beside another one.
    #[error("the file `{path}` {error}")]
    Path {
        /// The path.
        path: EntryName,
        /// What is wrong with it.
        error: PathError,
    },
    /// The bytes are not the canonical form of a list.
    #[error("byte {at} is not what the canonical form of a file list has there")]
    NotCanonical {
        /// The position of the first byte that is wrong.
        at: usize,
    },
}

impl From<Collision> for FileListError {
    fn from(Collision { path, error }: Collision) -> Self {
        Self::Path { path, error }
    }
}
