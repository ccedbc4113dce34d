//! The index of checks: every bundle in memory, read without locks; a change replaces one shard.

mod loaded;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use launchway_domain::bundle_id::BundleId;
use launchway_store::{Db, OfferedUpdate, StoreError, System, TrustFileRow};

use crate::trust::TrustSet;
use crate::updates::RETIRED;
use crate::{LongTexts, Updates};
use loaded::{LoadedBundle, Prepared};

/// A change copies one shard: about 250 pointers with a million bundles.
const SHARDS: usize = 4096;
/// The maximum number of changes that are followed in one transaction.
const CHANGES_AT_ONCE: i64 = 1000;
/// The maximum number of fingerprint documents of one bundle, the newest ones, from which reasons are prepared.
const DOCUMENTS: i64 = 64;
/// The maximum number of known pairs of equivalent hashes of a bundle, the newest ones.
const PAIRS: i64 = 1000;

/// Bundles by key. One pointer leads to both maps, so that a reader sees updates and metadata that belong together.
#[derive(Clone, Default)]
struct Shard {
    bundles: HashMap<Box<str>, Bundle>,
    /// The metadata of apps with a root. Few have one: a map of their own costs the others nothing.
    trust: HashMap<Box<str>, Arc<TrustSet>>,
}

/// A bundle with updates.
#[derive(Clone)]
struct Bundle {
    updates: Updates,
    /// Shared by all versions of the bundle.
    counters: Arc<Counters>,
}

/// The counters of a bundle's checks.
#[derive(Default)]
struct Counters {
    /// Checks since the last [`Index::take_checks`].
    checks: AtomicU64,
    /// Checks of devices since the process started.
    asked: AtomicU64,
    /// Checks of devices that stated neither the installed build nor the running update.
    untold: AtomicU64,
}

/// How many checks of a bundle this process answered, and how many of them did not state the installed build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Callers {
    /// All checks.
    pub checks: u64,
    /// Those without `currentBuild` and `currentUpdateId`, which a rollback does not reach.
    pub without_build: u64,
}

/// Answers which updates a bundle has, from memory.
pub struct Index {
    shards: Box<[ArcSwap<Shard>]>,
    hasher: RandomState,
    updates_per_bundle: usize,
    long_texts: Arc<LongTexts>,
    /// The counters of bundles that have left the index. Checks that began before may still count.
    leaving: Mutex<Vec<(Box<str>, Arc<Counters>)>>,
    /// The revision that the shards have reached. Locked while following, so that changes apply in order.
    seen: tokio::sync::Mutex<i64>,
}

impl Index {
    /// An empty index that keeps at most `updates_per_bundle` updates of a bundle, and their long texts in a file.
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

    /// Counts a check, and returns what `read` returns for the offered updates of the bundle with this identifier in
    /// any letter case, newest first; `None` for a bundle without published or paused updates.
    ///
    /// The updates are not handed out, because sharing them would need a reference count, in memory that all cores
    /// contend for.
    pub fn read<T>(&self, bundle_id: &str, read: impl FnOnce(&Updates) -> T) -> Option<T> {
        let key = BundleId::lookup_key(bundle_id)?;
        self.shard(&key).load().bundles.get(&*key).map(|bundle| {
            bundle.counters.checks.fetch_add(1, Ordering::Relaxed);
            read(&bundle.updates)
        })
    }

    /// Like [`Index::read`], for a device; also counts whether it states what it runs. `read` is called for every bundle,
    /// with the updates and the metadata that belong together.
    pub fn read_for_device<T>(
        &self,
        bundle_id: &str,
        tells_build: bool,
        read: impl FnOnce(Option<&Updates>, Option<&TrustSet>) -> T,
    ) -> T {
        let Some(key) = BundleId::lookup_key(bundle_id) else {
            return read(None, None);
        };
        let shard = self.shard(&key).load();
        let bundle = shard.bundles.get(&*key);
        if let Some(Bundle { counters, .. }) = bundle {
            counters.checks.fetch_add(1, Ordering::Relaxed);
            counters.asked.fetch_add(1, Ordering::Relaxed);
            if !tells_build {
                counters.untold.fetch_add(1, Ordering::Relaxed);
            }
        }
        let trust = shard.trust.get(&*key);
        read(bundle.map(|bundle| &bundle.updates), trust.map(|set| &**set))
    }

