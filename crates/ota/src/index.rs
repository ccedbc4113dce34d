//! The index of checks: every bundle in memory, read without locks; a change replaces one shard.

mod fill;
mod leaving;
mod local;
mod owners;
mod prefetch;
mod rows;

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwap;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::OrgId;
use launchway_store::{Db, StoreError, System};
use tokio::time::timeout;

use crate::foreign::ForeignIndex;
use crate::loader::{Loaded, LoadedBundle, Places, SHARDS};
use crate::shard::Shard;
use crate::snapshot::{self, Keeper, Row};
use crate::trust::TrustSet;
use crate::{LongTexts, Updates};
use fill::Fill;
use leaving::Leaving;
use owners::Owners;

pub use prefetch::Place;

/// The maximum number of changes that are followed in one transaction.
const CHANGES_AT_ONCE: i64 = 1000;
/// The maximum number of changed bundles that are recorded together.
const BUNDLES_AT_ONCE: usize = 16;

/// How long the database may take to answer what a change needs. A connection that falls silent would hold up all further changes.
const ANSWER: Duration = Duration::from_secs(30);

/// How many checks of a bundle this process answered, and how many of them did not state the installed build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Callers {
    /// All checks.
    pub checks: u64,
    /// Those without `currentBuild` and `currentUpdateId`, which a rollback does not reach.
    pub without_build: u64,
}

/// Whose checks are counted. Locked while a shard is replaced, so that both agree on the bundles in it.
#[derive(Default)]
struct Counted {
    owners: Owners,
    leaving: Leaving,
}

/// Answers which updates a bundle has, from memory.
pub struct Index {
    /// One pointer leads to updates and metadata, so that a reader sees what belongs together.
    shards: Box<[ArcSwap<Shard>]>,
    places: Places,
    updates_per_bundle: usize,
    long_texts: Arc<LongTexts>,
    foreign: ForeignIndex,
    counted: Mutex<Counted>,
    /// The local snapshot, if this node keeps one.
    keeper: Option<Arc<Keeper>>,
    /// Until when the snapshot knows the database that checks are answered from; 0 once they are answered from the database.
    snapshot_time: AtomicI64,
    /// The revision that the shards have reached. Locked while following, so that changes apply in order.
    seen: tokio::sync::Mutex<i64>,
}

impl Index {
    /// An empty index that keeps at most `updates_per_bundle` updates of a bundle, and their long texts in a file. Addresses of
    /// files for clients of other services begin with `asset_base`.
    pub fn new(updates_per_bundle: usize, long_texts: Arc<LongTexts>, asset_base: &str) -> Self {
        let empty = Arc::<Shard>::default();
        Self {
            shards: (0..SHARDS).map(|_| ArcSwap::new(empty.clone())).collect(),
            places: Places::in_shards(SHARDS),
            updates_per_bundle,
            long_texts,
            foreign: ForeignIndex::new(asset_base),
            counted: Mutex::default(),
            keeper: None,
            snapshot_time: AtomicI64::new(0),
            seen: tokio::sync::Mutex::new(-1),
        }
    }

