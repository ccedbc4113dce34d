//! The event loop of one thread for checks. It reads several connections before it answers them, so that the processor fetches the memory
//! of all of these at once.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use launchway_ota::Place;
use mio::event::Event;
use mio::{Events, Poll, Token, Waker};
use slab::Slab;

use super::{Arrival, End};
use crate::check_connection::{CheckConnection, Client, Input, Limits, Next, Output};

/// Events that the system reports at once.
const EVENTS: usize = 256;
/// Connections that are read before they are answered. A processor fetches about as many pieces of memory at a time, and a thread holds as many
/// shards of the index without changing a reference count that all threads share.
const BATCH: usize = 8;
/// The token of the waker.
const WAKE: Token = Token(usize::MAX);
/// How often a connection is served again at the end, if it always has more, before the HTTP implementation closes it.
const LAST_TURNS: u32 = 32;
/// Connections are closed at most this part of a limit too late.
const LATENESS: u32 = 32;

/// The connections of a thread.
pub struct EventLoop<C> {
    poll: Poll,
    arrivals: Receiver<Arrival<C>>,
    end: Arc<End>,
    limits: Limits,
    connections: Slab<CheckConnection<C>>,
    /// The connections that have something to do.
    ready: Vec<usize>,
    /// What was read of each connection of a batch; what becomes of it, if it is known.
    inputs: Vec<(Input, Option<Next>)>,
    /// Where the bundles of a batch are. Its memory is used again.
    places: Vec<Place>,
    output: Output,
    now: Instant,
    next_sweep: Instant,
}

impl<C: Client> EventLoop<C> {
    /// A loop without connections, and what wakes it after an arrival or a change of `end`.
    ///
    /// # Errors
    /// When the system has no descriptors for its events.
    pub fn new(arrivals: Receiver<Arrival<C>>, end: Arc<End>, limits: Limits) -> io::Result<(EventLoop<C>, Waker)> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKE)?;
        let now = Instant::now();
        let events = EventLoop {
            poll,
            arrivals,
            end,
            limits,
            connections: Slab::new(),
            ready: Vec::new(),
            inputs: (0..BATCH).map(|_| (Input::new(), None)).collect(),
            places: Vec::with_capacity(BATCH),
            output: Output::default(),
            now,
            next_sweep: now,
        };
        Ok((events, waker))
    }

    /// Serves connections until the end.
    pub fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS);
        while !self.end.is_over.load(Ordering::Acquire) {
            if let Err(error) = self.turn(&mut events) {
                // Its connections are closed, and new ones go to the HTTP implementation.
                tracing::error!(%error, "a thread for update checks ends: it gets no events from the system");
                return;
            }
        }
    }

    /// Waits for events, and serves every connection that has something to do once.
    fn turn(&mut self, events: &mut Events) -> io::Result<()> {
        match self.poll.poll(events, self.timeout()) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
            _ => self.now = Instant::now(),
        }
        let mut is_woken = false;
        for event in events.iter() {
            match event.token() {
                WAKE => is_woken = true,
                Token(key) => self.make_ready(key, is_ending(event)),
            }
        }
        self.serve_ready();
        if is_woken {
            self.admit();
        }
        if self.end.is_stopping.load(Ordering::Acquire) {
            self.close_all();
        }
        if self.now >= self.next_sweep {
            self.sweep();
        }
        Ok(())
    }

    /// How long to wait for events; without connections, for ever.
    fn timeout(&self) -> Option<Duration> {
        if !self.ready.is_empty() {
            return Some(Duration::ZERO);
        }
        let wait = || self.next_sweep.saturating_duration_since(self.now);
        (!self.connections.is_empty()).then(wait)
    }

    fn make_ready(&mut self, key: usize, is_ending: bool) {
        if let Some(connection) = self.connections.get_mut(key)
            && connection.make_ready(is_ending)
        {
            self.ready.push(key);
        }
    }

    fn serve_ready(&mut self) {
        let ready = std::mem::take(&mut self.ready);
        for batch in ready.chunks(BATCH) {
            self.serve(batch);
        }
        if self.ready.is_empty() {
            // Its memory is used again.
            self.ready = ready;
            self.ready.clear();
        }
    }

    /// Serves some connections: before it answers them, it asks for the memory of the first check of each.
    fn serve(&mut self, batch: &[usize]) {
        for (key, (input, known)) in batch.iter().zip(&mut self.inputs) {
            *known = self.connections[*key].read(input, self.now, &self.limits);
        }
        if batch.len() > 1 {
            self.prefetch_bundles(batch);
        }
        for (key, (input, known)) in batch.iter().zip(&self.inputs) {
            let connection = &mut self.connections[*key];
            let next = known.unwrap_or_else(|| connection.answer(input, &mut self.output, self.now, &self.limits));
            match next {
                Next::Wait => {}
                Next::ReadOn => {
                    connection.make_ready(false);
                    self.ready.push(*key);
                }
                Next::HandOver => self.connections.remove(*key).hand_over(self.poll.registry()),
                Next::Close => drop(self.connections.remove(*key)),
            }
        }
    }

    /// Asks for the bundles of a batch, and removes their places.
    fn prefetch_bundles(&mut self, batch: &[usize]) {
        let inputs = self.inputs.iter_mut().take(batch.len());
        self.places.clear();
        self.places.extend(inputs.filter_map(|(input, _)| input.take_place()));
        if !self.places.is_empty() {
            // The index is that of every connection.
            self.connections[batch[0]].prefetch_bundles(&self.places);
        }
    }

    /// Takes in the connections that have arrived. What they have sent is reported as an event.
    fn admit(&mut self) {
        while let Ok((stream, client)) = self.arrivals.try_recv() {
            let deadline = self.now + self.limits.silence;
            self.next_sweep = self.next_sweep.min(deadline);
            let entry = self.connections.vacant_entry();
            let token = Token(entry.key());
            match CheckConnection::new(stream, client, deadline, self.poll.registry(), token) {
                Ok(connection) => drop(entry.insert(connection)),
                Err(error) => tracing::warn!(%error, "closed a new connection: the system reports no events of it"),
            }
        }
    }

    /// Answers what has arrived, and closes all connections but those whose clients have yet to read answers.
    fn close_all(&mut self) {
        self.serve_where(|_| true);
        for _ in 0..LAST_TURNS {
            self.serve_ready();
        }
        // Closing a connection that has more would reset it: answers that its client has not read yet would be lost.
        for key in std::mem::take(&mut self.ready) {
            self.connections.remove(key).hand_over(self.poll.registry());
        }
        self.connections.retain(|_, connection| connection.has_unsent());
    }

    /// Closes the connections whose deadline is over.
    fn sweep(&mut self) {
        let now = self.now;
        // After a long standstill, the system may not have reported yet what they sent.
        self.serve_where(|connection| connection.deadline() <= now);
        let limit = self.limits.silence.min(self.limits.write);
        let mut earliest = now + limit;
        self.connections.retain(|_, connection| {
            let goes_on = connection.is_ready() || connection.deadline() > now;
            if goes_on {
                earliest = earliest.min(connection.deadline());
            }
            goes_on
        });
        // Most deadlines move before they are reached: not all are looked at for each of them.
        self.next_sweep = earliest.max(now + limit / LATENESS);
    }

    /// Serves these connections, whatever the system reported of them, and those that have something to do.
    fn serve_where(&mut self, is_served: impl Fn(&CheckConnection<C>) -> bool) {
        for (key, connection) in &mut self.connections {
            if is_served(connection) && connection.make_ready(false) {
                self.ready.push(key);
            }
        }
        self.serve_ready();
    }
}

