//! Reproducible random numbers: the seed is printed, and the setting `LAUNCHWAY_TEST_SEED` repeats it.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

use launchway_testing::settings::setting;

/// A small generator (SplitMix64).
pub struct Dice(u64);

impl Dice {
    /// Seeded by the setting, otherwise at random.
    pub fn roll() -> Dice {
        let seed = setting("LAUNCHWAY_TEST_SEED").map(|text| text.parse().expect("LAUNCHWAY_TEST_SEED is a number"));
        let seed = seed.unwrap_or_else(|| RandomState::new().hash_one("seed"));
        println!("LAUNCHWAY_TEST_SEED={seed}");
        Dice(seed)
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A duration below `limit`, but not zero.
    pub fn below(&mut self, limit: Duration) -> Duration {
        Duration::from_nanos(self.number() % u64::try_from(limit.as_nanos()).unwrap())
    }

    /// This many incompressible bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let words = std::iter::repeat_with(|| self.number().to_le_bytes());
        words.flatten().take(count).collect()
    }
}
