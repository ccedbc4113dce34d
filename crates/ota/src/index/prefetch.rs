//! Fetching what a check will read ahead of it. In a large index it waits for memory three times, one after the other: for the
//! place of its bundle, for the bundle, and for its counters. A server that does other work meanwhile waits less.

use launchway_domain::bundle_id::BundleId;

use crate::Index;

/// The bundles of a shard from which on they are not all in the caches of a processor: with the 1,024 shards of an index,
/// 16,384 bundles, which take about 5 MiB.
const LARGE: usize = 16;

/// Where a bundle is, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    shard: usize,
    hash: u32,
}

impl Index {
    /// Begins to fetch the place of the bundle with this identifier in any letter case. `None` if there is nothing to wait for.
    pub fn prefetch_place(&self, bundle_id: &str) -> Option<Place> {
        let key = BundleId::lookup_key(bundle_id)?;
        let (number, hash) = self.places.of(&key);
        let shard = self.shards[number].load();
        if shard.len() < LARGE || !cfg!(target_arch = "x86_64") {
            return None;
        }
        shard.prefetch_place(hash);
        Some(Place { shard: number, hash })
    }

    /// Begins to fetch the bundles at these places; if there are several, their counters, too.
    pub fn prefetch_bundles(&self, places: &[Place]) {
        // A caller with a single one has other work while it arrives, and its counters would have to wait for it.
        if let [place] = places {
            self.shards[place.shard].load().prefetch_bundle(place.hash);
            return;
        }
        let shards: Vec<_> = places.iter().map(|place| self.shards[place.shard].load()).collect();
        let bundles = || shards.iter().zip(places);
        // The processor waits for the address of a page that it has not used lately. It looks up several such addresses at a time, but not
        // across an atomic operation or a system call: so all shards are loaded first.
        bundles().for_each(|(shard, place)| shard.prefetch_start(place.hash));
        bundles().for_each(|(shard, place)| shard.prefetch_bundle(place.hash));
        bundles().for_each(|(shard, place)| shard.prefetch_counters(place.hash));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use launchway_domain::id::OrgId;
    use uuid::Uuid;

    use super::*;
    use crate::LongTexts;
    use crate::record::NewRecord;
    use crate::shard::{Numbers, Shard, ShardBuilder};

    fn shard_of(index: &Index, keys: &[String]) -> Shard {
        let mut builder = ShardBuilder::new(keys.len(), Shard::default().counters_list().clone());
        for (number, key) in keys.iter().enumerate() {
            let record = NewRecord {
                key,
                org_id: OrgId::from_uuid(Uuid::nil()),
                number,
                has_extension: false,
                offered: Vec::new(),
                retired: Vec::new(),
            };
            builder.add(&record, index.places.of(key).1);
        }
        builder.finish(Numbers::default(), Vec::new())
    }

    /// Bundles that nobody asked for have no counters, and those of a batch may be gone when they are fetched.
    #[test]
    fn fetching_ahead_takes_no_memory_and_follows_changes() {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::new(1, LongTexts::open(dir.path()).unwrap(), "");
        let names = (0..).map(|number| format!("com.example.app{number}"));
        let keys: Vec<_> = names.filter(|key| index.places.of(key).0 == 0).take(LARGE).collect();
        assert!(index.prefetch_place(&keys[0]).is_none());

        index.shards[0].store(Arc::new(shard_of(&index, &keys)));
        let fetched = keys.iter().map(|key| index.prefetch_place(&key.to_uppercase()));
        let mut places: Vec<_> = fetched.flatten().collect();
        assert_eq!(places.len(), if cfg!(target_arch = "x86_64") { LARGE } else { 0 });
        // Of an empty shard.
        places.push(Place { shard: 1, hash: 7 });
        for count in 0..=places.len() {
            index.prefetch_bundles(&places[..count]);
        }
        assert!(index.shards[0].load().counters_list().used(0).is_none());

        index.shards[0].store(Arc::default());
        index.prefetch_bundles(&places);
        index.prefetch_bundles(&places[..1]);
    }
}
