//! Where objects are stored: a local directory or an S3 bucket.

use std::path::{Path, PathBuf};

use super::ConfigError;
use super::storage_credentials::StorageCredentials;

/// The configured object storage.
#[derive(Clone, Debug)]
pub enum Storage {
    /// A local directory; the service signs and serves its own URLs.
    Directory(PathBuf),
    /// A bucket of an S3-compatible store.
    S3 {
        /// `s3://bucket?endpoint=…&region=…`.
        url: String,
        /// From the standard AWS variables.
        credentials: StorageCredentials,
    },
}

impl Storage {
    /// Parses `--storage-url`; the default is `objects` in the data directory.
    pub fn parse(
        url: Option<&str>,
        data_dir: &Path,
        credentials: Option<StorageCredentials>,
    ) -> Result<Storage, ConfigError> {
        let wrong = || {
            ConfigError::new(
                "--storage-url",
                "must be file:///DIRECTORY or s3://BUCKET?endpoint=…&region=…",
            )
        };
        let Some(url) = url else {
            return Ok(Storage::Directory(data_dir.join("objects")));
        };
        if let Some(path) = url.strip_prefix("file://") {
            return if path.starts_with('/') {
                Ok(Storage::Directory(PathBuf::from(path)))
            } else {
                Err(wrong())
            };
        }
        if !url.starts_with("s3://") {
            return Err(wrong());
        }
        let missing = || {
            ConfigError::new(
                "--storage-url",
                "S3 needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to be set, or the credentials of a role",
            )
        };
        let credentials = credentials.ok_or_else(missing)?;
        Ok(Storage::S3 {
            url: url.to_owned(),
            credentials,
        })
    }
}
