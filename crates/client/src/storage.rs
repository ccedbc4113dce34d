//! Moves files in and out of object storage by pre-signed URLs, in constant memory.

use std::collections::BTreeMap;
use std::path::Path;
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
use crate::client::Timeouts;
use crate::error::Error;
use crate::retry::Reason;
use crate::transport::Transport;
use crate::upload::Progress;

/// Bytes read from the file and handed to the network at a time.
const CHUNK: usize = 64 * 1024;

/// Object storage, wherever the URLs point. It shows nobody's key. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Storage {
    http: reqwest::Client,
    stall: Duration,
}

/// A transfer that failed.
#[derive(Debug)]
pub struct Broken {
    /// For what reason another try may be worth it; `None` when it is not.
    pub reason: Option<Reason>,
    /// What happened.
    pub error: Error,
}

/// A file on its way here.
#[derive(Debug)]
pub struct Download {
    begins_at: u64,
    response: Response,
    origin: String,
    stall: Duration,
}

impl Storage {
    /// For URLs that the server at `base` gives. Fails when the machine's TLS certificates cannot be read.
    pub fn new(base: &BaseUrl, timeouts: &Timeouts) -> Result<Self, Error> {
        Ok(Self::of(&Transport::new(base, timeouts)?, timeouts))
    }

    pub(crate) fn of(transport: &Transport, timeouts: &Timeouts) -> Self {
        Self {
            http: transport.uploads.clone(),
            stall: timeouts.stall,
        }
    }

    /// Sends the `size` bytes of a file to a URL with these headers, once. `progress` is told how many bytes are gone.
    pub async fn put(
        &self,
        url: &str,
        headers: &BTreeMap<String, String>,
        path: &Path,
        size: u64,
        progress: Progress,
    ) -> Result<(), Broken> {
        let (url, origin) = target(url)?;
        let headers = headers_of(headers, size)?;
        let file = File::open(path).await.map_err(|source| {
            Broken::for_good(Error::File {
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
            () = stalled(&mut moves, self.stall) => return Err(Broken::stalled(origin, self.stall)),
        };
        let response = answered.map_err(|error| Broken::network(origin.clone(), &error))?;
        taken(&response, origin)
    }

    /// Asks for the bytes behind a URL, once.
    pub async fn get(&self, url: &str) -> Result<Download, Broken> {
        self.get_from(url, 0).await
    }

    /// Asks for the bytes behind a URL from `offset` on, once. A storage that cannot do that gives all of them:
    /// [`Download::begins_at`] says so.
    pub async fn get_from(&self, url: &str, offset: u64) -> Result<Download, Broken> {
        let (url, origin) = target(url)?;
        let mut request = self.http.get(url);
        if offset > 0 {
            request = request.header(RANGE, format!("bytes={offset}-"));
        }
        let answered = timeout(self.stall, request.send()).await;
        let answered = answered.map_err(|_| Broken::stalled(origin.clone(), self.stall))?;
        let response = answered.map_err(|error| Broken::network(origin.clone(), &error))?;
        taken(&response, origin.clone())?;
        let partial = response.status() == StatusCode::PARTIAL_CONTENT;
        Ok(Download {
            begins_at: if partial { offset } else { 0 },
            response,
            origin,
            stall: self.stall,
        })
    }

    /// Scheme, host and port of a URL, for messages: the rest may hold a signature.
    pub(crate) fn origin_of(url: &str) -> String {
        Url::parse(url).map_or_else(|_| String::new(), |url| url.origin().ascii_serialization())
    }
}

impl Download {
    /// How many bytes come before the first that comes.
    pub fn begins_at(&self) -> u64 {
        self.begins_at
    }

    /// The next bytes; `None` after the last.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Broken> {
        let chunk = timeout(self.stall, self.response.chunk()).await;
        let chunk = chunk.map_err(|_| Broken::stalled(self.origin.clone(), self.stall))?;
        chunk.map_err(|error| Broken::network(self.origin.clone(), &error))
    }
}

impl Broken {
    fn for_good(error: Error) -> Self {
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

fn target(url: &str) -> Result<(Url, String), Broken> {
    let url = Url::parse(url).map_err(|_| Broken::for_good(Error::Invalid("the pre-signed URL is none".to_owned())))?;
    let origin = url.origin().ascii_serialization();
    Ok((url, origin))
}

fn taken(response: &Response, origin: String) -> Result<(), Broken> {
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    let status = status.as_u16();
    Err(Broken {
        reason: matches!(status, 429 | 500..=599).then_some(Reason::Unavailable),
        error: Error::Refused { origin, status },
    })
}

/// The headers that the server asks for, and the length, without which a stream would be sent in chunks that object
/// storage does not take.
fn headers_of(wanted: &BTreeMap<String, String>, size: u64) -> Result<HeaderMap, Broken> {
    let mut headers = HeaderMap::new();
    for (name, value) in wanted {
        let pair = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
        let (Ok(name), Ok(value)) = pair else {
            let problem = "the upload names a header that is none".to_owned();
            return Err(Broken::for_good(Error::Invalid(problem)));
        };
        headers.insert(name, value);
    }
    headers.insert(CONTENT_LENGTH, HeaderValue::from(size));
    Ok(headers)
}

/// Ends when nothing was sent for `limit`. After the last byte the storage has `limit` to answer.
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
