//! Writes the pieces of an upload on a blocking thread. What arrives meanwhile is written together: each time costs a change of
//! threads.

use std::fmt;
use std::fs::File;
use std::io::{self, IoSlice, Write};

use bytes::Bytes;
use futures::{Stream, StreamExt};
use tokio::task::{JoinHandle, spawn_blocking};

use super::BlobError;

/// The number of bytes that wait while others are written, not counting the last piece. Then the upload waits, too.
const MOST: usize = 256 << 10;
/// The number of pieces that are written at a time. The system accepts up to 1,024.
const PIECES: usize = 64;

/// Writes `body`, which must have exactly `size` bytes, to `file`.
pub(super) async fn write_exactly<S, E>(file: File, size: u64, body: S) -> Result<(), BlobError>
where
    S: Stream<Item = Result<Bytes, E>>,
    E: fmt::Display,
{
    let mut body = std::pin::pin!(body);
    let mut writer = Writer::new(file);
    let mut got = 0u64;
    while let Some(bytes) = body.next().await {
        let bytes = bytes.map_err(|error| BlobError::Interrupted(error.to_string()))?;
        got += bytes.len() as u64;
        if got > size {
            return Err(BlobError::TooLarge { limit: size });
        }
        writer.push(bytes).await.map_err(BlobError::io("writing an upload"))?;
    }
    writer.finish().await.map_err(BlobError::io("writing an upload"))?;
    if got < size {
        Err(BlobError::TooShort { size, got })
    } else {
        Ok(())
    }
}

/// A file that is written behind the caller's back.
struct Writer {
    writing: JoinHandle<io::Result<File>>,
    waiting: Vec<Bytes>,
    waiting_size: usize,
}

impl Writer {
    fn new(file: File) -> Writer {
        Writer {
            writing: spawn_blocking(|| Ok(file)),
            waiting: Vec::new(),
            waiting_size: 0,
        }
    }

    /// Takes a piece. An error may be that of an earlier one.
    async fn push(&mut self, piece: Bytes) -> io::Result<()> {
        self.waiting_size += piece.len();
        self.waiting.push(piece);
        if self.writing.is_finished() || self.waiting_size >= MOST || self.waiting.len() >= PIECES {
            self.write_waiting().await?;
        }
        Ok(())
    }

    /// Begins to write what waits once the last write has ended.
    async fn write_waiting(&mut self) -> io::Result<()> {
        let file = (&mut self.writing).await??;
        let pieces = std::mem::take(&mut self.waiting);
        self.waiting_size = 0;
        self.writing = spawn_blocking(move || write_all(file, &pieces));
        Ok(())
    }

    /// Writes the rest.
    async fn finish(mut self) -> io::Result<()> {
        self.write_waiting().await?;
        self.writing.await??;
        Ok(())
    }
}

fn write_all(mut file: File, pieces: &[Bytes]) -> io::Result<File> {
    let mut slices: Vec<IoSlice<'_>> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
    let mut left = slices.as_mut_slice();
    // Skips empty pieces: a write of nothing would look like a full disk.
    IoSlice::advance_slices(&mut left, 0);
    while !left.is_empty() {
        match file.write_vectored(left) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut left, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::stream;
    use proptest::prelude::*;

    use super::*;

    fn written(pieces: Vec<Vec<u8>>) -> Vec<u8> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let size = pieces.iter().map(Vec::len).sum::<usize>() as u64;
        let body = stream::iter(pieces.into_iter().map(|piece| Ok::<_, Infallible>(piece.into())));
        let file = File::create(&path).unwrap();
        runtime.block_on(write_exactly(file, size, body)).unwrap();
        std::fs::read(path).unwrap()
    }

    #[test]
    fn many_small_and_large_pieces_keep_their_order() {
        let small = (0..1_000u32).map(|number| number.to_le_bytes().to_vec());
        let large = (0..5u8).map(|number| vec![number; MOST - 1]);
        let pieces: Vec<Vec<u8>> = small.chain(large).chain([Vec::new()]).collect();
        assert!(written(pieces.clone()) == pieces.concat());
    }

    #[tokio::test]
    async fn a_full_disk_is_said_to_be_full() {
        let full = || File::options().write(true).open("/dev/full").unwrap();
        for pieces in [1, 3, 1_000] {
            let body = stream::iter((0..pieces).map(|_| Ok::<_, Infallible>(Bytes::from_static(b"hello"))));
            let written = write_exactly(full(), 5 * pieces, body).await;
            assert!(matches!(written, Err(BlobError::Full)), "{written:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_of_any_size_are_written_whole(sizes in prop::collection::vec(0usize..40_000, 0..100)) {
            let pieces: Vec<Vec<u8>> = sizes.iter().enumerate().map(|(number, size)| vec![number as u8; *size]).collect();
            prop_assert!(written(pieces.clone()) == pieces.concat());
        }
    }
}
