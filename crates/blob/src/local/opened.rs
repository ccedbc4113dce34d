//! An open object, with the metadata that HTTP needs.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures::Stream;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio_util::io::ReaderStream;

use super::{BlobError, blocking};

const DOING: &str = "reading an object";

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
    pub(super) async fn open(path: PathBuf) -> Result<Opened, BlobError> {
        let (file, metadata) = blocking(DOING, move || open(&path)).await?;
        let file = File::from_std(file);
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
            .map_err(BlobError::io(DOING))?;
        Ok(ReaderStream::with_capacity(self.file.take(count), chunk))
    }
}

/// Opens an object that is a file.
fn open(path: &Path) -> Result<(fs::File, fs::Metadata), BlobError> {
    let file = fs::File::open(path).map_err(BlobError::of_key(DOING))?;
    let metadata = file.metadata().map_err(BlobError::io(DOING))?;
    match metadata.is_file() {
        true => Ok((file, metadata)),
        false => Err(BlobError::NotFound),
    }
}

/// Opens an object at an offset.
pub(super) fn open_at(path: &Path, first: u64) -> Result<fs::File, BlobError> {
    let (mut file, _) = open(path)?;
    file.seek(SeekFrom::Start(first)).map_err(BlobError::io(DOING))?;
    Ok(file)
}

/// Reads a range of an object, up to its end.
pub(super) fn read_range(path: &Path, first: u64, count: u64) -> Result<Bytes, BlobError> {
    let mut bytes = Vec::with_capacity(count as usize);
    let mut range = open_at(path, first)?.take(count);
    range.read_to_end(&mut bytes).map_err(BlobError::io(DOING))?;
    Ok(bytes.into())
}
