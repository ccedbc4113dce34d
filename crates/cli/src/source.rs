//! Packs the source of a build into a `.tar.zst` deterministically: the result depends only on names, bytes and
//! executable bits, not on the machine or the time.

mod links;
mod walk;

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read};
use std::path::PathBuf;

use indicatif::HumanBytes;
use tar::{Builder, EntryType, Header};

pub use walk::{Entry, Kind, walk};

use crate::sealing::{CHUNK, Sealed, SealingFile, WrittenSize};

/// 2000-01-01: not 1970, which ZIPs that a build makes of these files cannot store.
const TIME: u64 = 946_684_800;
const LEVEL: i32 = 3;

/// Why a source cannot be packed.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It does not exist, or is not a directory.
    #[error("{} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// It is empty, or everything in it is ignored.
    #[error("there is nothing to build in {}", .0.display())]
    Empty(PathBuf),
    /// It contains a link out of it, which the build cannot follow.
    #[error("{} links to {}, outside the source", .path.display(), .target.display())]
    LinkOut {
        path: PathBuf,
        /// Its target.
        target: PathBuf,
    },
    /// It contains something other than files, directories and links.
    #[error("{} is neither a file nor a directory", .0.display())]
    Special(PathBuf),
    /// It contains a name that other systems would read differently, or not at all.
    #[error("sources cannot contain a file named {}: {why}", .path.display())]
    Name {
        path: PathBuf,
        /// The problem with its name.
        why: &'static str,
    },
    /// The size of a file changed since it was found.
    #[error("{} changed while it was being packed", .0.display())]
    Changed(PathBuf),
    /// An entry cannot be read.
    #[error("cannot read {}: {error}", .path.display())]
    Read { path: PathBuf, error: io::Error },
    /// The ignore rules are invalid.
    #[error("cannot read the ignore rules: {0}")]
    Ignore(String),
    /// It grew beyond what the server takes.
    #[error("the packed source is larger than {}, the most that the server takes", HumanBytes(*.0))]
    TooLarge(u64),
    /// The archive cannot be written.
    #[error("cannot write the archive: {0}")]
    Write(io::Error),
}

impl SourceError {
    /// Whether the user can exclude the offending entry from the source.
    pub fn can_be_ignored(&self) -> bool {
        matches!(
            self,
            Self::LinkOut { .. } | Self::Special(_) | Self::Name { .. } | Self::Changed(_) | Self::Read { .. }
        )
    }
}

/// Writes the entries of [`walk()`] as an archive to `target`, and stops when that has more bytes than `limit`. `progress`
/// receives the number of bytes read so far.
pub fn pack(
    entries: &[Entry],
    target: File,
    limit: Option<u64>,
    progress: &dyn Fn(u64),
) -> Result<Sealed, SourceError> {
    let target = SealingFile::new(target);
    let size = target.size();
    let encoder = zstd::Encoder::new(BufWriter::with_capacity(CHUNK, target), LEVEL).map_err(SourceError::Write)?;
    let mut packing = Packing {
        // Headers and small files go to the encoder together.
        archive: Builder::new(BufWriter::with_capacity(CHUNK, encoder)),
        done: 0,
        progress,
        size,
        limit,
    };
    for entry in entries {
        packing.add(entry)?;
    }
    packing.finish().map_err(SourceError::Write)
}

/// An archive that is being written.
struct Packing<'p> {
    archive: Builder<BufWriter<zstd::Encoder<'static, BufWriter<SealingFile>>>>,
    /// Bytes of the files so far.
    done: u64,
    progress: &'p dyn Fn(u64),
    /// The size of the archive, and what it may be at most.
    size: WrittenSize,
    limit: Option<u64>,
}

impl Packing<'_> {
    fn add(&mut self, entry: &Entry) -> Result<(), SourceError> {
        let mut header = Header::new_gnu();
        header.set_mtime(TIME);
        header.set_uid(0);
        header.set_gid(0);
        match &entry.kind {
            Kind::Link { target } => {
                header.set_entry_type(EntryType::Symlink);
                header.set_mode(0o777);
                header.set_size(0);
                self.archive
                    .append_link(&mut header, &entry.name, target)
                    .map_err(SourceError::Write)
            }
            Kind::File { size, executable } => {
                header.set_mode(if *executable { 0o755 } else { 0o644 });
                header.set_size(*size);
                self.add_file(header, entry, *size)
            }
        }
    }

    fn add_file(&mut self, mut header: Header, entry: &Entry, size: u64) -> Result<(), SourceError> {
        let unreadable = |error| SourceError::Read {
            path: entry.path.clone(),
            error,
        };
        let file = File::open(&entry.path).map_err(unreadable)?;
        let room = usize::try_from(size).unwrap_or(CHUNK).min(CHUNK);
        let mut reader = CountingReader {
            file: BufReader::with_capacity(room, file).take(size),
            read: 0,
            failed: None,
            done: self.done,
            progress: self.progress,
            size: &self.size,
            limit: self.limit,
        };
        let written = self.archive.append_data(&mut header, &entry.name, &mut reader);
        if let Some(error) = reader.failed {
            return Err(unreadable(error));
        }
        if let Some(limit) = self.limit.filter(|_| reader.is_full()) {
            return Err(SourceError::TooLarge(limit));
        }
        written.map_err(SourceError::Write)?;
        if reader.read != size || reader.file.into_inner().read(&mut [0]).map_err(unreadable)? != 0 {
            return Err(SourceError::Changed(entry.path.clone()));
        }
        self.done += size;
        Ok(())
    }

    fn finish(self) -> io::Result<Sealed> {
        let encoder = self.archive.into_inner()?.into_inner()?;
        Ok(encoder.finish()?.into_inner()?.seal())
    }
}

/// Reads a file and records the number of bytes, and whether reading the file failed.
struct CountingReader<'p> {
    file: io::Take<BufReader<File>>,
    read: u64,
    failed: Option<io::Error>,
    done: u64,
    progress: &'p dyn Fn(u64),
    /// The size of the archive, and what it may be at most.
    size: &'p WrittenSize,
    limit: Option<u64>,
}

impl CountingReader<'_> {
    fn is_full(&self) -> bool {
        self.limit.is_some_and(|limit| self.size.get() > limit)
    }
}

impl Read for CountingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_full() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        match self.file.read(buffer) {
            Ok(count) => {
                self.read += count as u64;
                (self.progress)(self.done + self.read);
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                self.failed = Some(error);
                Err(io::ErrorKind::Other.into())
            }
        }
    }
}

#[cfg(test)]
mod tests;
