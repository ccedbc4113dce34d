//! Packs a directory into a ZIP that depends on nothing but names and bytes: the same directory gives the same ZIP, on
//! every machine and at any time.

mod walk;

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

pub use walk::{Entry, walk};

const CHUNK: usize = 64 * 1024;

/// Why a directory cannot be packed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// It is not there, or not a directory.
    #[error("{} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// There is no file in it.
    #[error("{} has no files in it", .0.display())]
    Empty(PathBuf),
    /// There is a link in it, whose target would not come along.
    #[error("{} is a symbolic link; packages cannot hold links", .0.display())]
    Link(PathBuf),
    /// There is something in it that is neither file nor directory.
    #[error("{} is neither a file nor a directory", .0.display())]
    Special(PathBuf),
    /// A name in it would be read differently, or not at all, elsewhere.
    #[error("{} has a name that packages cannot hold: {why}", .path.display())]
    Name {
        /// The file.
        path: PathBuf,
        /// What is wrong with its name.
        why: &'static str,
    },
    /// Two names in it differ by letter case only and would be one file on many devices.
    #[error("{one} and {other} differ only by letter case")]
    SameButCase {
        /// The one.
        one: String,
        /// The other.
        other: String,
    },
    /// It holds a repository, whose history must not go to every device.
    #[error("{} is a repository's history and must not be published", .0.display())]
    Repository(PathBuf),
    /// Something in it cannot be read.
    #[error("{} cannot be read: {error}", .path.display())]
    Read {
        /// What.
        path: PathBuf,
        /// What the operating system said.
        error: io::Error,
    },
    /// The ZIP cannot be written.
    #[error("the package cannot be written: {0}")]
    Write(io::Error),
}

/// A package that is ready to be sent.
#[derive(Debug, PartialEq, Eq)]
pub struct Sealed {
    /// Its bytes.
    pub size: u64,
    /// Lower-case hex SHA-256 of them.
    pub sha256: String,
}

/// Writes the files of [`walk`] as a ZIP into `target`. `progress` is told the bytes read so far.
pub fn pack(entries: &[Entry], target: File, progress: &dyn Fn(u64)) -> Result<(), PackError> {
    let mut zip = ZipWriter::new(BufWriter::new(target));
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
        }
    }
    let mut target = zip.finish().map_err(|error| PackError::Write(error.into()))?;
    target.flush().map_err(PackError::Write)
}

/// Reckons size and SHA-256 of a file. `progress` is told the bytes read so far.
pub fn seal(path: &Path, progress: &dyn Fn(u64)) -> io::Result<Sealed> {
    let mut file = BufReader::with_capacity(CHUNK, File::open(path)?);
    let (mut hash, mut size) = (Sha256::new(), 0);
    let mut buffer = vec![0; CHUNK];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => {
                return Ok(Sealed {
                    size,
                    sha256: hex::encode(hash.finalize()),
                });
            }
            Ok(read) => {
                hash.update(&buffer[..read]);
                size += read as u64;
                progress(size);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The same for every file, so that neither clock nor permissions of this machine show.
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
