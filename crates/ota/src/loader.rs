//! Turns rows into shards: first all updates, then, for bundles that have any, their fingerprints. Where the rows come
//! from does not matter here.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use launchway_domain::update::UpdateStatus;
use launchway_os::huge_pages;
use launchway_store::{OfferedUpdate, RetiredUpdate, TrustFileRow};

use crate::LongTexts;
use crate::entry::Notes;
use crate::extension::Extension;
use crate::long_texts::LongText;
use crate::record::NewRecord;
use crate::shard::{Shard, ShardBuilder, Stored};
use crate::snapshot::Row;
use crate::staging::{Dictionary, Rows};
use crate::trust::{TrustLoad, TrustSet};

/// A change copies the table of one shard, about 1,000 bundles of a million, and one piece of its records. With more shards, what a
/// check reads of each would not stay in the caches of a processor.
pub const SHARDS: usize = 1024;
/// From so many bytes of rows on, about 50,000 bundles of three updates, reading their memory is faster with huge pages.
const LARGE: usize = 32 << 20;
/// Longer release notes, in bytes, are kept outside memory.
const SHORT_NOTES: usize = 256;

/// Where a bundle is: the number of its shard, and the hash of its key there.
#[derive(Clone, Debug)]
pub struct Places {
    shards: usize,
    hasher: RandomState,
}

impl Places {
    /// The places in so many shards.
    pub fn in_shards(shards: usize) -> Places {
        Places {
            shards,
            hasher: RandomState::new(),
        }
    }

    /// The place of a key.
    pub fn of(&self, key: &str) -> (usize, u32) {
        let hash = self.hasher.hash_one(key);
        (hash as usize % self.shards, (hash >> 32) as u32)
    }
}

/// Rows of updates on their way into shards.
pub struct Loader {
    places: Places,
    limit: usize,
    long_texts: Arc<LongTexts>,
    long_notes: Vec<Arc<LongText>>,
    dictionary: Dictionary,
    rows: Rows,
    is_large: bool,
    trust: HashMap<Box<str>, TrustLoad>,
}

/// All shards, before anybody reads them.
pub struct Loaded {
    places: Places,
    /// The shards in the order of their numbers.
    pub shards: Vec<Shard>,
}

/// One bundle for a shard that exists.
pub struct LoadedBundle {
    rows: Loader,
    /// Fingerprint documents by hash.
    pub documents: Vec<(String, String)>,
    /// Hashes with the `lwfp-2` hash of the same native code.
    pub pairs: Vec<(String, String)>,
}

impl Loader {
    /// Loads at most `limit` offered updates of a bundle.
    pub fn new(places: Places, limit: usize, long_texts: Arc<LongTexts>) -> Loader {
        let rows = Rows::of_shards(places.shards);
        Loader {
            places,
            limit,
            long_texts,
            long_notes: Vec::new(),
            dictionary: Dictionary::default(),
            rows,
            is_large: false,
            trust: HashMap::new(),
        }
    }

    /// Takes a row of an update or of metadata; returns any other.
    pub fn take(&mut self, row: Row) -> Option<Row> {
        match row {
            Row::TrustFile { key, file } => self.add_trust_file(&key, file),
            Row::Offered(update) => self.add_offered(&update),
            Row::Retired { key, update } => self.add_retired(&key, &update),
            other => return Some(other),
        }
        None
    }

    /// Adds a file of an app's metadata. All of them come before the first update, because they decide which updates
    /// are offered.
    pub fn add_trust_file(&mut self, key: &str, file: TrustFileRow) {
        let of_bundle = self.trust.entry(key.into());
        of_bundle.or_insert_with(|| TrustLoad::new(key)).push(file);
    }

