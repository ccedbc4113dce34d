//! File lists of update packages (`docs/reference/file-lists.md`): which files a device ends up with, byte for byte,
//! whatever way they reached it.
//!
//! The crate does no I/O of its own: callers hand it a [`std::io::Read`], and memory stays within the limits of
//! [`file_list`] however hostile the bytes are.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

pub mod archive;
mod digest;
pub mod file_list;
mod limits;

pub use digest::{Digest, DigestError};
pub use file_list::{FileList, FileListError, ListedFile};
pub use launchway_package::PackageError;
