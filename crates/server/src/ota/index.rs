//! The index of checks: every bundle in memory, read without a lock, one shard replaced at a change.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::update::UpdateStatus;
use launchway_store::{Db, OfferedUpdate, RetiredUpdate, StoreError, System};

use crate::ota::bundle::prepare;
use crate::ota::updates::RETIRED;
use crate::ota::{Entry, LongTexts, Updates};

/// A change copies one shard: with a million bundles some 250 pointers.
const SHARDS: usize = 4096;
/// A bundle's list of updates grows one by one to this length while everything is read.
const FEW: usize = 8;
/// Fingerprint documents of one bundle that reasons are prepared from, the newest ones.
const DOCUMENTS: i64 = 64;
/// Pairs of hashes of the same native code that are known of a bundle, the newest ones.
const PAIRS: i64 = 1000;

/// Bundles by their keys.
type Shard = HashMap<Box<str>, Bundle>;

/// A bundle that has updates.
#[derive(Clone)]
struct Bundle {
    updates: Updates,
    /// The same however often the bundle is read again.
    counters: Arc<Counters>,
}

/// What is counted of a bundle's checks.
#[derive(Default)]
struct Counters {
    /// Checks that were not taken yet.
    checks: AtomicU64,
    /// Devices' checks since the process started.
    asked: AtomicU64,
    /// Those of them that told neither the installed build nor the update that runs.
    untold: AtomicU64,
}

/// How many checks of a bundle this process answered, and how many of them did not tell the installed build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Callers {
    /// All.
    pub checks: u64,
    /// Those without `currentBuild` and `currentUpdateId`: a roll back does not reach them.
    pub without_build: u64,
}

/// What was read of one bundle, while everything is read.
#[derive(Default)]
struct Gathered {
    entries: Vec<Entry>,
    /// Updates that are known besides: paused, withdrawn and deleted ones.
    others: Vec<RetiredUpdate>,
    documents: Vec<(String, String)>,
    pairs: Vec<(String, String)>,
}

impl Gathered {
    fn add(&mut self, update: OfferedUpdate, long_texts: &Arc<LongTexts>) {
        let paused = (update.status != UpdateStatus::Published).then(|| RetiredUpdate {
            id: update.id,
            platform: update.platform,
            version: update.version.clone(),
            build: update.build_number.value(),
        });
        self.others.extend(paused);
        if let Some(entry) = Entry::new(update, long_texts) {
            // Most bundles have few updates: a list that grows by doubling would take twice the memory.
            if self.entries.len() < FEW {
                self.entries.reserve_exact(1);
            }
            self.entries.push(entry);
        }
    }

    fn prepare(self, limit: usize) -> Updates {
        let mut known = self.others;
        // Those that no caller can get any more leave the list of what is offered.
        known.extend(self.entries.iter().map(Entry::as_retired));
        let offered = prepare(self.entries, &self.documents, &self.pairs, limit);
        Updates::new(offered, known)
    }
}

/// Answers what updates a bundle has, from memory.
pub struct Index {
    shards: Box<[ArcSwap<Shard>]>,
    hasher: RandomState,
    updates_per_bundle: usize,
    long_texts: Arc<LongTexts>,
    /// The counters of bundles that are not in the index any more. Checks that began before may still count.
    leaving: Mutex<Vec<(Box<str>, Arc<Counters>)>>,
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
    pub fn read<T>(&self, bundle_id: &str, read: impl FnOnce(&Updates) -> T) -> Option<T> {
        let key = BundleId::lookup_key(bundle_id)?;
        self.shard(&key).load().get(&*key).map(|bundle| {
            bundle.counters.checks.fetch_add(1, Ordering::Relaxed);
            read(&bundle.updates)
        })
    }

    /// Reads for a device, as [`Index::read`], and counts whether it tells what it runs.
    pub fn read_for_device<T>(
        &self,
        bundle_id: &str,
        tells_build: bool,
        read: impl FnOnce(&Updates) -> T,
    ) -> Option<T> {
        let key = BundleId::lookup_key(bundle_id)?;
        self.shard(&key).load().get(&*key).map(|bundle| {
            bundle.counters.checks.fetch_add(1, Ordering::Relaxed);
            bundle.counters.asked.fetch_add(1, Ordering::Relaxed);
            if !tells_build {
                bundle.counters.untold.fetch_add(1, Ordering::Relaxed);
            }
            read(&bundle.updates)
        })
    }

