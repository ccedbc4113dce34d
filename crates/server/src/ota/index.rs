//! The index of checks: every bundle in memory, read without a lock, one shard replaced at a change.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use launchway_domain::bundle_id::BundleId;
use launchway_store::{Db, OfferedUpdate, StoreError, System};

use crate::ota::bundle::prepare;
use crate::ota::{Entry, LongTexts};

/// A change copies one shard: with a million bundles some 250 pointers.
const SHARDS: usize = 4096;
/// A bundle's list of updates grows one by one to this length while everything is read.
const FEW: usize = 8;
/// Fingerprint documents of one bundle that reasons are prepared from, the newest ones.
const DOCUMENTS: i64 = 64;

/// Bundles by their keys.
type Shard = HashMap<Box<str>, Bundle>;

/// A bundle that has updates.
#[derive(Clone)]
struct Bundle {
    /// Newest first.
    entries: Arc<[Entry]>,
    /// Checks that were not taken yet. It is the same however often the bundle is read again.
    checks: Arc<AtomicU64>,
}

/// What was read of one bundle, while everything is read.
#[derive(Default)]
struct Gathered {
    entries: Vec<Entry>,
    documents: Vec<(String, String)>,
}

/// Answers what updates a bundle has, from memory.
pub struct Index {
    shards: Box<[ArcSwap<Shard>]>,
    hasher: RandomState,
    updates_per_bundle: usize,
    long_texts: Arc<LongTexts>,
    /// The counters of bundles that are not in the index any more. Checks that began before may still count.
    leaving: Mutex<Vec<(Box<str>, Arc<AtomicU64>)>>,
    /// The revision up to which the shards follow the database. Held while following, so that changes apply in order.
    seen: tokio::sync::Mutex<i64>,
}

