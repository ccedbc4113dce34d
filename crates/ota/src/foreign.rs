//! What other services' clients are answered from: a map beside the index, for bundles with deployment keys or releases of such
//! clients only, so that all others pay nothing (`docs/reference/foreign-clients.md`).

mod capgo;
mod expo;
mod files;
mod release;
mod rows;
mod texts;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{OrgId, UpdateId};
use launchway_domain::ota::{Held, prune_releases, release_order};
use launchway_domain::platform::Platform;
use launchway_domain::release::{Protocol, Sequence};
use launchway_domain::update::UpdateStatus;
use launchway_store::{ForeignBundleRows, StoreError, System};

use crate::snapshot::BundleRows;
pub use capgo::CapgoManifests;
use capgo::CapgoRows;
use expo::ExpoRows;
pub use expo::{ExpoIssue, ExpoReleases};
pub use files::{StoredFile, StoredFiles};
pub use release::ForeignRelease;
pub(crate) use rows::ForeignRows;
use texts::Texts;

/// A change copies one shard.
const SHARDS: usize = 256;
/// How many bundles are read together at a start. One of them may have a thousand releases.
const BUNDLES_AT_ONCE: usize = 64;

/// What clients of other services are answered from for one bundle.
#[derive(Debug)]
pub struct ForeignBundle {
    org_id: OrgId,
    /// By deployment key.
    keys: HashMap<Box<str>, Deployment>,
    /// Published releases, the highest first.
    offered: Box<[ForeignRelease]>,
    /// By id, all releases that clients can name.
    named: HashMap<Box<str>, Vec<NamedRelease>>,
    /// What only clients of Expo need.
    expo: ExpoReleases,
    /// What only clients of Capgo need.
    capgo: CapgoManifests,
    files: StoredFiles,
    /// Checks since the last [`ForeignIndex::take_checks`]; shared by all versions of the bundle.
    checks: Arc<AtomicU64>,
}

/// What a deployment key stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deployment {
    /// The platform.
    pub platform: Platform,
    /// The configuration; `None`: only updates for every configuration.
    pub configuration: Option<Box<str>>,
}

/// A release that a client can name.
#[derive(Clone, Debug)]
pub struct NamedRelease {
    protocol: Protocol,
    platform: Platform,
    configuration: Option<Arc<str>>,
    sequence: Sequence,
    is_withdrawn: bool,
    content_id: Option<Arc<str>>,
    /// The update.
    pub update_id: UpdateId,
}

impl NamedRelease {
    /// The release as what a caller runs.
    pub fn held(&self) -> Held<'_> {
        Held {
            sequence: self.sequence,
            configuration: self.configuration.as_deref(),
            is_withdrawn: self.is_withdrawn,
        }
    }

    /// How clients of its format identify its content; empty if they do not.
    pub fn content_id(&self) -> &str {
        self.content_id.as_deref().unwrap_or_default()
    }
}

impl ForeignBundle {
    /// Prepares a bundle; `None` if no client of another service asks for it.
    fn new(rows: ForeignBundleRows) -> Option<Self> {
        let org_id = rows.org_id?;
        let deployment = |(key, platform, configuration): (String, Platform, Option<String>)| {
            let configuration = configuration.map(Into::into);
            (
                Box::from(key),
                Deployment {
                    platform,
                    configuration,
                },
            )
        };
        let mut named: HashMap<Box<str>, Vec<NamedRelease>> = HashMap::new();
        for row in &rows.releases {
            // No device runs a release that waits for its signature.
            if row.status == UpdateStatus::AwaitingSignature {
                continue;
            }
            for (protocol, id) in &row.ids {
                named.entry(id.as_str().into()).or_default().push(NamedRelease {
                    protocol: *protocol,
                    platform: row.platform,
                    configuration: row.configuration.as_deref().map(Arc::from),
                    sequence: row.sequence,
                    is_withdrawn: row.status == UpdateStatus::Withdrawn,
                    content_id: row.content_id.as_deref().map(Arc::from),
                    update_id: row.id,
                });
            }
        }
        let published = rows.releases.into_iter();
        let published = published.filter(|row| row.status == UpdateStatus::Published);
        let mut offered: Vec<_> = published.filter_map(ForeignRelease::new).collect();
        offered.sort_by(release_order);
        Some(Self {
            org_id,
            keys: rows.keys.into_iter().map(deployment).collect(),
            offered: prune_releases(offered).into(),
            named,
            expo: ExpoReleases::default(),
            capgo: CapgoManifests::default(),
            files: StoredFiles::default(),
            checks: Arc::default(),
        })
    }

