//! Memory for many small byte strings that go at once. It comes from the system in a few large pieces, not from the allocator,
//! which would keep it: while an index loads it needs more than the index does.

use std::ops::DerefMut;

use memmap2::MmapMut;

/// The size of the first piece in bytes. Each further one is twice as large, up to [`LARGEST`].
const SMALLEST: usize = 64 << 10;
const LARGEST: usize = 32 << 20;
/// The bytes of a length.
const LENGTH: usize = size_of::<u32>();

type Piece = Box<dyn DerefMut<Target = [u8]> + Send + Sync>;

/// Byte strings, each with its length before it.
#[derive(Default)]
pub struct RowMemory {
    pieces: Vec<Piece>,
    /// The bytes of the last piece that are in use.
    used: usize,
    bytes: usize,
}

impl RowMemory {
    /// Keeps these bytes, and returns their place.
    pub fn push(&mut self, bytes: &[u8]) -> u64 {
        let needed = bytes.len() + LENGTH;
        if self.pieces.last().is_none_or(|last| last.len() - self.used < needed) {
            let size = (SMALLEST << self.pieces.len().min(16)).clamp(needed, LARGEST.max(needed));
            self.pieces.push(new_piece(size));
            self.used = 0;
        }
        self.bytes += needed;
        let last = self.pieces.len() - 1;
        let place = ((last as u64) << 32) | self.used as u64;
        // A row is far shorter than 4 GiB.
        let length = (bytes.len() as u32).to_le_bytes();
        for part in [&length[..], bytes] {
            self.pieces[last][self.used..][..part.len()].copy_from_slice(part);
            self.used += part.len();
        }
        place
    }

    /// The bytes of all strings, with their lengths.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The bytes at this place.
    pub fn read(&self, place: u64) -> &[u8] {
        let piece = self.pieces.get((place >> 32) as usize);
        let bytes = piece.and_then(|piece| piece.get(place as u32 as usize..));
        let Some((length, rest)) = bytes.and_then(|bytes| bytes.split_first_chunk()) else {
            return &[];
        };
        let length = u32::from_le_bytes(*length) as usize;
        rest.get(..length).unwrap_or_default()
    }
}

impl std::fmt::Debug for RowMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RowMemory({} pieces)", self.pieces.len())
    }
}

/// Memory from the system, or, if it has none to map, from the allocator.
fn new_piece(size: usize) -> Piece {
    match MmapMut::map_anon(size) {
        Ok(mapped) => Box::new(mapped),
        Err(_) => Box::new(vec![0; size]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_from_their_places() {
        let texts: Vec<Vec<u8>> = (0..700_usize).map(|number| vec![number as u8; number * 7]).collect();
        let long = vec![7; LARGEST + 1];
        let mut memory = RowMemory::default();
        let places: Vec<u64> = texts.iter().chain([&long]).map(|text| memory.push(text)).collect();
        assert!(memory.pieces.len() > 3);
        let kept = texts.iter().chain([&long]).map(|text| text.len() + LENGTH);
        assert_eq!(memory.bytes(), kept.sum::<usize>());
        for (text, place) in texts.iter().chain([&long]).zip(places) {
            assert_eq!(memory.read(place), text);
        }
    }

    #[test]
    fn a_place_that_does_not_exist_is_empty() {
        let mut memory = RowMemory::default();
        assert_eq!(memory.read(0), b"");
        memory.push(b"text");
        assert_eq!(memory.read(5 << 32), b"");
        assert_eq!(memory.read(u64::from(u32::MAX)), b"");
    }
}
