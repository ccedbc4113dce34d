//! Reads little-endian fields of a ZIP, from bytes and from the file, without ever panicking.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

/// Bytes that are read from the front.
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
pub(super) struct Archive<'a> {
    file: &'a File,
    /// The length in bytes.
    pub len: u64,
}

impl<'a> Archive<'a> {
    pub fn new(file: &'a File) -> io::Result<Archive<'a>> {
        Ok(Archive {
            file,
            len: file.metadata()?.len(),
        })
    }

    /// Fills `buffer` from offset `start`. The caller knows that these bytes exist.
    pub fn read(&self, start: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, start)
    }

    /// The bytes from `start` up to `end`.
    pub fn span(&self, start: u64, end: u64) -> Span<'a> {
        Span {
            file: self.file,
            at: start,
            end,
        }
    }
}

/// A part of the file, read from its front.
pub(super) struct Span<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl Read for Span<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = left.min(buffer.len());
        let got = self.file.read_at(&mut buffer[..wanted], self.at)?;
        if got == 0 && wanted > 0 {
            // The file has shrunk since its length was read.
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += got as u64;
        Ok(got)
    }
}