    /// What a deployment key stands for.
    pub fn deployment(&self, key: &str) -> Option<&Deployment> {
        self.keys.get(key)
    }

    /// What clients of Expo are answered from.
    pub fn expo(&self) -> &ExpoReleases {
        &self.expo
    }

    /// The lists of files that clients of Capgo receive.
    pub fn capgo(&self) -> &CapgoManifests {
        &self.capgo
    }

    /// The files that clients of Expo and Capgo download one by one.
    pub fn files(&self) -> &StoredFiles {
        &self.files
    }

    /// The published releases, the highest first.
    pub fn offered(&self) -> &[ForeignRelease] {
        &self.offered
    }

    /// Whether clients of a protocol and platform have had a release of this configuration.
    pub fn has_configuration(&self, protocol: Protocol, platform: Platform, configuration: &str) -> bool {
        let mut all = self.named.values().flatten();
        all.any(|named| {
            named.protocol == protocol
                && named.platform == platform
                && named.configuration.as_deref() == Some(configuration)
        })
    }

    /// The release that a client of a protocol and platform names so.
    pub fn named(&self, protocol: Protocol, platform: Platform, id: &str) -> Option<&NamedRelease> {
        let mut all = self.named.get(id)?.iter();
        all.find(|named| named.protocol == protocol && named.platform == platform)
    }
}

type Shard = HashMap<Box<str>, Arc<ForeignBundle>>;

/// Every bundle by its key.
pub(crate) type AllForeign = Vec<(String, ForeignBundle)>;

/// Counters of a bundle that left the index.
type Left = (OrgId, Arc<AtomicU64>);

/// The bundles that clients of other services ask for.
pub struct ForeignIndex {
    shards: Box<[ArcSwap<Shard>]>,
    hasher: RandomState,
    left: Mutex<Vec<Left>>,
    /// The start of the addresses of files.
    asset_base: Box<str>,
}

impl ForeignIndex {
    /// An empty index. The addresses of files begin with `asset_base`, which has no slash at its end.
    pub fn new(asset_base: &str) -> Self {
        Self {
            asset_base: asset_base.into(),
            shards: (0..SHARDS).map(|_| ArcSwap::default()).collect(),
            hasher: RandomState::new(),
            left: Mutex::default(),
        }
    }
}

impl ForeignIndex {
    /// Returns what `read` returns for the bundle with this identifier in any letter case; `None` if no client of another service
    /// asks for it.
    pub fn read<T>(&self, bundle_id: &str, read: impl FnOnce(&ForeignBundle) -> T) -> Option<T> {
        let key = BundleId::lookup_key(bundle_id)?;
        self.shard(&key).load().get(&*key).map(|bundle| read(bundle))
    }

    /// Like [`ForeignIndex::read`], and counts a check.
    pub fn check<T>(&self, bundle_id: &str, read: impl FnOnce(&ForeignBundle) -> T) -> Option<T> {
        self.read(bundle_id, |bundle| {
            bundle.checks.fetch_add(1, Ordering::Relaxed);
            read(bundle)
        })
    }

    /// The checks of each bundle since the last call: whom it belongs to, and the number.
    pub fn take_checks(&self) -> Vec<(OrgId, i64)> {
        let mut taken = Vec::new();
        let mut take = |org_id: OrgId, checks: &AtomicU64| {
            let count = checks.swap(0, Ordering::Relaxed);
            if count > 0 {
                taken.push((org_id, i64::try_from(count).unwrap_or(i64::MAX)));
            }
        };
        for shard in &self.shards {
            for bundle in shard.load().values() {
                take(bundle.org_id, &bundle.checks);
            }
        }
        for (org_id, checks) in self.lock_left().drain(..) {
            take(org_id, &checks);
        }
        taken
    }

    /// Reads one bundle, and adds what was read to `rows`, for a snapshot.
    pub(crate) async fn read_bundle(
        &self,
        system: &mut System<'_>,
        key: &str,
        rows: Option<&mut BundleRows>,
    ) -> Result<Option<ForeignBundle>, StoreError> {
        let bundle = system.foreign_bundle(key).await?;
        self.prepare_read(system, key, bundle, rows).await
    }

