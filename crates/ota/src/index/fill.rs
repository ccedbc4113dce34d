//! Makes an index from the rows of all bundles, wherever they come from. Of the texts that only some bundles need, no more than
//! those of one bundle are in memory at a time.

use super::Index;
use crate::foreign::ForeignRows;
use crate::loader::{Loaded, Loader};
use crate::snapshot::Row;

/// Takes the rows of all bundles.
pub struct Fill<'i> {
    index: &'i Index,
    /// That of the last row.
    phase: u8,
    /// Takes updates, until the first row of what extends them.
    loader: Option<Loader>,
    /// Empty until then.
    loaded: Loaded,
    documents: Group,
    pairs: Group,
    foreign: Vec<(String, ForeignRows)>,
}

/// What all rows made.
pub struct Filled {
    /// The shards.
    pub loaded: Loaded,
    /// The bundles that clients of other services ask for, if their rows were among them.
    pub foreign: Vec<(String, ForeignRows)>,
}

impl<'i> Fill<'i> {
    /// Makes the shards of this index.
    pub fn new(index: &'i Index) -> Fill<'i> {
        let loader = Loader::new(index.places.clone(), index.updates_per_bundle, index.long_texts.clone());
        Fill {
            index,
            phase: 0,
            loader: Some(loader),
            loaded: Loaded::none(index.places.clone()),
            documents: Group::default(),
            pairs: Group::default(),
            foreign: Vec::new(),
        }
    }

    /// Takes the next row. Returns false if the rows are not in order.
    pub fn take(&mut self, row: Row) -> bool {
        let phase = row.phase();
        if phase < self.phase {
            return false;
        }
        self.phase = phase;
        let other = match &mut self.loader {
            Some(loader) => loader.take(row),
            None => Some(row),
        };
        let Some(row) = other else { return true };
        self.end_updates();
        self.extend(row)
    }

    fn extend(&mut self, row: Row) -> bool {
        let loaded = &mut self.loaded;
        match row {
            Row::Document { key, hash, document } => {
                self.documents
                    .push(key, (hash, document), |key, all| loaded.add_documents(key, all));
                true
            }
            Row::Pair { key, hash, lwfp2 } => {
                self.pairs
                    .push(key, (hash, lwfp2), |key, all| loaded.add_pairs(key, all));
                true
            }
            row => {
                if let Row::Foreign { key, .. } = &row {
                    self.foreign.push((key.clone(), ForeignRows::default()));
                }
                self.foreign.last_mut().is_some_and(|(_, rows)| rows.take(row))
            }
        }
    }

    /// What all rows made.
    pub fn finish(mut self) -> Filled {
        self.end_updates();
        let mut loaded = self.loaded;
        self.documents.finish(|key, all| loaded.add_documents(key, all));
        self.pairs.finish(|key, all| loaded.add_pairs(key, all));
        Filled {
            loaded,
            foreign: self.foreign,
        }
    }

    fn end_updates(&mut self) {
        if let Some(loader) = self.loader.take() {
            self.loaded = loader.finish(|number| self.index.shards[number].load_full());
        }
    }
}

/// Collects rows that arrive in the order of their bundles.
#[derive(Default)]
struct Group {
    key: String,
    rows: Vec<(String, String)>,
}

impl Group {
    /// Adds a row, after `finish` was called with the rows of the bundle before.
    fn push(&mut self, key: String, row: (String, String), finish: impl FnOnce(&str, &[(String, String)])) {
        if key != self.key {
            self.finish(finish);
            self.key = key;
        }
        self.rows.push(row);
    }

    /// Calls `finish` with the rows of the last bundle.
    fn finish(&mut self, finish: impl FnOnce(&str, &[(String, String)])) {
        if !self.rows.is_empty() {
            finish(&self.key, &self.rows);
            self.rows.clear();
        }
    }
}
