//! Reads whole objects in constant memory while counting and hashing them.

use std::fmt;
use std::io::{self, Read};

use bytes::Bytes;
use futures::{Stream, StreamExt};
use sha2::{Digest, Sha256};
use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use tokio::task::spawn_blocking;

use super::BlobError;

/// How much is hashed between two chances to stop, because nobody waits any more.
const TURN: u64 = 8 << 20;
/// Read size in bytes.
const CHUNK: usize = 128 << 10;

/// The result of a fetch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fetched {
    /// The number of bytes.
    pub size: u64,
    /// Their SHA-256.
    pub sha256: [u8; 32],
}

impl fmt::Debug for Fetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes, SHA-256 {}", self.size, hex::encode(self.sha256))
    }
}

/// Writes `body` to `file` and flushes it. After an error, `file` may hold a part of it.
pub(crate) async fn to_file<S>(mut body: S, file: &mut File, limit: u64) -> Result<Fetched, BlobError>
where
    S: Stream<Item = Result<Bytes, BlobError>> + Unpin,
{
    let (mut size, mut hash) = (0u64, Sha256::new());
    while let Some(bytes) = body.next().await {
        let bytes = bytes?;
        size += bytes.len() as u64;
        if size > limit {
            return Err(BlobError::TooLarge { limit });
        }
        hash.update(&bytes);
        file.write_all(&bytes)
            .await
            .map_err(BlobError::io("writing a fetched object"))?;
    }
    file.flush().await.map_err(BlobError::io("writing a fetched object"))?;
    Ok(Fetched {
        size,
        sha256: hash.finalize().into(),
    })
}

/// Reads `file` from its current position to its end, on threads that serve no requests.
pub(crate) async fn measure(mut file: std::fs::File) -> io::Result<(std::fs::File, Fetched)> {
    let (mut size, mut hash, mut buffer) = (0, Sha256::new(), vec![0; CHUNK]);
    loop {
        let turn = move || {
            let count = hash_some(&mut file, &mut hash, &mut buffer)?;
            Ok::<_, io::Error>((count, file, hash, buffer))
        };
        let count;
        (count, file, hash, buffer) = spawn_blocking(turn).await??;
        size += count;
        if count < TURN {
            let sha256 = hash.finalize().into();
            return Ok((file, Fetched { size, sha256 }));
        }
    }
}

/// Hashes at most [`TURN`] bytes; fewer at the end of the file.
fn hash_some(file: &mut std::fs::File, hash: &mut Sha256, buffer: &mut [u8]) -> io::Result<u64> {
    let (mut turn, mut count) = (file.take(TURN), 0);
    loop {
        match turn.read(buffer) {
            Ok(0) => return Ok(count),
            Ok(read) => {
                hash.update(&buffer[..read]);
                count += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_of_several_turns_is_hashed_whole() {
        for size in [0, 1, TURN - 1, TURN, TURN + 1, 2 * TURN] {
            let bytes: Vec<u8> = (0..size).map(|place| (place % 251) as u8).collect();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("object");
            std::fs::write(&path, &bytes).unwrap();
            let (_, measured) = measure(std::fs::File::open(&path).unwrap()).await.unwrap();
            assert_eq!(measured.size, size);
            assert_eq!(measured.sha256, <[u8; 32]>::from(Sha256::digest(&bytes)));
        }
    }
}