    /// Returns what `read` returns for the offered updates of the bundle with this identifier in any letter case;
    /// `None` for a bundle without published or paused updates. Counts nothing: no device asks.
    ///
    /// The updates are not handed out, because sharing them would need a reference count, in memory that all cores
    /// contend for.
    pub fn read<T>(&self, bundle_id: &str, read: impl FnOnce(Updates<'_>) -> T) -> Option<T> {
        let key = BundleId::lookup_key(bundle_id)?;
        let (number, hash) = self.places.of(&key);
        let shard = self.shards[number].load();
        let record = shard.find(&key, hash)?;
        Some(read(Updates::new(record, shard.extension(&record))))
    }

    /// Like [`Index::read`], for a device. Counts the check, and whether the device states what it runs. `read` is called
    /// for every bundle, with the updates and the metadata that belong together.
    pub fn read_for_device<T>(
        &self,
        bundle_id: &str,
        tells_build: bool,
        read: impl FnOnce(Option<Updates<'_>>, Option<&TrustSet>) -> T,
    ) -> T {
        let Some(key) = BundleId::lookup_key(bundle_id) else {
            return read(None, None);
        };
        let (number, hash) = self.places.of(&key);
        let shard = self.shards[number].load();
        let record = shard.find(&key, hash);
        let counters = record.and_then(|record| shard.counters(&record));
        if let Some(counters) = counters {
            counters.prefetch();
        }
        let updates = record.map(|record| Updates::new(record, shard.extension(&record)));
        let answer = read(updates, shard.trust(&key).map(|set| &**set));
        if let Some(counters) = counters {
            counters.count(tells_build);
        }
        answer
    }

    /// Returns what `read` returns for the metadata of the bundle with this identifier in any letter case; `None` for an
    /// app without a root.
    pub fn read_trust<T>(&self, bundle_id: &str, read: impl FnOnce(&TrustSet) -> T) -> Option<T> {
        let key = BundleId::lookup_key(bundle_id)?;
        let (number, _) = self.places.of(&key);
        self.shards[number].load().trust(&key).map(|set| read(set))
    }

    /// What clients of other services are answered from.
    pub fn foreign(&self) -> &ForeignIndex {
        &self.foreign
    }

    /// The callers of a bundle since this process started.
    pub fn callers(&self, bundle_id: &str) -> Callers {
        let Some(key) = BundleId::lookup_key(bundle_id) else {
            return Callers::default();
        };
        let (number, hash) = self.places.of(&key);
        let shard = self.shards[number].load();
        let record = shard.find(&key, hash);
        let counters = record.and_then(|record| shard.counters(&record));
        counters.map_or_else(Callers::default, |counters| {
            let (checks, without_build) = counters.totals();
            Callers { checks, without_build }
        })
    }

    /// The number of checks since the last call, by whom the bundles belong to.
    pub async fn take_checks(&self) -> HashMap<OrgId, i64> {
        let mut taken = HashMap::new();
        let mut add = |org, count: u64| {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            *taken.entry(org).or_default() += count;
        };
        self.lock_counted().leaving.take(&self.shards, &mut add);
        for (number, shard) in self.shards.iter().enumerate() {
            self.lock_counted().owners.take(number, &shard.load(), &mut add);
            tokio::task::consume_budget().await;
        }
        taken
    }

    /// The revision from which this process answers; -1 before the first load.
    pub async fn revision(&self) -> i64 {
        *self.seen.lock().await
    }

    fn lock_counted(&self) -> std::sync::MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn put(&self, key: &str, bundle: LoadedBundle) {
        let (number, hash) = self.places.of(key);
        let mut counted = self.lock_counted();
        let before = self.shards[number].load_full();
        let next = bundle.finish(|record, trust| {
            let mut next = match record {
                Some((record, extension)) => before.with(record, extension, hash, || {
                    let free = counted.leaving.free_number(number)?;
                    before.counters_list().reset(free);
                    Some(free)
                }),
                None => {
                    if let Some(record) = before.find(key, hash) {
                        counted.leaving.add(number, &record);
                    }
                    before.without(key, hash)
                }
            };
            next.set_trust(key, trust.map(Arc::new));
            next
        });
        if let Some(record) = next.find(key, hash) {
            counted.owners.set(number, record.number, record.org_id());
        }
        self.shards[number].store(Arc::new(next));
    }

    /// Applies the changes in the database since the last call. When it returns, checks of this process use them.
    pub async fn catch_up(&self, db: &Db) -> Result<(), StoreError> {
        self.catch_up_with(db, &[]).await
    }

    /// Like [`Index::catch_up`], after changes that this process made: the bundles, and the revision of each. While the database does
    /// not say what became of them, nothing of them is offered: what they offered before may have been withdrawn.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn catch_up_with(&self, db: &Db, changed: &[(BundleId, i64)]) -> Result<(), StoreError> {
        let mut seen = self.seen.lock().await;
        loop {
            match self.follow(db, &mut seen).await {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) => {
                    if matches!(error, StoreError::Unavailable(_)) {
                        let unseen = changed.iter().filter(|(_, revision)| *revision > *seen);
                        self.hide(unseen.map(|(bundle, revision)| (bundle.key(), *revision)).collect())
                            .await;
                    }
                    return Err(error);
                }
            }
        }
    }

