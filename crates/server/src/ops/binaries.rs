//! What an app says about itself, read from its bytes in object storage: a bounded number at a time, off the request
//! threads, from a file without a name.

use std::fs::File;
use std::io::{Seek, SeekFrom};

use launchway_binaries::{BinaryFacts, Refusal};

use crate::app::App;
use crate::blob::{BlobError, Key};
use crate::config::make_private_dir;
use crate::failure::Failure;

/// The names of apps end so.
pub const APPS: [&str; 3] = [".apk", ".aab", ".ipa"];

/// Why bytes cannot be read.
#[derive(Debug)]
pub enum Unread {
    /// Their size or hash is another than was told.
    Different,
    /// There are none.
    Missing,
    /// It cannot be done now.
    Failed(Failure),
}

impl From<Failure> for Unread {
    fn from(failure: Failure) -> Self {
        Unread::Failed(failure)
    }
}

/// Reads the bytes at a key once for their size and hash (lower-case hex SHA-256), and an app, told by its name, for what
/// it says: `None` where it is none; the inner error where it says nothing.
pub async fn read(
    app: &App,
    key: &Key,
    name: &str,
    size: i64,
    sha256: &str,
) -> Result<Option<Result<BinaryFacts, Refusal>>, Unread> {
    let slot = app.inspections.acquire().await;
    let _slot = slot.map_err(|error| Failure::Internal(error.to_string()))?;
    let dir = app.config.scratch_dir();
    let file = make_private_dir(&dir).and_then(|()| tempfile::tempfile_in(&dir));
    let no_room = |error: std::io::Error| Failure::Unavailable(format!("no room for a temporary file: {error}"));
    let mut file: File = file.map_err(no_room)?;
    let mut copy = tokio::fs::File::from_std(file.try_clone().map_err(no_room)?);
    let size = u64::try_from(size).unwrap_or_default();
    let fetched = match app.blob.fetch_to_file(key, &mut copy, size).await {
        Ok(fetched) => fetched,
        Err(BlobError::TooLarge { .. }) => return Err(Unread::Different),
        Err(BlobError::NotFound) => return Err(Unread::Missing),
        Err(error) => return Err(Unread::Failed(error.into())),
    };
    if fetched.size != size || hex::encode(fetched.sha256) != sha256 {
        return Err(Unread::Different);
    }
    let name = name.to_ascii_lowercase();
    if !APPS.iter().any(|ending| name.ends_with(ending)) {
        return Ok(None);
    }
    let reading = tokio::task::spawn_blocking(move || {
        file.seek(SeekFrom::Start(0)).map_err(Refusal::from)?;
        launchway_binaries::read(file)
    });
    match reading.await {
        Ok(read) => Ok(Some(read)),
        Err(error) => {
            tracing::error!(%error, "reading an app brought a defect to light");
            Ok(None)
        }
    }
}