    /// Returns what `read` returns for the metadata of the bundle with this identifier in any letter case; `None` for an
    /// app without a root.
    pub fn read_trust<T>(&self, bundle_id: &str, read: impl FnOnce(&TrustSet) -> T) -> Option<T> {
        let key = BundleId::lookup_key(bundle_id)?;
        self.shard(&key).load().trust.get(&*key).map(|set| read(set))
    }

    /// The callers of a bundle since this process started.
    pub fn callers(&self, bundle_id: &str) -> Callers {
        let Some(key) = BundleId::lookup_key(bundle_id) else {
            return Callers::default();
        };
        let shard = self.shard(&key).load();
        shard.bundles.get(&*key).map_or_else(Callers::default, |bundle| {
            // Incremented after the other counter, so it is read before it.
            let without_build = bundle.counters.untold.load(Ordering::Relaxed);
            let checks = bundle.counters.asked.load(Ordering::Relaxed).max(without_build);
            Callers { checks, without_build }
        })
    }

    /// The number of checks of each bundle, by key, since the last call. A bundle may occur twice.
    pub async fn take_checks(&self) -> Vec<(Box<str>, i64)> {
        let mut taken = Vec::new();
        for shard in &self.shards {
            for (key, bundle) in &shard.load().bundles {
                take(&mut taken, key, &bundle.counters.checks);
            }
            tokio::task::consume_budget().await;
        }
        let mut leaving = self.leaving.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        leaving.retain_mut(|(key, counters)| {
            // This is the last reference: every reader that found the bundle in the index is done.
            let is_last = Arc::get_mut(counters).is_some();
            take(&mut taken, key, &counters.checks);
            !is_last
        });
        taken
    }

    /// The revision from which this process answers; -1 before the first load.
    pub async fn revision(&self) -> i64 {
        *self.seen.lock().await
    }

    fn shard(&self, key: &str) -> &ArcSwap<Shard> {
        &self.shards[self.hasher.hash_one(key) as usize % SHARDS]
    }

    fn put(&self, key: &str, Prepared { updates, trust }: Prepared) {
        let shard = self.shard(key);
        let mut next = Shard::clone(&shard.load());
        match trust {
            Some(trust) => next.trust.insert(key.into(), Arc::new(trust)),
            None => next.trust.remove(key),
        };
        match (updates, next.bundles.get_mut(key)) {
            (Some(updates), Some(bundle)) => bundle.updates = updates,
            (Some(updates), None) => {
                let counters = Arc::default();
                next.bundles.insert(key.into(), Bundle { updates, counters });
            }
            (None, _) => self.leave(next.bundles.remove_entry(key)),
        }
        shard.store(Arc::new(next));
    }

    /// Keeps the counters of bundles that leave the index.
    fn leave(&self, bundles: impl IntoIterator<Item = (Box<str>, Bundle)>) {
        let mut leaving = self.leaving.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        leaving.extend(bundles.into_iter().map(|(key, bundle)| (key, bundle.counters)));
    }

    /// Applies the changes in the database since the last call. When it returns, checks of this process use them.
    pub async fn catch_up(&self, db: &Db) -> Result<(), StoreError> {
        let mut seen = self.seen.lock().await;
        while self.follow(db, &mut seen).await? {}
        Ok(())
    }

    /// Applies the first changes after `seen`, in a transaction of their own, so that a long backlog keeps no snapshot open.
    /// Returns whether there are more.
    async fn follow(&self, db: &Db, seen: &mut i64) -> Result<bool, StoreError> {
        let mut tx = db.read().await?;
        let mut system = tx.system("the index serves the checks of every tenant");
        let changes = system.changes_since(*seen, CHANGES_AT_ONCE).await?;
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
        Ok(changes.has_more)
    }

