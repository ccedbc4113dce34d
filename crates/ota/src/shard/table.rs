//! The offsets of records by the hash of their keys: open addressing in one piece of memory.

use crate::prefetch::prefetch;

/// A slot is empty, or has a hash in its upper half and one more than an offset in its lower half.
#[derive(Clone, Debug, Default)]
pub struct Table {
    slots: Box<[u64]>,
    len: usize,
}

impl Table {
    /// A table for so many records, of which a fifth of the slots stays empty.
    pub fn with_room(records: usize) -> Table {
        Table {
            slots: vec![0; records + records / 4 + 1].into(),
            len: 0,
        }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The bytes of the table.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.slots)
    }

    /// Begins to fetch what [`Table::offsets`] reads first for this hash.
    pub fn prefetch(&self, hash: u32) {
        if let Some(place) = self.probe(hash).next() {
            prefetch(&self.slots[place]);
        }
    }

    /// The offsets of all records whose key may have this hash.
    pub fn offsets(&self, hash: u32) -> impl Iterator<Item = usize> {
        let slots = self.probe(hash).map_while(|place| match self.slots[place] {
            0 => None,
            slot => Some(slot),
        });
        slots.filter(move |slot| hash_of(*slot) == hash).map(offset_of)
    }

    /// The hashes and offsets of all records.
    pub fn all(&self) -> impl Iterator<Item = (u32, usize)> {
        let taken = self.slots.iter().filter(|slot| **slot != 0);
        taken.map(|slot| (hash_of(*slot), offset_of(*slot)))
    }

    /// Adds a record, or moves it from the offset `before`.
    pub fn put(&mut self, hash: u32, before: Option<usize>, offset: usize) {
        let slot = (u64::from(hash) << 32) | ((offset as u64 + 1) & u64::from(u32::MAX));
        let known = self.slots.iter_mut();
        let moved = before.and_then(|before| {
            known
                .into_iter()
                .find(|slot| **slot != 0 && offset_of(**slot) == before)
        });
        if let Some(known) = moved {
            *known = slot;
            return;
        }
        // At least one slot of eight stays empty, so that a search ends.
        if (self.len + 1) * 8 > self.slots.len() * 7 {
            *self = self.copy(self.len + 1, None);
        }
        self.insert(slot);
    }

    /// Removes the record at this offset.
    pub fn remove(&mut self, offset: usize) {
        *self = self.copy(self.len, Some(offset));
    }

    fn copy(&self, records: usize, without: Option<usize>) -> Table {
        let mut copy = Table::with_room(records);
        let taken = self.slots.iter().filter(|slot| **slot != 0);
        for slot in taken.filter(|slot| Some(offset_of(**slot)) != without) {
            copy.insert(*slot);
        }
        copy
    }

    fn insert(&mut self, slot: u64) {
        let free = self.probe(hash_of(slot)).find(|place| self.slots[*place] == 0);
        if let Some(free) = free {
            self.slots[free] = slot;
            self.len += 1;
        }
    }

    /// All slots, beginning with the one that a hash prefers.
    fn probe(&self, hash: u32) -> impl Iterator<Item = usize> + use<> {
        let count = self.slots.len();
        let first = ((u64::from(hash) * count as u64) >> 32) as usize;
        (first..count).chain(0..first)
    }
}

fn hash_of(slot: u64) -> u32 {
    (slot >> 32) as u32
}

fn offset_of(slot: u64) -> usize {
    (slot as u32) as usize - 1
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Few hashes, so that many collide.
        #[test]
        fn finds_what_a_map_finds(changes in prop::collection::vec((0u32..12, any::<bool>()), 0..80)) {
            let (mut table, mut model) = (Table::default(), BTreeMap::new());
            for (number, (key, is_removal)) in changes.into_iter().enumerate() {
                let hash = (key % 5) << 29;
                match (model.get(&key).copied(), is_removal) {
                    (Some(before), true) => {
                        table.remove(before);
                        model.remove(&key);
                    }
                    (before, _) => {
                        table.put(hash, before, number);
                        model.insert(key, number);
                    }
                }
                prop_assert_eq!(table.len(), model.len());
                for hash in (0..6).map(|step| step << 29) {
                    let mut found: Vec<usize> = table.offsets(hash).collect();
                    let of_hash = model.iter().filter(|(key, _)| (*key % 5) << 29 == hash);
                    let mut expected: Vec<usize> = of_hash.map(|(_, offset)| *offset).collect();
                    found.sort_unstable();
                    expected.sort_unstable();
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
