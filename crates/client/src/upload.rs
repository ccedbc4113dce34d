//! Uploads a file to object storage by a pre-signed URL, in constant memory.

use std::path::Path;
use std::sync::Arc;

use launchway_api::uploads::{CreateUpload, UploadView};

use crate::answer::Answer;
use crate::client::Client;
use crate::error::Error;
use crate::retry::Tries;
use crate::storage::{Progress, Storage, TransferError};

/// A file to upload.
#[derive(Clone, Copy, Debug)]
pub struct Source<'s> {
    /// Its path.
    pub path: &'s Path,
    /// Its name for the server; the extension determines the type.
    pub file_name: &'s str,
    /// Its size in bytes.
    pub size: u64,
    /// Lower-case hex SHA-256 of the bytes.
    pub sha256: &'s str,
}

impl Client {
    /// Uploads a file: `POST /uploads`, then the bytes. Each attempt requests a new URL, because the old one may be used or
    /// expired. Returns the upload, whose id the next call names.
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
            let Err(TransferError { reason, error }) = sent.await else {
                return Ok(upload);
            };
            let delay = reason.and_then(|reason| Some((tries.next_delay(reason, None, true)?, reason)));
            let Some((delay, reason)) = delay else {
                return Err(error);
            };
            self.environment.pause(delay, reason).await;
        }
    }
}
