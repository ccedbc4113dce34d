//! The objects of builds and submissions in object storage: which keys are sources, and which builds' files can be deleted.

use launchway_domain::id::{BuildId, OrgId};

use crate::builds::{pair, to_json};
use crate::{Org, StoreError, System};

/// An object of a build or a submission in object storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildFile {
    /// Its key.
    pub blob_key: String,
    /// Lower-case hex SHA-256 of an artifact or a submitted binary; the database does not have it for sources and logs.
    pub sha256: Option<String>,
}

impl Org<'_> {
    /// Whether a build's source has this key.
    pub async fn has_source(&mut self, blob_key: &str) -> Result<bool, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT id FROM builds WHERE org_id = $1 AND source_key = $2 LIMIT 1",
            &self.id,
            blob_key
        )?;
        Ok(row.is_some())
    }

    /// Removes the log, the artifacts and the source of a build. The build itself stays, with these warnings.
    pub async fn clear_build(&mut self, id: BuildId, warnings: &[String], now: i64) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE builds SET log_size = 0, source_key = '', warnings = $3, cleared_at = $4 WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string(),
            to_json(&warnings)?,
            now
        )?;
        for forget in [
            "DELETE FROM artifacts WHERE build_id IN (SELECT id FROM builds WHERE org_id = $1 AND id = $2)",
            "DELETE FROM log_segments WHERE build_id IN (SELECT id FROM builds WHERE org_id = $1 AND id = $2)",
            "DELETE FROM log_tails WHERE build_id IN (SELECT id FROM builds WHERE org_id = $1 AND id = $2)",
        ] {
            execute!(self.tx, forget, &self.id, id.to_string())?;
        }
        Ok(())
    }
}

impl System<'_> {
    /// Whether a source of a build has this key.
    pub async fn has_source_blob(&mut self, blob_key: &str) -> Result<bool, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT id FROM builds WHERE source_key = $1 LIMIT 1",
            blob_key
        )?;
        Ok(row.is_some())
    }

    /// The objects of all builds and submissions whose keys come after `after`, ordered by key: sources, log segments,
    /// artifacts, submitted binaries.
    pub async fn build_files_after(&mut self, after: &str, limit: i64) -> Result<Vec<BuildFile>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String),
            "SELECT source_key AS blob_key, '' AS sha256 FROM builds WHERE source_key > $1 \
             UNION SELECT blob_key, '' FROM log_segments WHERE blob_key > $1 \
             UNION SELECT blob_key, sha256 FROM artifacts WHERE status = 'stored' AND blob_key > $1 \
             UNION SELECT blob_key, sha256 FROM submission_files WHERE blob_key > $1 \
             ORDER BY blob_key LIMIT $2",
            after,
            limit
        )?;
        let read = |(blob_key, sha256): (String, String)| BuildFile {
            blob_key,
            sha256: (!sha256.is_empty()).then_some(sha256),
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// Builds that ended before `time` and still have files, oldest first.
    pub async fn builds_ended_before(&mut self, time: i64, limit: i64) -> Result<Vec<(OrgId, BuildId)>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String),
            "SELECT org_id, id FROM builds WHERE finished_at < $1 AND cleared_at IS NULL ORDER BY finished_at LIMIT $2",
            time,
            limit
        )?;
        rows.into_iter().map(|(org, id)| pair(&org, &id)).collect()
    }
}
