//! The time in the app stores, which may run faster than real time. Tokens live in real time.

use launchway_domain::time::EpochMs;

/// Converts real time to the time in the app stores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoreClock {
    /// The real time since which the speed applies.
    since: EpochMs,
    /// The time in the app stores at that moment.
    from: EpochMs,
    speed: u32,
}

impl StoreClock {
    pub(crate) fn new(now: EpochMs, speed: u32) -> StoreClock {
        StoreClock {
            since: now,
            from: now,
            speed: speed.max(1),
        }
    }

    /// The time in the app stores.
    pub(crate) fn at(&self, now: EpochMs) -> EpochMs {
        let passed = now.saturating_sub(self.since).saturating_mul(i64::from(self.speed));
        self.from.saturating_add(passed)
    }

    pub(crate) fn speed(&self) -> u32 {
        self.speed
    }

    pub(crate) fn put_ahead(&mut self, by: EpochMs) {
        self.from = self.from.saturating_add(by);
    }

    pub(crate) fn set_speed(&mut self, speed: u32, now: EpochMs) {
        *self = StoreClock {
            since: now,
            from: self.at(now),
            speed,
        };
    }
}
