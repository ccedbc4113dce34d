//! The clients' dependencies besides the network: the time of day, and pauses.

use std::time::Duration;

use futures::future::BoxFuture;
use launchway_domain::time::EpochMs;

/// Time, so that tests can control it.
pub trait Clock: Send + Sync {
    /// The time of day.
    fn now(&self) -> EpochMs;

    /// Waits before a part of an upload is retried.
    fn pause(&self, delay: Duration) -> BoxFuture<'_, ()>;
}
