//! The log of a build. The output of steps and the runner's own lines are masked and written to a file, which is sent
//! to the server. The file is the buffer: memory use does not depend on the length of the log, and nothing is lost
//! while the server is unavailable.

mod sending;
mod spool;

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use launchway_domain::masking::Masker;
use tokio::sync::{mpsc, watch};

pub use sending::{Sending, send};

/// The capacity of the queue in front of the writer; a step that prints faster is blocked.
const QUEUE_CAPACITY: usize = 16;

/// Writes to the log of a build. Cheap to clone; the log ends when the last clone is dropped.
#[derive(Clone)]
pub struct LogWriter {
    chunks: mpsc::Sender<Bytes>,
}

/// A log that is being written.
pub struct Log {
    /// The writer.
    pub writer: LogWriter,
    /// The length of the file in bytes; closed when the log has ended.
    pub written: watch::Receiver<u64>,
}

impl Log {
    /// Creates the log file `path`, or continues an existing one. `masker` removes secrets. After `most_bytes` the log
    /// ends with a message.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path, masker: Arc<Masker>, most_bytes: u64) -> std::io::Result<Log> {
        let (chunks, waiting) = mpsc::channel(QUEUE_CAPACITY);
        let spool = spool::Spool::open(path, most_bytes)?;
        let (size_sender, written) = watch::channel(spool.size());
        tokio::task::spawn_blocking(move || spool.fill(&masker, waiting, &size_sender));
        Ok(Log {
            writer: LogWriter { chunks },
            written,
        })
    }
}

impl LogWriter {
    /// Logs output of a step. Waits while the disk is slower than the step.
    pub async fn print(&self, bytes: Bytes) {
        // The receiver is dropped early only when the runtime shuts down.
        let _ = self.chunks.send(bytes).await;
    }

    /// Logs a line of the runner.
    pub async fn say(&self, line: &str) {
        self.print(Bytes::from(format!("==> {line}\n"))).await;
    }
}
