//! Sends a log file to the server by offset. The server answers with the offset to continue at, so overlaps are
//! harmless and gaps are filled.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tracing::warn;

use crate::protocol::{BuildCalls, CallError};

/// The maximum number of bytes in a request.
const CHUNK: u64 = 256 << 10;
/// How long bytes are collected before they are sent.
const COLLECT: Duration = Duration::from_millis(200);
/// After this many answers without progress, the sender pauses longer.
const STUCK: u32 = 3;

/// What to send, and where.
pub struct Sending {
    /// The API calls of the build.
    pub calls: BuildCalls,
    /// The path of the log file.
    pub path: PathBuf,
    /// The offset in the build's log at which the file begins.
    pub base: u64,
    /// The length of the file in bytes; closed when it is complete.
    pub written: watch::Receiver<u64>,
}

/// Why a log was not sent completely.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The server refuses the log.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The file cannot be read.
    #[error("cannot read the log: {0}")]
    File(#[from] io::Error),
}

/// Sends until the log has ended and the server has all of it. Returns the size of the build's log. Calls `canceled`
/// when the server wants the build stopped.
///
/// # Errors
/// The runner is fenced off, or the file cannot be read.
pub async fn send(mut sending: Sending, canceled: impl Fn()) -> Result<u64, SendError> {
    let mut offset = sending.base;
    let mut stuck = 0;
    loop {
        let open = sending.written.has_changed().is_ok();
        let end = sending.base + *sending.written.borrow_and_update();
        if offset >= end {
            if !open {
                return Ok(end);
            }
            // An error only means that the log has ended: the next iteration reads the rest.
            let _ = sending.written.changed().await;
            if sending.written.has_changed().is_ok() && *sending.written.borrow() < CHUNK + offset - sending.base {
                sending.calls.server().machine().pause(COLLECT).await;
            }
            continue;
        }
        let chunk = read(sending.path.clone(), offset - sending.base, (end - offset).min(CHUNK)).await?;
        let going = sending.calls.append_log(offset, chunk).await?;
        if going.cancel {
            canceled();
        }
        let next = going.log_offset.clamp(sending.base, end);
        stuck = if next > offset { 0 } else { stuck + 1 };
        if going.log_offset != next || stuck == STUCK {
            let (build, said) = (sending.calls.build_id(), going.log_offset);
            warn!(build, offset, said, "the server returned an impossible log offset");
        }
        if stuck >= STUCK {
            sending.calls.server().machine().pause(COLLECT * 10).await;
        }
        offset = next;
    }
}

async fn read(path: PathBuf, from: u64, count: u64) -> io::Result<Bytes> {
    let read = spawn_blocking(move || {
        let mut file = std::fs::File::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(count).read_to_end(&mut bytes)?;
        match bytes.is_empty() {
            true => Err(io::ErrorKind::UnexpectedEof.into()),
            false => Ok(Bytes::from(bytes)),
        }
    });
    read.await.map_err(io::Error::other)?
}
