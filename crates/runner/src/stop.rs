//! The signal to stop a build early, shared by everything that works on it.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::watch;

/// Why a build is stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// A user canceled it.
    Canceled,
    /// It exceeded its timeout of this many seconds.
    TimedOut(u32),
    /// The disk is nearly full: a message about it.
    DiskFull(String),
    /// Another attempt has begun, or the build was deleted: the message of the server.
    FencedOff(String),
    /// The runner is shutting down.
    Halted,
}

/// Stops a build, and knows whether it is stopped. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Stopper {
    reason: Arc<watch::Sender<Option<StopReason>>>,
}

impl Default for Stopper {
    fn default() -> Self {
        Self {
            reason: Arc::new(watch::Sender::new(None)),
        }
    }
}

impl Stopper {
    /// Stops the build. The first reason counts, with two exceptions: a shutdown of the runner replaces it, and
    /// fencing, which voids everything else about the build, replaces any reason.
    pub fn stop(&self, reason: StopReason) {
        self.reason.send_if_modified(|known| {
            let counts = known.as_ref().is_none_or(|known| rank(&reason) > rank(known));
            if counts {
                *known = Some(reason);
            }
            counts
        });
    }

    /// Why the build is stopped, if it is.
    pub fn reason(&self) -> Option<StopReason> {
        self.reason.borrow().clone()
    }

    /// Whether the build is stopped.
    pub fn is_stopped(&self) -> bool {
        self.reason.borrow().is_some()
    }

    /// Waits until the build is stopped.
    pub async fn stopped(&self) -> StopReason {
        self.stopped_by(|_| true).await
    }

    /// Waits until the build is stopped for a matching reason.
    pub async fn stopped_by(&self, counts: impl Fn(&StopReason) -> bool) -> StopReason {
        let mut reasons = self.reason.subscribe();
        loop {
            if let Some(reason) = reasons.borrow_and_update().as_ref().filter(|reason| counts(reason)) {
                return reason.clone();
            }
            if reasons.changed().await.is_err() {
                // Unreachable while `self` holds the sender.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Runs `work` unless the build is stopped before it completes.
    ///
    /// # Errors
    /// The build was stopped.
    pub async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, StopReason> {
        tokio::select! {
            biased;
            reason = self.stopped() => Err(reason),
            done = work => Ok(done),
        }
    }
}

fn rank(reason: &StopReason) -> u8 {
    match reason {
        StopReason::Canceled | StopReason::TimedOut(_) | StopReason::DiskFull(_) => 0,
        StopReason::Halted => 1,
        StopReason::FencedOff(_) => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_reason_counts_unless_a_weightier_one_comes() {
        let stopper = Stopper::default();
        assert_eq!(stopper.unless_stopped(async { 7 }).await, Ok(7));
        stopper.stop(StopReason::Canceled);
        stopper.stop(StopReason::TimedOut(1));
        assert_eq!(stopper.stopped().await, StopReason::Canceled);
        stopper.stop(StopReason::Halted);
        assert_eq!(stopper.stopped().await, StopReason::Halted);
        let fenced = StopReason::FencedOff("over".to_owned());
        stopper.stop(fenced.clone());
        stopper.stop(StopReason::Halted);
        assert_eq!(stopper.unless_stopped(async { 7 }).await, Err(fenced));
    }
}
