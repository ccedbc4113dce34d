//! Streams an object to a file in constant memory while counting and hashing it.

use std::fmt;

use bytes::Bytes;
use futures::{Stream, StreamExt};
use sha2::{Digest, Sha256};
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

use super::BlobError;

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
