//! Uploads: files sent directly to object storage with a pre-signed URL (`docs/reference/uploads.md`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::open;

/// `POST /uploads`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateUpload {
    /// The file name; its extension is the format (`.zip`, `.tar.gz`, `.tar.zst`, `.ipa`, `.apk`, `.aab`).
    #[schema(min_length = 1, max_length = 255, example = "update.zip")]
    pub file_name: String,
    /// The exact size in bytes.
    #[schema(minimum = 1, example = 1024)]
    pub size: i64,
    /// The SHA-256 of the file, 64 hex digits.
    #[schema(example = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    pub sha256: String,
}

/// The request that uploads the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Upload)]
pub struct UploadView {
    /// `upload_…`: requests refer to the uploaded file by this id.
    pub id: String,
    /// `pending`.
    pub status: open::PendingStatus,
    /// `PUT`.
    pub method: open::UploadMethod,
    /// The pre-signed URL. It accepts exactly `size` bytes and needs no other authentication.
    pub url: String,
    /// The headers to send, in addition to `Content-Length`.
    pub headers: BTreeMap<String, String>,
    /// When the URL expires.
    pub expires_at: String,
}