    /// Reads every bundle, and passes each with its key to `take`, and if `with_rows` is set with its rows, for a snapshot.
    pub(crate) async fn read_all(
        &self,
        system: &mut System<'_>,
        with_rows: bool,
        mut take: impl FnMut(String, ForeignBundle, BundleRows),
    ) -> Result<(), StoreError> {
        for keys in system.foreign_bundles().await?.chunks(BUNDLES_AT_ONCE) {
            let (Some(first), Some(last)) = (keys.first(), keys.last()) else {
                continue;
            };
            for (key, bundle) in system.foreign_bundles_between(first, last).await? {
                let mut rows = BundleRows::new();
                let wanted = with_rows.then_some(&mut rows);
                if let Some(bundle) = self.prepare_read(system, &key, bundle, wanted).await? {
                    take(key, bundle, rows);
                }
            }
        }
        Ok(())
    }

    /// Prepares a bundle that was read, and adds its rows to `rows`.
    async fn prepare_read(
        &self,
        system: &mut System<'_>,
        key: &str,
        bundle: ForeignBundleRows,
        rows: Option<&mut BundleRows>,
    ) -> Result<Option<ForeignBundle>, StoreError> {
        let Some(rows) = rows else {
            return self.prepare(bundle, &mut Texts::Database { system, read: None }).await;
        };
        rows::add(rows, key, &bundle);
        let mut read = Vec::new();
        let mut texts = Texts::Database {
            system,
            read: Some(&mut read),
        };
        let bundle = self.prepare(bundle, &mut texts).await?;
        rows::add_texts(rows, read);
        Ok(bundle)
    }

    /// Prepares a bundle from the rows of a snapshot.
    pub(crate) async fn prepare_rows(&self, rows: ForeignRows) -> Result<Option<ForeignBundle>, StoreError> {
        self.prepare(rows.bundle, &mut Texts::Rows(rows.texts)).await
    }

    async fn prepare(
        &self,
        mut rows: ForeignBundleRows,
        texts: &mut Texts<'_, '_>,
    ) -> Result<Option<ForeignBundle>, StoreError> {
        let (expo, capgo) = (ExpoRows::of(&mut rows), CapgoRows::of(&rows));
        let Some(mut bundle) = ForeignBundle::new(rows) else {
            return Ok(None);
        };
        let (offered, files) = (&bundle.offered, &mut bundle.files);
        bundle.expo = ExpoReleases::load(texts, expo, offered, &self.asset_base, files).await?;
        bundle.capgo = CapgoManifests::load(texts, capgo, offered, &self.asset_base, files).await?;
        Ok(Some(bundle))
    }

    /// Replaces every bundle.
    pub(crate) fn replace_all(&self, all: AllForeign) {
        let mut shards: Vec<_> = self.shards.iter().map(|_| Shard::new()).collect();
        for (key, bundle) in all {
            shards[self.number(&key)].insert(key.into(), Arc::new(bundle));
        }
        for (shard, mut next) in self.shards.iter().zip(shards) {
            for (key, known) in shard.load().iter() {
                match next.get_mut(key).and_then(Arc::get_mut) {
                    Some(bundle) => bundle.checks = known.checks.clone(),
                    None => self.lock_left().push((known.org_id, known.checks.clone())),
                }
            }
            shard.store(Arc::new(next));
        }
    }

    /// Replaces one bundle; `None` removes it.
    pub(crate) fn put(&self, key: &str, bundle: Option<ForeignBundle>) {
        let shard = self.shard(key);
        let before = shard.load();
        let known = before.get(key);
        if known.is_none() && bundle.is_none() {
            return;
        }
        let mut next = Shard::clone(&before);
        match bundle {
            Some(mut bundle) => {
                if let Some(known) = known {
                    bundle.checks = known.checks.clone();
                }
                next.insert(key.into(), Arc::new(bundle));
            }
            None => {
                if let Some(known) = next.remove(key) {
                    self.lock_left().push((known.org_id, known.checks.clone()));
                }
            }
        }
        shard.store(Arc::new(next));
    }

    fn shard(&self, key: &str) -> &ArcSwap<Shard> {
        &self.shards[self.number(key)]
    }

    fn number(&self, key: &str) -> usize {
        self.hasher.hash_one(key) as usize % SHARDS
    }

    fn lock_left(&self) -> std::sync::MutexGuard<'_, Vec<Left>> {
        self.left.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
