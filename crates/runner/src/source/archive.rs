//! Unpacks a source archive: `.tar.gz`, `.tar.zst` or `.zip`. Read, write and execute permissions are kept; owners and
//! times are not.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::{SourceError, check_links, tarball, zipped};
use crate::effort::{Effort, EffortError};
use crate::inside::{Inside, Kind};
use crate::stop::Stopper;

/// The maximum ratio of unpacked to packed size, which no real source approaches…
const MAX_RATIO: u64 = 100;
/// …but this size is always allowed: small archives of empty files are not bombs.
const FREE_BYTES: u64 = 64 << 20;
/// The window of zstd is at most 128 MiB.
const WINDOW_LOG: u32 = 27;

/// Bounds on the size of a source.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The maximum number of bytes in all files.
    pub bytes: u64,
    /// The maximum number of files, directories and links.
    pub entries: u64,
}

/// Unpacks `archive`, whose format follows from `name`, into the empty directory `to`. `beside` is a temporary
/// directory that must be on the same disk and not exist yet. If the archive contains a single directory, the content
/// of that directory is the source.
///
/// # Errors
/// The archive is invalid, contains a forbidden entry, or is too large; the build is stopped.
pub fn unpack(
    (archive, name): (&Path, &str),
    (beside, to): (&Path, &Path),
    bounds: Bounds,
    stopper: &Stopper,
) -> Result<(), SourceError> {
    fs::create_dir(beside)?;
    let file = File::open(archive)?;
    let mut target = Target {
        inside: Inside::open(beside)?,
        budget: Budget::new(bounds, file.metadata()?.len(), stopper),
    };
    let packed = BufReader::new(file);
    let lower = name.to_ascii_lowercase();
    if lower.ends_with(".tar.gz") || lower.ends_with(".tgz") {
        tarball::unpack(MultiGzDecoder::new(packed), &mut target)?;
    } else if lower.ends_with(".tar.zst") {
        let mut unpacked = zstd::Decoder::with_buffer(packed)?;
        unpacked.window_log_max(WINDOW_LOG)?;
        tarball::unpack(unpacked, &mut target)?;
    } else if lower.ends_with(".zip") {
        zipped::unpack(packed, BufReader::new(File::open(archive)?), &mut target)?;
    } else {
        let problem = format!("{name:?} is not a .tar.gz, .tar.zst or .zip file");
        return Err(SourceError::Invalid(problem));
    }
    let mut effort = Effort::new(stopper, u64::MAX);
    let root = the_only_directory(&target.inside, beside, &mut effort)?;
    check_links(&root, &mut effort)?;
    fs::remove_dir(to)?;
    fs::rename(&root, to)?;
    if root != beside {
        fs::remove_dir(beside)?;
    }
    Ok(())
}

/// Code hosts put everything into one top-level directory.
fn the_only_directory(inside: &Inside, path: &Path, effort: &mut Effort<'_>) -> Result<PathBuf, SourceError> {
    let entries = inside.entries(effort)?;
    match entries.as_slice() {
        [] => Err(SourceError::Invalid("it is empty".to_owned())),
        [only] if only.kind == Kind::Directory => Ok(path.join(&only.name)),
        _ => Ok(path.to_owned()),
    }
}

/// Where entries are unpacked to.
pub(super) struct Target {
    inside: Inside,
    pub(super) budget: Budget,
}

/// What the archive may still unpack.
pub(super) struct Budget {
    bytes: u64,
    entries: u64,
    stopper: Stopper,
}

impl Budget {
    fn new(bounds: Bounds, packed: u64, stopper: &Stopper) -> Budget {
        let by_ratio = packed.saturating_mul(MAX_RATIO).max(FREE_BYTES);
        Budget {
            bytes: bounds.bytes.min(by_ratio),
            entries: bounds.entries,
            stopper: stopper.clone(),
        }
    }

    /// How many more entries are allowed.
    pub(super) fn entries_left(&self) -> u64 {
        self.entries
    }

    /// Counts an entry.
    ///
    /// # Errors
    /// The limit is exceeded, or the build is stopped.
    pub(super) fn entry(&mut self, name: &[u8]) -> Result<(), SourceError> {
        self.entries = self
            .entries
            .checked_sub(1)
            .ok_or_else(|| SourceError::entry(name, "exceeds the limit of entries"))?;
        self.bytes(name, 0)
    }

    /// Counts `count` bytes.
    ///
    /// # Errors
    /// The limit is exceeded, or the build is stopped.
    pub(super) fn bytes(&mut self, name: &[u8], count: u64) -> Result<(), SourceError> {
        if self.stopper.is_stopped() {
            return Err(SourceError::Runner(io::Error::other(EffortError::Stopped)));
        }
        let left = self.bytes.checked_sub(count);
        self.bytes = left.ok_or_else(|| SourceError::entry(name, "exceeds the size limit of sources"))?;
        Ok(())
    }
}

impl Target {
    /// Creates a directory, unless it exists.
    pub(super) fn directory(&mut self, name: &[u8], path: &Path, mode: u32) -> Result<(), SourceError> {
        self.budget.entry(name)?;
        let directory = self
            .inside
            .make_directories(path)
            .map_err(|error| misplaced(name, error))?;
        Ok(directory.set_mode(mode | 0o700)?)
    }

    /// Creates a file with the bytes of `content`.
    pub(super) fn file(
        &mut self,
        name: &[u8],
        path: &Path,
        mode: u32,
        content: &mut dyn Read,
    ) -> Result<(), SourceError> {
        self.budget.entry(name)?;
        let mut file = self
            .inside
            .create(path, mode | 0o600)
            .map_err(|error| misplaced(name, error))?;
        let mut buffer = vec![0; 64 << 10];
        loop {
            let count = match content.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(SourceError::entry(name, format!("is broken: {error}"))),
            };
            self.budget.bytes(name, count as u64)?;
            io::Write::write_all(&mut file, &buffer[..count])?;
        }
    }

    /// Creates a symbolic link.
    pub(super) fn link(&mut self, name: &[u8], path: &Path, target: &[u8]) -> Result<(), SourceError> {
        use std::os::unix::ffi::OsStrExt;
        self.budget.entry(name)?;
        super::names::check_target(name, path, target)?;
        let target = std::ffi::OsStr::from_bytes(target);
        self.inside.link(target, path).map_err(|error| misplaced(name, error))
    }

    /// Creates a hard link, as a copy of the original.
    pub(super) fn copy(&mut self, name: &[u8], path: &Path, original: &Path) -> Result<(), SourceError> {
        let refuse = |_| SourceError::entry(name, "is a hard link to a file that does not precede it");
        let mut content = self.inside.read(original).map_err(refuse)?;
        let mode = std::os::unix::fs::MetadataExt::mode(&content.metadata()?);
        self.file(name, path, mode, &mut content)
    }
}

/// The error for a path that cannot be created: whatever an archive can cause is blamed on the archive.
fn misplaced(name: &[u8], error: io::Error) -> SourceError {
    match error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
        Some(rustix::io::Errno::EXIST) => SourceError::entry(name, "is in the archive twice"),
        Some(rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP) => {
            SourceError::entry(name, "is inside an entry that is not a directory")
        }
        Some(rustix::io::Errno::NAMETOOLONG | rustix::io::Errno::ILSEQ) => {
            SourceError::entry(name, "has an invalid name")
        }
        None => SourceError::entry(name, "has an invalid name"),
        Some(_) => SourceError::Runner(error),
    }
}

#[cfg(test)]
mod tests;
