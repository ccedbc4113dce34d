//! The transport to an app store: HTTP in production, or a simulator in the same process.

mod http;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use launchway_domain::words;

pub use http::HttpTransport;

/// The timeout of a request without a file.
pub const TIMEOUT: Duration = Duration::from_secs(60);
/// The timeout of a request that sends a part of a file.
pub const UPLOAD_TIMEOUT: Duration = Duration::from_secs(20 * 60);
/// The maximum size of a response in bytes; lists are paginated.
pub const MAX_ANSWER: usize = 8 << 20;

words! {
    /// The HTTP methods in use.
    Method:
    /// Reads a resource.
    Get = "GET",
    /// Creates a resource, or runs an action.
    Post = "POST",
    /// Replaces a resource.
    Put = "PUT",
    /// Updates a resource.
    Patch = "PATCH",
    /// Deletes a resource.
    Delete = "DELETE",
}

/// The bytes of a binary, read in pieces to bound memory.
pub trait Source: Send + Sync {
    /// The total number of bytes.
    fn size(&self) -> u64;

    /// Exactly `length` bytes from `offset`. Callers request at most [`PIECE`] at once.
    fn read(&self, offset: u64, length: usize) -> BoxFuture<'_, io::Result<Bytes>>;
}

/// The maximum number of bytes that are read from a [`Source`] at once.
pub const PIECE: usize = 256 * 1024;

/// The body of a request.
#[derive(Clone)]
pub enum Body {
    /// No body.
    Empty,
    /// A body in memory. May contain a secret.
    Bytes(Bytes),
    /// A range of a binary.
    Range {
        /// The binary.
        source: Arc<dyn Source>,
        /// The offset of the range.
        offset: u64,
        /// The length of the range in bytes.
        length: u64,
    },
}

/// A request. Its headers may contain secrets, and so may its URL if it is signed.
#[derive(Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The absolute URL.
    pub url: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Body,
}

/// A response.
#[derive(Clone, Debug, Default)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

/// There was no response. Whether the request had an effect is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The connection failed: the request had no effect.
    #[error("the connection failed")]
    NotConnected,
    /// The request timed out.
    #[error("the server did not respond in time")]
    TimedOut,
    /// The connection broke, or the response is invalid.
    #[error("the connection was interrupted")]
    Broken,
    /// The binary to send cannot be read.
    #[error("cannot read the binary")]
    Unreadable,
}

/// The transport to the app stores.
pub trait Transport: Send + Sync {
    /// Sends a request once. Redirects are not followed.
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>>;
}

impl Request {
    /// A request without headers and body.
    pub fn new(method: Method, url: impl Into<String>) -> Request {
        Request {
            method,
            url: url.into(),
            headers: Vec::new(),
            body: Body::Empty,
        }
    }

    /// Adds a header; the name in lower case.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Request {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: Body) -> Request {
        self.body = body;
        self
    }

    /// Sets a JSON body.
    #[must_use]
    pub fn json(self, value: &serde_json::Value) -> Request {
        self.header("content-type", "application/json")
            .body(Body::Bytes(Bytes::from(value.to_string())))
    }
}

/// Method and URL without the query: the rest may be secret.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.url.split(['?', '#']).next().unwrap_or_default();
        write!(f, "{} {place} ({} bytes)", self.method.as_str(), self.body.length())
    }
}

impl Body {
    /// The length of the body in bytes.
    pub fn length(&self) -> u64 {
        match self {
            Body::Empty => 0,
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::Range { length, .. } => *length,
        }
    }

    /// The body in pieces.
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
    /// The value of a header; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether the status is 2xx.
    pub const fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }
}