    /// Reads one bundle.
    async fn read_bundle(&self, system: &mut System<'_>, key: &str) -> Result<Prepared, StoreError> {
        let mut gathered = LoadedBundle::default();
        let trust = system.trust_for_index(key).await?;
        for file in trust.into_iter().flat_map(|trust| trust.files) {
            gathered.add_trust_file(key, file);
        }
        let updates = system.offered_updates(key).await?;
        if !updates.is_empty() {
            gathered.others = system.retired_updates(key, RETIRED as i64).await?;
            gathered.documents = system.fingerprints(key, DOCUMENTS).await?;
            gathered.pairs = system.fingerprint_pairs(key, PAIRS).await?;
        }
        for update in updates {
            gathered.add(update, &self.long_texts);
        }
        Ok(gathered.prepare(self.updates_per_bundle))
    }

    /// Reads every bundle into new shards and replaces the old ones.
    async fn read_all(&self, system: &mut System<'_>) -> Result<(), StoreError> {
        let mut gathered: HashMap<Box<str>, LoadedBundle> = HashMap::new();
        // Before the updates, because it decides which of them are offered.
        let take = |key: String, file: TrustFileRow| {
            let of_bundle = gathered.entry(key.as_str().into()).or_default();
            of_bundle.add_trust_file(&key, file);
        };
        system.for_each_trust_file(take).await?;
        let take = |update: OfferedUpdate| {
            let key = update.bundle_id.to_ascii_lowercase();
            let of_bundle = gathered.entry(key.into()).or_default();
            of_bundle.add(update, &self.long_texts);
        };
        system.for_each_offered_update(take).await?;
        let take = |key: String, update| {
            // A bundle with only such updates is not in the index.
            if let Some(of_bundle) = gathered.get_mut(&*key) {
                of_bundle.others.push(update);
            }
        };
        system.for_each_retired_update(RETIRED as i64, take).await?;
        let take = |key: String, hash, document| {
            if let Some(of_bundle) = gathered.get_mut(&*key) {
                of_bundle.documents.push((hash, document));
            }
        };
        system.for_each_fingerprint(DOCUMENTS, take).await?;
        let take = |key: String, hash, lwfp2| {
            if let Some(of_bundle) = gathered.get_mut(&*key) {
                of_bundle.pairs.push((hash, lwfp2));
            }
        };
        system.for_each_fingerprint_pair(PAIRS, take).await?;
        self.replace_all(gathered);
        Ok(())
    }

    fn replace_all(&self, gathered: HashMap<Box<str>, LoadedBundle>) {
        let mut fresh: Vec<Shard> = (0..SHARDS).map(|_| Shard::default()).collect();
        for (key, of_bundle) in gathered {
            let Prepared { updates, trust } = of_bundle.prepare(self.updates_per_bundle);
            let number = self.hasher.hash_one(&*key) as usize % SHARDS;
            if let Some(trust) = trust {
                fresh[number].trust.insert(key.clone(), Arc::new(trust));
            }
            if let Some(updates) = updates {
                let known = self.shards[number].load();
                let counters = known.bundles.get(&*key).map(|bundle| bundle.counters.clone());
                let counters = counters.unwrap_or_default();
                fresh[number].bundles.insert(key, Bundle { updates, counters });
            }
        }
        for (shard, fresh) in self.shards.iter().zip(fresh) {
            let known = shard.load_full();
            let known = known.bundles.iter();
            let gone = known.filter(|(key, _)| !fresh.bundles.contains_key(*key));
            self.leave(gone.map(|(key, bundle)| (key.clone(), bundle.clone())));
            shard.store(Arc::new(fresh));
        }
    }
}

/// Takes the value of a counter if it is not zero.
fn take(taken: &mut Vec<(Box<str>, i64)>, key: &str, checks: &AtomicU64) {
    // Most are zero. Those are only read, so that their cache line stays with the core that counts.
    if checks.load(Ordering::Relaxed) > 0 {
        let count = checks.swap(0, Ordering::Relaxed);
        taken.push((key.into(), i64::try_from(count).unwrap_or(i64::MAX)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A million apps without a root pay for each word.
    #[test]
    fn a_bundle_takes_five_words() {
        assert_eq!(size_of::<Bundle>(), 5 * size_of::<usize>());
    }
}
