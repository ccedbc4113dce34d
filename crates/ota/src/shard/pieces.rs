//! The bytes of a shard's records, in pieces: a change copies one of them, not all, and pieces of one size fit the classes of an
//! allocator, which rounds a whole shard up by as much as a fifth.

use std::sync::Arc;

use crate::prefetch::{LINE, prefetch};

/// The bits of an offset that are a place in a piece; the others are the number of the piece.
const PLACE_BITS: u32 = 15;
/// The most bytes of a piece with more than one record: with the counts of an `Arc`, 28 KiB. The allocator fills 18 of those into the
/// 512 KiB, less its header, that it divides at a time: all but a sixtieth. Of a power of two, one less would fit than fills it.
const PIECE: usize = (28 << 10) - 2 * size_of::<usize>();

/// The addresses of pieces in one line of memory.
const ADDRESSES: usize = LINE / size_of::<Arc<[u8]>>();
/// The lines with the addresses of all pieces, usually, in a shard of an index with a million bundles.
const ADDRESS_LINES: usize = 3;

/// Records at offsets, which never move.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    /// All but the last are full.
    pieces: Box<[Arc<[u8]>]>,
}

impl Pieces {
    /// Begins to fetch the addresses of the pieces.
    pub fn prefetch_addresses(&self) {
        let lines = self.pieces.iter().step_by(ADDRESSES).take(ADDRESS_LINES);
        lines.for_each(prefetch);
    }

    /// The bytes from this offset to the end of its piece; none if there is no such offset.
    pub fn rest_at(&self, offset: usize) -> &[u8] {
        let (number, place) = place_of(offset);
        let piece = self.pieces.get(number);
        piece.and_then(|piece| piece.get(place..)).unwrap_or_default()
    }

    /// Like [`Pieces::rest_at`], to change them. Copies the piece if another shard has it, too.
    pub fn rest_at_mut(&mut self, offset: usize) -> &mut [u8] {
        let (number, place) = place_of(offset);
        let piece = self.pieces.get_mut(number).map(Arc::make_mut);
        piece.and_then(|piece| piece.get_mut(place..)).unwrap_or_default()
    }

    /// The bytes of all pieces.
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.len()).sum()
    }

    /// The same pieces and this record, and its offset.
    pub fn with(&self, record: &[u8]) -> (Pieces, usize) {
        let mut pieces = self.pieces.to_vec();
        let number = match pieces.last() {
            Some(last) if last.len() + record.len() <= PIECE => pieces.len() - 1,
            _ => pieces.len(),
        };
        let before = pieces.get(number).map_or(&[][..], |piece| piece);
        let (place, grown) = (before.len(), [before, record].concat().into());
        pieces.truncate(number);
        pieces.push(grown);
        let pieces = pieces.into();
        (Pieces { pieces }, offset_of(number, place))
    }
}

/// Collects the records of a shard.
#[derive(Debug, Default)]
pub struct PiecesBuilder {
    full: Vec<Arc<[u8]>>,
    last: Vec<u8>,
}

impl PiecesBuilder {
    /// Adds a record, and returns its offset.
    pub fn push(&mut self, record: &[u8]) -> usize {
        if !self.last.is_empty() && self.last.len() + record.len() > PIECE {
            self.end_piece();
        }
        let offset = offset_of(self.full.len(), self.last.len());
        self.last.extend_from_slice(record);
        offset
    }

    /// All records.
    pub fn finish(mut self) -> Pieces {
        if !self.last.is_empty() {
            self.end_piece();
        }
        Pieces {
            pieces: self.full.into(),
        }
    }

    fn end_piece(&mut self) {
        // A copy of the exact size. What grows is used again for the next piece.
        self.full.push(self.last.as_slice().into());
        self.last.clear();
    }
}

/// The number of a piece, and a place in it. A record that is longer than a piece has one of its own, at place 0.
fn place_of(offset: usize) -> (usize, usize) {
    (offset >> PLACE_BITS, offset & ((1 << PLACE_BITS) - 1))
}

fn offset_of(number: usize, place: usize) -> usize {
    (number << PLACE_BITS) | place
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Records shorter and longer than a piece, some there from the start, some added later.
        #[test]
        fn records_stay_at_their_offsets(
            first in prop::collection::vec(1usize..40_000, 0..8),
            later in prop::collection::vec(1usize..40_000, 0..8),
        ) {
            let record = |number: usize, length: usize| vec![number as u8 + 1; length];
            let mut all = Vec::new();
            let mut builder = PiecesBuilder::default();
            for length in first {
                let record = record(all.len(), length);
                all.push((builder.push(&record), record));
            }
            let mut pieces = builder.finish();
            for length in later {
                let record = record(all.len(), length);
                let before = pieces.clone();
                let (next, offset) = pieces.with(&record);
                for (offset, record) in &all {
                    prop_assert!(before.rest_at(*offset).starts_with(record));
                }
                pieces = next;
                all.push((offset, record));
            }
            for (offset, record) in &all {
                prop_assert!(pieces.rest_at(*offset).starts_with(record));
            }
            prop_assert_eq!(pieces.bytes(), all.iter().map(|(_, record)| record.len()).sum::<usize>());
        }
    }

    #[test]
    fn a_change_copies_one_piece_and_leaves_other_shards_alone() {
        let mut builder = PiecesBuilder::default();
        let offsets: Vec<usize> = (0..4).map(|number| builder.push(&[number; PIECE / 2])).collect();
        let before = builder.finish();
        let (mut after, added) = before.with(&[9]);
        assert_eq!(before.pieces.len(), 2);
        assert!(Arc::ptr_eq(&before.pieces[0], &after.pieces[0]) && Arc::ptr_eq(&before.pieces[1], &after.pieces[1]));
        after.rest_at_mut(offsets[1])[0] = 7;
        assert_eq!((before.rest_at(offsets[1])[0], after.rest_at(offsets[1])[0]), (1, 7));
        assert_eq!(after.rest_at(added), [9]);
        assert!(after.rest_at(1 << 30).is_empty() && after.rest_at_mut(1 << 30).is_empty());
    }
}
