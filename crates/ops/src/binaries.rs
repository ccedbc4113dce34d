//! Reads the facts of an app from object storage: a bounded number at a time, in an inspection process.

use launchway_binaries::BinaryFacts;
use launchway_blob::{BlobError, Key};
use launchway_domain::id::OrgId;
use launchway_inspection::InspectionError;
use launchway_os::folders::make_private_dir;

use crate::api_error::ApiError;
use crate::app::App;

/// The file name endings of apps.
pub const APPS: [&str; 3] = [".apk", ".aab", ".ipa"];

/// Why bytes cannot be read.
#[derive(Debug)]
pub enum ReadError {
    /// Their size or hash differs from the announced one.
    Different,
    /// There are none.
    Missing,
    /// They cannot be read now.
    Failed(ApiError),
}

impl From<ApiError> for ReadError {
    fn from(failure: ApiError) -> Self {
        ReadError::Failed(failure)
    }
}

impl From<BlobError> for ReadError {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::TooLarge { .. } => ReadError::Different,
            BlobError::NotFound => ReadError::Missing,
            error => ReadError::Failed(error.into()),
        }
    }
}

/// Reads the object at a key once to verify its size and hash (lower-case hex SHA-256), and reads the facts of an app,
/// which is recognized by its name: `None` for another file; an inner error for an app that cannot be parsed.
pub async fn read(
    app: &App,
    org: OrgId,
    key: &Key,
    name: &str,
    size: i64,
    sha256: &str,
) -> Result<Option<Result<BinaryFacts, InspectionError>>, ReadError> {
    let _place = app.inspections.take(org).await.map_err(ApiError::from)?;
    let scratch = || {
        let dir = app.config.scratch_dir();
        let file = make_private_dir(&dir).and_then(|()| tempfile::tempfile_in(&dir));
        file.map_err(|error| ApiError::Unavailable(format!("Cannot create a temporary file: {error}")).into())
    };
    let size = u64::try_from(size).unwrap_or_default();
    let (file, fetched) = app.blob.open::<ReadError>(key, size, scratch).await?;
    if fetched.size != size || hex::encode(fetched.sha256) != sha256 {
        return Err(ReadError::Different);
    }
    let name = name.to_ascii_lowercase();
    if !APPS.iter().any(|ending| name.ends_with(ending)) {
        return Ok(None);
    }
    Ok(Some(app.inspector.app(file).await.map_err(ApiError::from)?))
}
