//! Packs a directory into a ZIP deterministically: the result depends only on names and bytes, not on the machine or
//! the time.

mod tail;
mod walk;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use indicatif::HumanBytes;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use tail::TailFile;
pub use walk::{Entry, walk};

use crate::sealing::CHUNK;

/// Why a directory cannot be packed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// It does not exist, or is not a directory.
    #[error("{} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// It contains no file.
    #[error("{} has no files", .0.display())]
    Empty(PathBuf),
    /// It contains a link, whose target would not be included.
    #[error("{} is a symbolic link; packages cannot contain links", .0.display())]
    Link(PathBuf),
    /// It contains something other than files and directories.
    #[error("{} is neither a file nor a directory", .0.display())]
    Special(PathBuf),
    /// It contains a name that other systems would read differently, or not at all.
    #[error("packages cannot contain a file named {}: {why}", .path.display())]
    Name {
        path: PathBuf,
        /// The problem with its name.
        why: &'static str,
    },
    /// Two names differ only by letter case and would be one file on many devices.
    #[error("{one} and {other} differ only by letter case")]
    SameButCase { one: String, other: String },
    /// It contains a repository, whose history must not go to every device.
    #[error("{} is a repository's history, which must not be published", .0.display())]
    Repository(PathBuf),
    /// An entry cannot be read.
    #[error("cannot read {}: {error}", .path.display())]
    Read { path: PathBuf, error: io::Error },
    /// It grew beyond what the server takes.
    #[error("the package is larger than {}, the most that the server takes", HumanBytes(*.0))]
    TooLarge(u64),
    /// The ZIP cannot be written.
    #[error("cannot write the package: {0}")]
    Write(io::Error),
}

/// Writes the files of [`walk()`] as a ZIP to `target`, and stops when that has more bytes than `limit`. `progress` receives
/// the number of bytes read so far.
pub fn pack(entries: &[Entry], target: File, limit: Option<u64>, progress: &dyn Fn(u64)) -> Result<(), PackError> {
    let target = TailFile::new(target);
    let size = target.size();
    let mut zip = ZipWriter::new(target);
    let mut buffer = vec![0; CHUNK];
    let mut done = 0;
    for entry in entries {
        let unreadable = |error| PackError::Read {
            path: entry.path.clone(),
            error,
        };
        zip.start_file(entry.name.as_str(), options(entry.size))
            .map_err(|error| PackError::Write(error.into()))?;
        let mut file = File::open(&entry.path).map_err(unreadable)?;
        loop {
            let read = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(unreadable(error)),
            };
            zip.write_all(&buffer[..read]).map_err(PackError::Write)?;
            done += read as u64;
            progress(done);
            if let Some(limit) = limit.filter(|limit| size.get() > *limit) {
                return Err(PackError::TooLarge(limit));
            }
        }
    }
    let mut target = zip.finish().map_err(|error| PackError::Write(error.into()))?;
    target.flush().map_err(PackError::Write)
}

/// Constant metadata, so that neither the clock nor the permissions of this machine affect the result.
fn options(size: u64) -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(6))
        .last_modified_time(DateTime::DEFAULT)
        .unix_permissions(0o644)
        .large_file(size >= u64::from(u32::MAX))
}

#[cfg(test)]
mod tests;
