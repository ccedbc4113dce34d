//! The index of checks: every bundle in memory, read without a lock, one shard replaced at a change.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

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

/// The updates of each bundle, newest first, by its key.
type Shard = HashMap<Box<str>, Arc<[Entry]>>;

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
            seen: tokio::sync::Mutex::new(-1),
        }
    }

    /// What `read` makes of the updates that can be offered of the bundle with this identifier, whatever its letter
    /// case, newest first; `None` for a bundle that has no published or paused update.
    ///
    /// They are not handed out: sharing them would count their users, in memory that all cores fight for.
    pub fn read<T>(&self, bundle_id: &str, read: impl FnOnce(&[Entry]) -> T) -> Option<T> {
        let key = BundleId::lookup_key(bundle_id)?;
        self.shard(&key).load().get(&*key).map(|entries| read(entries))
    }

    /// The revision up to which this process answers; -1 before the first reading.
    pub async fn revision(&self) -> i64 {
        *self.seen.lock().await
    }

    fn shard(&self, key: &str) -> &ArcSwap<Shard> {
        &self.shards[self.hasher.hash_one(key) as usize % SHARDS]
    }

    fn put(&self, key: &str, bundle: Option<Arc<[Entry]>>) {
        let shard = self.shard(key);
        let mut next = Shard::clone(&shard.load());
        match bundle {
            Some(bundle) => next.insert(key.into(), bundle),
            None => next.remove(key),
        };
        shard.store(Arc::new(next));
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
            let bundle = prepare(entries, &documents, self.updates_per_bundle);
            fresh[self.hasher.hash_one(&*key) as usize % SHARDS].insert(key, bundle);
        }
        for (shard, fresh) in self.shards.iter().zip(fresh) {
            shard.store(Arc::new(fresh));
        }
        Ok(())
    }
}
