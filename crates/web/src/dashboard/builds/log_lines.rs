//! Iterates over the lines of a build's log in constant memory, on threads that serve no requests.

use bytes::Bytes;
use launchway_domain::log_index::LogIndex;
use launchway_ops::api_error::ApiError;
use launchway_ops::build_log::LogReader;
use launchway_ops::fair_work::Call;
use memchr::memchr_iter;

/// The maximum number of bytes that are kept of a line.
const MAX_LINE_BYTES: usize = 64 << 10;
/// Bytes that one unit of work processes: some milliseconds.
const AT_A_TIME: usize = 512 << 10;
/// Parts that one unit of work passes over. Each has two lines to visit.
const MOST_SKIPPED: usize = 16;

/// A visitor of lines.
pub trait Look: Send + 'static {
    /// Visits a line with its number and start offset; a line that is too long is truncated. False ends the walk.
    fn see(&mut self, number: u64, start: i64, line: &[u8]) -> bool;

    /// Whether the lines of the part with this index, except those at its borders, must be visited.
    fn needs(&self, _: &LogIndex) -> bool {
        true
    }
}

/// A walk over a log.
pub struct Walk<L> {
    /// The visitor of the lines.
    pub look: L,
    /// The number of visited lines.
    pub lines: u64,
    /// Bytes that were read.
    pub size: i64,
    /// The start offset of the current line.
    start: i64,
    /// The part of the current line from earlier pieces.
    line: Vec<u8>,
    is_over: bool,
}

/// Walks over a log to its end, or until the visitor stops it. Dropping the future stops the walk.
pub async fn walk<L: Look>(call: &Call, mut reader: LogReader, look: L) -> Result<Walk<L>, ApiError> {
    let mut walk = Walk {
        look,
        lines: 0,
        size: reader.offset(),
        start: reader.offset(),
        line: Vec::new(),
        is_over: false,
    };
    while !walk.is_over {
        let skipped = skip_ahead(&mut reader, &walk.look).await?;
        let pieces = match skipped.len() {
            MOST_SKIPPED => Vec::new(),
            _ => read_ahead(&mut reader).await?,
        };
        if skipped.is_empty() && pieces.is_empty() {
            walk.end();
            break;
        }
        walk = call
            .piece(move || {
                skipped.iter().for_each(|(index, size)| walk.skip(index, *size));
                pieces.iter().for_each(|piece| walk.take(piece));
                walk
            })
            .await?;
    }
    Ok(walk)
}

/// The parts at the current position whose lines need not be visited: their indexes and sizes.
async fn skip_ahead(reader: &mut LogReader, look: &impl Look) -> Result<Vec<(LogIndex, i64)>, ApiError> {
    let mut skipped = Vec::new();
    while skipped.len() < MOST_SKIPPED
        && let Some((index, size)) = reader.index().await?
        && !look.needs(&index)
    {
        reader.skip_part();
        skipped.push((index, size));
    }
    Ok(skipped)
}

/// The next pieces of a log, up to the end of a part; none at its end.
async fn read_ahead(reader: &mut LogReader) -> Result<Vec<Bytes>, ApiError> {
    let (mut pieces, mut size) = (Vec::new(), 0);
    while size < AT_A_TIME && !(size > 0 && reader.is_at_part_end()) {
        let Some(piece) = reader.next().await? else { break };
        size += piece.len();
        pieces.push(piece);
    }
    Ok(pieces)
}

impl<L: Look> Walk<L> {
    fn take(&mut self, piece: &[u8]) {
        if self.is_over {
            return;
        }
        let at = self.size;
        self.size += piece.len() as i64;
        let mut from = 0;
        for end in memchr_iter(b'\n', piece) {
            let part = &piece[from..=end];
            // Most lines are complete in one piece: they are not copied.
            let goes_on = if self.line.is_empty() {
                self.look.see(self.lines, self.start, part)
            } else {
                self.keep(part);
                self.look.see(self.lines, self.start, &self.line)
            };
            from = end + 1;
            self.lines += 1;
            self.start = at + from as i64;
            self.line.clear();
            if !goes_on {
                self.is_over = true;
                return;
            }
        }
        self.keep(&piece[from..]);
    }

    /// Passes over a part of this size. Only the lines at its borders are visited.
    fn skip(&mut self, index: &LogIndex, size: i64) {
        let end = self.size + size;
        self.take(index.head());
        if self.is_over {
            return;
        }
        self.lines += u64::from(index.lines()) - 1;
        self.size = end - index.tail().len() as i64;
        self.start = self.size;
        self.take(index.tail());
    }

    /// Visits the last line, which may have no line end.
    fn end(&mut self) {
        self.is_over = true;
        if !self.line.is_empty() {
            self.look.see(self.lines, self.start, &self.line);
            self.lines += 1;
        }
    }

    fn keep(&mut self, part: &[u8]) {
        let room = MAX_LINE_BYTES.saturating_sub(self.line.len());
        self.line.extend_from_slice(&part[..part.len().min(room)]);
    }
}
