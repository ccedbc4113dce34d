//! An open object, with the metadata that HTTP needs.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures::{Stream, stream};
use tokio::task::spawn_blocking;

use super::{BlobError, blocking};

const DOING: &str = "reading an object";

/// An object that is open for reading.
#[derive(Debug)]
pub struct Opened {
    pub(super) file: fs::File,
    /// The size in bytes.
    pub size: u64,
    /// A strong entity tag, quotes included. It identifies the file rather than the key: files are never modified in
    /// place, so an upload that replaces the object has another inode and time.
    pub etag: String,
}

impl Opened {
    pub(super) async fn open(path: PathBuf) -> Result<Opened, BlobError> {
        let (file, metadata) = blocking(DOING, move || open(&path)).await?;
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
    pub fn stream(
        mut self,
        first: u64,
        count: u64,
        chunk: usize,
    ) -> Result<impl Stream<Item = io::Result<Bytes>> + Send + 'static, BlobError> {
        // It does not read, so it does not block.
        self.file.seek(SeekFrom::Start(first)).map_err(BlobError::io(DOING))?;
        Ok(chunks(self.file, count, chunk))
    }
}

/// Streams `count` bytes from the position of `file`, or as many as there are, in chunks of `chunk` bytes. Each is read on a blocking
/// thread into memory of its own.
pub(super) fn chunks(
    file: fs::File,
    count: u64,
    chunk: usize,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    stream::try_unfold((file, count), move |(file, left)| async move {
        if left == 0 {
            return Ok(None);
        }
        let wanted = left.min(chunk as u64);
        let (file, bytes) = spawn_blocking(move || read_chunk(file, wanted)).await??;
        let left = left - bytes.len() as u64;
        // A file that is shorter ends the stream.
        Ok(Some((bytes, (file, left))).filter(|(bytes, _)| !bytes.is_empty()))
    })
}

/// Reads at most `wanted` bytes from the position of `file`; fewer at its end.
fn read_chunk(mut file: fs::File, wanted: u64) -> io::Result<(fs::File, Bytes)> {
    let mut bytes = Vec::with_capacity(wanted as usize);
    (&mut file).take(wanted).read_to_end(&mut bytes)?;
    Ok((file, bytes.into()))
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
    let (_, bytes) = read_chunk(open_at(path, first)?, count).map_err(BlobError::io(DOING))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use futures::{StreamExt, TryStreamExt};

    use super::*;

    async fn streamed(size: usize, first: u64, count: u64, chunk: usize) -> Vec<Bytes> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("object");
        let bytes: Vec<u8> = (0..size).map(|place| place as u8).collect();
        fs::write(&path, bytes).unwrap();
        let opened = Opened::open(path).await.unwrap();
        let chunks = opened.stream(first, count, chunk).unwrap();
        chunks.try_collect().await.unwrap()
    }

    #[tokio::test]
    async fn a_file_is_streamed_in_chunks() {
        for (size, first, count, chunk, expected) in [
            (0, 0, 0, 4, vec![]),
            (0, 0, 5, 4, vec![]),
            (9, 0, 0, 4, vec![]),
            (9, 0, 9, 4, vec![&[0, 1, 2, 3][..], &[4, 5, 6, 7], &[8]]),
            (9, 0, 8, 4, vec![&[0, 1, 2, 3], &[4, 5, 6, 7]]),
            (9, 2, 5, 4, vec![&[2, 3, 4, 5], &[6]]),
            (9, 2, 5, 16, vec![&[2, 3, 4, 5, 6]]),
            // A shorter file ends the stream.
            (9, 2, 20, 4, vec![&[2, 3, 4, 5], &[6, 7, 8]]),
            (9, 9, 20, 4, vec![]),
        ] {
            let case = format!("{count} from {first} of {size}");
            assert_eq!(streamed(size, first, count, chunk).await, expected, "{case}");
        }
    }

    #[tokio::test]
    async fn a_failed_read_ends_the_stream() {
        let folder = tempfile::tempdir().unwrap();
        let handle = fs::File::open(folder.path()).unwrap();
        let all: Vec<_> = chunks(handle, 9, 4).collect().await;
        assert!(
            matches!(&all[..], [Err(error)] if error.kind() == io::ErrorKind::IsADirectory),
            "{all:?}"
        );
    }
}
