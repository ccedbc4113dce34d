//! How a call reaches a store: over HTTP in earnest, or into a simulator in the same process.

mod http;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;

pub use http::HttpTransport;

/// How long a call without a file may take.
pub const TIMEOUT: Duration = Duration::from_secs(60);
/// How long a call that sends a part of a file may take.
pub const UPLOAD_TIMEOUT: Duration = Duration::from_secs(20 * 60);
/// An answer has at most this many bytes: lists have pages.
pub const MAX_ANSWER: usize = 8 << 20;

/// The methods that the stores' calls have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Makes, or does.
    Post,
    /// Puts whole.
    Put,
    /// Changes in parts.
    Patch,
    /// Removes.
    Delete,
}

impl Method {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }

    /// The method of a name, in capitals.
    pub fn parse(name: &str) -> Option<Method> {
        let all = [Method::Get, Method::Post, Method::Put, Method::Patch, Method::Delete];
        all.into_iter().find(|method| method.as_str() == name)
    }
}

/// The bytes of a binary, read in pieces, so that memory stays small.
pub trait Source: Send + Sync {
    /// How many bytes there are.
    fn size(&self) -> u64;

    /// Exactly `length` bytes from `offset`. Callers ask for at most [`PIECE`] at once.
    fn read(&self, offset: u64, length: usize) -> BoxFuture<'_, io::Result<Bytes>>;
}

/// Bytes that are read of a [`Source`] at once.
pub const PIECE: usize = 256 * 1024;

/// What a call sends.
#[derive(Clone)]
pub enum Body {
    /// Nothing.
    Empty,
    /// A whole body. May hold a secret.
    Bytes(Bytes),
    /// A range of a binary.
    Range {
        /// The binary.
        source: Arc<dyn Source>,
        /// Where the range begins.
        offset: u64,
        /// Its bytes.
        length: u64,
    },
}

/// A call. It may carry secrets in its headers, and in its URL when that is a signed one.
#[derive(Clone)]
pub struct Request {
    /// What to do.
    pub method: Method,
    /// The absolute URL.
    pub url: String,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// What is sent.
    pub body: Body,
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct Response {
    /// The status of HTTP.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// What was answered.
    pub body: Bytes,
}

/// There was no answer. Whether the call had its effect is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// No connection came to be: the call had no effect.
    #[error("the connection failed")]
    NotConnected,
    /// It took too long.
    #[error("it did not answer in time")]
    TimedOut,
    /// The connection broke, or what came is no answer.
    #[error("the connection broke off")]
    Broken,
    /// The binary that was to be sent cannot be read.
    #[error("the binary cannot be read")]
    Unreadable,
}

/// The way to the stores.
pub trait Transport: Send + Sync {
    /// Makes a call once. Redirects are not followed.
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>>;
}

impl Request {
    /// A call without headers and body.
    pub fn new(method: Method, url: impl Into<String>) -> Request {
        Request {
            method,
            url: url.into(),
            headers: Vec::new(),
            body: Body::Empty,
        }
    }

    /// With a header; the name in lower case.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Request {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// With a body.
    #[must_use]
    pub fn body(mut self, body: Body) -> Request {
        self.body = body;
        self
    }

    /// With a JSON body.
    #[must_use]
    pub fn json(self, value: &serde_json::Value) -> Request {
        self.header("content-type", "application/json")
            .body(Body::Bytes(Bytes::from(value.to_string())))
    }
}

/// The method and where it goes, without the query: the rest may be secret.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.url.split(['?', '#']).next().unwrap_or_default();
        write!(f, "{} {place} ({} bytes)", self.method.as_str(), self.body.length())
    }
}

impl Body {
    /// How many bytes are sent.
    pub fn length(&self) -> u64 {
        match self {
            Body::Empty => 0,
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::Range { length, .. } => *length,
        }
    }

    /// The bytes in pieces.
    pub fn into_stream(self) -> futures::stream::BoxStream<'static, io::Result<Bytes>> {
        use futures::stream::{self, StreamExt};
        match self {
            Body::Empty => stream::empty().boxed(),
            Body::Bytes(bytes) => stream::once(async move { Ok(bytes) }).boxed(),
            Body::Range { source, offset, length } => stream::unfold(0, move |done: u64| {
                let source = source.clone();
                async move {
                    let next = usize::try_from(length.saturating_sub(done)).unwrap_or(PIECE).min(PIECE);
                    if next == 0 {
                        return None;
                    }
                    let piece = source.read(offset + done, next).await;
                    // After an error there is nothing more to read.
                    let done = if piece.is_ok() { done + next as u64 } else { length };
                    Some((piece, done))
                }
            })
            .boxed(),
        }
    }
}

impl Response {
    /// A header; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether it is 2xx.
    pub const fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }
}
