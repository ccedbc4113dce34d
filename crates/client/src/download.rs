//! Downloads an artifact of a build, or the package of an update, in constant memory: bytes survive a broken connection or an
//! interrupted command, and the file receives its name only after its SHA-256 is verified.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use launchway_api::builds::ArtifactView;
use launchway_api::updates::UpdateView;
use sha2::{Digest, Sha256};

use crate::client::Client;
use crate::error::Error;
use crate::retry::{Reason, Tries};
use crate::storage::{Progress, Storage, TransferError};

const CHUNK: usize = 256 << 10;

impl Client {
    /// Downloads an artifact of a build to the file `to`, which is replaced. Each attempt requests a new URL, and resumes
    /// after the bytes of earlier attempts, also those of an earlier command. `progress` receives the number of bytes
    /// present.
    ///
    /// # Errors
    /// The build has no such artifact, its bytes are not available, or `to` cannot be written.
    pub async fn download_artifact(
        &self,
        build_id: &str,
        artifact_id: &str,
        to: &Path,
        progress: Progress,
    ) -> Result<ArtifactView, Error> {
        let storage = Storage::of(&self.transport, &self.timeouts);
        let mut tries = Tries::default();
        loop {
            let build = self.build(build_id).await?.value;
            let artifact = build
                .artifacts
                .into_iter()
                .find(|artifact| artifact.id == artifact_id)
                .ok_or_else(|| Error::Invalid(format!("{build_id} has no artifact {artifact_id}")))?;
            let remote = Remote {
                name: &artifact.name,
                url: &artifact.url,
                size: u64::try_from(artifact.size).unwrap_or(0),
                sha256: &artifact.sha256,
            };
            match fetch(&storage, &remote, to, &progress).await {
                Ok(()) => return Ok(artifact),
                Err(failed) => self.pause_after(failed, &mut tries).await?,
            }
        }
    }

    /// Downloads the package of an update, also of one that is not published, to the file `to`, which is replaced. It has
    /// the size and SHA-256 that `update` says, or is refused.
    ///
    /// # Errors
    /// The update does not exist, its bytes are not available, or `to` cannot be written.
    pub async fn download_package(&self, update: &UpdateView, to: &Path, progress: Progress) -> Result<(), Error> {
        let storage = Storage::of(&self.transport, &self.timeouts);
        let mut tries = Tries::default();
        loop {
            let url = self.update_package_url(&update.id).await?;
            let remote = Remote {
                name: &update.id,
                url: &url,
                size: u64::try_from(update.size).unwrap_or(0),
                sha256: &update.sha256,
            };
            match fetch(&storage, &remote, to, &progress).await {
                Ok(()) => return Ok(()),
                Err(failed) => self.pause_after(failed, &mut tries).await?,
            }
        }
    }

    /// Waits before another attempt, or returns the error if there is none.
    async fn pause_after(&self, failed: TransferError, tries: &mut Tries) -> Result<(), Error> {
        let TransferError { reason, error } = failed;
        let delay = reason.and_then(|reason| Some((tries.next_delay(reason, None, true)?, reason)));
        let Some((delay, reason)) = delay else {
            return Err(error);
        };
        self.environment.pause(delay, reason).await;
        Ok(())
    }
}

/// A file in object storage.
struct Remote<'r> {
    name: &'r str,
    url: &'r str,
    size: u64,
    sha256: &'r str,
}

/// The part of a file downloaded so far.
struct Part {
    path: PathBuf,
    file: File,
    hash: Sha256,
    size: u64,
}

async fn fetch(storage: &Storage, remote: &Remote<'_>, to: &Path, progress: &Progress) -> Result<(), TransferError> {
    let path = part_path(to, remote.sha256);
    let unwritable = |source| TransferError {
        reason: None,
        error: Error::NotWritten {
            path: to.to_owned(),
            source,
        },
    };
    let size = remote.size;
    let mut part = Part::open(path).map_err(unwritable)?;
    if part.size > size {
        part.restart().map_err(unwritable)?;
    }
    progress(part.size);
    if part.size < size {
        let mut download = storage.get_from(remote.url, part.size).await?;
        if download.begins_at() != part.size {
            part.restart().map_err(unwritable)?;
        }
        while let Some(chunk) = download.next().await? {
            part.add(&chunk).map_err(unwritable)?;
            progress(part.size);
            // Nothing more is wanted, however much follows.
            if part.size > size {
                break;
            }
        }
    }
    if part.size < size {
        return Err(TransferError {
            reason: Some(Reason::Broken),
            error: Error::Network {
                origin: Storage::origin_of(remote.url),
                reason: "the connection was closed".to_owned(),
            },
        });
    }
    if part.size > size || hex::encode(part.hash.clone().finalize()) != remote.sha256 {
        // A part with a wrong hash must not be resumed.
        fs::remove_file(&part.path).map_err(unwritable)?;
        return Err(TransferError {
            reason: Some(Reason::Broken),
            error: Error::Corrupt {
                name: remote.name.to_owned(),
            },
        });
    }
    part.file
        .sync_all()
        .and_then(|()| fs::rename(&part.path, to))
        .map_err(unwritable)
}

/// Next to the file, and specific to these bytes.
fn part_path(to: &Path, sha256: &str) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(to.file_name().unwrap_or_default());
    name.push(format!(".{}.part", sha256.get(..16).unwrap_or(sha256)));
    to.with_file_name(name)
}

impl Part {
    /// Opens an existing part, and computes its hash.
    fn open(path: PathBuf) -> io::Result<Self> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)?;
        let (mut hash, mut size, mut buffer) = (Sha256::new(), 0, vec![0; CHUNK]);
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    hash.update(&buffer[..count]);
                    size += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { path, file, hash, size })
    }

    fn restart(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        (self.hash, self.size) = (Sha256::new(), 0);
        Ok(())
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        // A chunk is small, so the page cache absorbs it.
        self.file.write_all(bytes)?;
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
        Ok(())
    }
}
