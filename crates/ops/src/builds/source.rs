//! Turns an upload into the source of a build: copies it to a write-once key and verifies its bytes against the
//! announcement. The runner inspects the archive itself, inside its sandbox.

use futures::TryStreamExt;
use launchway_blob::{BlobError, Key};
use launchway_domain::app::Upload;
use launchway_domain::build::SourceRecord;
use launchway_domain::id::{BuildId, OrgId, UploadId};
use sha2::{Digest, Sha256};

use crate::api_error::ApiError;
use crate::app::App;
use crate::uploads::{self, WRONG_BYTES, source_key};

/// The file name endings of supported source archives.
const ENDINGS: [&str; 4] = [".tar.gz", ".tgz", ".tar.zst", ".zip"];

/// Verified bytes that no build names yet. If they are not used, pass them to [`discard`].
#[derive(Debug)]
pub struct Prepared {
    /// The upload that they came from.
    pub upload: UploadId,
    /// Their location now.
    pub source: SourceRecord,
    key: Key,
}

/// Copies and verifies the bytes of an upload for a build.
pub async fn prepare(app: &App, org: OrgId, id: UploadId, build: BuildId) -> Result<Prepared, ApiError> {
    let upload = uploads::usable(app, org, id).await?;
    let name = upload.file_name.to_ascii_lowercase();
    if !ENDINGS.iter().any(|ending| name.ends_with(ending)) {
        return Err(ApiError::bad(
            "The source must be a .tar.gz, .tar.zst or .zip archive, and fileName of its upload must have that \
             extension",
        ));
    }
    let largest = app.config.max_source_size;
    if upload.size as u64 > largest {
        return Err(ApiError::bad(format!(
            "The source has {} bytes, but this server accepts at most {largest}",
            upload.size
        )));
    }
    let key = source_key(id, build)?;
    uploads::copy(app, id, &key).await?;
    if let Err(failure) = check(app, org, &key, &upload).await {
        uploads::remove(app, &key).await;
        return Err(failure);
    }
    Ok(Prepared {
        upload: id,
        source: SourceRecord::Archive {
            blob_key: key.as_str().to_owned(),
            file_name: upload.file_name,
            size: upload.size,
            sha256: upload.sha256,
        },
        key,
    })
}

/// Reads the copy once to verify its size and hash.
async fn check(app: &App, org: OrgId, key: &Key, upload: &Upload) -> Result<(), ApiError> {
    let _place = app.inspections.take(org).await?;
    let size = upload.size as u64;
    match app.blob.head(key).await? {
        Some(there) if there == size => {}
        Some(_) => return Err(ApiError::bad(WRONG_BYTES)),
        // The upload expired meanwhile, and clean-up removed the copy with it.
        None => return Err(ApiError::NoSuch("upload")),
    }
    let mut body = match app.blob.read(key, 0, size).await {
        Err(BlobError::NotFound) => return Err(ApiError::NoSuch("upload")),
        body => body?,
    };
    let (mut hash, mut count) = (Sha256::new(), 0);
    while let Some(bytes) = body.try_next().await? {
        count += bytes.len() as u64;
        hash.update(&bytes);
    }
    if count != size || hex::encode(hash.finalize()) != upload.sha256 {
        return Err(ApiError::bad(WRONG_BYTES));
    }
    Ok(())
}

/// Removes a copy that was not used.
pub async fn discard(app: &App, prepared: &Prepared) {
    uploads::remove(app, &prepared.key).await;
}