    /// Offers nothing of these bundles until the changes at their revisions are followed.
    async fn hide(&self, changed: Vec<(String, i64)>) {
        for (key, _) in &changed {
            tracing::warn!(bundle = %key, "nothing is offered of an app that changed until the database answers");
            self.put(key, self.load_bundle(&[]));
            self.foreign.put(key, None);
        }
        self.record_unread(changed).await;
    }

    /// Applies the first changes after `seen`, in a transaction of their own, so that a long backlog keeps no snapshot open.
    /// Returns whether there are more.
    async fn follow(&self, db: &Db, seen: &mut i64) -> Result<bool, StoreError> {
        let mut tx = in_time(db.read()).await?;
        let mut system = tx.system("the index serves the checks of every tenant");
        let changes = in_time(system.changes_since(*seen, CHANGES_AT_ONCE)).await?;
        match changes.bundle_keys {
            Some(keys) if *seen >= 0 => {
                for keys in keys.chunks(BUNDLES_AT_ONCE) {
                    in_time(self.follow_bundles(&mut system, keys)).await?;
                }
            }
            _ => {
                let mut fill = Fill::new(self);
                rows::for_each(&mut system, |row| {
                    fill.take(row);
                })
                .await?;
                let mut foreign = Vec::new();
                let take = |key, bundle, _| foreign.push((key, bundle));
                self.foreign.read_all(&mut system, false, take).await?;
                let loaded = fill.finish().loaded;
                self.forget_snapshot().await;
                self.replace_all(loaded);
                self.foreign.replace_all(foreign);
                self.snapshot_time.store(0, Ordering::Relaxed);
            }
        }
        *seen = changes.revision;
        Ok(changes.has_more)
    }

    /// Reads bundles that changed, records them, and then serves them.
    async fn follow_bundles(&self, system: &mut System<'_>, keys: &[String]) -> Result<(), StoreError> {
        let mut changed = Vec::with_capacity(keys.len());
        for key in keys {
            let mut rows = rows::of_bundle(system, key).await?;
            let own = rows.len();
            let wanted = self.keeper.is_some().then_some(&mut rows);
            let foreign = self.foreign.read_bundle(system, key, wanted).await?;
            changed.push((key, self.load_bundle(&rows[..own]), foreign, rows));
        }
        // Asked for after the rows were read: a save that begins later reads them, too.
        if self.is_recording() {
            let view = system.revision().await?;
            let entries = changed.iter().map(|(key, .., rows)| snapshot::Entry::new(key, rows));
            self.record(entries.collect(), view).await;
        }
        for (key, bundle, foreign, _) in changed {
            self.put(key, bundle);
            self.foreign.put(key, foreign);
        }
        Ok(())
    }

    fn load_bundle(&self, rows: &[Row]) -> LoadedBundle {
        let mut bundle = LoadedBundle::new(self.updates_per_bundle, self.long_texts.clone());
        for row in rows {
            bundle.take(row);
        }
        bundle
    }

    fn replace_all(&self, loaded: Loaded) {
        let mut counted = self.lock_counted();
        counted.owners.clear();
        for (number, (shard, next)) in self.shards.iter().zip(loaded.shards).enumerate() {
            let before = shard.load_full();
            // All shards without bundles are one.
            if before.is_empty() && next.is_empty() {
                continue;
            }
            for record in before.bundles() {
                let (_, hash) = self.places.of(record.key);
                if next.find(record.key, hash).is_none() {
                    counted.leaving.add(number, &record);
                }
            }
            shard.store(Arc::new(next));
        }
    }
}

async fn in_time<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    timeout(ANSWER, work)
        .await
        .unwrap_or_else(|_| Err(StoreError::timed_out()))
}
