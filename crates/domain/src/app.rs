//! Apps and the records of their stored bytes: uploads and packages.

use crate::id::{AppId, OrgId, PackageId, UploadId};
use crate::release::Format;
use crate::time::{DAY, EpochMs, HOUR, SECOND};

/// How long an unused upload is kept.
pub const UPLOAD_LIFE: EpochMs = DAY;
/// How long a pre-signed URL is valid, for uploads and downloads (`docs/reference/uploads.md#lifetime-of-signed-urls`).
pub const SIGNED_URL_LIFE: EpochMs = HOUR;
/// [`SIGNED_URL_LIFE`] in seconds.
pub const SIGNED_URL_SECONDS: u32 = (SIGNED_URL_LIFE / SECOND) as u32;

/// A bundle identifier that an organization has claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    /// Its id.
    pub id: AppId,
    /// The organization that claimed it.
    pub org_id: OrgId,
    /// The identifier as it was first written.
    pub bundle_id: String,
    /// What people call the app.
    pub name: String,
    /// When it was claimed.
    pub created_at: EpochMs,
}

/// Bytes that a caller has announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// Its id.
    pub id: UploadId,
    /// The organization that announced it.
    pub org_id: OrgId,
    /// The name of the file.
    pub file_name: String,
    /// The exact number of bytes.
    pub size: i64,
    /// Lower-case hex SHA-256 of the bytes.
    pub sha256: String,
    /// Whether the upload has been consumed: it can be used once.
    pub used: bool,
    /// When it was announced.
    pub created_at: EpochMs,
    /// When it is removed if it is still unused.
    pub expires_at: EpochMs,
}

/// The stored, checked bytes of one or more updates. They never change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its id.
    pub id: PackageId,
    /// The organization it belongs to.
    pub org_id: OrgId,
    /// Its key in object storage.
    pub blob_key: String,
    /// Size in bytes.
    pub size: i64,
    /// Lower-case hex SHA-256.
    pub sha256: String,
    /// Number of files inside.
    pub file_count: i64,
    /// SHA-256 of its list of files; `None` if nobody has computed it.
    pub manifest: Option<String>,
    /// Its form, which decides what clients can install it.
    pub format: Format,
    /// How clients of its format identify its content; `None` for formats whose clients do not.
    pub content_id: Option<String>,
}
