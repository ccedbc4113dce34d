//! Sends a file to object storage by a pre-signed URL, in constant memory (contract part 3).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use launchway_api::uploads::{CreateUpload, UploadView};
use reqwest::header::{CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Body, Url};
use tokio::fs::File;
use tokio::sync::watch;
use tokio_util::io::ReaderStream;

use crate::answer::Answer;
use crate::client::Client;
use crate::error::Error;
use crate::retry::{Reason, Tries};

/// Bytes read from the file and handed to the network at a time.
const CHUNK: usize = 64 * 1024;

/// Told how many bytes have been handed to the network; starts again at 0 when the upload does.
pub type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// A file to upload.
#[derive(Clone, Copy, Debug)]
pub struct Source<'s> {
    /// Where it is.
    pub path: &'s Path,
    /// What the server is told it is called; the ending says what it is.
    pub file_name: &'s str,
    /// How many bytes it has.
    pub size: u64,
    /// Lower-case hex SHA-256 of the bytes.
    pub sha256: &'s str,
}

impl Client {
    /// Uploads a file: `POST /uploads`, then the bytes. Each try asks for a new URL, because the old one may have been
    /// used or may have ended. Gives the upload, whose id the next call names.
    pub async fn upload(&self, source: Source<'_>, progress: Progress) -> Result<UploadView, Error> {
        let size = i64::try_from(source.size).map_err(|_| Error::Invalid("the file is too large".to_owned()))?;
        let wanted = CreateUpload {
            file_name: source.file_name.to_owned(),
            size,
            sha256: source.sha256.to_owned(),
        };
        let mut tries = Tries::default();
        loop {
            let Answer { value: upload, .. } = self.create_upload(&wanted).await?;
            let Err((reason, error)) = self.put(&upload, source, Arc::clone(&progress)).await else {
                return Ok(upload);
            };
            let delay = reason.and_then(|reason| Some((tries.after(reason, None, true)?, reason)));
            let Some((delay, reason)) = delay else {
                return Err(error);
            };
            self.world.pause(delay, reason).await;
        }
    }

    async fn put(&self, upload: &UploadView, source: Source<'_>, progress: Progress) -> Result<(), PutFailure> {
        let url = Url::parse(&upload.url).map_err(|_| final_failure("the upload URL is none"))?;
        let origin = url.origin().ascii_serialization();
        let headers = headers(upload, source.size)?;
        let unreadable = |error| {
            (
                None,
                Error::File {
                    path: source.path.to_owned(),
                    source: error,
                },
            )
        };
        let file = File::open(source.path).await.map_err(unreadable)?;
        let (moved, mut moves) = watch::channel(0_u64);
        let chunks = ReaderStream::with_capacity(file, CHUNK).map(move |chunk| {
            if let Ok(bytes) = &chunk {
                moved.send_modify(|sent| *sent += bytes.len() as u64);
                progress(*moved.borrow());
            }
            chunk
        });
        let request = self
            .transport
            .uploads
            .put(url)
            .headers(headers)
            .body(Body::wrap_stream(chunks));
        let answered = tokio::select! {
            answered = request.send() => answered,
            () = stalled(&mut moves, self.timeouts.stall) => {
                return Err((Some(Reason::Broken), Error::Stalled { origin, after: self.timeouts.stall }));
            }
        };
        match answered {
            Ok(response) if response.status().is_success() => Ok(()),
            Ok(response) => {
                let status = response.status().as_u16();
                let worth_another_try = matches!(status, 429 | 500..=599);
                Err((
                    worth_another_try.then_some(Reason::Unavailable),
                    Error::Refused { origin, status },
                ))
            }
            Err(error) => {
                let reason = if error.is_connect() {
                    Reason::NotConnected
                } else {
                    Reason::Broken
                };
                Err((Some(reason), Error::network(origin, &error)))
            }
        }
    }
}

/// Why a try failed, and for what reason another may be worth it.
type PutFailure = (Option<Reason>, Error);

fn final_failure(problem: &str) -> PutFailure {
    (None, Error::Invalid(problem.to_owned()))
}

/// The headers that the server asks for, and the length, without which a stream would be sent in chunks that object
/// storage does not take.
fn headers(upload: &UploadView, size: u64) -> Result<HeaderMap, PutFailure> {
    let mut headers = HeaderMap::new();
    for (name, value) in &upload.headers {
        let pair = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
        let (Ok(name), Ok(value)) = pair else {
            return Err(final_failure("the upload names a header that is none"));
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
        match tokio::time::timeout(limit, change).await {
            Err(_) => return,
            Ok(Ok(())) => {}
            Ok(Err(_)) => all_sent = true,
        }
    }
}
