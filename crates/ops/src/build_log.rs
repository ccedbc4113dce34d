//! Reads the log of a build from any offset, in constant memory: first its parts in object storage, then the tail in
//! the database. A search skips parts by their indexes, and takes the others whole.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use futures::stream::BoxStream;
use launchway_blob::{BlobError, Key};
use launchway_domain::id::{BuildId, OrgId};
use launchway_domain::log_index::{LogIndex, MAX_INDEX};
use launchway_store::LogSegment;

use crate::api_error::ApiError;
use crate::app::App;

/// The maximum number of bytes returned at a time.
pub const PIECE: usize = 64 << 10;

/// The number of parts queried at a time.
const AHEAD: i64 = 32;

/// The maximum size of a part that is read whole. Nearly all have 1 MiB and a part of what a runner sends at once.
const WHOLE_PART: i64 = 2 << 20;

/// A position in a log, with what follows it.
pub struct LogReader {
    app: Arc<App>,
    org: OrgId,
    build: BuildId,
    offset: i64,
    /// Bytes that were read but not returned yet.
    rest: Bytes,
    /// The part in object storage that is being read.
    part: Option<Part>,
    /// The following parts, as far as they were queried.
    ahead: VecDeque<LogSegment>,
    /// The starts and the encoded indexes of parts, as far as they were read.
    indexes: VecDeque<(i64, Bytes)>,
    /// The number of parts whose indexes are read at a time.
    indexes_ahead: usize,
}

struct Part {
    bytes: BoxStream<'static, Result<Bytes, BlobError>>,
    /// The offset after its last byte.
    end: i64,
}

impl LogReader {
    /// Reads from `offset`, which must not exceed the size of the log.
    pub fn new(app: Arc<App>, org: OrgId, build: BuildId, offset: i64) -> LogReader {
        LogReader {
            app,
            org,
            build,
            offset,
            rest: Bytes::new(),
            part: None,
            ahead: VecDeque::new(),
            indexes: VecDeque::new(),
            indexes_ahead: 2,
        }
    }

