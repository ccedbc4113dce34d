//! A part of the index: the records of some bundles. It never changes; a change makes another one, which shares the counters
//! and most of the memory.

mod counters;
mod pieces;
mod table;

use std::collections::HashMap;
use std::sync::Arc;

use crate::extension::Extension;
use crate::prefetch::prefetch_lines;
use crate::record::{NewRecord, Record, mark_extension};
use crate::texts::{Interner, Texts};
use crate::trust::TrustSet;

pub use counters::{Counters, CountersList};
use pieces::{Pieces, PiecesBuilder};
use table::Table;

/// A bundle's record in a shard.
pub type Stored<'s> = Record<'s, Texts<'s>>;

/// A shard grows by this share, at least by [`SLACK`], before what was replaced is removed from it.
const GARBAGE_SHARE: usize = 8;
const SLACK: usize = 2048;
/// The lines of a record of three updates.
const RECORD_LINES: usize = 5;
/// The lines of the texts that many bundles of a shard refer to: they were the first to be written.
const SHARED_TEXT_LINES: usize = 8;

/// Bundles by key.
#[derive(Clone, Debug, Default)]
pub struct Shard {
    table: Table,
    records: Pieces,
    texts: Box<str>,
    counters: CountersList,
    numbers: Numbers,
    /// Bytes of records and texts when everything was needed.
    clean: usize,
    /// Few bundles need it.
    sides: Option<Box<Sides>>,
}

/// The numbers of counters that bundles of a shard have, in any of its versions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers(usize);

impl Numbers {
    /// A number that no bundle has.
    pub fn take(&mut self) -> usize {
        self.0 += 1;
        self.0 - 1
    }
}

/// What only some bundles have, by key.
#[derive(Clone, Debug, Default)]
struct Sides {
    extensions: HashMap<Box<str>, Arc<Extension>>,
    /// The metadata of apps with a root.
    trust: HashMap<Box<str>, Arc<TrustSet>>,
}

