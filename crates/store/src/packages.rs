//! Packages: the stored bytes of updates. One may serve several updates; one that serves none is deleted after a while.

use launchway_domain::app::Package;
use launchway_domain::id::PackageId;

use crate::sql::typed;
use crate::{Org, StoreError, System};

row! {
    struct PackageRow {
        id: String,
        org_id: String,
        blob_key: String,
        size: i64,
        sha256: String,
        file_count: i64,
        manifest: Option<String>,
        format: String,
        content_id: Option<String>,
    }
}

impl PackageRow {
    fn read(self) -> Result<Package, StoreError> {
        Ok(Package {
            id: typed("packages.id", &self.id)?,
            org_id: typed("packages.org_id", &self.org_id)?,
            blob_key: self.blob_key,
            size: self.size,
            sha256: self.sha256,
            file_count: self.file_count,
            manifest: self.manifest,
            format: typed("packages.format", &self.format)?,
            content_id: self.content_id,
        })
    }
}

impl Org<'_> {
    /// Stores a package whose bytes are in object storage.
    pub async fn create_package(&mut self, package: &Package, now: i64) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO packages (id, org_id, blob_key, size, sha256, file_count, manifest, format, content_id, created_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            package.id.to_string(),
            &self.id,
            &package.blob_key,
            package.size,
            &package.sha256,
            package.file_count,
            package.manifest.as_deref(),
            package.format.as_str(),
            package.content_id.as_deref(),
            now
        )?;
        Ok(())
    }

    /// Stores the hash of a package's list of files. The list follows from the bytes, which never change.
    pub async fn set_package_manifest(&mut self, id: PackageId, manifest: &str) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE packages SET manifest = $3 WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string(),
            manifest
        )?;
        Ok(())
    }

    /// Marks a package that no update names any more, so that clean-up finds it, and unmarks one that is named again.
    pub(crate) async fn note_package_use(&mut self, id: &str, now: i64) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE packages SET unused_since = CASE WHEN EXISTS \
             (SELECT 1 FROM updates u WHERE u.package_id = packages.id AND u.deleted_at IS NULL) THEN NULL ELSE $3 END \
             WHERE org_id = $1 AND id = $2",
            &self.id,
            id,
            now
        )?;
        Ok(())
    }
}

impl System<'_> {
    /// Packages that no update has named since before `time`, at most `limit`.
    pub async fn unused_packages(&mut self, time: i64, limit: i64) -> Result<Vec<Package>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            PackageRow,
            "SELECT id, org_id, blob_key, size, sha256, file_count, manifest, format, content_id FROM packages \
             WHERE unused_since IS NOT NULL AND unused_since <= $1 AND blob_key <> '' ORDER BY unused_since LIMIT $2",
            time,
            limit
        )?;
        rows.into_iter().map(PackageRow::read).collect()
    }

    /// The packages after `after` (an id, or empty for the start) whose bytes are stored, at most `limit`.
    pub async fn packages_after(&mut self, after: &str, limit: i64) -> Result<Vec<Package>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            PackageRow,
            "SELECT id, org_id, blob_key, size, sha256, file_count, manifest, format, content_id FROM packages \
             WHERE id > $1 AND blob_key NOT LIKE 'gone/%' ORDER BY id LIMIT $2",
            after,
            limit
        )?;
        rows.into_iter().map(PackageRow::read).collect()
    }

    /// Whether a row names an object: a package, a build or a submission. Other kinds of objects must add their table here.
    pub async fn is_blob_referenced(&mut self, blob_key: &str) -> Result<bool, StoreError> {
        let package = fetch_optional!(
            self.tx,
            (String,),
            "SELECT id FROM packages WHERE blob_key = $1",
            blob_key
        )?;
        Ok(package.is_some()
            || self.has_source_blob(blob_key).await?
            || self.has_log_blob(blob_key).await?
            || self.has_artifact_blob(blob_key).await?
            || self.has_submission_blob(blob_key).await?)
    }

    /// Retires a package for good, unless an update names it again meanwhile. Its row stays for the deleted updates that
    /// point to it. Returns false if it is in use.
    pub async fn retire_package(&mut self, id: PackageId) -> Result<bool, StoreError> {
        let retired = execute!(
            self.tx,
            "UPDATE packages SET blob_key = 'gone/' || id, unused_since = NULL WHERE id = $1 AND unused_since IS NOT NULL",
            id.to_string()
        )?;
        Ok(retired == 1)
    }
}
