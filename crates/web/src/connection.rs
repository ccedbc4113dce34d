//! One connection of a client. A client that stops reading is disconnected. What a client still sends after its
//! response is read before the connection closes.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustix::io::ioctl_fionread;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use crate::connection_slots::ConnectionSlot;

/// Bytes read at a time when the rest of a body is discarded.
const DISCARDED: usize = 64 << 10;
/// Bytes that are read at once at first. Headers that are shorter leave nothing unread, whatever is wrong with them.
const FIRST_BUFFER: usize = 8 << 10;

/// How long the service waits for a client.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For the request line and headers, also of the next request.
    pub headers: Duration,
    /// For the next bytes of a body.
    pub body_idle: Duration,
    /// For the whole body, in addition to what its size allows at [`Timeouts::body_rate`].
    pub body: Duration,
    /// The minimum rate of a body, in bytes a second.
    pub body_rate: u32,
    /// For a client to read any of what is written to it.
    pub write: Duration,
    /// For a client that is still sending after its response.
    pub linger: Duration,
    /// Bytes that are read from it in that time.
    pub linger_bytes: u64,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            headers: Duration::from_secs(30),
            body_idle: Duration::from_secs(30),
            body: Duration::from_secs(30),
            body_rate: 4 << 10,
            write: Duration::from_secs(120),
            linger: Duration::from_secs(30),
            linger_bytes: 64 << 20,
        }
    }
}

/// Whether the client may still be sending what nobody reads: the rest of a body, or of headers that are too large.
#[derive(Clone, Debug, Default)]
pub struct Unread(Arc<State>);

#[derive(Debug, Default)]
struct State {
    is_noted: AtomicBool,
    is_body: AtomicBool,
    /// Bytes that arrived since the last request ended.
    head: AtomicUsize,
}

impl Unread {
    /// Notes that the client has more to send that nobody reads.
    pub fn note(&self) {
        self.0.is_noted.store(true, Ordering::Relaxed);
    }

    /// Clears the note: the next request has arrived, so the rest of the last one was read.
    pub fn begin_request(&self) {
        self.0.is_noted.store(false, Ordering::Relaxed);
        self.0.is_body.store(true, Ordering::Relaxed);
        self.0.head.store(0, Ordering::Relaxed);
    }

    /// The body of the request was read to its end: what arrives next are the headers of another one.
    pub fn end_request(&self) {
        self.0.is_body.store(false, Ordering::Relaxed);
    }

    /// Whether there is unread data.
    pub fn is_noted(&self) -> bool {
        self.0.is_noted.load(Ordering::Relaxed) || self.0.head.load(Ordering::Relaxed) >= FIRST_BUFFER
    }

    fn arrived(&self, bytes: usize) {
        if !self.0.is_body.load(Ordering::Relaxed) {
            self.0.head.fetch_add(bytes, Ordering::Relaxed);
        }
    }
}

/// The stream of a connection.
pub struct Connection {
    stream: TcpStream,
    timeouts: Timeouts,
    unread: Unread,
    /// Set while the client reads nothing of the pending output.
    stalled: Option<Pin<Box<Sleep>>>,
    closing: Option<Closing>,
    /// Bytes that were read before, and how many of them were read again.
    read_before: (Vec<u8>, usize),
    _place: ConnectionSlot,
}

/// The closing phase of a connection on which the client may still be sending.
struct Closing {
    is_shut: bool,
    bytes_left: u64,
    until: Pin<Box<Sleep>>,
    buffer: Vec<u8>,
}

impl Connection {
    /// A connection that holds its slot until it ends. `read` was read from the stream before.
    pub fn new(
        stream: TcpStream,
        timeouts: Timeouts,
        unread: Unread,
        place: ConnectionSlot,
        read: Vec<u8>,
    ) -> Connection {
        unread.arrived(read.len());
        Connection {
            stream,
            timeouts,
            unread,
            stalled: None,
            closing: None,
            read_before: (read, 0),
            _place: place,
        }
    }

    /// Returns the result of a write, or a timeout for a client that reads nothing. A write that succeeds starts no
    /// timer.
    fn watched<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let timeouts = self.timeouts.write;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(timeouts)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let (bytes, done) = &mut self.read_before;
        if let Some(rest) = bytes.get(*done..).filter(|rest| !rest.is_empty()) {
            // They were counted when they arrived.
            let count = rest.len().min(buffer.remaining());
            buffer.put_slice(&rest[..count]);
            *done += count;
            if *done == bytes.len() {
                self.read_before = (Vec::new(), 0);
            }
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        self.unread.arrived(buffer.filled().len() - before);
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watched(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.watched(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    /// Closes as RFC 9112 (section 9.6) requires: the writing half first. If the client may still be sending, its data
    /// is read and dropped until the client closes: closing with unread bytes would reset the connection, and a client
    /// that reads only after it has sent everything would lose the response.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let timeouts = this.timeouts;
        let closing = this.closing.get_or_insert_with(|| Closing {
            is_shut: false,
            bytes_left: timeouts.linger_bytes,
            until: Box::pin(sleep(timeouts.linger)),
            buffer: Vec::new(),
        });
        if !closing.is_shut {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            closing.is_shut = true;
        }
        if !this.unread.is_noted() {
            // Requests may have come after the last that is answered, and their client waits as long as others do. The
            // system is asked, because the runtime may not know yet.
            let has_more = ioctl_fionread(&this.stream).is_ok_and(|bytes| bytes > 0);
            if !has_more {
                return Poll::Ready(Ok(()));
            }
            this.unread.note();
        }
        ready!(closing.discard(&mut this.stream, cx));
        Poll::Ready(Ok(()))
    }
}

impl Closing {
    /// Reads until the client closes, or the time or the bytes are used up.
    fn discard(&mut self, stream: &mut TcpStream, cx: &mut Context<'_>) -> Poll<()> {
        self.buffer.resize(DISCARDED, 0);
        while self.bytes_left > 0 && self.until.as_mut().poll(cx).is_pending() {
            let mut buffer = ReadBuf::new(&mut self.buffer);
            let read = ready!(Pin::new(&mut *stream).poll_read(cx, &mut buffer));
            let count = buffer.filled().len() as u64;
            if read.is_err() || count == 0 {
                break;
            }
            self.bytes_left = self.bytes_left.saturating_sub(count);
        }
        Poll::Ready(())
    }
}
