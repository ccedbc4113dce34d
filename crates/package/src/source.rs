//! The file with a package, read without ever trusting its length.

use std::io::{self, Read, Seek, SeekFrom};

/// The file with a package.
pub(crate) struct Source<R> {
    inner: R,
    /// The length in bytes.
    pub len: u64,
}

impl<R: Read + Seek> Source<R> {
    pub fn new(mut inner: R) -> io::Result<Self> {
        let len = inner.seek(SeekFrom::End(0))?;
        Ok(Self { inner, len })
    }

    /// Moves to offset `at`.
    pub fn seek(&mut self, at: u64) -> io::Result<()> {
        self.inner.seek(SeekFrom::Start(at)).map(|_| ())
    }

    /// Fills `buffer` from offset `at`. The caller knows that these bytes exist.
    pub fn read_at(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.seek(at)?;
        self.inner.read_exact(buffer)
    }

    /// Everything from offset `at`.
    pub fn read_from(&mut self, at: u64) -> io::Result<&mut R> {
        self.seek(at)?;
        Ok(&mut self.inner)
    }

    /// Reads at least one and at most `limit` bytes from the current position.
    pub fn read_some(&mut self, buffer: &mut [u8], limit: u64) -> io::Result<usize> {
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX).min(buffer.len());
        loop {
            match self.inner.read(&mut buffer[..wanted]) {
                // The file has shrunk since its length was read.
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::directory;
    use crate::{Limits, PackageError};

    #[test]
    fn a_file_that_shrinks_meanwhile_is_no_fault_of_the_package() {
        let mut source = Source::new(Cursor::new(b"PK")).unwrap();
        source.len = 100;
        assert!(matches!(
            directory::read(&mut source, &Limits::default()),
            Err(PackageError::Unreadable(_))
        ));
        source.seek(2).unwrap();
        let error = source.read_some(&mut [0; 8], 8).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