impl Index {
    /// An empty index that keeps at most so many updates of a bundle, and their long texts in a file.
    pub fn new(updates_per_bundle: usize, long_texts: Arc<LongTexts>) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| ArcSwap::default()).collect(),
            hasher: RandomState::new(),
            updates_per_bundle,
            long_texts,
            leaving: Mutex::default(),
            seen: tokio::sync::Mutex::new(-1),
        }
    }

    /// Counts a check and gives what `read` makes of the updates that can be offered of the bundle with this identifier,
    /// whatever its letter case, newest first; `None` for a bundle that has no published or paused update.
    ///
    /// They are not handed out: sharing them would count their users, in memory that all cores fight for.
    pub fn read<T>(&self, bundle_id: &str, read: impl FnOnce(&[Entry]) -> T) -> Option<T> {
        let key = BundleId::lookup_key(bundle_id)?;
        self.shard(&key).load().get(&*key).map(|bundle| {
            bundle.checks.fetch_add(1, Ordering::Relaxed);
            read(&bundle.entries)
        })
    }

    /// The checks of each bundle, by its key, since they were last taken. A bundle may come twice.
    pub async fn take_checks(&self) -> Vec<(Box<str>, i64)> {
        let mut taken = Vec::new();
        for shard in &self.shards {
            for (key, bundle) in &**shard.load() {
                take(&mut taken, key, &bundle.checks);
            }
            tokio::task::consume_budget().await;
        }
        let mut leaving = self.leaving.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        leaving.retain_mut(|(key, checks)| {
            // Nobody else has it: who looked the bundle up when it was still there is done.
            let is_last = Arc::get_mut(checks).is_some();
            take(&mut taken, key, checks);
            !is_last
        });
        taken
    }

    /// The revision up to which this process answers; -1 before the first reading.
    pub async fn revision(&self) -> i64 {
        *self.seen.lock().await
    }

    fn shard(&self, key: &str) -> &ArcSwap<Shard> {
        &self.shards[self.hasher.hash_one(key) as usize % SHARDS]
    }

    fn put(&self, key: &str, entries: Option<Arc<[Entry]>>) {
        let shard = self.shard(key);
        let mut next = Shard::clone(&shard.load());
        match (entries, next.get_mut(key)) {
            (Some(entries), Some(bundle)) => bundle.entries = entries,
            (Some(entries), None) => {
                let checks = Arc::default();
                next.insert(key.into(), Bundle { entries, checks });
            }
            (None, _) => self.leave(next.remove_entry(key)),
        }
        shard.store(Arc::new(next));
    }

    /// Keeps the counters of bundles that leave the index.
    fn leave(&self, bundles: impl IntoIterator<Item = (Box<str>, Bundle)>) {
        let mut leaving = self.leaving.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        leaving.extend(bundles.into_iter().map(|(key, bundle)| (key, bundle.checks)));
    }

    /// Applies what changed in the database since the last time. When it returns, checks of this process answer by it.
    pub async fn catch_up(&self, db: &Db) -> Result<(), StoreError> {
        let mut seen = self.seen.lock().await;
        let mut tx = db.read().await?;
        let mut system = tx.system("the index serves the checks of every tenant");
        let changes = system.changes_since(*seen).await?;
        match changes.bundle_keys {
            Some(keys) if *seen >= 0 => {
                for key in keys {
                    let bundle = self.read_bundle(&mut system, &key).await?;
                    self.put(&key, bundle);
                }
            }
            _ => self.read_all(&mut system).await?,
        }
        *seen = changes.revision;
        Ok(())
    }

    /// Reads one bundle; `None` when it has no published or paused update.
    async fn read_bundle(&self, system: &mut System<'_>, key: &str) -> Result<Option<Arc<[Entry]>>, StoreError> {
        let updates = system.offered_updates(key).await?;
        if updates.is_empty() {
            return Ok(None);
        }
        let documents = system.fingerprints(key, DOCUMENTS).await?;
        let entries = updates
            .into_iter()
            .filter_map(|update| Entry::new(update, &self.long_texts));
        Ok(Some(prepare(entries.collect(), &documents, self.updates_per_bundle)))
    }

    /// Reads every bundle into fresh shards and puts them in place of the old ones.
    async fn read_all(&self, system: &mut System<'_>) -> Result<(), StoreError> {
        let mut gathered: HashMap<Box<str>, Gathered> = HashMap::new();
        let take = |update: OfferedUpdate| {
            let key = update.bundle_id.to_ascii_lowercase();
            let of_bundle = gathered.entry(key.into()).or_default();
            if let Some(entry) = Entry::new(update, &self.long_texts) {
                // Most bundles have few updates: a list that grows by doubling would take twice the memory.
                if of_bundle.entries.len() < FEW {
                    of_bundle.entries.reserve_exact(1);
                }
                of_bundle.entries.push(entry);
            }
        };
        system.each_offered_update(take).await?;
        let take = |key: String, hash, document| {
            if let Some(of_bundle) = gathered.get_mut(&*key) {
                of_bundle.documents.push((hash, document));
            }
        };
        system.each_fingerprint(DOCUMENTS, take).await?;
        let mut fresh: Vec<Shard> = (0..SHARDS).map(|_| Shard::new()).collect();
        for (key, Gathered { entries, documents }) in gathered {
            let entries = prepare(entries, &documents, self.updates_per_bundle);
            let number = self.hasher.hash_one(&*key) as usize % SHARDS;
            let known = self.shards[number].load();
            let checks = known.get(&*key).map(|bundle| bundle.checks.clone()).unwrap_or_default();
            fresh[number].insert(key, Bundle { entries, checks });
        }
        for (shard, fresh) in self.shards.iter().zip(fresh) {
            let known = shard.load_full();
            let gone = known.iter().filter(|(key, _)| !fresh.contains_key(*key));
            self.leave(gone.map(|(key, bundle)| (key.clone(), bundle.clone())));
            shard.store(Arc::new(fresh));
        }
        Ok(())
    }
}

/// Takes what a counter stands at, if anything.
fn take(taken: &mut Vec<(Box<str>, i64)>, key: &str, checks: &AtomicU64) {
    // Most stand at nothing: they are only looked at, so that their memory stays with whoever counts.
    if checks.load(Ordering::Relaxed) > 0 {
        let count = checks.swap(0, Ordering::Relaxed);
        taken.push((key.into(), i64::try_from(count).unwrap_or(i64::MAX)));
    }
}
