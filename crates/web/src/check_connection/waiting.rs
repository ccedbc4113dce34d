//! What ends a connection that waits for its next request: the end of the server, or a client that is silent for too long.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Context;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Tells all connections that the server stops.
#[derive(Clone, Debug, Default)]
pub struct Stopping {
    token: CancellationToken,
    /// The same as the token says. Reading it takes no lock, which all connections would share.
    is_set: Arc<AtomicBool>,
}

impl Stopping {
    /// Ends the connections that wait for a request.
    pub fn set(&self) {
        self.is_set.store(true, Ordering::Release);
        self.token.cancel();
    }
}

/// The waiting of one connection. The timer is not moved with each request, only when it fires.
pub struct Waiting {
    stopping: Stopping,
    stopped: Pin<Box<WaitForCancellationFutureOwned>>,
    limit: Duration,
    since: Instant,
    /// It is there once this task is woken by it and by the end of the server.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Waiting {
    /// Begins to wait for at most `limit`.
    pub fn new(limit: Duration, stopping: &Stopping) -> Waiting {
        Waiting {
            stopped: Box::pin(stopping.token.clone().cancelled_owned()),
            stopping: stopping.clone(),
            limit,
            since: Instant::now(),
            timer: None,
        }
    }

    /// Begins to wait anew, after an answer. Returns whether this task is going to be woken when the connection is over, so that
    /// [`Waiting::is_over`] need not be asked before.
    ///
    /// One wake-up may stand for several causes. So it is not enough that the task would be woken: neither cause may
    /// have come up before this call.
    pub fn restart(&mut self) -> bool {
        self.since = Instant::now();
        let has_time = self.timer.as_ref().is_some_and(|timer| self.since < timer.deadline());
        has_time && !self.stopping.is_set.load(Ordering::Acquire)
    }

    /// Whether the connection is over; if not, the task is woken when it is.
    pub fn is_over(&mut self, cx: &mut Context<'_>) -> bool {
        if self.stopped.as_mut().poll(cx).is_ready() {
            return true;
        }
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(self.limit)));
        while timer.as_mut().poll(cx).is_ready() {
            let end = self.since + self.limit;
            if Instant::now() >= end {
                return true;
            }
            timer.as_mut().reset(end);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    async fn is_over(waiting: &mut Waiting) -> bool {
        poll_fn(|cx| Poll::Ready(waiting.is_over(cx))).await
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_a_connection_after_its_last_answer() {
        let mut waiting = Waiting::new(LIMIT, &Stopping::default());
        assert!(!waiting.restart(), "nothing would wake it yet");
        assert!(!is_over(&mut waiting).await);
        assert!(waiting.restart());
        tokio::time::advance(LIMIT / 2).await;
        assert!(waiting.restart());
        tokio::time::advance(LIMIT * 3 / 4).await;
        assert!(!waiting.restart(), "the timer has fired for the first wait");
        assert!(!is_over(&mut waiting).await);
        assert!(waiting.restart());
        tokio::time::advance(LIMIT * 2).await;
        assert!(is_over(&mut waiting).await);
    }

    /// The wake-up of a stop may be that of the last request.
    #[tokio::test(start_paused = true)]
    async fn a_stop_while_an_answer_is_written_is_noticed() {
        let stopping = Stopping::default();
        let mut waiting = Waiting::new(LIMIT, &stopping);
        assert!(!is_over(&mut waiting).await);
        assert!(waiting.restart());
        stopping.set();
        assert!(!waiting.restart());
        assert!(is_over(&mut waiting).await);
    }
}
