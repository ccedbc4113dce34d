//! What a runner needs of its host besides network, files and processes: the time of day, pauses, randomness, and free
//! disk space.

use std::io;
use std::path::Path;
use std::time::Duration;

use futures::future::BoxFuture;
use launchway_domain::time::EpochMs;

/// Time, randomness and free disk space, so that tests can control them.
pub trait Machine: Send + Sync {
    /// The time of day.
    fn now(&self) -> EpochMs;

    /// Waits before a retry.
    fn pause(&self, delay: Duration) -> BoxFuture<'_, ()>;

    /// A random number.
    fn random(&self) -> u64;

    /// The free bytes on the disk of `path`.
    ///
    /// # Errors
    /// An I/O error.
    fn free_bytes(&self, path: &Path) -> io::Result<u64>;
}

/// The real clock and disk, and the randomness of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemMachine;

impl Machine for SystemMachine {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system's clock")]
    fn now(&self) -> EpochMs {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since_epoch.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn pause(&self, delay: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(delay))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the system's randomness"
    )]
    fn random(&self) -> u64 {
        // Randomness only spreads retries: without it they are not spread.
        getrandom::u64().unwrap_or_default()
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        let about = rustix::fs::statvfs(path)?;
        Ok(about.f_bavail.saturating_mul(about.f_frsize))
    }
}
