//! Iterates over the lines of a build's log in constant memory, on threads that serve no requests.

use bytes::Bytes;
use launchway_domain::log_index::LogIndex;
use launchway_ops::api_error::ApiError;
use launchway_ops::build_log::LogReader;
use launchway_ops::fair_work::Call;
use memchr::{memchr, memchr_iter, memrchr};

/// The maximum number of bytes that are kept of a line.
const MAX_LINE_BYTES: usize = 64 << 10;
/// Bytes of lines that a visitor may pass over at once.
const BLOCK: usize = 8 << 10;
/// Bytes that one unit of work processes, or somewhat more of a part: a millisecond if the visitor passes over them, some if not.
const AT_A_TIME: usize = 1 << 20;
/// Parts that one unit of work passes over. Each has two lines to visit.
const MOST_SKIPPED: usize = 16;

/// A visitor of lines.
pub trait Look: Send + 'static {
    /// Whether [`Look::needs`] is asked, for which the indexes of parts are read.
    const USES_INDEXES: bool = false;

    /// Visits a line with its number and start offset; a line that is too long is truncated. False ends the walk.
    fn see(&mut self, number: u64, start: i64, line: &[u8]) -> bool;

    /// Whether none of these whole lines must be visited.
    fn passes_over(&mut self, _: &[u8]) -> bool {
        false
    }

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
    let mut walk = Walk::new(look, reader.offset());
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
async fn skip_ahead<L: Look>(reader: &mut LogReader, look: &L) -> Result<Vec<(LogIndex, i64)>, ApiError> {
    let mut skipped = Vec::new();
    while L::USES_INDEXES
        && skipped.len() < MOST_SKIPPED
        && let Some((index, size)) = reader.index().await?
        && !look.needs(&index)
    {
        reader.skip_part();
        skipped.push((index, size));
    }
    Ok(skipped)
}

/// The next part of a log, or the next pieces up to the end of a part; none at its end.
async fn read_ahead(reader: &mut LogReader) -> Result<Vec<Bytes>, ApiError> {
    if let Some(part) = reader.whole_part().await? {
        return Ok(vec![part]);
    }
    let (mut pieces, mut size) = (Vec::new(), 0);
    while size < AT_A_TIME && !(size > 0 && reader.is_at_part_end()) {
        let Some(piece) = reader.next().await? else { break };
        size += piece.len();
        pieces.push(piece);
    }
    Ok(pieces)
}

impl<L: Look> Walk<L> {
    /// A walk that begins at this offset.
    fn new(look: L, offset: i64) -> Walk<L> {
        Walk {
            look,
            lines: 0,
            size: offset,
            start: offset,
            line: Vec::new(),
            is_over: false,
        }
    }

    /// Visits the lines of a piece.
    fn take(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while !self.is_over && !rest.is_empty() {
            let most = &rest[..rest.len().min(BLOCK)];
            // A line that began in an earlier piece, is longer than a block, or not complete in this piece, is one by itself.
            let of_lines = memrchr(b'\n', most).filter(|_| self.line.is_empty());
            let end = of_lines.or_else(|| memchr(b'\n', rest));
            let (block, after) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
            self.take_block(block);
            rest = after;
        }
    }

    fn take_block(&mut self, block: &[u8]) {
        let at = self.size;
        self.size += block.len() as i64;
        if self.line.is_empty() && block.ends_with(b"\n") && self.look.passes_over(block) {
            self.lines += memchr_iter(b'\n', block).count() as u64;
            self.start = self.size;
            return;
        }
        let mut from = 0;
        for end in memchr_iter(b'\n', block) {
            let part = &block[from..=end];
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
        self.keep(&block[from..]);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Records the lines with an `x`.
    #[derive(Default)]
    struct Marked(Vec<(u64, i64, Vec<u8>)>);

    impl Look for Marked {
        fn see(&mut self, number: u64, start: i64, line: &[u8]) -> bool {
            if line.contains(&b'x') {
                self.0.push((number, start, line.to_vec()));
            }
            true
        }

        fn passes_over(&mut self, lines: &[u8]) -> bool {
            !lines.contains(&b'x')
        }
    }

    proptest! {
        #[test]
        fn lines_that_are_passed_over_count(
            lines in prop::collection::vec((0usize..3 * BLOCK, prop::bool::weighted(0.2)), 0..12),
            short in prop::collection::vec((0usize..40, prop::bool::weighted(0.01)), 0..600),
            ends in any::<bool>(),
            piece in 1usize..3 * BLOCK,
        ) {
            let line = |(length, is_marked): (usize, bool)| [".".repeat(length), if is_marked { "x" } else { "" }.to_owned()].concat();
            let mut text = lines.into_iter().chain(short).map(line).collect::<Vec<_>>().join("\n");
            if ends {
                text.push('\n');
            }
            let mut expected = Marked::default();
            let (mut start, mut count) = (0, 0);
            for line in text.split_inclusive('\n') {
                expected.see(count, start, &line.as_bytes()[..line.len().min(MAX_LINE_BYTES)]);
                start += line.len() as i64;
                count += 1;
            }
            let mut walk = Walk::new(Marked::default(), 0);
            text.as_bytes().chunks(piece).for_each(|piece| walk.take(piece));
            walk.end();
            prop_assert_eq!((walk.lines, walk.size), (count, start));
            prop_assert!(walk.look.0 == expected.0);
        }
    }

    /// Visits as few lines as it can.
    #[derive(Default)]
    struct Visited(u64);

    impl Look for Visited {
        fn see(&mut self, _: u64, _: i64, _: &[u8]) -> bool {
            self.0 += 1;
            true
        }

        fn passes_over(&mut self, _: &[u8]) -> bool {
            true
        }
    }

    #[test]
    fn only_a_line_that_two_pieces_share_is_visited() {
        let text = "123456789\n".repeat(1_000);
        for (piece, shared) in [(1_000, 0), (1_003, 9), (1_005, 5)] {
            let mut walk = Walk::new(Visited::default(), 0);
            text.as_bytes().chunks(piece).for_each(|piece| walk.take(piece));
            walk.end();
            assert_eq!((walk.look.0, walk.lines), (shared, 1_000), "{piece}");
        }
    }
}
