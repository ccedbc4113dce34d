//! The time, replaceable in tests.

use launchway_domain::time::EpochMs;

/// A source of the current time.
pub trait Clock: Send + Sync + 'static {
    /// Now, in epoch milliseconds.
    fn now(&self) -> EpochMs;
}

/// The system clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> EpochMs {
        let since = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        EpochMs::try_from(since.as_millis()).unwrap_or(EpochMs::MAX)
    }
}
