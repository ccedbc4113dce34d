//! The counters of bundles that have left the index. Checks that began before may still count.

use std::collections::HashMap;

use arc_swap::ArcSwap;
use launchway_domain::id::OrgId;

use crate::shard::{Shard, Stored};

/// A number is free after so many calls of [`Leaving::take`] without a check. They are seconds apart, and a check takes
/// microseconds.
const ROUNDS: u32 = 2;

/// Bundles that have left, and the numbers of their counters that are free for others.
#[derive(Debug, Default)]
pub struct Leaving {
    bundles: Vec<Left>,
    /// By the number of the shard.
    free: HashMap<usize, Vec<usize>>,
}

#[derive(Debug)]
struct Left {
    shard: usize,
    number: usize,
    org_id: OrgId,
    rounds: u32,
}

impl Leaving {
    /// Notes that a bundle leaves a shard.
    pub fn add(&mut self, shard: usize, record: &Stored<'_>) {
        self.bundles.push(Left {
            shard,
            number: record.number,
            org_id: record.org_id(),
            rounds: 0,
        });
    }

    /// A number of counters in a shard that is free.
    pub fn free_number(&mut self, shard: usize) -> Option<usize> {
        let numbers = self.free.get_mut(&shard)?;
        let number = numbers.pop();
        if numbers.is_empty() {
            self.free.remove(&shard);
        }
        number
    }

    /// Calls `add` with the checks of bundles that have left.
    pub fn take(&mut self, shards: &[ArcSwap<Shard>], mut add: impl FnMut(OrgId, u64)) {
        let free = &mut self.free;
        self.bundles.retain_mut(|left| {
            let shard = shards[left.shard].load();
            let counters = shard.counters_list().used(left.number);
            match counters.map_or(0, |counters| counters.take()) {
                0 => left.rounds += 1,
                count => add(left.org_id, count),
            }
            let is_over = left.rounds >= ROUNDS;
            if is_over {
                free.entry(left.shard).or_default().push(left.number);
            }
            !is_over
        });
    }
}
