//! The counters of the bundles of a shard, which all versions of the shard share. A bundle that nobody asks for takes
//! next to no memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::prefetch::prefetch;

/// The counters of the first segment. The second has as many, and each further one as many as all before it.
const FIRST: usize = 64;
/// Segments for more bundles than there can be.
const SEGMENTS: usize = 32;

/// The counters of a bundle's checks.
#[derive(Debug, Default)]
pub struct Counters {
    /// Checks of devices since the process started.
    asked: AtomicU64,
    /// Those that stated neither the installed build nor the running update.
    untold: AtomicU64,
    /// How many of `asked` were taken.
    taken: AtomicU64,
}

/// Counters that get their memory together, with the first check of any of these bundles.
type Segment = OnceLock<Box<[Counters]>>;

/// The counters of all bundles of a shard, by number. A shard that never had a bundle has none.
#[derive(Clone, Debug, Default)]
pub struct CountersList(Option<Arc<[Segment; SEGMENTS]>>);

impl Counters {
    /// Begins to fetch them for [`Counters::count`].
    pub fn prefetch(&self) {
        prefetch(self);
    }

    /// Counts a check.
    pub fn count(&self, tells_build: bool) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if !tells_build {
            self.untold.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// All checks since the process started, and those that did not state what they run.
    pub fn totals(&self) -> (u64, u64) {
        // Incremented after the other counter, so it is read before it.
        let untold = self.untold.load(Ordering::Relaxed);
        (self.asked.load(Ordering::Relaxed).max(untold), untold)
    }

    /// How many checks there were since the last call. Only one thread may call this at a time.
    pub fn take(&self) -> u64 {
        let asked = self.asked.load(Ordering::Relaxed);
        let taken = self.taken.load(Ordering::Relaxed);
        if asked != taken {
            self.taken.store(asked, Ordering::Relaxed);
        }
        asked.wrapping_sub(taken)
    }

    fn is_untaken(&self) -> bool {
        self.asked.load(Ordering::Relaxed) != self.taken.load(Ordering::Relaxed)
    }

    /// Begins anew, for another bundle.
    fn reset(&self) {
        for counter in [&self.asked, &self.untold, &self.taken] {
            counter.store(0, Ordering::Relaxed);
        }
    }
}

impl CountersList {
    /// The counters of this number; `None` only in a shard that never had a bundle.
    pub fn get(&self, number: usize) -> Option<&Counters> {
        let (segment, place) = place_of(number);
        let counters = self.0.as_ref()?[segment].get_or_init(|| {
            let length = FIRST << segment.saturating_sub(1);
            (0..length).map(|_| Counters::default()).collect()
        });
        counters.get(place)
    }

    /// Begins to fetch where the counters of most of so many bundles are.
    pub fn prefetch(&self, bundles: usize) {
        if let Some(segments) = &self.0 {
            prefetch(&segments[place_of(bundles).0]);
        }
    }

    /// The counters of this number if anybody was counted near it.
    pub fn used(&self, number: usize) -> Option<&Counters> {
        let (segment, place) = place_of(number);
        self.0.as_ref()?[segment].get()?.get(place)
    }

    /// The counters of all bundles that were checked since [`Counters::take`], with their numbers.
    pub fn untaken(&self) -> impl Iterator<Item = (usize, &Counters)> {
        let segments = self.0.iter().flat_map(|segments| segments.iter().enumerate());
        let used = segments.filter_map(|(segment, counters)| Some((first_of(segment), counters.get()?)));
        let all = used.flat_map(|(first, counters)| (first..).zip(counters.iter()));
        all.filter(|(_, counters)| counters.is_untaken())
    }

    /// Begins anew for another bundle with this number.
    pub fn reset(&self, number: usize) {
        if let Some(counters) = self.used(number) {
            counters.reset();
        }
    }

    /// The same counters, with room for a bundle's.
    pub fn with_room(&self) -> CountersList {
        CountersList(Some(self.0.clone().unwrap_or_default()))
    }
}

/// The segment of a number, and its place there.
fn place_of(number: usize) -> (usize, usize) {
    let segment = (number / FIRST).checked_ilog2().map_or(0, |log| log as usize + 1);
    (segment.min(SEGMENTS - 1), number - first_of(segment))
}

/// The number of the first counters of a segment.
fn first_of(segment: usize) -> usize {
    segment.checked_sub(1).map_or(0, |before| FIRST << before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_counters_of_its_own() {
        let list = CountersList::default().with_room();
        for number in 0..2_000 {
            for _ in 0..number {
                list.get(number).unwrap().count(true);
            }
        }
        // The first was never counted.
        let untaken: Vec<_> = list.untaken().map(|(number, _)| number).collect();
        assert_eq!(untaken, (1..2_000).collect::<Vec<_>>());
        for number in 0..2_000 {
            assert_eq!(list.with_room().used(number).unwrap().take(), number as u64);
        }
        assert!(list.untaken().next().is_none());
    }

    #[test]
    fn shards_without_bundles_share_no_counters() {
        let none = CountersList::default();
        let (one, other) = (none.with_room(), none.with_room());
        one.get(0).unwrap().count(true);
        assert!(none.get(0).is_none() && other.used(0).is_none());
    }
}
