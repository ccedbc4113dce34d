//! One connection of a client: a client that stops taking what is written to it is let go, and what it still sends when it has
//! been answered is read before the connection closes.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use crate::http::places::Place;

/// Bytes that are read at a time only to be dropped.
const DISCARDED: usize = 64 << 10;

/// How long the service waits for a client.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For the request line and headers, also of the next request.
    pub headers: Duration,
    /// For the next bytes of a body.
    pub body_idle: Duration,
    /// In all for a body, besides what its size allows at [`Timeouts::body_rate`].
    pub body: Duration,
    /// Bytes a second that a body comes with at least.
    pub body_rate: u32,
    /// For a client to take any of what is written to it.
    pub write: Duration,
    /// For a client that is still sending when it has been answered.
    pub linger: Duration,
    /// Bytes that are read from it meanwhile.
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

/// Whether the body of a request was not read to its end.
#[derive(Clone, Debug, Default)]
pub struct Unread(Arc<AtomicBool>);

impl Unread {
    /// Notes that there is more to come which nobody reads.
    pub fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Forgets it: the next request has come, so what was left of the last one has been read.
    pub fn forget(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether there is.
    pub fn is_noted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The stream of a connection.
pub struct Connection {
    stream: TcpStream,
    timeouts: Timeouts,
    unread: Unread,
    /// Set while the client takes nothing of what is to be written.
    stalled: Option<Pin<Box<Sleep>>>,
    closing: Option<Closing>,
    _place: Place,
}

/// The end of a connection on which the client may still be sending.
struct Closing {
    is_shut: bool,
    bytes_left: u64,
    until: Pin<Box<Sleep>>,
    buffer: Vec<u8>,
}

impl Connection {
    /// A connection that holds its place until it ends.
    pub fn new(stream: TcpStream, timeouts: Timeouts, unread: Unread, place: Place) -> Connection {
        Connection {
            stream,
            timeouts,
            unread,
            stalled: None,
            closing: None,
            _place: place,
        }
    }

    /// Gives what came of a write, or a timeout for a client that takes nothing. A write that goes through
    /// starts no timer.
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
        Pin::new(&mut self.stream).poll_read(cx, buffer)
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

    /// Closes as RFC 9112 (section 9.6) asks: the writing half first. Where the client may still be sending, what comes is read
    /// and dropped until the client closes, for to close with bytes unread would reset the connection and take the answer away
    /// from a client that reads it only after it has sent everything.
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
            return Poll::Ready(Ok(()));
        }
        ready!(closing.discard(&mut this.stream, cx));
        Poll::Ready(Ok(()))
    }
}

impl Closing {
    /// Reads until the client closes, or has had its time or its bytes.
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
