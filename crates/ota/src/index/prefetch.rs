//! Fetching what a check will read ahead of it. In a large index it waits for memory twice, one time after the other: for the
//! place of its bundle, and for the bundle. A server that parses the request meanwhile waits less.

use launchway_domain::bundle_id::BundleId;

use crate::Index;

/// The bundles of a shard from which on they are not all in the caches of a processor: with the 1,024 shards of an index,
/// 16,384 bundles, which take about 5 MiB.
const LARGE: usize = 16;

/// Where a bundle is, if there is one.
#[derive(Clone, Copy, Debug)]
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
        if shard.len() < LARGE {
            return None;
        }
        shard.prefetch_place(hash);
        Some(Place { shard: number, hash })
    }

    /// Begins to fetch the bundle at this place.
    pub fn prefetch_bundle(&self, place: Place) {
        self.shards[place.shard].load().prefetch_bundle(place.hash);
    }
}
