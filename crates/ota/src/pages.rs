//! Memory for many small byte strings that go at once. It comes from the system in a few large pieces, not from the allocator,
//! which would keep it: while an index loads it needs more than the index does.

use std::ops::DerefMut;

use memmap2::MmapMut;

use crate::bytes::{Reader, push_number};

/// The size of the first piece in bytes. Each further one is twice as large, up to [`LARGEST`].
const SMALLEST: usize = 64 << 10;
const LARGEST: usize = 32 << 20;
/// The most bytes of a length.
const LENGTH: usize = 10;

type Piece = Box<dyn DerefMut<Target = [u8]> + Send + Sync>;

/// Byte strings, each with its length before it.
#[derive(Default)]
pub struct Pages {
    pieces: Vec<Piece>,
    /// The bytes of the last piece that are in use.
    used: usize,
}

impl Pages {
    /// Keeps these bytes, and returns their place.
    pub fn push(&mut self, bytes: &[u8]) -> u64 {
        let needed = bytes.len() + LENGTH;
        if self.pieces.last().is_none_or(|last| last.len() - self.used < needed) {
            let size = (SMALLEST << self.pieces.len().min(16)).clamp(needed, LARGEST.max(needed));
            self.pieces.push(new_piece(size));
            self.used = 0;
        }
        let last = self.pieces.len() - 1;
        let place = ((last as u64) << 32) | self.used as u64;
        let mut length = Vec::with_capacity(LENGTH);
        push_number(&mut length, bytes.len() as u64);
        for part in [&length, bytes] {
            self.pieces[last][self.used..][..part.len()].copy_from_slice(part);
            self.used += part.len();
        }
        place
    }

    /// The bytes at this place.
    pub fn read(&self, place: u64) -> &[u8] {
        let piece = self.pieces.get((place >> 32) as usize);
        let bytes = piece.and_then(|piece| piece.get(place as u32 as usize..));
        let mut reader = Reader::new(bytes.unwrap_or_default());
        let length = reader.number() as usize;
        reader.take(length)
    }
}

impl std::fmt::Debug for Pages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pages({} pieces)", self.pieces.len())
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
        let mut pages = Pages::default();
        let places: Vec<u64> = texts.iter().chain([&long]).map(|text| pages.push(text)).collect();
        assert!(pages.pieces.len() > 3);
        for (text, place) in texts.iter().chain([&long]).zip(places) {
            assert_eq!(pages.read(place), text);
        }
    }

    #[test]
    fn a_place_that_does_not_exist_is_empty() {
        let mut pages = Pages::default();
        assert_eq!(pages.read(0), b"");
        pages.push(b"text");
        assert_eq!(pages.read(5 << 32), b"");
        assert_eq!(pages.read(u64::from(u32::MAX)), b"");
    }
}
