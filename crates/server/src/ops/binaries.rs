//! What an app says about itself, read from its bytes in object storage: a bounded number at a time, by a process of its own,
//! from a file without a name.

use std::fs::File;

use launchway_binaries::BinaryFacts;
use launchway_domain::id::OrgId;

use crate::api_error::ApiError;
use crate::app::App;
use crate::blob::{BlobError, Key};
use crate::config::make_private_dir;
use crate::inspection::InspectionError;

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
    Failed(ApiError),
}

impl From<ApiError> for Unread {
    fn from(failure: ApiError) -> Self {
        Unread::Failed(failure)
    }
}

/// Reads the bytes at a key once for their size and hash (lower-case hex SHA-256), and an app, told by its name, for what
/// it says: `None` where it is none; the inner error where it says nothing.
pub async fn read(
    app: &App,
    org: OrgId,
    key: &Key,
    name: &str,
    size: i64,
    sha256: &str,
) -> Result<Option<Result<BinaryFacts, InspectionError>>, Unread> {
    let _place = app.inspections.take(org).await?;
    let dir = app.config.scratch_dir();
    let file = make_private_dir(&dir).and_then(|()| tempfile::tempfile_in(&dir));
    let no_room = |error: std::io::Error| ApiError::Unavailable(format!("no room for a temporary file: {error}"));
    let file: File = file.map_err(no_room)?;
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
    Ok(Some(app.inspector.app(file).await?))
}
