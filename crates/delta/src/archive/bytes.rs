//! Little-endian fields of a ZIP, and the file they come from.

use std::io::{self, Read, Seek, SeekFrom};

use super::ArchiveError;

/// Bytes read from the front. Every read past the end is `None`.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(front)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (front, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*front)
    }
}

/// The file with the package.
pub(super) struct Source<R> {
    pub inner: R,
    /// Its bytes.
    pub len: u64,
}

impl<R: Read + Seek> Source<R> {
    pub fn new(mut inner: R) -> Result<Self, ArchiveError> {
        let len = inner.seek(SeekFrom::End(0)).map_err(ArchiveError::Source)?;
        Ok(Self { inner, len })
    }

    /// Fills `buffer` from `at`.
    pub fn read_at(&mut self, at: u64, buffer: &mut [u8]) -> Result<(), ArchiveError> {
        self.inner
            .seek(SeekFrom::Start(at))
            .and_then(|_| self.inner.read_exact(buffer))
            .map_err(ArchiveError::Source)
    }

    /// Reads at least one and at most `limit` bytes from the present position.
    pub fn read_some(&mut self, buffer: &mut [u8], limit: u64) -> Result<usize, ArchiveError> {
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX).min(buffer.len());
        loop {
            match self.inner.read(&mut buffer[..wanted]) {
                // It was longer when it was measured.
                Ok(0) => return Err(ArchiveError::Source(io::ErrorKind::UnexpectedEof.into())),
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ArchiveError::Source(error)),
            }
        }
    }
}
