//! Announces uploads.

use std::collections::BTreeMap;

use launchway_api::uploads::{CreateUpload, UploadView};
use launchway_api::words::{PendingStatus, UploadMethod};
use launchway_blob::{BlobError, Key};
use launchway_domain::app::{SIGNED_URL_SECONDS, UPLOAD_LIFE, Upload};
use launchway_domain::id::{BuildId, OrgId, UploadId};
use launchway_domain::time::iso;

use crate::api_error::ApiError;
use crate::app::App;
use crate::write::{NOTHING, Write};
use crate::{free_space, usage};

/// A validated request for an upload.
#[derive(Clone, Debug)]
pub struct UploadPlan {
    file_name: String,
    size: u64,
    sha256: String,
}

/// Validates a request for an upload.
pub fn plan(app: &App, request: &CreateUpload) -> Result<UploadPlan, ApiError> {
    let name = &request.file_name;
    let plain =
        !name.is_empty() && name.chars().count() <= 255 && !name.chars().any(|c| c.is_control() || "/\\".contains(c));
    if !plain {
        return Err(ApiError::bad(
            "fileName must be a file's name of 1 to 255 characters, without a path",
        ));
    }
    let size = u64::try_from(request.size).ok().filter(|size| *size > 0);
    let size = size.ok_or_else(|| ApiError::bad("size must be the number of bytes, at least 1"))?;
    let largest = app.config.max_source_size.max(app.config.max_package_size);
    if size > largest {
        return Err(ApiError::bad(format!(
            "size: {size} bytes are too many; this server accepts at most {largest}"
        )));
    }
    let hex = request.sha256.len() == 64 && request.sha256.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !hex {
        return Err(ApiError::bad("sha256 must be 64 hex digits"));
    }
    Ok(UploadPlan {
        file_name: name.clone(),
        size,
        sha256: request.sha256.to_ascii_lowercase(),
    })
}

/// Announces an upload and signs the URL for its bytes.
pub async fn create(write: &mut Write<'_>, plan: UploadPlan) -> Result<UploadView, ApiError> {
    let (app, now, by) = (write.app(), write.now(), write.actor_text());
    free_space::room_for(app, plan.size)?;
    usage::room_to_store(write, plan.size as i64).await?;
    let upload = Upload {
        id: app.random.id(now),
        org_id: write.org_id(),
        file_name: plan.file_name,
        size: plan.size as i64,
        sha256: plan.sha256,
        used: false,
        created_at: now,
        expires_at: now + UPLOAD_LIFE,
    };
    write.org().create_upload(&upload, &by).await?;
    let details = serde_json::json!({"fileName": upload.file_name, "size": upload.size, "sha256": upload.sha256});
    write.audit("upload.create", upload.id, NOTHING, Some(&details)).await?;
    let signed = app
        .blob
        .presign_put(&staging_key(upload.id)?, plan.size, now, SIGNED_URL_SECONDS);
    Ok(UploadView {
        id: upload.id.to_string(),
        status: PendingStatus::Pending.into(),
        method: UploadMethod::Put.into(),
        url: signed.url,
        headers: BTreeMap::new(),
        expires_at: iso(signed.expires_at_ms),
    })
}

/// An upload whose bytes may be used now.
pub async fn usable(app: &App, org: OrgId, id: UploadId) -> Result<Upload, ApiError> {
    let upload = app.db.read().await?.org(org).upload(id).await?;
    let upload = upload
        .filter(|upload| upload.expires_at > app.clock.now())
        .ok_or(ApiError::NoSuch("upload"))?;
    if upload.used {
        return Err(ApiError::bad(ALREADY_USED));
    }
    Ok(upload)
}

/// Copies the bytes of an upload to a write-once key: an upload key is never served and never trusted twice
/// (`docs/reference/uploads.md#using-an-upload`). The caller must verify the copy.
pub async fn copy(app: &App, id: UploadId, to: &Key) -> Result<(), ApiError> {
    match app.blob.copy(&staging_key(id)?, to).await {
        Err(BlobError::NotFound) => Err(ApiError::bad(
            "The upload has not received its bytes yet. Send them to its url first.",
        )),
        copied => Ok(copied?),
    }
}

/// Removes the staged bytes of an upload that was used.
pub async fn drop_staged(app: &App, upload: UploadId) {
    if let Ok(key) = staging_key(upload) {
        remove(app, &key).await;
    }
}

/// Removes an object that no row names. Clean-up or the sweep removes it if this fails.
pub async fn remove(app: &App, key: &Key) {
    if let Err(error) = app.blob.delete(key).await {
        tracing::warn!(%error, key = key.as_str(), "cannot delete an object");
    }
}

/// The error for an upload that was used before.
pub const ALREADY_USED: &str = "This upload was already used. Upload the file again.";
/// The error for bytes that differ from the announced ones.
pub const WRONG_BYTES: &str = "The uploaded bytes differ from the announced size or sha256. Upload the file again.";

/// The key to which a client uploads. Nothing is ever served from it.
pub fn staging_key(id: UploadId) -> Result<Key, ApiError> {
    Ok(Key::new(&format!("uploads/{id}"))?)
}

/// The folders of an upload's copies: one for packages, one for sources, one for submissions.
pub fn copies_of(id: UploadId) -> Result<[Key; 3], ApiError> {
    let key = |folder: &str| Key::new(&format!("{folder}/{id}"));
    Ok([key("packages")?, key("sources")?, key("submissions")?])
}

/// A write-once key for an upload's copy that is a build's source.
pub fn source_key(id: UploadId, build: BuildId) -> Result<Key, ApiError> {
    Ok(Key::new(&format!("sources/{id}/{build}"))?)
}
