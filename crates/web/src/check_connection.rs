//! The shortcut of a connection: checks, also those of other services' clients, are answered from the bytes themselves, in front of the
//! HTTP implementation, which gets the connection with the first request that is anything else.

mod output;
mod plain_request;
mod response;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use httparse::Status;
use launchway_ota::Place;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::http::update_check;

pub use output::Output;
pub use plain_request::PlainRequest;
pub use response::{push_answer, push_response};

/// Bytes that are read at once. A longer request is not answered here.
const READ: usize = 2 << 10;
/// The headers that a request may have here.
const HEADERS: usize = 32;

/// The other end of a connection.
pub trait Client: Send + 'static {
    /// Begins to fetch the place of this bundle, still percent-encoded.
    fn prefetch_place(&self, bundle: &str) -> Option<Place>;

    /// Begins to fetch the bundles at these places, which may be those of other connections.
    fn prefetch_bundles(&self, places: &[Place]);

    /// Writes the answer to one check, or returns false for another request.
    fn answer(&self, request: &PlainRequest<'_>, output: &mut Output) -> bool;

    /// Continues with the HTTP implementation, which reads these bytes first.
    fn take_over(self, stream: std::net::TcpStream, read: Vec<u8>);
}

/// How long a connection waits for its client.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For a request.
    pub silence: Duration,
    /// For the client to read any of an answer.
    pub write: Duration,
}

/// What becomes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It has nothing to do before the system reports an event.
    Wait,
    /// It may have more to read, of which the system reports nothing again.
    ReadOn,
    /// The HTTP implementation continues.
    HandOver,
    /// It is over.
    Close,
}

/// What was read of a connection and is about to be answered.
pub struct Input {
    bytes: Box<[u8; READ]>,
    length: usize,
    /// Whether the connection may have more, of which the system reports nothing again.
    may_have_more: bool,
    place: Option<Place>,
}

impl Input {
    /// An input without bytes.
    pub fn new() -> Input {
        Input {
            bytes: Box::new([0; READ]),
            length: 0,
            may_have_more: false,
            place: None,
        }
    }

    /// Takes the place of the first check's bundle, so that [`CheckConnection::answer`] does not fetch it again.
    pub fn take_place(&mut self) -> Option<Place> {
        self.place.take()
    }
}

/// A connection whose client has sent nothing but checks.
pub struct CheckConnection<C> {
    stream: TcpStream,
    client: C,
    /// Answers that the client has not read.
    unsent: Output,
    /// Bytes from the first request on that is not answered here, or not yet.
    unanswered: Vec<u8>,
    /// Whether they follow as many answers as wait for their client, and are answered once those are sent.
    is_paused: bool,
    /// Whether the client sends no more.
    is_ending: bool,
    is_ready: bool,
    deadline: Instant,
}

impl<C: Client> CheckConnection<C> {
    /// The connection over a stream that does not block. Its events carry `token`.
    ///
    /// # Errors
    /// When the system does not watch the stream.
    pub fn new(
        stream: std::net::TcpStream,
        client: C,
        deadline: Instant,
        registry: &Registry,
        token: Token,
    ) -> io::Result<CheckConnection<C>> {
        let mut stream = TcpStream::from_std(stream);
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        Ok(CheckConnection {
            stream,
            client,
            unsent: Output::default(),
            unanswered: Vec::new(),
            is_paused: false,
            is_ending: false,
            is_ready: false,
            deadline,
        })
    }

    /// Notes that there is something to do. Returns whether that is new.
    pub fn make_ready(&mut self, is_ending: bool) -> bool {
        self.is_ending |= is_ending;
        !std::mem::replace(&mut self.is_ready, true)
    }

    /// Whether there is something to do.
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Whether the client has yet to read answers.
    pub fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// When the connection is over unless its client goes on.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Sends what is left of the last answers, then reads. Returns `None` if there is input to answer.
    pub fn read(&mut self, input: &mut Input, now: Instant, limits: &Limits) -> Option<Next> {
        self.is_ready = false;
        input.length = 0;
        input.place = None;
        if self.has_unsent() {
            let mut unsent = std::mem::take(&mut self.unsent);
            if self.send(&mut unsent, now, limits).is_err() {
                return Some(Next::Close);
            }
            if self.has_unsent() {
                return Some(Next::Wait);
            }
        }
        if self.is_paused {
            self.resume(input);
        } else if !self.unanswered.is_empty() {
            return Some(Next::HandOver);
        } else {
            match retry_on_intr(|| recv(&self.stream, &mut input.bytes[..], RecvFlags::empty())) {
                Ok((count, _)) if count > 0 => input.length = count,
                Err(Errno::WOULDBLOCK) => return Some(Next::Wait),
                _ => return Some(Next::Close),
            }
            input.may_have_more = input.length == READ;
        }
        input.place = contain(|| {
            let bundle = bundle_of(&input.bytes[..input.length])?;
            self.client.prefetch_place(bundle)
        })
        .flatten();
        None
    }

