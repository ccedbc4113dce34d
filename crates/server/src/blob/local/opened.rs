//! An object opened to be sent, with what HTTP needs to know of it.

use std::io::SeekFrom;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use bytes::Bytes;
use futures::Stream;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio_util::io::ReaderStream;

use super::BlobError;

/// An object opened to be sent.
#[derive(Debug)]
pub struct Opened {
    pub(super) file: File,
    /// Bytes.
    pub size: u64,
    /// A strong entity tag with its quotes. It names the file itself, not the key: files are never written in place, so
    /// when another upload replaces the object, inode and time differ.
    pub etag: String,
}

impl Opened {
    pub(super) async fn open(path: &Path) -> Result<Opened, BlobError> {
        let file = File::open(path).await.map_err(BlobError::of_key("reading an object"))?;
        let metadata = file.metadata().await.map_err(BlobError::io("reading an object"))?;
        if !metadata.is_file() {
            return Err(BlobError::NotFound);
        }
        let (inode, size) = (metadata.ino(), metadata.len());
        let etag = format!(
            "\"{inode:x}-{size:x}-{:x}-{:x}\"",
            metadata.mtime(),
            metadata.mtime_nsec()
        );
        Ok(Opened { file, size, etag })
    }

    /// The bytes from place `first` on, `count` of them, `chunk` at a time.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`] when the place cannot be reached.
    pub async fn stream(
        mut self,
        first: u64,
        count: u64,
        chunk: usize,
    ) -> Result<impl Stream<Item = std::io::Result<Bytes>> + Send + 'static, BlobError> {
        self.file
            .seek(SeekFrom::Start(first))
            .await
            .map_err(BlobError::io("reading an object"))?;
        Ok(ReaderStream::with_capacity(self.file.take(count), chunk))
    }
}
