//! What can go wrong with object storage.

use std::io;

/// Why the storage did not do it.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The key is not there.
    #[error("there is no object with this key")]
    NotFound,
    /// The key is there already and may be written only once.
    #[error("there is an object with this key already")]
    Exists,
    /// There are more bytes than allowed.
    #[error("there are more than {limit} bytes")]
    TooLarge {
        /// How many bytes are allowed.
        limit: u64,
    },
    /// An upload ended before all its bytes were there.
    #[error("{got} bytes came where {size} were announced")]
    TooShort {
        /// How many bytes were announced.
        size: u64,
        /// How many came.
        got: u64,
    },
    /// An upload broke off.
    #[error("the upload broke off: {0}")]
    Interrupted(String),
    /// The disk of the local directory is full, or its quota is used up.
    #[error("the disk of the object storage is full")]
    Full,
    /// The storage does not work now.
    #[error("{doing}: {cause}")]
    Unavailable {
        /// What was tried.
        doing: &'static str,
        /// What the system or the store said, without secrets.
        cause: String,
    },
    /// The settings of the storage cannot be used.
    #[error("{0}")]
    Settings(String),
}

impl BlobError {
    /// For `map_err`: what an I/O error of the local directory means, where "not found" is not a key's absence.
    pub(crate) fn io(doing: &'static str) -> impl Fn(io::Error) -> BlobError {
        move |error| match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => BlobError::Full,
            _ => BlobError::Unavailable {
                doing,
                cause: error.to_string(),
            },
        }
    }

    /// For `map_err`: the same, where a missing file is a missing key.
    pub(crate) fn of_key(doing: &'static str) -> impl Fn(io::Error) -> BlobError {
        move |error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => BlobError::NotFound,
            io::ErrorKind::AlreadyExists => BlobError::Exists,
            _ => BlobError::io(doing)(error),
        }
    }
}
