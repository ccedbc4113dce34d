//! An open object, with the metadata that HTTP needs.

use std::io::SeekFrom;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use bytes::Bytes;
use futures::Stream;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio_util::io::ReaderStream;

use super::BlobError;

/// An object that is open for reading.
#[derive(Debug)]
pub struct Opened {
    pub(super) file: File,
    /// The size in bytes.
    pub size: u64,
    /// A strong entity tag, quotes included. It identifies the file rather than the key: files are never modified in
    /// place, so an upload that replaces the object has another inode and time.
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

    /// Streams `count` bytes from offset `first`, in chunks of `chunk` bytes.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`] if the offset cannot be reached.
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
