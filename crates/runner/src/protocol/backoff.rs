//! How long to wait before something is tried again. Pure: failures and randomness go in, delays come out.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(500);
/// As long as the time between two renewals, so that a lease outlives a few failures.
const LONGEST: Duration = Duration::from_secs(15);
/// What a server may ask for by `Retry-After`.
const LONGEST_ASKED: Duration = Duration::from_secs(60);

/// The failures of one call so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Takes in a failure; gives how long to wait. Twice as long each time up to a limit, of which chance takes away up to
    /// a half, so that many runners do not come back at once. A server that asks for a delay gets it.
    pub fn after(&mut self, asked: Option<Duration>, random: u64) -> Duration {
        let doubled = FIRST
            .saturating_mul(2_u32.saturating_pow(self.failures.min(16)))
            .min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        match asked {
            Some(asked) => asked.min(LONGEST_ASKED),
            None => doubled.mul_f64(0.5 + (random % 1024) as f64 / 2048.0),
        }
    }

    /// How many failures there were.
    pub fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_longer_each_time_up_to_a_limit() {
        let mut backoff = Backoff::default();
        let delays: Vec<u128> = (0..8).map(|_| backoff.after(None, 0).as_millis()).collect();
        assert_eq!(delays, [250, 500, 1000, 2000, 4000, 7500, 7500, 7500]);
        assert_eq!(backoff.failures(), 8);
    }

    #[test]
    fn chance_takes_up_to_a_half() {
        for random in [0, 1, 511, 1023, 1024, u64::MAX] {
            let delay = Backoff::default().after(None, random);
            assert!(delay >= FIRST / 2 && delay < FIRST, "{random}: {delay:?}");
        }
    }

    #[test]
    fn does_as_the_server_asks_within_reason() {
        let asked = |seconds| {
            Backoff::default()
                .after(Some(Duration::from_secs(seconds)), 7)
                .as_secs()
        };
        assert_eq!((asked(3), asked(0), asked(86_400)), (3, 0, 60));
    }
}