    /// Goes on with what was read before the last answers.
    fn resume(&mut self, input: &mut Input) {
        self.is_paused = false;
        // It is the end of an input, so it fits.
        let rest = std::mem::take(&mut self.unanswered);
        input.bytes[..rest.len()].copy_from_slice(&rest);
        input.length = rest.len();
        input.may_have_more = true;
    }

    /// Begins to fetch the bundles of several connections' first checks. A panic costs only time: the checks are answered all the same.
    pub fn prefetch_bundles(&self, places: &[Place]) {
        contain(|| self.client.prefetch_bundles(places));
    }

    /// Answers what was read. The contents of `output` do not matter.
    pub fn answer(&mut self, input: &Input, output: &mut Output, now: Instant, limits: &Limits) -> Next {
        let read = &input.bytes[..input.length];
        output.clear();
        let Some(answered) = contain(|| answer_all(read, input.place, output, &self.client)) else {
            return Next::Close;
        };
        self.deadline = now + limits.write;
        self.unanswered.extend_from_slice(&read[answered..]);
        self.is_paused = output.is_full() && !self.unanswered.is_empty();
        if self.send(output, now, limits).is_err() {
            return Next::Close;
        }
        if self.has_unsent() {
            Next::Wait
        } else if self.is_paused {
            Next::ReadOn
        } else if !self.unanswered.is_empty() {
            Next::HandOver
        } else if self.is_ending || input.may_have_more {
            Next::ReadOn
        } else {
            Next::Wait
        }
    }

    /// Sends as much as the system takes, and keeps the rest.
    fn send(&mut self, output: &mut Output, now: Instant, limits: &Limits) -> Result<(), Errno> {
        let length = output.len();
        let head = self.send_some(&output.bytes)?;
        let body = match head == output.bytes.len() {
            true => self.send_some(&output.body)?,
            false => 0,
        };
        let sent = head + body;
        if sent == length {
            output.clear();
            self.deadline = now + limits.silence;
            return Ok(());
        }
        if sent > 0 {
            self.deadline = now + limits.write;
        }
        self.unsent = output.take_from(sent);
        Ok(())
    }

    /// Sends as much as the system takes; returns how many bytes.
    fn send_some(&self, bytes: &[u8]) -> Result<usize, Errno> {
        let mut rest = bytes;
        while !rest.is_empty() {
            // A Rust program ignores the signal of a closed connection.
            match retry_on_intr(|| send(&self.stream, rest, SendFlags::empty())) {
                Ok(count) => rest = &rest[count..],
                Err(Errno::WOULDBLOCK) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(bytes.len() - rest.len())
    }

    /// Gives the connection to the HTTP implementation.
    pub fn hand_over(mut self, registry: &Registry) {
        // If the system goes on watching it, it is closed.
        if registry.deregister(&mut self.stream).is_ok() {
            self.client.take_over(self.stream.into(), self.unanswered);
        }
    }
}

/// `None` if it panics: a defect that a request finds does not end the thread, which has other connections.
fn contain<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// The bundle in the path of the check that `input` begins with.
fn bundle_of(input: &[u8]) -> Option<&str> {
    let rest = input
        .strip_prefix(b"GET ")?
        .strip_prefix(update_check::PREFIX.as_bytes())?;
    let end = rest.iter().position(|byte| matches!(byte, b'?' | b' '))?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// Writes the answers to the checks at the start of `read`, to all of them or until the output is full; returns how many bytes they have.
/// `first` is the place of the first one's bundle.
fn answer_all(read: &[u8], first: Option<Place>, output: &mut Output, client: &impl Client) -> usize {
    let (mut rest, mut place) = (read, first);
    while !rest.is_empty() && !output.is_full() {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let parsed = request.parse(rest);
        // The processor fetches the bundle while the query is parsed, and its place while the head was, unless a batch has fetched both.
        if let Some(place) = place {
            client.prefetch_bundles(&[place]);
        }
        let Ok(Status::Complete(length)) = parsed else {
            break;
        };
        let Some(plain) = PlainRequest::of(&request, &rest[length..]) else {
            break;
        };
        if !client.answer(&plain, output) {
            break;
        }
        rest = &rest[length + plain.body.map_or(0, <[u8]>::len)..];
        place = bundle_of(rest).and_then(|bundle| client.prefetch_place(bundle));
    }
    read.len() - rest.len()
}

#[cfg(test)]
mod tests;
