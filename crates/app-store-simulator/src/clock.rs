//! The time in the stores, which can go faster than that of the world. Tokens live in the time of the world.

use launchway_domain::time::EpochMs;

/// Turns the time of the world into that of the stores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoreClock {
    /// From this moment of the world on the speed holds.
    since: EpochMs,
    /// The time in the stores at that moment.
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

    /// The time in the stores.
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