    /// Who asked about a bundle since this process started.
    pub fn callers(&self, bundle_id: &str) -> Callers {
        let Some(key) = BundleId::lookup_key(bundle_id) else {
            return Callers::default();
        };
        let shard = self.shard(&key).load();
        shard.get(&*key).map_or_else(Callers::default, |bundle| {
            // Counted after the others, so it is read before them.
            let without_build = bundle.counters.untold.load(Ordering::Relaxed);
            let checks = bundle.counters.asked.load(Ordering::Relaxed).max(without_build);
            Callers { checks, without_build }
        })
    }

    /// The checks of each bundle, by its key, since they were last taken. A bundle may come twice.
    pub async fn take_checks(&self) -> Vec<(Box<str>, i64)> {
        let mut taken = Vec::new();
        for shard in &self.shards {
            for (key, bundle) in &**shard.load() {
                take(&mut taken, key, &bundle.counters.checks);
            }
            tokio::task::consume_budget().await;
        }
        let mut leaving = self.leaving.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        leaving.retain_mut(|(key, counters)| {
            // Nobody else has it: who looked the bundle up when it was still there is done.
            let is_last = Arc::get_mut(counters).is_some();
            take(&mut taken, key, &counters.checks);
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

    fn put(&self, key: &str, updates: Option<Updates>) {
        let shard = self.shard(key);
        let mut next = Shard::clone(&shard.load());
        match (updates, next.get_mut(key)) {
            (Some(updates), Some(bundle)) => bundle.updates = updates,
            (Some(updates), None) => {
                let counters = Arc::default();
                next.insert(key.into(), Bundle { updates, counters });
            }
            (None, _) => self.leave(next.remove_entry(key)),
        }
        shard.store(Arc::new(next));
    }

    /// Keeps the counters of bundles that leave the index.
    fn leave(&self, bundles: impl IntoIterator<Item = (Box<str>, Bundle)>) {
        let mut leaving = self.leaving.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        leaving.extend(bundles.into_iter().map(|(key, bundle)| (key, bundle.counters)));
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
    async fn read_bundle(&self, system: &mut System<'_>, key: &str) -> Result<Option<Updates>, StoreError> {
        let updates = system.offered_updates(key).await?;
        if updates.is_empty() {
            return Ok(None);
        }
        let documents = system.fingerprints(key, DOCUMENTS).await?;
        let mut gathered = Gathered {
            others: system.retired_updates(key, RETIRED as i64).await?,
            documents,
            pairs: system.fingerprint_pairs(key, PAIRS).await?,
            ..Gathered::default()
        };
        for update in updates {
            gathered.add(update, &self.long_texts);
        }
        Ok(Some(gathered.prepare(self.updates_per_bundle)))
    }

    /// Reads every bundle into fresh shards and puts them in place of the old ones.
    async fn read_all(&self, system: &mut System<'_>) -> Result<(), StoreError> {
        let mut gathered: HashMap<Box<str>, Gathered> = HashMap::new();
        let take = |update: OfferedUpdate| {
            let key = update.bundle_id.to_ascii_lowercase();
            let of_bundle = gathered.entry(key.into()).or_default();
            of_bundle.add(update, &self.long_texts);
        };
        system.each_offered_update(take).await?;
        let take = |key: String, update| {
            // A bundle that has nothing else is not in the index.
            if let Some(of_bundle) = gathered.get_mut(&*key) {
                of_bundle.others.push(update);
            }
        };
        system.each_retired_update(RETIRED as i64, take).await?;
        let take = |key: String, hash, document| {
            if let Some(of_bundle) = gathered.get_mut(&*key) {
                of_bundle.documents.push((hash, document));
            }
        };
        system.each_fingerprint(DOCUMENTS, take).await?;
        let take = |key: String, hash, lwfp2| {
            if let Some(of_bundle) = gathered.get_mut(&*key) {
                of_bundle.pairs.push((hash, lwfp2));
            }
        };
        system.each_fingerprint_pair(PAIRS, take).await?;
        let mut fresh: Vec<Shard> = (0..SHARDS).map(|_| Shard::new()).collect();
        for (key, of_bundle) in gathered {
            let updates = of_bundle.prepare(self.updates_per_bundle);
            let number = self.hasher.hash_one(&*key) as usize % SHARDS;
            let known = self.shards[number].load();
            let counters = known.get(&*key).map(|bundle| bundle.counters.clone());
            let counters = counters.unwrap_or_default();
            fresh[number].insert(key, Bundle { updates, counters });
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
