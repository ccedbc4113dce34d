//! What the client needs besides the network: waiting and randomness.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::retry::Reason;

/// A wait in progress.
pub type Pause<'w> = Pin<Box<dyn Future<Output = ()> + Send + 'w>>;

/// Waiting and randomness, so that tests control both.
pub trait Environment: Send + Sync {
    /// Waits before a call is repeated. `reason` is for display to people.
    fn pause(&self, delay: Duration, reason: Reason) -> Pause<'_>;

    /// 16 random bytes, for an `Idempotency-Key`.
    fn random(&self) -> [u8; 16];
}

/// The real timer and the randomness of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEnvironment;

impl Environment for SystemEnvironment {
    fn pause(&self, delay: Duration, _reason: Reason) -> Pause<'_> {
        Box::pin(tokio::time::sleep(delay))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the system's randomness"
    )]
    fn random(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system provides randomness");
        bytes
    }
}