    /// Adds a published or paused update.
    pub fn add_offered(&mut self, update: &OfferedUpdate) {
        let key = update.bundle_id.to_ascii_lowercase();
        let is_offered = self.is_offered(&key, update);
        if !is_offered {
            let (shard, _) = self.places.of(&key);
            return self.rows.add_held(shard, &key, update, &mut self.dictionary);
        }
        let json = serde_json::Value::from(update.release_notes.as_str()).to_string();
        // If the file cannot store them, the notes stay in memory: a full disk must not change an answer.
        let long = if json.len() > SHORT_NOTES {
            self.long_texts.keep(json.as_bytes()).ok()
        } else {
            None
        };
        let notes = match long {
            Some(long) => {
                self.long_notes.push(Arc::new(long));
                Notes::Long(self.long_notes.len() - 1)
            }
            None => Notes::Short(&json),
        };
        let (shard, _) = self.places.of(&key);
        self.rows.add_offered(shard, &key, update, notes, &mut self.dictionary);
        // As early as possible: memory that was in use before stays in small pages.
        if !self.is_large && self.rows.bytes() > LARGE {
            self.is_large = true;
            huge_pages::set_allowed(true);
        }
    }

    /// Adds a withdrawn or deleted update of the bundle with this key.
    pub fn add_retired(&mut self, key: &str, update: &RetiredUpdate) {
        let (shard, _) = self.places.of(key);
        self.rows.add_retired(shard, key, update, &mut self.dictionary);
    }

    /// The shards with all updates. A bundle keeps the counters that it has in `before`.
    pub fn finish(self, before: impl Fn(usize) -> Arc<Shard> + Sync) -> Loaded {
        let processors = || thread::available_parallelism().map_or(1, |count| count.get());
        let threads = if self.is_large { processors() } else { 1 };
        self.finish_on(threads, before)
    }

    /// Like [`Loader::finish`], on `threads` threads.
    pub fn finish_on(self, threads: usize, before: impl Fn(usize) -> Arc<Shard> + Sync) -> Loaded {
        let mut shards = self.build_shards(threads, &before);
        for (key, trust) in self.trust {
            let (number, _) = self.places.of(&key);
            shards[number].set_trust(&key, trust.finish().map(Arc::new));
        }
        Loaded {
            places: self.places,
            shards,
        }
    }

    /// The shards in the order of their numbers.
    fn build_shards(&self, threads: usize, before: &(impl Fn(usize) -> Arc<Shard> + Sync)) -> Vec<Shard> {
        let build = &|numbers: Range<usize>| -> Vec<Shard> {
            numbers
                .map(|number| self.build_shard(number, &before(number)))
                .collect()
        };
        let count = self.places.shards;
        if threads <= 1 || count == 0 {
            return build(0..count);
        }
        let share = count.div_ceil(threads);
        let shares = (0..count).step_by(share).map(|first| first..count.min(first + share));
        thread::scope(|scope| {
            let started = shares.map(|numbers| {
                let of_thread = numbers.clone();
                let thread = thread::Builder::new().spawn_scoped(scope, move || build(of_thread));
                (numbers, thread)
            });
            let started: Vec<_> = started.collect();
            let built = started.into_iter().flat_map(|(numbers, thread)| match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                // The system started no thread.
                Err(_) => build(numbers),
            });
            built.collect()
        })
    }

    fn build_shard(&self, number: usize, before: &Shard) -> Shard {
        let bundles = self.rows.bundles(number, &self.dictionary);
        if bundles.is_empty() {
            return Shard::empty(before);
        }
        let mut numbers = before.numbers();
        let mut builder = ShardBuilder::new(bundles.len(), before.counters_list().clone());
        let mut extensions = Vec::new();
        for bundle in bundles {
            let (_, hash) = self.places.of(bundle.key);
            let (mut record, extension) = bundle.into_record(self.limit, &self.long_notes);
            let known = before.find(record.key, hash);
            record.number = known.map_or_else(|| numbers.take(), |known| known.number);
            builder.add(&record, hash);
            if !extension.is_empty() {
                extensions.push((Box::from(record.key), extension));
            }
        }
        builder.finish(numbers, extensions)
    }

    fn is_offered(&mut self, key: &str, update: &OfferedUpdate) -> bool {
        let is_admitted = match self.trust.get_mut(key) {
            Some(trust) => trust.admit(update),
            None => update.trust_role.is_none(),
        };
        let has_key = launchway_blob::Key::new(&update.blob_key).is_ok();
        is_admitted && has_key && update.status == UpdateStatus::Published
    }
}

