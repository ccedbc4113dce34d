//! Fetches the source of a build: an archive from its pre-signed URL, or a git repository.
//!
//! A source is untrusted: no entry of an archive and no link leads out of it.

pub mod archive;
pub mod git;
mod links;
mod names;
mod tarball;
mod zip_end;
mod zipped;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use launchway_client::Storage;
use sha2::{Digest, Sha256};

use crate::machine::Machine;
use crate::protocol::Backoff;

pub use links::check as check_links;

/// How many times the download of an archive is tried.
const TRIES: u32 = 6;

/// Why a source could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// An entry of the archive is not allowed.
    #[error("the source is not allowed: {entry} {problem}")]
    Entry {
        /// The name of the entry, printable.
        entry: String,
        /// What is wrong with the entry, phrased as the end of a sentence.
        problem: String,
    },
    /// The source is invalid, or not the announced one.
    #[error("cannot use the source: {0}")]
    Invalid(String),
    /// The source cannot be downloaded now, through no fault of its own.
    #[error("cannot fetch the source: {0}")]
    Unavailable(String),
    /// An I/O error of the runner.
    #[error("cannot unpack the source: {0}")]
    Runner(#[from] std::io::Error),
}

impl SourceError {
    /// An error about an entry, whatever bytes its name has.
    fn entry(name: &[u8], problem: impl Into<String>) -> Self {
        let name: String = String::from_utf8_lossy(name).chars().take(200).collect();
        SourceError::Entry {
            entry: format!("{name:?}"),
            problem: problem.into(),
        }
    }
}

/// Downloads `size` bytes from a URL into a new file and verifies their `sha256`. A broken connection is retried a few
/// times.
///
/// # Errors
/// The download fails, or the bytes are others.
pub async fn download(
    storage: &Storage,
    machine: &dyn Machine,
    url: &str,
    to: &Path,
    size: u64,
    sha256: &str,
) -> Result<(), SourceError> {
    let mut backoff = Backoff::default();
    loop {
        let problem = match download_once(storage, url, to, size, sha256).await {
            Err(Fetch::Again(problem)) => problem,
            Err(Fetch::Over(error)) => return Err(error),
            Ok(()) => return Ok(()),
        };
        let delay = backoff.after(None, machine.random());
        if backoff.failures() >= TRIES {
            return Err(SourceError::Unavailable(problem));
        }
        machine.pause(delay).await;
    }
}

enum Fetch {
    Again(String),
    Over(SourceError),
}

async fn download_once(storage: &Storage, url: &str, to: &Path, size: u64, sha256: &str) -> Result<(), Fetch> {
    let broken = |broken: launchway_client::TransferError| match broken.reason {
        Some(_) => Fetch::Again(broken.error.to_string()),
        None => Fetch::Over(SourceError::Unavailable(broken.error.to_string())),
    };
    let runner = |error| Fetch::Over(SourceError::Runner(error));
    let mut download = storage.get(url).await.map_err(broken)?;
    let mut file = File::create(to).map_err(runner)?;
    let (mut hash, mut count) = (Sha256::new(), 0_u64);
    while let Some(chunk) = download.next().await.map_err(broken)? {
        count += chunk.len() as u64;
        if count > size {
            break;
        }
        hash.update(&chunk);
        // A chunk is small, and the page cache absorbs it.
        file.write_all(&chunk).map_err(runner)?;
    }
    if count < size {
        return Err(Fetch::Again(format!("received {count} of {size} bytes")));
    }
    if count > size || hex::encode(hash.finalize()) != sha256 {
        let problem = "its bytes differ from the upload".to_owned();
        return Err(Fetch::Over(SourceError::Invalid(problem)));
    }
    Ok(())
}
