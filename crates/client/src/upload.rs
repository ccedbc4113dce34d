//! Sends a file to object storage by a pre-signed URL, in constant memory.

use std::path::Path;
use std::sync::Arc;

use launchway_api::uploads::{CreateUpload, UploadView};

use crate::answer::Answer;
use crate::client::Client;
use crate::error::Error;
use crate::retry::Tries;
use crate::storage::{Broken, Storage};

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
        let storage = Storage::of(&self.transport, &self.timeouts);
        let mut tries = Tries::default();
        loop {
            let Answer { value: upload, .. } = self.create_upload(&wanted).await?;
            let sent = storage.put(
                &upload.url,
                &upload.headers,
                source.path,
                source.size,
                Arc::clone(&progress),
            );
            let Err(Broken { reason, error }) = sent.await else {
                return Ok(upload);
            };
            let delay = reason.and_then(|reason| Some((tries.after(reason, None, true)?, reason)));
            let Some((delay, reason)) = delay else {
                return Err(error);
            };
            self.environment.pause(delay, reason).await;
        }
    }
}
