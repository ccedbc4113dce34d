//! What an organization currently holds, counted from the rows: bytes in object storage and claimed bundle ids.

use launchway_domain::build::{SourceRecord, Spec};
use launchway_domain::bundle_id::BundleId;

use crate::{Org, StoreError, System};

impl Org<'_> {
    /// Serializes the transactions that check this organization against a limit: the row lock is held until the transaction
    /// ends, so a count that follows includes everything committed by earlier ones.
    pub async fn take_turn(&mut self) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO org_turns (org_id, taken) VALUES ($1, 1) \
             ON CONFLICT (org_id) DO UPDATE SET taken = org_turns.taken + 1",
            &self.id
        )?;
        Ok(())
    }

    /// Bytes in object storage: unused uploads at their announced size, packages, sources, artifacts, log segments, files
    /// of submissions. A source shared by several retries of a build counts once.
    pub async fn stored_bytes(&mut self) -> Result<i64, StoreError> {
        let (bytes,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT CAST(COALESCE(SUM(part.size), 0) AS BIGINT) FROM ( \
             SELECT SUM(size) AS size FROM uploads WHERE org_id = $1 AND used = 0 \
             UNION ALL SELECT SUM(size) FROM packages WHERE org_id = $1 AND blob_key NOT LIKE 'gone/%' \
             UNION ALL SELECT SUM(size) FROM artifacts WHERE org_id = $1 \
             UNION ALL SELECT SUM(size) FROM log_segments WHERE org_id = $1 \
             UNION ALL SELECT SUM(size) FROM submission_files WHERE org_id = $1 \
             UNION ALL SELECT SUM(source_size) FROM (SELECT DISTINCT source_key, source_size FROM builds \
             WHERE org_id = $1 AND source_key <> '') AS source) AS part",
            &self.id
        )?;
        Ok(bytes)
    }

    /// The number of bundle ids that this organization has claimed. Those of deleted apps stay claimed, and count.
    pub async fn claimed_bundles(&mut self) -> Result<i64, StoreError> {
        let (count,) = fetch_one!(self.tx, (i64,), "SELECT COUNT(*) FROM apps WHERE org_id = $1", &self.id)?;
        Ok(count)
    }

    /// Whether this organization has claimed a bundle id, even if it deleted the app since.
    pub async fn has_claimed(&mut self, bundle: &BundleId) -> Result<bool, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT id FROM apps WHERE bundle_key = $1 AND org_id = $2",
            bundle.key(),
            &self.id
        )?;
        Ok(row.is_some())
    }
}

impl System<'_> {
    /// Fills in the columns that a node of an older release left at their defaults, in at most `limit` rows of each table.
    /// Returns the number of rows.
    pub async fn fill_holdings(&mut self, limit: i64) -> Result<u64, StoreError> {
        let logs = execute!(
            self.tx,
            "UPDATE log_segments SET org_id = (SELECT builds.org_id FROM builds WHERE builds.id = log_segments.build_id) \
             WHERE org_id = '' AND (build_id, start) IN \
             (SELECT build_id, start FROM log_segments WHERE org_id = '' LIMIT $1)",
            limit
        )?;
        let files = execute!(
            self.tx,
            "UPDATE submission_files SET org_id = \
             (SELECT submissions.org_id FROM submissions WHERE submissions.id = submission_files.submission_id) \
             WHERE org_id = '' AND blob_key IN (SELECT blob_key FROM submission_files WHERE org_id = '' LIMIT $1)",
            limit
        )?;
        let builds = fetch_all!(
            self.tx,
            (String, String),
            "SELECT id, spec FROM builds WHERE source_key <> '' AND source_size = 0 ORDER BY id LIMIT $1",
            limit
        )?;
        let mut sized = 0;
        for (id, spec) in &builds {
            let spec: Spec = serde_json::from_str(spec).map_err(|_| StoreError::Corrupt("builds.spec"))?;
            let size = source_size(&spec);
            sized += u64::from(size > 0);
            execute!(self.tx, "UPDATE builds SET source_size = $2 WHERE id = $1", id, size)?;
        }
        Ok(logs + files + sized)
    }
}

/// Size in bytes of a build's source in object storage.
pub(crate) fn source_size(spec: &Spec) -> i64 {
    match &spec.source {
        SourceRecord::Archive { size, .. } => *size,
        SourceRecord::Git { .. } => 0,
    }
}