impl Shard {
    /// The bundle with this key, whose hash is given.
    pub fn find(&self, key: &str, hash: u32) -> Option<Stored<'_>> {
        let mut found = self.table.offsets(hash).map(|offset| {
            self.prefetch_record(offset);
            self.record_at(offset)
        });
        found.find(|record| record.key == key)
    }

    /// Begins to fetch what says where the bundle with this hash is.
    pub fn prefetch_place(&self, hash: u32) {
        self.table.prefetch(hash);
        self.records.prefetch_addresses();
    }

    /// Begins to fetch the first line of the bundle with this hash. Waits for what [`Shard::prefetch_place`] fetches.
    pub fn prefetch_start(&self, hash: u32) {
        if let Some(offset) = self.likely_offset(hash) {
            prefetch_lines(self.records.rest_at(offset), 0, 1);
        }
    }

    /// Begins to fetch the bundle with this hash. Waits for what [`Shard::prefetch_place`] fetches.
    pub fn prefetch_bundle(&self, hash: u32) {
        if let Some(offset) = self.likely_offset(hash) {
            self.prefetch_record(offset);
            prefetch_lines(self.texts.as_bytes(), 0, SHARED_TEXT_LINES);
            self.counters.prefetch(self.len());
        }
    }

    /// Begins to fetch the counters of the bundle with this hash, if it has any yet. Reads the bundle's start, and waits for it.
    pub fn prefetch_counters(&self, hash: u32) {
        let record = self.likely_offset(hash).map(|offset| self.record_at(offset));
        if let Some(counters) = record.and_then(|record| self.counters.used(record.number)) {
            counters.prefetch();
        }
    }

    /// The offset of a bundle with this hash: rarely of another one than is asked for, which costs only time.
    fn likely_offset(&self, hash: u32) -> Option<usize> {
        self.table.offsets(hash).next()
    }

    /// Begins to fetch all lines of a record together: a reader that takes one field after the other would wait for each.
    fn prefetch_record(&self, offset: usize) {
        prefetch_lines(self.records.rest_at(offset), 0, RECORD_LINES);
    }

    /// Every bundle, in no order.
    pub fn bundles(&self) -> impl Iterator<Item = Stored<'_>> {
        self.table.all().map(|(_, offset)| self.record_at(offset))
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0 && self.sides.is_none()
    }

    /// How many bundles there are.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// The bytes of records, texts and table.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.records.bytes() + self.texts.len() + self.table.bytes()
    }

    /// The counters of a bundle, which every bundle of a shard has.
    pub fn counters(&self, record: &Stored<'_>) -> Option<&Counters> {
        self.counters.get(record.number)
    }

    /// The counters of all bundles of all versions of this shard.
    pub fn counters_list(&self) -> &CountersList {
        &self.counters
    }

    /// What a bundle needs beside its record.
    pub fn extension(&self, record: &Stored<'_>) -> Option<&Extension> {
        if !record.has_extension {
            return None;
        }
        let extension = self.sides.as_ref()?.extensions.get(record.key);
        extension.map(|extension| &**extension)
    }

    /// A shard without bundles that continues the numbers of another version of it.
    pub fn empty(before: &Shard) -> Shard {
        Shard {
            counters: before.counters.clone(),
            numbers: before.numbers,
            ..Shard::default()
        }
    }

    /// The numbers of counters that are in use.
    pub fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// The metadata of a bundle with a root.
    pub fn trust(&self, key: &str) -> Option<&Arc<TrustSet>> {
        self.sides.as_ref()?.trust.get(key)
    }

    /// Sets or removes the metadata of a bundle.
    pub fn set_trust(&mut self, key: &str, trust: Option<Arc<TrustSet>>) {
        match (trust, &mut self.sides) {
            (Some(trust), sides) => drop(sides.get_or_insert_default().trust.insert(key.into(), trust)),
            (None, Some(sides)) => drop(sides.trust.remove(key)),
            (None, None) => {}
        }
    }

    /// The shard with this bundle, which replaces the one with its key and gets its counters, or those of `free`, a
    /// number that is in use no more.
    pub fn with(
        &self,
        mut record: NewRecord<'_>,
        extension: Option<Extension>,
        hash: u32,
        free: impl FnOnce() -> Option<usize>,
    ) -> Shard {
        let before = self.find(record.key, hash);
        let mut numbers = self.numbers;
        record.number = match before {
            Some(before) => before.number,
            None => free().unwrap_or_else(|| numbers.take()),
        };
        let mut interner = Interner::new(&self.texts);
        let mut added = Vec::with_capacity(512);
        record.write(&mut added, &mut interner);
        let (records, offset) = self.records.with(&added);
        let mut next = Shard {
            table: self.table.clone(),
            records,
            texts: interner.into_texts(),
            counters: self.counters.with_room(),
            numbers,
            clean: self.clean,
            sides: self.sides.clone(),
        };
        match extension {
            Some(extension) => next.insert_extension(record.key, extension),
            None => next.remove_extension(record.key),
        }
        let before = self.offset(record.key, hash);
        next.table.put(hash, before, offset);
        let bytes = next.records.bytes() + next.texts.len();
        if bytes > next.clean + (next.clean / GARBAGE_SHARE).max(SLACK) {
            next = next.compacted();
        }
        next
    }

    /// The shard without this bundle.
    pub fn without(&self, key: &str, hash: u32) -> Shard {
        let mut next = self.clone();
        next.remove_extension(key);
        if let Some(offset) = self.offset(key, hash) {
            next.table.remove(offset);
        }
        next
    }

    /// The same bundles, without what no record refers to.
    fn compacted(self) -> Shard {
        let mut builder = ShardBuilder::new(self.len(), self.counters.clone());
        for (hash, offset) in self.table.all() {
            builder.add(&self.record_at(offset).to_new(), hash);
        }
        let fresh = builder.finish(self.numbers, Vec::new());
        Shard {
            sides: self.sides,
            ..fresh
        }
    }

    /// Sets what a bundle of this shard needs beside its record.
    pub fn set_extension(&mut self, key: &str, hash: u32, extension: Extension) {
        if let Some(offset) = self.offset(key, hash) {
            mark_extension(self.records.rest_at_mut(offset));
            self.insert_extension(key, extension);
        }
    }

    fn insert_extension(&mut self, key: &str, extension: Extension) {
        let extensions = &mut self.sides.get_or_insert_default().extensions;
        extensions.insert(key.into(), Arc::new(extension));
    }

    fn remove_extension(&mut self, key: &str) {
        if let Some(sides) = &mut self.sides {
            sides.extensions.remove(key);
        }
    }

    fn offset(&self, key: &str, hash: u32) -> Option<usize> {
        let mut offsets = self.table.offsets(hash);
        offsets.find(|offset| self.record_at(*offset).key == key)
    }

    fn record_at(&self, offset: usize) -> Stored<'_> {
        Record::read(self.records.rest_at(offset), Texts(&self.texts)).0
    }
}

/// Makes a shard from all of its bundles.
pub struct ShardBuilder {
    table: Table,
    records: PiecesBuilder,
    /// The record that is being added.
    record: Vec<u8>,
    interner: Interner,
    counters: CountersList,
}

impl ShardBuilder {
    /// A shard for so many bundles.
    pub fn new(bundles: usize, counters: CountersList) -> ShardBuilder {
        ShardBuilder {
            table: Table::with_room(bundles),
            records: PiecesBuilder::default(),
            record: Vec::new(),
            interner: Interner::default(),
            counters: counters.with_room(),
        }
    }

    /// Adds a bundle that is not in it yet.
    pub fn add(&mut self, record: &NewRecord<'_>, hash: u32) {
        self.record.clear();
        record.write(&mut self.record, &mut self.interner);
        let offset = self.records.push(&self.record);
        self.table.put(hash, None, offset);
    }

    /// The shard with these extensions, by key.
    pub fn finish(self, numbers: Numbers, extensions: Vec<(Box<str>, Extension)>) -> Shard {
        let (records, texts) = (self.records.finish(), self.interner.into_texts());
        let mut shard = Shard {
            clean: records.bytes() + texts.len(),
            table: self.table,
            records,
            texts,
            counters: self.counters,
            numbers,
            sides: None,
        };
        for (key, extension) in extensions {
            shard.insert_extension(&key, extension);
        }
        shard
    }
}
