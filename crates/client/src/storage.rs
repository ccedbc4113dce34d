//! Transfers files to and from object storage by pre-signed URLs, in constant memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use reqwest::header::{CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, RANGE};
use reqwest::{Body, Response, StatusCode, Url};
use tokio::fs::File;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::io::ReaderStream;

use crate::address::BaseUrl;
use crate::error::Error;
use crate::retry::Reason;
use crate::transport::{Timeouts, Transport};

/// Receives the number of bytes handed to the network; restarts at 0 with the upload.
pub type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// The number of bytes read from the file at a time.
const CHUNK: usize = 64 * 1024;

/// A client of object storage. It sends no API key. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Storage {
    http: reqwest::Client,
    stall: Duration,
}

/// A transfer that failed.
#[derive(Debug)]
pub struct TransferError {
    /// Why another attempt may help; `None` if it will not.
    pub reason: Option<Reason>,
    /// The error.
    pub error: Error,
}

/// A download in progress.
#[derive(Debug)]
pub struct Download {
    begins_at: u64,
    response: Response,
    origin: String,
    stall: Duration,
}

impl Storage {
    /// Makes a client for URLs from the server at `base`. Fails if the machine's TLS certificates cannot be read, unless `base` is plain
    /// HTTP.
    pub fn new(base: &BaseUrl, timeouts: &Timeouts) -> Result<Self, Error> {
        Ok(Self::of(&Transport::new(base, timeouts)?, timeouts))
    }

    pub(crate) fn of(transport: &Transport, timeouts: &Timeouts) -> Self {
        Self {
            http: transport.uploads.clone(),
            stall: timeouts.stall,
        }
    }

    /// Sends the `size` bytes of a file to a URL with these headers, once. `progress` receives the number of bytes sent.
    pub async fn put(
        &self,
        url: &str,
        headers: &BTreeMap<String, String>,
        path: &Path,
        size: u64,
        progress: Progress,
    ) -> Result<(), TransferError> {
        let (url, origin) = target(url)?;
        let headers = headers_of(headers, size)?;
        let file = File::open(path).await.map_err(|source| {
            TransferError::permanent(Error::File {
                path: path.to_owned(),
                source,
            })
        })?;
        let (moved, mut moves) = watch::channel(0_u64);
        let chunks = ReaderStream::with_capacity(file, CHUNK).map(move |chunk| {
            if let Ok(bytes) = &chunk {
                moved.send_modify(|sent| *sent += bytes.len() as u64);
                progress(*moved.borrow());
            }
            chunk
        });
        let request = self.http.put(url).headers(headers).body(Body::wrap_stream(chunks));
        let answered = tokio::select! {
            answered = request.send() => answered,
            () = stalled(&mut moves, self.stall) => return Err(TransferError::stalled(origin, self.stall)),
        };
        let response = answered.map_err(|error| TransferError::network(origin.clone(), &error))?;
        taken(&response, origin)
    }

    /// Requests the bytes of a URL, once.
    pub async fn get(&self, url: &str) -> Result<Download, TransferError> {
        self.get_from(url, 0).await
    }

    /// Requests the bytes of a URL from `offset` on, once. A storage without support for ranges returns all of them:
    /// [`Download::begins_at`] tells which.
    pub async fn get_from(&self, url: &str, offset: u64) -> Result<Download, TransferError> {
        let (url, origin) = target(url)?;
        let mut request = self.http.get(url);
        if offset > 0 {
            request = request.header(RANGE, format!("bytes={offset}-"));
        }
        let answered = timeout(self.stall, request.send()).await;
        let answered = answered.map_err(|_| TransferError::stalled(origin.clone(), self.stall))?;
        let response = answered.map_err(|error| TransferError::network(origin.clone(), &error))?;
        taken(&response, origin.clone())?;
        let partial = response.status() == StatusCode::PARTIAL_CONTENT;
        Ok(Download {
            begins_at: if partial { offset } else { 0 },
            response,
            origin,
            stall: self.stall,
        })
    }

    /// Scheme, host and port of a URL, for messages: the rest may contain a signature.
    pub(crate) fn origin_of(url: &str) -> String {
        Url::parse(url).map_or_else(|_| String::new(), |url| url.origin().ascii_serialization())
    }
}

impl Download {
    /// The offset of the first byte that arrives.
    pub fn begins_at(&self) -> u64 {
        self.begins_at
    }

    /// The next bytes; `None` after the last.
    pub async fn next(&mut self) -> Result<Option<Bytes>, TransferError> {
        let chunk = timeout(self.stall, self.response.chunk()).await;
        let chunk = chunk.map_err(|_| TransferError::stalled(self.origin.clone(), self.stall))?;
        chunk.map_err(|error| TransferError::network(self.origin.clone(), &error))
    }
}

impl TransferError {
    fn permanent(error: Error) -> Self {
        Self { reason: None, error }
    }

    fn stalled(origin: String, after: Duration) -> Self {
        Self {
            reason: Some(Reason::Broken),
            error: Error::Stalled { origin, after },
        }
    }

    fn network(origin: String, error: &reqwest::Error) -> Self {
        let reason = if error.is_connect() {
            Reason::NotConnected
        } else {
            Reason::Broken
        };
        Self {
            reason: Some(reason),
            error: Error::network(origin, error),
        }
    }
}

fn target(url: &str) -> Result<(Url, String), TransferError> {
    let url = Url::parse(url)
        .map_err(|_| TransferError::permanent(Error::Invalid("the pre-signed URL is invalid".to_owned())))?;
    let origin = url.origin().ascii_serialization();
    Ok((url, origin))
}

fn taken(response: &Response, origin: String) -> Result<(), TransferError> {
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    let status = status.as_u16();
    Err(TransferError {
        reason: matches!(status, 429 | 500..=599).then_some(Reason::Unavailable),
        error: Error::Refused { origin, status },
    })
}

/// The headers that the server requires, and the length, without which the body would be sent with chunked encoding, which
/// object storage refuses.
fn headers_of(wanted: &BTreeMap<String, String>, size: u64) -> Result<HeaderMap, TransferError> {
    let mut headers = HeaderMap::new();
    for (name, value) in wanted {
        let pair = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
        let (Ok(name), Ok(value)) = pair else {
            let problem = "the upload has an invalid header".to_owned();
            return Err(TransferError::permanent(Error::Invalid(problem)));
        };
        headers.insert(name, value);
    }
    headers.insert(CONTENT_LENGTH, HeaderValue::from(size));
    Ok(headers)
}

/// Returns once nothing was sent for `limit`. After the last byte the storage has `limit` to answer.
async fn stalled(moves: &mut watch::Receiver<u64>, limit: Duration) {
    let mut all_sent = false;
    loop {
        let change = async {
            if all_sent {
                std::future::pending::<()>().await;
            }
            moves.changed().await
        };
        match timeout(limit, change).await {
            Err(_) => return,
            Ok(Ok(())) => {}
            Ok(Err(_)) => all_sent = true,
        }
    }
}
