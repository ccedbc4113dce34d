//! The log of a build: what steps print and the runner says goes, masked, into a file, and from there to the server. The
//! file is the buffer: memory stays the same however long the log is, and nothing is lost while the server is away.

mod sending;
mod spool;

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use launchway_domain::masking::Masker;
use tokio::sync::{mpsc, watch};

pub use sending::{Sending, send};

/// Chunks that wait for the writer; a step that prints faster waits.
const WAITING: usize = 16;

/// Writes into a build's log. Cheap to clone; the log ends when the last one is dropped.
#[derive(Clone)]
pub struct LogWriter {
    chunks: mpsc::Sender<Bytes>,
}

/// A log that is being written.
pub struct Log {
    /// Where to write.
    pub writer: LogWriter,
    /// How many bytes the file has; it closes when the log has ended.
    pub written: watch::Receiver<u64>,
}

impl Log {
    /// Begins a log, or goes on with one that is there, in the file `path`. Secrets that `masker` knows do not get in; after
    /// `most_bytes` it says so and takes no more.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path, masker: Arc<Masker>, most_bytes: u64) -> std::io::Result<Log> {
        let (chunks, waiting) = mpsc::channel(WAITING);
        let spool = spool::Spool::open(path, most_bytes)?;
        let (told, written) = watch::channel(spool.size());
        tokio::task::spawn_blocking(move || spool.fill(&masker, waiting, &told));
        Ok(Log {
            writer: LogWriter { chunks },
            written,
        })
    }
}

impl LogWriter {
    /// Adds what a step printed. Waits while the disk is slower than the step.
    pub async fn print(&self, bytes: Bytes) {
        // It ends early only with the runtime.
        let _ = self.chunks.send(bytes).await;
    }

    /// Adds a line of the runner's own.
    pub async fn say(&self, line: &str) {
        self.print(Bytes::from(format!("==> {line}\n"))).await;
    }
}
