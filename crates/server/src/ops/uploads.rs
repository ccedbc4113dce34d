//! Announcing uploads.

use std::collections::BTreeMap;

use launchway_api::uploads::{CreateUpload, UploadView};
use launchway_domain::app::{SIGNED_URL_LIFE, UPLOAD_LIFE, Upload};
use launchway_domain::id::{PackageId, UploadId};
use launchway_domain::time::{SECOND, iso};

use crate::app::App;
use crate::blob::Key;
use crate::failure::Failure;
use crate::ops::write::{NOTHING, Write};

/// An upload to be announced, its form checked.
#[derive(Clone, Debug)]
pub struct UploadPlan {
    file_name: String,
    size: u64,
    sha256: String,
}

/// Checks a request for an upload.
pub fn plan(app: &App, request: &CreateUpload) -> Result<UploadPlan, Failure> {
    let name = &request.file_name;
    let plain =
        !name.is_empty() && name.chars().count() <= 255 && !name.chars().any(|c| c.is_control() || "/\\".contains(c));
    if !plain {
        return Err(Failure::bad(
            "fileName must be a file's name of 1 to 255 characters, without a path",
        ));
    }
    let size = u64::try_from(request.size).ok().filter(|size| *size > 0);
    let size = size.ok_or_else(|| Failure::bad("size must be the number of bytes, at least 1"))?;
    let largest = app.config.max_source_size.max(app.config.max_package_size);
    if size > largest {
        return Err(Failure::bad(format!(
            "size: {size} bytes are too many; this server takes up to {largest}"
        )));
    }
    let hex = request.sha256.len() == 64 && request.sha256.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !hex {
        return Err(Failure::bad("sha256 must be 64 hex digits"));
    }
    Ok(UploadPlan {
        file_name: name.clone(),
        size,
        sha256: request.sha256.to_ascii_lowercase(),
    })
}

/// Announces an upload and signs the URL for its bytes.
pub async fn create(write: &mut Write<'_>, plan: UploadPlan) -> Result<UploadView, Failure> {
    let (app, now, by) = (write.app(), write.now(), write.by());
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
    let signed = app.blob.presign_put(
        &staging_key(upload.id)?,
        plan.size,
        now,
        (SIGNED_URL_LIFE / SECOND) as u32,
    );
    Ok(UploadView {
        id: upload.id.to_string(),
        status: "pending".to_owned(),
        method: "PUT".to_owned(),
        url: signed.url,
        headers: BTreeMap::new(),
        expires_at: iso(signed.expires_at_ms),
    })
}

/// Where the bytes of an upload arrive. Nothing is ever served from there.
pub fn staging_key(id: UploadId) -> Result<Key, Failure> {
    Key::new(&format!("uploads/{id}")).map_err(|error| Failure::Internal(error.to_string()))
}

/// Where the copies of an upload lie that its uses made: one directory each.
pub fn copies_of(id: UploadId) -> Result<Key, Failure> {
    Key::new(&format!("packages/{id}")).map_err(|error| Failure::Internal(error.to_string()))
}

/// A write-once key for a copy of an upload.
pub fn copy_key(id: UploadId, package: PackageId) -> Result<Key, Failure> {
    Key::new(&format!("packages/{id}/{package}")).map_err(|error| Failure::Internal(error.to_string()))
}
