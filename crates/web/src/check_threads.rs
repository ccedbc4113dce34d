//! The threads that answer checks. A connection stays on one while it sends nothing but checks: other requests do not hold it up, and its
//! memory is fetched into the caches of the processor that reads it.

mod event_loop;

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SendError, Sender};
use std::thread;

use launchway_os::priority;
use mio::Waker;

use crate::check_connection::{Client, Limits};
use event_loop::EventLoop;

/// Threads that run until this is dropped. Then their connections are closed.
pub struct CheckThreads<C> {
    threads: Vec<Thread<C>>,
    next: usize,
    end: Arc<End>,
}

/// One thread, seen from outside.
struct Thread<C> {
    arrivals: Sender<Arrival<C>>,
    waker: Waker,
}

/// A new connection.
type Arrival<C> = (TcpStream, C);

/// How far the end of the server is.
#[derive(Debug, Default)]
struct End {
    /// What has arrived is answered, and then all connections are closed.
    is_stopping: AtomicBool,
    /// The threads end.
    is_over: AtomicBool,
}

impl<C: Client> CheckThreads<C> {
    /// One thread for each processor that this process may use.
    ///
    /// # Errors
    /// When the system starts no thread, or has no descriptors for its events.
    pub fn start(limits: Limits) -> io::Result<CheckThreads<C>> {
        let mut threads = CheckThreads {
            threads: Vec::new(),
            next: 0,
            end: Arc::default(),
        };
        for _ in 0..thread::available_parallelism().map_or(1, |count| count.get()) {
            let (arrivals, receiver) = mpsc::channel();
            let (events, waker) = EventLoop::new(receiver, threads.end.clone(), limits)?;
            thread::Builder::new().name("checks".to_owned()).spawn(|| {
                priority::raise();
                events.run();
            })?;
            threads.threads.push(Thread { arrivals, waker });
        }
        Ok(threads)
    }

    /// Hands a connection to the thread whose turn it is.
    pub fn hand_over(&mut self, stream: TcpStream, client: C) {
        self.next = (self.next + 1) % self.threads.len();
        let thread = &self.threads[self.next];
        match thread.arrivals.send((stream, client)) {
            Ok(()) => thread.wake(),
            // The thread is gone.
            Err(SendError((stream, client))) => client.take_over(stream, Vec::new()),
        }
    }

    /// Answers what has arrived, and closes all connections.
    pub fn stop(&self) {
        self.tell(&self.end.is_stopping);
    }
}

impl<C> CheckThreads<C> {
    fn tell(&self, what: &AtomicBool) {
        what.store(true, Ordering::Release);
        for thread in &self.threads {
            thread.wake();
        }
    }
}

impl<C> Drop for CheckThreads<C> {
    fn drop(&mut self) {
        self.tell(&self.end.is_over);
    }
}

impl<C> Thread<C> {
    fn wake(&self) {
        if let Err(error) = self.waker.wake() {
            tracing::warn!(%error, "cannot wake a thread for update checks");
        }
    }
}

#[cfg(test)]
mod tests;
