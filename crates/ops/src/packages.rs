//! Turns an upload into a package: copies it to a write-once key, verifies its bytes against the announcement, inspects
//! it.

use std::fs::File;

use launchway_blob::{BlobError, Key};
use launchway_domain::app::{Package, Upload};
use launchway_domain::id::{OrgId, UploadId};
use launchway_os::folders::make_private_dir;

use crate::api_error::ApiError;
use crate::app::App;
use crate::uploads::{self, WRONG_BYTES, copy_key};
use crate::usage;

/// Verified bytes that no update names yet. If they are not used, pass them to [`discard`].
#[derive(Debug)]
pub struct Prepared {
    /// The upload that they came from.
    pub upload: Upload,
    /// The record to store.
    pub package: Package,
}

/// Copies and verifies the bytes of an upload. An upload key is never served and never trusted twice
/// (`docs/reference/uploads.md#using-an-upload`).
pub async fn prepare(app: &App, org: OrgId, upload_id: UploadId) -> Result<Prepared, ApiError> {
    let now = app.clock.now();
    let upload = uploads::usable(app, org, upload_id).await?;
    let largest = app.config.max_package_size;
    if upload.size as u64 > largest {
        return Err(ApiError::bad(format!(
            "The package has {} bytes, but this server accepts at most {largest}",
            upload.size
        )));
    }
    usage::room_for_update(app, org, upload.size, now).await?;
    let id = app.random.id(now);
    let key = copy_key(upload_id, id)?;
    uploads::copy(app, upload_id, &key).await?;
    let checked = check(app, org, &key, &upload).await;
    let file_count = match checked {
        Ok(count) => count,
        Err(failure) => {
            uploads::remove(app, &key).await;
            return Err(failure);
        }
    };
    let package = Package {
        id,
        org_id: org,
        blob_key: key.as_str().to_owned(),
        size: upload.size,
        sha256: upload.sha256.clone(),
        file_count,
    };
    Ok(Prepared { upload, package })
}

/// Reads the copy once to verify its size and hash, and once as an archive. Returns the number of files in it.
async fn check(app: &App, org: OrgId, key: &Key, upload: &Upload) -> Result<i64, ApiError> {
    let _place = app.inspections.take(org).await?;
    let file = scratch_file(app)?;
    let mut copy = tokio::fs::File::from_std(file.try_clone().map_err(scratch_failed)?);
    let fetched = match app.blob.fetch_to_file(key, &mut copy, upload.size as u64).await {
        Err(BlobError::TooLarge { .. }) => return Err(ApiError::bad(WRONG_BYTES)),
        // The upload expired meanwhile, and clean-up removed the copy with it.
        Err(BlobError::NotFound) => return Err(ApiError::NoSuch("upload")),
        fetched => fetched?,
    };
    if fetched.size != upload.size as u64 || hex::encode(fetched.sha256) != upload.sha256 {
        return Err(ApiError::bad(WRONG_BYTES));
    }
    let limits = app.config.package_limits;
    let inspected = app.inspector.package(file, limits).await?;
    let inspected = inspected.map_err(|refused| ApiError::bad(refused.0))?;
    i64::try_from(inspected.file_count).map_err(|error| ApiError::Internal(error.to_string()))
}

/// An unnamed file: it disappears with its last handle, even after a crash.
fn scratch_file(app: &App) -> Result<File, ApiError> {
    let dir = app.config.scratch_dir();
    make_private_dir(&dir)
        .and_then(|()| tempfile::tempfile_in(&dir))
        .map_err(scratch_failed)
}

fn scratch_failed(error: std::io::Error) -> ApiError {
    tracing::error!(%error, "no temporary file in the data directory");
    ApiError::Unavailable("The server has no space for a temporary file. The operator has to free up space.".to_owned())
}

/// Removes a copy that was not used.
pub async fn discard(app: &App, prepared: &Prepared) {
    if let Ok(key) = Key::new(&prepared.package.blob_key) {
        uploads::remove(app, &key).await;
    }
}
