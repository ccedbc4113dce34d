//! Uploads that callers have announced.

use launchway_domain::app::Upload;
use launchway_domain::id::UploadId;

use crate::sql::typed;
use crate::{Org, StoreError, System};

row! {
    pub(crate) struct UploadRow {
        id: String,
        org_id: String,
        file_name: String,
        size: i64,
        sha256: String,
        used: i64,
        created_at: i64,
        expires_at: i64,
    }
}

impl UploadRow {
    fn read(self) -> Result<Upload, StoreError> {
        Ok(Upload {
            id: typed("uploads.id", &self.id)?,
            org_id: typed("uploads.org_id", &self.org_id)?,
            file_name: self.file_name,
            size: self.size,
            sha256: self.sha256,
            used: self.used != 0,
            created_at: self.created_at,
            expires_at: self.expires_at,
        })
    }
}

impl Org<'_> {
    /// Stores an announced upload.
    pub async fn create_upload(&mut self, upload: &Upload, by: &str) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO uploads (id, org_id, file_name, size, sha256, used, created_by, created_at, expires_at) \
             VALUES ($1, $2, $3, $4, $5, 0, $6, $7, $8)",
            upload.id.to_string(),
            &self.id,
            &upload.file_name,
            upload.size,
            &upload.sha256,
            by,
            upload.created_at,
            upload.expires_at
        )?;
        Ok(())
    }

    /// One upload.
    pub async fn upload(&mut self, id: UploadId) -> Result<Option<Upload>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            UploadRow,
            "SELECT id, org_id, file_name, size, sha256, used, created_at, expires_at FROM uploads WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        row.map(UploadRow::read).transpose()
    }

    /// Marks an upload as used; returns false if it was used before.
    pub async fn use_upload(&mut self, id: UploadId) -> Result<bool, StoreError> {
        let used = execute!(
            self.tx,
            "UPDATE uploads SET used = 1 WHERE org_id = $1 AND id = $2 AND used = 0",
            &self.id,
            id.to_string()
        )?;
        Ok(used == 1)
    }
}

impl System<'_> {
    /// Whether an upload still waits for its bytes: a signed URL of a used or removed one is refused.
    pub async fn is_open_upload(&mut self, id: UploadId) -> Result<bool, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT id FROM uploads WHERE id = $1 AND used = 0",
            id.to_string()
        )?;
        Ok(row.is_some())
    }

    /// Whether the upload still exists, used or not: a job in progress may have copied its bytes.
    pub async fn has_upload(&mut self, id: UploadId) -> Result<bool, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT id FROM uploads WHERE id = $1",
            id.to_string()
        )?;
        Ok(row.is_some())
    }

    /// Expired uploads, at most `limit`.
    pub async fn expired_uploads(&mut self, now: i64, limit: i64) -> Result<Vec<Upload>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            UploadRow,
            "SELECT id, org_id, file_name, size, sha256, used, created_at, expires_at FROM uploads WHERE expires_at <= $1 \
             ORDER BY expires_at LIMIT $2",
            now,
            limit
        )?;
        rows.into_iter().map(UploadRow::read).collect()
    }

    /// Deletes an upload whose bytes are gone.
    pub async fn forget_upload(&mut self, id: UploadId) -> Result<(), StoreError> {
        execute!(self.tx, "DELETE FROM uploads WHERE id = $1", id.to_string())?;
        Ok(())
    }
}
