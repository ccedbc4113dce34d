//! How long to wait before a retry. Pure: failures and randomness are inputs, delays are outputs.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(500);
/// The interval between two renewals, so that a lease survives a few failures.
const MAX_DELAY: Duration = Duration::from_secs(15);
/// The maximum that a server may request with `Retry-After`.
const MAX_REQUESTED_DELAY: Duration = Duration::from_secs(60);

/// The failures of one call so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Records a failure and returns how long to wait. The delay doubles up to a limit and is shortened randomly by up
    /// to half, so that many runners do not return at once. A delay that the server requests takes precedence.
    pub fn after(&mut self, asked: Option<Duration>, random: u64) -> Duration {
        let doubled = FIRST
            .saturating_mul(2_u32.saturating_pow(self.failures.min(16)))
            .min(MAX_DELAY);
        self.failures = self.failures.saturating_add(1);
        match asked {
            Some(asked) => asked.min(MAX_REQUESTED_DELAY),
            None => doubled.mul_f64(0.5 + (random % 1024) as f64 / 2048.0),
        }
    }

    /// How many failures were recorded.
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
