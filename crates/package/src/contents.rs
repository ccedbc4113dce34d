//! The contents of an entry: unpacked in memory of constant size, and compared with the declared size and checksum.

use std::io::{Read, Seek, Write};

use crc32fast::Hasher;
use flate2::{Decompress, FlushDecompress, Status};

use crate::CHUNK;
use crate::directory::{self, Entry};
use crate::error::{EntryError, PackageError};
use crate::source::Source;

/// Unpacks entries.
pub(crate) struct Unpacker {
    inflate: Decompress,
    packed: Vec<u8>,
    unpacked: Vec<u8>,
}

impl Unpacker {
    pub fn new() -> Self {
        Self {
            inflate: Decompress::new(false),
            packed: vec![0; CHUNK],
            unpacked: vec![0; CHUNK],
        }
    }

    /// Unpacks the data of `entry`, which starts at the position of `source`.
    pub fn unpack<R: Read + Seek>(
        &mut self,
        source: &mut Source<R>,
        entry: &Entry,
        target: &mut dyn Write,
    ) -> Result<(), PackageError> {
        if entry.is_folder() && entry.unpacked > 0 {
            return Err(entry.refused(EntryError::FolderWithContent));
        }
        let mut output = Output {
            entry,
            target,
            hash: Hasher::new(),
            size: 0,
        };
        if entry.is_folder() && entry.packed == 0 {
            // Some writers set a method although the entry is empty.
        } else if entry.method == directory::STORED {
            self.copy(source, &mut output)?;
        } else {
            self.inflate(source, &mut output)?;
        }
        output.finish()
    }

    fn copy<R: Read + Seek>(&mut self, source: &mut Source<R>, output: &mut Output<'_>) -> Result<(), PackageError> {
        let mut left = output.entry.packed;
        while left > 0 {
            let count = source.read_some(&mut self.packed, left)?;
            left -= count as u64;
            output.take(&self.packed[..count])?;
        }
        Ok(())
    }

    /// Inflates until the stream ends, which must be the end of the data.
    fn inflate<R: Read + Seek>(&mut self, source: &mut Source<R>, output: &mut Output<'_>) -> Result<(), PackageError> {
        let damaged = |output: &Output<'_>| output.entry.refused(EntryError::Damaged);
        self.inflate.reset(false);
        let mut left = output.entry.packed;
        let (mut start, mut end) = (0, 0);
        loop {
            if start == end && left > 0 {
                (start, end) = (0, source.read_some(&mut self.packed, left)?);
                left -= end as u64;
            }
            let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self
                .inflate
                .decompress(&self.packed[start..end], &mut self.unpacked, FlushDecompress::None)
                .map_err(|_| damaged(output))?;
            let progress = |now: u64, before: u64| usize::try_from(now - before).unwrap_or(0);
            let taken = progress(self.inflate.total_in(), before_in);
            let given = progress(self.inflate.total_out(), before_out);
            start += taken;
            output.take(&self.unpacked[..given])?;
            match status {
                Status::StreamEnd if start == end && left == 0 => return Ok(()),
                Status::StreamEnd => return Err(damaged(output)),
                _ if taken == 0 && given == 0 => return Err(damaged(output)),
                _ => {}
            }
        }
    }
}

/// The unpacked bytes of an entry on their way to the target: their size and checksum so far.
struct Output<'a> {
    entry: &'a Entry,
    target: &'a mut dyn Write,
    hash: Hasher,
    size: u64,
}

impl Output<'_> {
    fn take(&mut self, bytes: &[u8]) -> Result<(), PackageError> {
        self.size += bytes.len() as u64;
        if self.size > self.entry.unpacked {
            return Err(self.entry.refused(EntryError::Size));
        }
        self.hash.update(bytes);
        self.target.write_all(bytes).map_err(PackageError::Target)
    }

    fn finish(self) -> Result<(), PackageError> {
        if self.size != self.entry.unpacked {
            return Err(self.entry.refused(EntryError::Size));
        }
        if self.hash.finalize() != self.entry.checksum {
            return Err(self.entry.refused(EntryError::Checksum));
        }
        Ok(())
    }
}
