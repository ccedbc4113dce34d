//! The size and hash of a file to upload: of one that is there, or while it is written.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::rc::Rc;

use sha2::{Digest, Sha256};

/// Bytes that are read or written at a time.
pub const CHUNK: usize = 64 << 10;

/// A file to upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256 in lower-case hex.
    pub sha256: String,
}

/// Computes size and SHA-256 of a file. `progress` receives the number of bytes read so far.
pub fn seal(path: &Path, progress: &dyn Fn(u64)) -> io::Result<Sealed> {
    let mut file = File::open(path)?;
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

/// The number of bytes that a file has so far. A clone tells it to those who do not write.
#[derive(Clone, Debug, Default)]
pub struct WrittenSize(Rc<Cell<u64>>);

impl WrittenSize {
    pub fn get(&self) -> u64 {
        self.0.get()
    }

    /// The file now has at least this size.
    pub fn grow_to(&self, size: u64) {
        self.0.set(size.max(self.0.get()));
    }
}

/// A file that is hashed while it is written from its beginning.
pub struct SealingFile {
    file: File,
    hash: Sha256,
    size: WrittenSize,
}

impl SealingFile {
    /// An empty file.
    pub fn new(file: File) -> Self {
        Self {
            file,
            hash: Sha256::new(),
            size: WrittenSize::default(),
        }
    }

    pub fn size(&self) -> WrittenSize {
        self.size.clone()
    }

    /// Size and hash of what was written.
    pub fn seal(self) -> Sealed {
        Sealed {
            size: self.size.get(),
            sha256: hex::encode(self.hash.finalize()),
        }
    }
}

impl Write for SealingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hash.update(&bytes[..count]);
        self.size.grow_to(self.size.get() + count as u64);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_sealed_alike_while_and_after_it_is_written() {
        let target = tempfile::NamedTempFile::new().expect("a temporary file");
        let mut file = SealingFile::new(target.reopen().expect("it is there"));
        let size = file.size();
        for piece in [&b"one"[..], b"", &[7; 200_000]] {
            file.write_all(piece).expect("space");
        }
        assert_eq!(size.get(), 200_003);
        assert_eq!(file.seal(), seal(target.path(), &|_| ()).expect("it is there"));
    }
}
