//! An open package: its entries, checked as far as the directory tells, and their contents.

use std::io::{Read, Seek, Write};

use crate::contents::Unpacker;
use crate::directory::{self, Directory, Entry};
use crate::error::{EntryError, PackageError};
use crate::source::Source;
use crate::{Limits, local, path};

/// An open package. [`Archive::open`] checks everything that the directory declares, [`Archive::unpack`] an entry: a
/// package is valid when all its entries have been unpacked.
pub struct Archive<R> {
    source: Source<R>,
    /// In file order.
    entries: Vec<Entry>,
    /// The offset of the directory, at which the last entry must end.
    directory_start: u64,
    unpacker: Unpacker,
}

/// Where the data of an entry are in the package, and in which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedData {
    /// Their offset.
    pub start: u64,
    /// Their number of bytes.
    pub length: u64,
    /// Whether they are a Deflate stream; otherwise they are the content itself.
    pub is_deflated: bool,
    /// The CRC-32 of the content.
    pub checksum: u32,
}

impl<R: Read + Seek> Archive<R> {
    /// Reads and checks the directory.
    ///
    /// # Errors
    /// The first [`PackageError`] of the directory, the paths in it or the sizes.
    pub fn open(source: R, limits: &Limits) -> Result<Self, PackageError> {
        let mut source = Source::new(source)?;
        let Directory { mut entries, start } = directory::read(&mut source, limits)?;
        path::check_collisions(entries.iter().map(Entry::name))?;
        check_sizes(&entries, source.len, limits)?;
        if entries.iter().all(Entry::is_folder) {
            return Err(PackageError::Empty);
        }
        entries.sort_by_key(|entry| entry.start);
        if entries.first().is_some_and(|first| first.start > 0) {
            return Err(PackageError::LeadingBytes);
        }
        // An entry ends where the next begins. One that begins behind the directory would lead another out of the file.
        if let Some(last) = entries.last().filter(|last| last.start >= start) {
            return Err(last.refused(EntryError::Overlaps));
        }
        Ok(Self {
            source,
            entries,
            directory_start: start,
            unpacker: Unpacker::new(),
        })
    }

    /// The entries in file order, folders included.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Checks the entry at `index` and unpacks its contents into `target`. What was written is worthless if this fails.
    ///
    /// # Errors
    /// The entry is not what the directory declares, the source cannot be read, or the target cannot be written.
    ///
    /// # Panics
    /// If there is no entry at `index`.
    pub fn unpack(&mut self, index: usize, target: &mut dyn Write) -> Result<(), PackageError> {
        let data_start = self.data_start(index)?;
        self.source.seek(data_start)?;
        self.unpacker.unpack(&mut self.source, &self.entries[index], target)
    }

    /// Where the data of the entry at `index` are. They are what the directory declares only if it has been unpacked.
    ///
    /// # Errors
    /// The entry's own header is not what the directory declares, or the source cannot be read.
    ///
    /// # Panics
    /// If there is no entry at `index`.
    pub fn packed_data(&mut self, index: usize) -> Result<PackedData, PackageError> {
        let start = self.data_start(index)?;
        let entry = &self.entries[index];
        Ok(PackedData {
            start,
            length: entry.packed,
            is_deflated: entry.method != directory::STORED,
            checksum: entry.checksum,
        })
    }

    /// Checks the entry's own header; returns the offset of its data.
    fn data_start(&mut self, index: usize) -> Result<u64, PackageError> {
        let next = self.entries.get(index + 1);
        let end = next.map_or(self.directory_start, |next| next.start);
        local::check(&mut self.source, &self.entries[index], end)
    }
}

/// Checks the declared sizes of a package of `packed` bytes.
fn check_sizes(entries: &[Entry], packed: u64, limits: &Limits) -> Result<(), PackageError> {
    let unpacked = entries
        .iter()
        .fold(0u64, |sum, entry| sum.saturating_add(entry.unpacked));
    if unpacked > limits.max_unpacked {
        return Err(PackageError::TooLarge {
            limit: limits.max_unpacked,
        });
    }
    let ratio = limits.max_ratio;
    if let Some(bomb) = entries
        .iter()
        .find(|entry| limits.is_bomb(entry.packed, entry.unpacked))
    {
        return Err(bomb.refused(EntryError::Bomb { ratio }));
    }
    if limits.is_bomb(packed, unpacked) {
        return Err(PackageError::Bomb { ratio });
    }
    Ok(())
}
