//! The errors of object storage.

use std::io;

/// Why an operation of the storage failed.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The key does not exist.
    #[error("no object has this key")]
    NotFound,
    /// The key exists and is write-once.
    #[error("an object already has this key")]
    Exists,
    /// There are more bytes than the limit.
    #[error("the object has more than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// An upload ended too early.
    #[error("received {got} bytes instead of the announced {size}")]
    TooShort {
        /// The announced number of bytes.
        size: u64,
        /// The received number of bytes.
        got: u64,
    },
    /// An upload was interrupted.
    #[error("the upload was interrupted: {0}")]
    Interrupted(String),
    /// The disk of the local directory is full, or its disk quota is exhausted.
    #[error("the disk of the object storage is full")]
    Full,
    /// The storage is not working now.
    #[error("{doing}: {cause}")]
    Unavailable {
        /// The operation that failed.
        doing: &'static str,
        /// The error of the operating system or the store, without secrets.
        cause: String,
    },
    /// The settings of the storage are invalid.
    #[error("{0}")]
    Settings(String),
}

impl BlobError {
    /// For `map_err`: maps an I/O error of the local directory where "not found" does not mean a missing key.
    pub(crate) fn io(doing: &'static str) -> impl Fn(io::Error) -> BlobError {
        move |error| match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => BlobError::Full,
            _ => BlobError::Unavailable {
                doing,
                cause: error.to_string(),
            },
        }
    }

    /// For `map_err`: maps an I/O error where a missing file means a missing key.
    pub(crate) fn of_key(doing: &'static str) -> impl Fn(io::Error) -> BlobError {
        move |error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => BlobError::NotFound,
            io::ErrorKind::AlreadyExists => BlobError::Exists,
            _ => BlobError::io(doing)(error),
        }
    }
}