    /// The current offset: the number of bytes before the next one returned.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// The next bytes, at most [`PIECE`]; `None` if there are none yet.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        if self.rest.is_empty() {
            self.rest = self.more().await?;
        }
        let piece = self.rest.split_to(self.rest.len().min(PIECE));
        self.offset += piece.len() as i64;
        Ok(Some(piece).filter(|piece| !piece.is_empty()))
    }

    /// Whether what follows is another part than what was returned last.
    pub fn is_at_part_end(&self) -> bool {
        self.rest.is_empty() && self.part.as_ref().is_some_and(|part| part.end == self.offset)
    }

    /// The part in object storage that begins at the current offset; `None` if none begins here.
    async fn next_part(&mut self) -> Result<Option<&LogSegment>, ApiError> {
        if self.is_at_part_end() {
            self.part = None;
        }
        if self.part.is_some() || !self.rest.is_empty() {
            return Ok(None);
        }
        if self.ahead.is_empty() {
            let mut tx = self.app.db.read().await?;
            let mut org = tx.org(self.org);
            self.ahead = org.log_segments_from(self.build, self.offset, AHEAD).await?.into();
        }
        Ok(self.ahead.front().filter(|segment| segment.start == self.offset))
    }

    /// The search index of the part that begins at the current offset, and the size of the part in bytes; `None` if no part in
    /// object storage begins here, or it has no index.
    pub async fn index(&mut self) -> Result<Option<(LogIndex, i64)>, ApiError> {
        let Some(segment) = self.next_part().await? else {
            return Ok(None);
        };
        let size = segment.size;
        while self.indexes.front().is_some_and(|(start, _)| *start < self.offset) {
            self.indexes.pop_front();
        }
        if self.indexes.is_empty() {
            self.read_indexes().await?;
        }
        let Some((start, bytes)) = self.indexes.front() else {
            return Ok(None);
        };
        let index = Some(bytes).filter(|_| *start == self.offset);
        Ok(index
            .and_then(|bytes| LogIndex::decode(bytes))
            .map(|index| (index, size)))
    }

    /// Reads the indexes of the following parts, twice as many as the last time: a search may end soon, and a request for
    /// each part would take longer than the search.
    async fn read_indexes(&mut self) -> Result<(), ApiError> {
        let (mut starts, mut ranges) = (Vec::new(), Vec::new());
        for segment in self.ahead.iter().take(self.indexes_ahead) {
            let (first, count) = (segment.size as u64, segment.index_size as u64);
            if count > 0 && count <= MAX_INDEX as u64 {
                starts.push(segment.start);
                ranges.push((Key::new(&segment.blob_key)?, first..first + count));
            }
        }
        self.indexes_ahead = (2 * self.indexes_ahead).min(AHEAD as usize);
        if !ranges.is_empty() {
            let pieces = self.app.blob.read_ranges(ranges).await?;
            self.indexes.extend(starts.into_iter().zip(pieces));
        }
        Ok(())
    }

    /// Continues after the part that [`Self::index`] returned an index of.
    pub fn skip_part(&mut self) {
        if let Some(segment) = self.ahead.pop_front() {
            self.offset = segment.start + segment.size;
        }
    }

    /// Reads the part in object storage that begins at the current offset, with one change of threads instead of one for each piece.
    /// `None` if none begins here, or if it is too large: [`Self::next`] reads that.
    pub async fn whole_part(&mut self) -> Result<Option<Bytes>, ApiError> {
        let next = self.next_part().await?;
        let Some(segment) = next.filter(|next| (1..=WHOLE_PART).contains(&next.size)) else {
            return Ok(None);
        };
        let (key, size) = (Key::new(&segment.blob_key)?, segment.size as u64);
        let bytes = self.app.blob.read_ranges(vec![(key, 0..size)]).await?.pop();
        let bytes = bytes.filter(|bytes| bytes.len() as u64 == size).ok_or_else(too_short)?;
        self.skip_part();
        Ok(Some(bytes))
    }

    async fn more(&mut self) -> Result<Bytes, ApiError> {
        loop {
            if let Some(part) = &mut self.part {
                match part.bytes.try_next().await? {
                    Some(bytes) if !bytes.is_empty() => return Ok(bytes),
                    Some(_) => continue,
                    None if self.offset < part.end => return Err(too_short()),
                    None => self.part = None,
                }
            }
            if let Some(segment) = self.ahead.pop_front() {
                self.part = Some(self.open(&segment).await?);
                continue;
            }
            // One snapshot: what has left the tail is in object storage by then.
            let mut tx = self.app.db.read().await?;
            let mut org = tx.org(self.org);
            self.ahead = org.log_segments_from(self.build, self.offset, AHEAD).await?.into();
            if self.ahead.is_empty() {
                let tail = org.log_tail(self.build, self.offset, 1).await?;
                let Some(chunk) = tail.into_iter().next() else {
                    return Ok(Bytes::new());
                };
                let skipped = usize::try_from(self.offset - chunk.start).ok();
                let bytes = skipped.and_then(|skipped| chunk.bytes.get(skipped..));
                return bytes.map(Bytes::copy_from_slice).ok_or_else(gap);
            }
        }
    }

    async fn open(&mut self, segment: &LogSegment) -> Result<Part, ApiError> {
        let first = u64::try_from(self.offset - segment.start).map_err(|_| gap())?;
        let count = segment.size as u64 - first;
        Ok(Part {
            bytes: self.app.blob.read(&Key::new(&segment.blob_key)?, first, count).await?,
            end: segment.start + segment.size,
        })
    }
}

fn too_short() -> ApiError {
    ApiError::Internal("a part of a log is shorter than its row says".to_owned())
}

fn gap() -> ApiError {
    ApiError::Internal("a log has a gap".to_owned())
}
