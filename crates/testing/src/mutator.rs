//! Corrupts files. The run's number is the seed, so that a run can be repeated.

/// Changes bytes randomly, with a preference for significant bytes of the format.
#[derive(Debug)]
pub struct Mutator {
    state: u64,
    /// Bytes that are significant as lengths, numbers, marks or tags.
    meaning: &'static [u8],
}

impl Mutator {
    /// A mutator for the run with this number.
    #[must_use]
    pub fn new(run: u64, meaning: &'static [u8]) -> Self {
        Self { state: run, meaning }
    }

    /// Splitmix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Makes one to four changes to `bytes`, possibly with parts of `other`.
    #[must_use]
    pub fn mutate(&mut self, bytes: &[u8], other: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(4) {
            self.change(&mut bytes, other);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let meaning = self.meaning;
        let place = self.below(bytes.len() + 1);
        let length = self.below(48).min(bytes.len() - place);
        match self.below(8) {
            0 => self.put(bytes, place, |old, next| old ^ (1 << (next % 8))),
            1 => self.put(bytes, place, |_, next| next as u8),
            2 | 3 => self.put(bytes, place, |_, next| meaning[next as usize % meaning.len()]),
            4 => drop(bytes.drain(place..place + length)),
            5 => {
                let copied = bytes[place..place + length].to_vec();
                let target = self.below(bytes.len() + 1);
                bytes.splice(target..target, copied);
            }
            6 => bytes.truncate(place),
            _ => {
                let from = self.below(other.len() + 1);
                bytes.truncate(place);
                bytes.extend(&other[from..]);
            }
        }
    }

    fn put(&mut self, bytes: &mut [u8], place: usize, new: impl Fn(u8, u64) -> u8) {
        let next = self.next();
        if let Some(byte) = bytes.get_mut(place) {
            *byte = new(*byte, next);
        }
    }
}
