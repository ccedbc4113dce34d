//! The search index of a part of a log (`docs/reference/builds.md#searching-the-log`): a Bloom filter of all groups of three
//! bytes in its lines, by which a search skips parts that cannot contain a text.
//!
//! Lines need not end where a part does. So the index also has the bytes up to the first line end and those after the last one:
//! a search that skips the part still sees the lines that begin before it or end after it, and its line numbers stay true.

use crate::log_text::searchable_into;

/// The version of the form. It changes with [`searchable_into`], too; indexes of another version are ignored.
const VERSION: u8 = 1;
/// The maximum length in bytes of what an index repeats of the first line, and of the last.
const MAX_FRAGMENT: usize = 4 << 10;
/// The maximum length in bytes of a line. A search sees only the beginning of longer lines.
const MAX_LINE: usize = 64 << 10;
/// The exponents of the smallest and the largest number of bits.
const BITS: std::ops::RangeInclusive<u32> = 13..=19;
/// Bits that each group sets.
const HASHES: u32 = 3;
/// Length of a group in bytes: shorter texts exclude no part.
const GROUP: usize = 3;
/// Bytes before the repeated lines: version, exponent, line ends, and the lengths of both fragments.
const HEADER: usize = 10;

/// The maximum length of an encoded index in bytes.
pub const MAX_INDEX: usize = HEADER + 2 * MAX_FRAGMENT + (1 << (*BITS.end() - 3));

/// The index of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogIndex {
    lines: u32,
    head: Vec<u8>,
    tail: Vec<u8>,
    filter: Filter,
}

impl LogIndex {
    /// Whether a line between the first and the last line end may contain a text, which is in lower case. `false` is certain.
    pub fn may_contain(&self, text: &str) -> bool {
        text.as_bytes().windows(GROUP).all(|group| self.filter.has(group))
    }

    /// The number of line ends, at least one.
    pub fn lines(&self) -> u32 {
        self.lines
    }

    /// The bytes up to the first line end, which is included.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The bytes after the last line end.
    pub fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// The index as bytes, at most [`MAX_INDEX`].
    pub fn encode(&self) -> Vec<u8> {
        let length = |fragment: &[u8]| (fragment.len() as u16).to_le_bytes();
        let mut bytes = vec![VERSION, self.filter.exponent() as u8];
        bytes.extend(self.lines.to_le_bytes());
        bytes.extend(length(&self.head));
        bytes.extend(length(&self.tail));
        bytes.extend(&self.head);
        bytes.extend(&self.tail);
        bytes.extend(self.filter.0.iter().flat_map(|word| word.to_le_bytes()));
        bytes
    }

    /// Reads an encoded index; `None` if it has another version or another form.
    pub fn decode(bytes: &[u8]) -> Option<LogIndex> {
        let (header, rest) = bytes.split_first_chunk::<HEADER>()?;
        let [version, exponent, l0, l1, l2, l3, h0, h1, t0, t1] = *header;
        let lines = u32::from_le_bytes([l0, l1, l2, l3]);
        let exponent = u32::from(exponent);
        if version != VERSION || !BITS.contains(&exponent) || lines == 0 {
            return None;
        }
        let (head, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes([h0, h1])))?;
        let (tail, filter) = rest.split_at_checked(usize::from(u16::from_le_bytes([t0, t1])))?;
        let (words, []) = filter.as_chunks::<8>() else {
            return None;
        };
        let is_sound = head.last() == Some(&b'\n') && words.len() << 6 == 1 << exponent;
        is_sound.then(|| LogIndex {
            lines,
            head: head.to_vec(),
            tail: tail.to_vec(),
            filter: Filter(words.iter().map(|word| u64::from_le_bytes(*word)).collect()),
        })
    }
}

/// Makes the index of a part from its bytes in order. Its memory is bounded, whatever they are.
pub struct LogIndexBuilder {
    filter: Filter,
    lines: u32,
    head: Vec<u8>,
    /// What came of the current line.
    line: Vec<u8>,
    /// The last line as text.
    text: Vec<u8>,
    is_refused: bool,
}

impl Default for LogIndexBuilder {
    fn default() -> Self {
        LogIndexBuilder {
            filter: Filter(vec![0; 1 << (*BITS.end() - 6)]),
            lines: 0,
            head: Vec::new(),
            line: Vec::new(),
            text: Vec::new(),
            is_refused: false,
        }
    }
}

impl LogIndexBuilder {
    /// Adds the next bytes of the part.
    pub fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.is_refused {
                return;
            }
            if self.line.len() + piece.len() > MAX_LINE {
                self.is_refused = true;
            } else if !piece.ends_with(b"\n") {
                self.line.extend_from_slice(piece);
            } else if self.lines > 0 && self.line.is_empty() {
                self.end_line(piece);
            } else {
                self.line.extend_from_slice(piece);
                let line = std::mem::take(&mut self.line);
                self.end_line(&line);
            }
        }
    }

    fn end_line(&mut self, line: &[u8]) {
        match self.lines {
            // It may have begun before the part.
            0 => self.head = line.to_vec(),
            _ => {
                searchable_into(line, &mut self.text);
                self.filter.add_all(&self.text);
            }
        }
        self.lines += 1;
    }

    /// The index of the part. `None` if a search has to read the part anyway: it has no line end, very long lines, or so many
    /// different groups that the filter would exclude hardly any text.
    pub fn finish(self) -> Option<LogIndex> {
        let is_short = |fragment: &[u8]| fragment.len() <= MAX_FRAGMENT;
        let is_useful = !self.is_refused && self.lines > 0 && is_short(&self.head) && is_short(&self.line);
        Some(LogIndex {
            filter: self.filter.folded().filter(|_| is_useful)?,
            lines: self.lines,
            head: self.head,
            tail: self.line,
        })
    }
}

/// A Bloom filter of a power of two of bits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Filter(Vec<u64>);

impl Filter {
    fn exponent(&self) -> u32 {
        self.0.len().trailing_zeros() + 6
    }

    /// The places of a group's bits in the largest filter. Their low bits are the places in a smaller one.
    fn places(group: &[u8]) -> impl Iterator<Item = usize> {
        let number = group.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        // The finalizer of SplitMix64. A change of it needs a new version.
        let mixed = (number ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let mixed = mixed ^ (mixed >> 31);
        (0..HASHES).map(move |hash| (mixed >> (hash * 20)) as usize & ((1 << *BITS.end()) - 1))
    }

    fn add_all(&mut self, text: &[u8]) {
        for group in text.windows(GROUP) {
            for place in Self::places(group) {
                if let Some(word) = self.0.get_mut(place >> 6) {
                    *word |= 1 << (place & 63);
                }
            }
        }
    }

    fn has(&self, group: &[u8]) -> bool {
        let last = self.0.len() - 1;
        Self::places(group).all(|place| self.0[(place >> 6) & last] & (1 << (place & 63)) != 0)
    }

    /// The smallest equivalent filter with at most two of five bits set; `None` if the largest has more.
    fn folded(self) -> Option<Filter> {
        let is_sparse = |words: &[u64]| {
            let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
            ones as usize * 5 <= words.len() * 64 * 2
        };
        if !is_sparse(&self.0) {
            return None;
        }
        let mut words = self.0;
        while words.len() > 1 << (*BITS.start() - 6) {
            let (low, high) = words.split_at(words.len() / 2);
            let half: Vec<u64> = low.iter().zip(high).map(|(low, high)| low | high).collect();
            if !is_sparse(&half) {
                break;
            }
            words = half;
        }
        Some(Filter(words))
    }
}

#[cfg(test)]
mod tests;