/// Whether the client sends no more.
fn is_ending(event: &Event) -> bool {
    event.is_read_closed() || event.is_error()
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::mpsc;
    use std::thread;

    use rustix::io::ioctl_fionread;
    use rustix::net::sockopt::set_socket_recv_buffer_size;

    use super::super::tests::{FETCHED, LONG, connection, read_answers, read_to_end, request, request_of};
    use super::*;

    /// A standstill of the machine, for one.
    #[test]
    fn a_check_that_came_before_a_late_sweep_is_answered() {
        let (arrivals, receiver) = mpsc::channel();
        let (mut events, _waker) = EventLoop::new(receiver, Arc::default(), LONG).unwrap();
        let [mut asking, mut silent] = [request("/check"), Vec::new()].map(|sent| {
            let (client, arrival) = connection(&sent, mpsc::channel().0);
            arrivals.send(arrival).unwrap();
            client
        });
        events.admit();
        events.now += 2 * LONG.silence;
        events.sweep();
        read_answers(&mut asking, 1);
        assert_eq!(read_to_end(&mut silent), b"");
        assert_eq!(events.connections.len(), 1);
    }

    /// Fetching panics here, which changes no answer.
    #[test]
    fn the_bundles_of_a_batch_are_fetched_together() {
        let (arrivals, receiver) = mpsc::channel();
        let (mut events, _waker) = EventLoop::new(receiver, Arc::default(), LONG).unwrap();
        let paths = ["/other", "/api/update/check/far", "/check"].iter();
        let sent: Vec<_> = paths.chain(&["/api/update/check/far"; 8]).collect();
        let (taken_over, _handed_over) = mpsc::channel();
        let clients: Vec<_> = sent
            .iter()
            .map(|path| {
                let (client, arrival) = connection(&request(path), taken_over.clone());
                arrivals.send(arrival).unwrap();
                client
            })
            .collect();
        events.admit();
        events.serve_where(|_| true);
        // Six in the first batch; of the second, three are left.
        assert_eq!(FETCHED.take(), [6, 3]);
        for mut client in clients.into_iter().skip(1) {
            read_answers(&mut client, 1);
        }
    }

    /// Closing its connection here would take answers back that it has not read.
    #[test]
    fn who_sends_more_than_is_answered_at_the_end_is_handed_over() {
        const READ: usize = 2 << 10;
        let answered = LAST_TURNS as usize + 1;
        let (arrivals, receiver) = mpsc::channel();
        let (taken_over, handed_over) = mpsc::channel();
        let (mut events, _waker) = EventLoop::new(receiver, Arc::default(), LONG).unwrap();
        let (mut client, arrival) = connection(b"", taken_over);
        set_socket_recv_buffer_size(&arrival.0, 4 * answered * READ).unwrap();
        client
            .write_all(&request_of("/check", READ).repeat(answered + 1))
            .unwrap();
        while ioctl_fionread(&arrival.0).unwrap() <= (answered * READ) as u64 {
            thread::yield_now();
        }
        arrivals.send(arrival).unwrap();
        events.admit();
        events.close_all();
        read_answers(&mut client, answered);
        let (_stream, read) = handed_over.try_recv().unwrap();
        assert_eq!(read, b"");
        assert!(events.connections.is_empty());
    }
}
