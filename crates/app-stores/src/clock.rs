//! What the clients need of the outside besides the network: the time of day, and waiting.

use std::time::Duration;

use futures::future::BoxFuture;
use launchway_domain::time::EpochMs;

/// Time, so that tests steer it.
pub trait Clock: Send + Sync {
    /// The time of day.
    fn now(&self) -> EpochMs;

    /// Waits before a part of an upload is tried again.
    fn pause(&self, delay: Duration) -> BoxFuture<'_, ()>;
}
