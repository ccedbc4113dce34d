//! The threads that answer checks. Each has a runtime of its own, on which a connection stays while it sends nothing but
//! checks: other requests do not hold it up, and its memory is fetched into the caches of the processor that reads it.

use std::io;
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Threads that run until this is dropped. Then their connections are closed.
pub struct CheckThreads {
    runtimes: Vec<Handle>,
    next: usize,
    _end: DropGuard,
}

impl CheckThreads {
    /// One thread for each processor that this process may use. If the system starts none, the calling runtime stands in.
    pub fn start() -> CheckThreads {
        CheckThreads::try_start().unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot start threads for update checks: they share those of other requests");
            CheckThreads {
                runtimes: vec![Handle::current()],
                next: 0,
                _end: CancellationToken::new().drop_guard(),
            }
        })
    }

    fn try_start() -> io::Result<CheckThreads> {
        let count = thread::available_parallelism().map_or(1, |count| count.get());
        let end = CancellationToken::new();
        let mut runtimes = Vec::with_capacity(count);
        for _ in 0..count {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            runtimes.push(runtime.handle().clone());
            let end = end.clone();
            let run = move || runtime.block_on(end.cancelled());
            thread::Builder::new().name("checks".to_owned()).spawn(run)?;
        }
        Ok(CheckThreads {
            runtimes,
            next: 0,
            _end: end.drop_guard(),
        })
    }

    /// The runtime of the thread whose turn it is.
    pub fn next(&mut self) -> &Handle {
        self.next = (self.next + 1) % self.runtimes.len();
        &self.runtimes[self.next]
    }
}
