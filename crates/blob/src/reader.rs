//! Reads an object in small pieces, one after the other, without a request to the bucket for each: a request asks for
//! much more than one piece, and its answer is read as the pieces are asked for.

use std::sync::Mutex;

use bytes::{Bytes, BytesMut};
use futures::TryStreamExt;
use futures::stream::BoxStream;

use super::{Blob, BlobError, Key};

/// How many bytes one request to the storage asks for at most. The answer stays in the connection until it is read.
const SPAN: u64 = 8 * 1024 * 1024;

/// The reader of an object.
pub struct Reader {
    blob: Blob,
    key: Key,
    size: u64,
    /// The answer of the last request, if it has more to give.
    open: Mutex<Option<Span>>,
}

/// The answer to one request.
struct Span {
    /// The offset of the next byte.
    offset: u64,
    /// The offset after the last byte.
    end: u64,
    /// The rest of the piece of the answer that was read last.
    rest: Bytes,
    answer: BoxStream<'static, Result<Bytes, BlobError>>,
}

impl Reader {
    /// The reader of `key`, which has `size` bytes. Does not call the storage yet.
    pub fn new(blob: Blob, key: Key, size: u64) -> Reader {
        Reader {
            blob,
            key,
            size,
            open: Mutex::new(None),
        }
    }

    /// The number of bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Exactly `length` bytes from `offset`. Pieces that follow each other share a request; any other order works, too.
    ///
    /// # Errors
    /// As [`Blob::read`]; [`BlobError::TooShort`] if the object has fewer bytes.
    pub async fn read(&self, offset: u64, length: usize) -> Result<Bytes, BlobError> {
        let continued = self.take().filter(|span| span.offset == offset);
        if let Some(mut span) = continued
            && length as u64 <= span.end - span.offset
        {
            // A storage may end a connection that waited too long between two pieces.
            if let Ok(piece) = span.next(length).await {
                self.keep(span);
                return Ok(piece);
            }
        }
        let count = SPAN.max(length as u64).min(self.size.saturating_sub(offset));
        let mut span = Span {
            offset,
            end: offset + count,
            rest: Bytes::new(),
            answer: self.blob.read(&self.key, offset, count).await?,
        };
        let piece = span.next(length).await?;
        self.keep(span);
        Ok(piece)
    }

    fn take(&self) -> Option<Span> {
        self.open
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take()
    }

    fn keep(&self, span: Span) {
        let kept = Some(span).filter(|span| span.offset < span.end);
        *self.open.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = kept;
    }
}

impl Span {
    /// The next `length` bytes of the answer.
    async fn next(&mut self, length: usize) -> Result<Bytes, BlobError> {
        let mut piece = BytesMut::with_capacity(length);
        while piece.len() < length {
            if self.rest.is_empty() {
                let more = self.answer.try_next().await?;
                self.rest = more.ok_or(BlobError::TooShort {
                    size: self.offset + length as u64,
                    got: self.offset + piece.len() as u64,
                })?;
                continue;
            }
            let wanted = self.rest.len().min(length - piece.len());
            piece.extend_from_slice(&self.rest.split_to(wanted));
        }
        self.offset += length as u64;
        Ok(piece.freeze())
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("key", &self.key)
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;
    use launchway_os::free_space::Floor;

    use super::*;

    async fn reader(bytes: &[u8], size: u64) -> (tempfile::TempDir, Reader) {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("source");
        std::fs::write(&source, bytes).unwrap();
        let blob = Blob::local(&folder.path().join("objects"), "http://h", [7; 32], Floor::NONE).unwrap();
        let key = Key::new("a").unwrap();
        blob.put_file(&key, &source).await.unwrap();
        (folder, Reader::new(blob, key, size))
    }

    #[tokio::test]
    async fn pieces_come_in_any_order() {
        let (_folder, reader) = reader(b"0123456789", 10).await;
        for (offset, length, piece) in [
            (0, 3, &b"012"[..]),
            (3, 3, b"345"),
            (6, 4, b"6789"),
            (0, 10, b"0123456789"),
            (5, 2, b"56"),
            (1, 2, b"12"),
            (10, 0, b""),
        ] {
            assert_eq!(reader.read(offset, length).await.unwrap(), piece, "{offset}");
        }
        // Two who read at once do not disturb each other.
        let (one, other) = tokio::join!(reader.read(0, 4), reader.read(4, 4));
        assert_eq!((one.unwrap(), other.unwrap()), ("0123".into(), "4567".into()));
    }

    #[tokio::test]
    async fn an_object_that_is_too_short_is_an_error() {
        let (_folder, reader) = reader(b"0123456789", 12).await;
        assert_eq!(reader.read(0, 8).await.unwrap(), "01234567");
        assert!(matches!(
            reader.read(8, 4).await,
            Err(BlobError::TooShort { size: 12, got: 10 })
        ));
        assert!(matches!(reader.read(20, 1).await, Err(BlobError::TooShort { .. })));
    }

    /// A storage may end a connection between two pieces.
    #[tokio::test]
    async fn an_answer_that_breaks_is_asked_for_again() {
        let (_folder, reader) = reader(b"0123456789", 10).await;
        let broken = BlobError::Interrupted("reset".to_owned());
        reader.keep(Span {
            offset: 2,
            end: 10,
            rest: Bytes::from_static(b"2"),
            answer: futures::stream::iter([Err(broken)]).boxed(),
        });
        assert_eq!(reader.read(2, 3).await.unwrap(), "234");
        assert_eq!(reader.read(5, 5).await.unwrap(), "56789");
    }
}
