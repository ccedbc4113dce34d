//! Whom the counters of each shard belong to, by their numbers. To count checks, no record is read: those of a million bundles
//! would drive everything else out of the caches.

use std::collections::HashMap;

use launchway_domain::id::OrgId;

use crate::shard::Shard;

/// The organizations whose bundles were counted.
#[derive(Debug, Default)]
pub struct Owners {
    orgs: Vec<OrgId>,
    places: HashMap<OrgId, u32>,
    /// By the number of a shard, and that of counters in it: a place in `orgs`. A shard of which nothing is known has none.
    of_shards: HashMap<usize, Vec<u32>>,
}

/// The place of no organization.
const NOBODY: u32 = u32::MAX;

impl Owners {
    /// Takes the counts of a shard, and calls `add` with each. Counters of bundles that left the shard before it was first
    /// counted belong to nobody here, and keep theirs.
    pub fn take(&mut self, number: usize, shard: &Shard, mut add: impl FnMut(OrgId, u64)) {
        let mut untaken = shard.counters_list().untaken().peekable();
        if untaken.peek().is_none() {
            return;
        }
        if !self.of_shards.contains_key(&number) {
            let known = self.read(shard);
            self.of_shards.insert(number, known);
        }
        let known = self.of_shards.get(&number).map_or(&[][..], Vec::as_slice);
        for (place, counters) in untaken {
            let org = known.get(place).and_then(|org| self.orgs.get(*org as usize));
            if let Some(org) = org {
                add(*org, counters.take());
            }
        }
    }

    /// Notes that counters of a shard belong to this organization from now on.
    pub fn set(&mut self, shard: usize, number: usize, org_id: OrgId) {
        if !self.of_shards.contains_key(&shard) {
            // All of the shard's are read when they are first needed.
            return;
        }
        let org = self.place_of(org_id);
        if let Some(known) = self.of_shards.get_mut(&shard) {
            put(known, number, org);
        }
    }

    /// Begins anew, with other shards.
    pub fn clear(&mut self) {
        *self = Owners::default();
    }

    fn read(&mut self, shard: &Shard) -> Vec<u32> {
        let mut known = Vec::new();
        for record in shard.bundles() {
            put(&mut known, record.number, self.place_of(record.org_id()));
        }
        known
    }

    fn place_of(&mut self, org_id: OrgId) -> u32 {
        let next = self.orgs.len() as u32;
        let place = *self.places.entry(org_id).or_insert(next);
        if place == next {
            self.orgs.push(org_id);
        }
        place
    }
}

fn put(known: &mut Vec<u32>, number: usize, org: u32) {
    if known.len() <= number {
        known.resize(number + 1, NOBODY);
    }
    known[number] = org;
}
