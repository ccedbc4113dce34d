//! The counters of the bundles of a shard, which all versions of the shard share. A bundle that nobody asks for takes
//! next to no memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Counters that get their memory together, with the first check of any of these bundles.
const BLOCK: usize = 16;

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

type Block = OnceLock<Box<[Counters; BLOCK]>>;

/// The counters of all bundles of a shard, by number.
#[derive(Clone, Debug, Default)]
pub struct CountersList(Arc<[Arc<Block>]>);

impl Counters {
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
    /// The counters of this number.
    pub fn get(&self, number: usize) -> &Counters {
        let block = &self.0[number / BLOCK];
        &block.get_or_init(Box::default)[number % BLOCK]
    }

    /// The counters of this number if anybody was counted near it.
    pub fn used(&self, number: usize) -> Option<&Counters> {
        let block = self.0.get(number / BLOCK)?.get()?;
        Some(&block[number % BLOCK])
    }

    /// Whether any bundle was checked since its counters were taken.
    pub fn any_untaken(&self) -> bool {
        let used = self.0.iter().filter_map(|block| block.get());
        used.flat_map(|block| block.iter()).any(Counters::is_untaken)
    }

    /// Begins anew for another bundle with this number.
    pub fn reset(&self, number: usize) {
        if let Some(counters) = self.used(number) {
            counters.reset();
        }
    }

    /// The same counters, and those of this number.
    pub fn with(&self, number: usize) -> CountersList {
        let blocks = number / BLOCK + 1;
        if self.0.len() >= blocks {
            return self.clone();
        }
        let more = (self.0.len()..blocks).map(|_| Arc::default());
        CountersList(self.0.iter().cloned().chain(more).collect())
    }
}