impl Loaded {
    /// No shards.
    pub fn none(places: Places) -> Loaded {
        Loaded {
            places,
            shards: Vec::new(),
        }
    }

    /// Adds the fingerprint documents of a bundle, by hash, newest first.
    pub fn add_documents(&mut self, key: &str, documents: &[(String, String)]) {
        self.extend(key, |extension, fingerprints| {
            extension.add_reasons(fingerprints, documents)
        });
    }

    /// Adds the pairs of a hash and its `lwfp-2` hash of a bundle, newest first.
    pub fn add_pairs(&mut self, key: &str, pairs: &[(String, String)]) {
        self.extend(key, |extension, fingerprints| extension.add_same(fingerprints, pairs));
    }

    fn extend(&mut self, key: &str, add: impl FnOnce(&mut Extension, &[Option<&str>])) {
        let (number, hash) = self.places.of(key);
        let shard = &self.shards[number];
        let Some(record) = shard.find(key, hash) else {
            return;
        };
        let mut extension = shard.extension(&record).cloned().unwrap_or_default();
        add(&mut extension, &fingerprints(&record));
        if !extension.is_empty() {
            self.shards[number].set_extension(key, hash, extension);
        }
    }
}

fn fingerprints<'s>(record: &Stored<'s>) -> Vec<Option<&'s str>> {
    record.entries(None).map(|entry| entry.fingerprint_text()).collect()
}

impl LoadedBundle {
    /// A bundle without rows.
    pub fn new(limit: usize, long_texts: Arc<LongTexts>) -> LoadedBundle {
        LoadedBundle {
            rows: Loader::new(Places::in_shards(1), limit, long_texts),
            documents: Vec::new(),
            pairs: Vec::new(),
        }
    }

    /// Takes a row, in the order of all rows. Those for clients of other services mean nothing here.
    pub fn take(&mut self, row: &Row) {
        match row {
            Row::TrustFile { key, file } => self.rows.add_trust_file(key, file.clone()),
            Row::Offered(update) => self.rows.add_offered(update),
            Row::Retired { key, update } => self.rows.add_retired(key, update),
            Row::Document { hash, document, .. } => self.documents.push((hash.clone(), document.clone())),
            Row::Pair { hash, lwfp2, .. } => self.pairs.push((hash.clone(), lwfp2.clone())),
            Row::Foreign { .. } | Row::DeploymentKey { .. } | Row::Release(_) | Row::Issue(_) | Row::ExpoText(_) => {}
        }
    }

    /// Calls `put` with the bundle's record and what it needs beside it, or with nothing if it has no published or
    /// paused update, and with the metadata of an app with a root.
    pub fn finish<T>(
        mut self,
        put: impl FnOnce(Option<(NewRecord<'_>, Option<Extension>)>, Option<TrustSet>) -> T,
    ) -> T {
        let trust = self.rows.trust.drain().next();
        let trust = trust.and_then(|(_, trust)| trust.finish());
        let dictionary = &self.rows.dictionary;
        let bundle = self.rows.rows.bundles(0, dictionary).pop();
        let record = bundle.map(|bundle| {
            let (mut record, mut extension) = bundle.into_record(self.rows.limit, &self.rows.long_notes);
            let fingerprints: Vec<_> = record.offered.iter().map(|update| update.fingerprint).collect();
            extension.add_same(&fingerprints, &self.pairs);
            extension.add_reasons(&fingerprints, &self.documents);
            record.has_extension = !extension.is_empty();
            let extension = record.has_extension.then_some(extension);
            (record, extension)
        });
        put(record, trust)
    }
}
