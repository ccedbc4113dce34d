//! The logs of builds: segments in object storage, and a bounded tail in the database. Bytes are appended by offset, each once.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_domain::id::{BuildId, OrgId};

use crate::sql::typed;
use crate::{Org, StoreError, System};

/// A segment of a log in object storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSegment {
    /// The offset of its first byte.
    pub start: i64,
    /// Size in bytes.
    pub size: i64,
    /// Its key.
    pub blob_key: String,
    /// The number of bytes of its search index, which follow it in the object; 0 if it has none.
    pub index_size: i64,
}

/// A chunk of a log's tail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogChunk {
    /// The offset of the first byte.
    pub start: i64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

fn decode(text: &str) -> Result<Vec<u8>, StoreError> {
    BASE64_STANDARD
        .decode(text)
        .map_err(|_| StoreError::Corrupt("log_tails.bytes"))
}

fn read_segment((start, size, blob_key, index_size): (i64, i64, String, i64)) -> LogSegment {
    LogSegment {
        start,
        size,
        blob_key,
        index_size,
    }
}

impl Org<'_> {
    /// Appends bytes to a log that ends at `start`; the build must be locked.
    pub async fn append_log(&mut self, build: BuildId, start: i64, bytes: &[u8]) -> Result<(), StoreError> {
        let size = bytes.len() as i64;
        execute!(
            self.tx,
            "INSERT INTO log_tails (build_id, start, size, bytes) \
             SELECT id, $3, $4, $5 FROM builds WHERE org_id = $1 AND id = $2",
            &self.id,
            build.to_string(),
            start,
            size,
            BASE64_STANDARD.encode(bytes)
        )?;
        execute!(
            self.tx,
            "UPDATE builds SET log_size = $3 WHERE org_id = $1 AND id = $2",
            &self.id,
            build.to_string(),
            start + size
        )?;
        Ok(())
    }

    /// The chunks of a log's tail after offset `after`, at most `limit`.
    pub async fn log_tail(&mut self, build: BuildId, after: i64, limit: i64) -> Result<Vec<LogChunk>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (i64, String),
            "SELECT tail.start, tail.bytes FROM log_tails AS tail JOIN builds ON builds.id = tail.build_id \
             WHERE builds.org_id = $1 AND builds.id = $2 AND tail.start + tail.size > $3 \
             AND tail.start < builds.log_size ORDER BY tail.start LIMIT $4",
            &self.id,
            build.to_string(),
            after,
            limit
        )?;
        let read = |(start, text): (i64, String)| {
            Ok(LogChunk {
                start,
                bytes: decode(&text)?,
            })
        };
        rows.into_iter().map(read).collect()
    }

    /// Stores the withheld bytes of a log, replacing those stored before: `size` bytes after its end that nobody may see
    /// yet, encoded by the caller. No bytes store nothing. The build must be locked.
    pub async fn set_withheld_log(&mut self, build: BuildId, size: i64, form: &[u8]) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "DELETE FROM log_tails WHERE EXISTS (SELECT 1 FROM builds WHERE builds.org_id = $1 AND builds.id = $2 \
             AND builds.id = log_tails.build_id AND log_tails.start >= builds.log_size)",
            &self.id,
            build.to_string()
        )?;
        if size > 0 {
            execute!(
                self.tx,
                "INSERT INTO log_tails (build_id, start, size, bytes) \
                 SELECT id, log_size, $3, $4 FROM builds WHERE org_id = $1 AND id = $2",
                &self.id,
                build.to_string(),
                size,
                BASE64_STANDARD.encode(form)
            )?;
        }
        Ok(())
    }

    /// The withheld bytes of a log.
    pub async fn withheld_log(&mut self, build: BuildId) -> Result<Option<Vec<u8>>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT tail.bytes FROM log_tails AS tail JOIN builds ON builds.id = tail.build_id \
             WHERE builds.org_id = $1 AND builds.id = $2 AND tail.start >= builds.log_size",
            &self.id,
            build.to_string()
        )?;
        row.map(|(text,)| decode(&text)).transpose()
    }

    /// The offset from which a log is not in object storage yet.
    pub async fn log_tail_start(&mut self, build: BuildId) -> Result<i64, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (i64,),
            "SELECT COALESCE((SELECT MIN(start) FROM log_tails WHERE build_id = builds.id), log_size) FROM builds \
             WHERE org_id = $1 AND id = $2",
            &self.id,
            build.to_string()
        )?;
        Ok(row.map_or(0, |(start,)| start))
    }

    /// The segments of a log that contain the byte at `offset` or follow it, in order, at most `limit`.
    pub async fn log_segments_from(
        &mut self,
        build: BuildId,
        offset: i64,
        limit: i64,
    ) -> Result<Vec<LogSegment>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (i64, i64, String, i64),
            "SELECT part.start, part.size, part.blob_key, part.index_size FROM log_segments AS part \
             JOIN builds ON builds.id = part.build_id WHERE builds.org_id = $1 AND builds.id = $2 \
             AND part.start + part.size > $3 ORDER BY part.start LIMIT $4",
            &self.id,
            build.to_string(),
            offset,
            limit
        )?;
        Ok(rows.into_iter().map(read_segment).collect())
    }

    /// The segments of a log, in order.
    pub async fn log_segments(&mut self, build: BuildId) -> Result<Vec<LogSegment>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (i64, i64, String, i64),
            "SELECT part.start, part.size, part.blob_key, part.index_size FROM log_segments AS part \
             JOIN builds ON builds.id = part.build_id WHERE builds.org_id = $1 AND builds.id = $2 ORDER BY part.start",
            &self.id,
            build.to_string()
        )?;
        Ok(rows.into_iter().map(read_segment).collect())
    }

    /// Replaces the bytes of the tail that a segment in object storage contains.
    pub async fn seal_log_segment(&mut self, build: BuildId, segment: &LogSegment) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO log_segments (build_id, org_id, start, size, blob_key, index_size) \
             SELECT id, org_id, $3, $4, $5, $6 FROM builds WHERE org_id = $1 AND id = $2",
            &self.id,
            build.to_string(),
            segment.start,
            segment.size,
            &segment.blob_key,
            segment.index_size
        )?;
        execute!(
            self.tx,
            "DELETE FROM log_tails WHERE build_id IN (SELECT id FROM builds WHERE org_id = $1 AND id = $2) \
             AND start >= $3 AND start + size <= $4",
            &self.id,
            build.to_string(),
            segment.start,
            segment.start + segment.size
        )?;
        Ok(())
    }
}

impl System<'_> {
    /// Whether a segment of a log has this key.
    pub async fn has_log_blob(&mut self, blob_key: &str) -> Result<bool, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (i64,),
            "SELECT start FROM log_segments WHERE blob_key = $1 LIMIT 1",
            blob_key
        )?;
        Ok(row.is_some())
    }

    /// Finished builds whose log is not completely in object storage.
    pub async fn unsealed_logs(&mut self, limit: i64) -> Result<Vec<(OrgId, BuildId)>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String),
            "SELECT DISTINCT builds.org_id, builds.id FROM log_tails AS tail JOIN builds ON builds.id = tail.build_id \
             WHERE builds.status IN ('success', 'failed', 'canceled') ORDER BY builds.id LIMIT $1",
            limit
        )?;
        let read = |(org, id): (String, String)| Ok((typed("builds.org_id", &org)?, typed("builds.id", &id)?));
        rows.into_iter().map(read).collect()
    }
}
