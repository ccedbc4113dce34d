//! What the client needs of the outside besides the network: waiting and randomness.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::retry::Reason;

/// A wait that has begun.
pub type Pause<'w> = Pin<Box<dyn Future<Output = ()> + Send + 'w>>;

/// Waiting and randomness, so that tests steer both.
pub trait Environment: Send + Sync {
    /// Waits before a call is tried again. `reason` is for telling people why.
    fn pause(&self, delay: Duration, reason: Reason) -> Pause<'_>;

    /// 16 random bytes, from which an `Idempotency-Key` is made.
    fn random(&self) -> [u8; 16];
}

/// The real timer and the randomness of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEnvironment;

impl Environment for SystemEnvironment {
    fn pause(&self, delay: Duration, _reason: Reason) -> Pause<'_> {
        Box::pin(tokio::time::sleep(delay))
    }

    #[expect(clippy::disallowed_methods, reason = "the real source of randomness is at home here")]
    fn random(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system gives randomness");
        bytes
    }
}
