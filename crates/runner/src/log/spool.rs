//! The file of a log: masked, bounded and append-only.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use bytes::Bytes;
use launchway_domain::masking::Masker;
use tokio::sync::{mpsc, watch};
use tracing::warn;

/// The file of a log.
pub(super) struct Spool {
    file: File,
    size: u64,
    most: u64,
    /// Whether the limit is reached.
    full: bool,
}

impl Spool {
    pub(super) fn open(path: &Path, most: u64) -> io::Result<Spool> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        let size = file.metadata()?.len();
        Ok(Spool {
            file,
            size,
            most,
            full: size >= most,
        })
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Writes chunks until all senders are dropped, and publishes the length of the file after each.
    pub(super) fn fill(mut self, masker: &Masker, mut chunks: mpsc::Receiver<Bytes>, size_sender: &watch::Sender<u64>) {
        let mut masking = masker.begin();
        let mut masked = Vec::new();
        while let Some(chunk) = chunks.blocking_recv() {
            masked.clear();
            masking.push(&chunk, &mut masked);
            self.add(&masked, size_sender);
        }
        masked.clear();
        masking.finish(&mut masked);
        self.add(&masked, size_sender);
        // The log should survive a power failure like the journal's record of it, if the disk allows.
        let _ = self.file.sync_all();
    }

    fn add(&mut self, bytes: &[u8], size_sender: &watch::Sender<u64>) {
        if self.full || bytes.is_empty() {
            return;
        }
        let room = usize::try_from(self.most - self.size).unwrap_or(usize::MAX);
        let mut written = self.write(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room {
            self.full = true;
            let line = format!(
                "\n==> The log reached its limit of {} bytes; the rest is omitted\n",
                self.most
            );
            written = written.and_then(|()| self.write(line.as_bytes()));
        }
        if let Err(error) = written {
            // A full disk stops the build anyway; its log ends here.
            warn!(%error, "cannot write the log of a build");
            self.full = true;
        }
        size_sender.send_replace(self.size);
    }

    /// Counts the bytes that are in the file, also when an error interrupts a write.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.size += count as u64;
                    rest = &rest[count..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
