//! The entries themselves: each entry's own header agrees with the directory, entries follow each other without gaps,
//! and each unpacks to its declared contents.

use std::io::{BufRead, BufReader, Read};

use crc32fast::Hasher;
use flate2::{Decompress, FlushDecompress};

use super::directory::{self, Directory, Entry};
use super::error::{EntryError, PackageError};
use super::extra::Extra;
use super::fields::{Archive, Fields};

/// Length in bytes of the fixed part of an entry's own header.
const HEADER: u64 = 30;

/// The number of bytes that are read and unpacked at a time.
const CHUNK: usize = 1 << 16;

/// Unpacks entries without storing them.
pub(super) struct Unpacker<'a> {
    archive: &'a Archive<'a>,
    inflate: Decompress,
    unpacked: Vec<u8>,
}

impl<'a> Unpacker<'a> {
    pub fn new(archive: &'a Archive<'a>) -> Unpacker<'a> {
        Unpacker {
            archive,
            inflate: Decompress::new(false),
            unpacked: vec![0; CHUNK],
        }
    }

    /// Checks every entry, in file order.
    pub fn check(mut self, directory: Directory) -> Result<(), PackageError> {
        let mut entries = directory.entries;
        entries.sort_by_key(|entry| entry.start);
        if entries.first().is_some_and(|first| first.start > 0) {
            return Err(PackageError::LeadingBytes);
        }
        let ends = entries.iter().skip(1).map(|next| next.start).chain([directory.start]);
        for (entry, end) in entries.iter().zip(ends) {
            self.check_entry(entry, end)?;
        }
        Ok(())
    }

    /// Checks one entry, which must extend to `end`.
    fn check_entry(&mut self, entry: &Entry, end: u64) -> Result<(), PackageError> {
        let local = Local::read(self.archive, entry, end)?;
        local.check(entry).map_err(|fault| entry.refused(fault))?;
        let data_end = local
            .data_start
            .checked_add(entry.packed)
            .filter(|data_end| *data_end <= end);
        let data_end = data_end.ok_or_else(|| entry.refused(EntryError::Overlaps))?;
        if entry.flags & directory::DESCRIPTOR != 0 {
            self.check_descriptor(entry, data_end, end)?;
        } else if data_end < end {
            return Err(entry.refused(EntryError::Stray));
        }
        self.check_data(entry, local.data_start, data_end)
    }

    /// Checks the data descriptor after the data: checksum and sizes, with an optional signature, in one of two widths.
    /// The start of the next entry tells which.
    fn check_descriptor(&self, entry: &Entry, start: u64, end: u64) -> Result<(), PackageError> {
        let mut buffer = [0; 24];
        let bytes = usize::try_from(end - start)
            .ok()
            .and_then(|length| buffer.get_mut(..length));
        let bytes = bytes.ok_or_else(|| entry.refused(EntryError::Stray))?;
        if bytes.is_empty() {
            return Err(entry.refused(EntryError::NoDescriptor));
        }
        self.archive.read(start, bytes)?;
        let mut fields = Fields(bytes);
        if matches!(bytes.len(), 16 | 24) && fields.u32() != Some(u32::from_le_bytes(*b"PK\x07\x08")) {
            return Err(entry.refused(EntryError::Stray));
        }
        let checksum = fields.u32();
        let sizes = match bytes.len() {
            12 | 16 => (fields.u32().map(u64::from), fields.u32().map(u64::from)),
            20 | 24 => (fields.u64(), fields.u64()),
            _ => return Err(entry.refused(EntryError::Stray)),
        };
        if checksum == Some(entry.checksum) && sizes == (Some(entry.packed), Some(entry.unpacked)) {
            Ok(())
        } else {
            Err(entry.refused(EntryError::Disagrees("size or checksum")))
        }
    }

    fn check_data(&mut self, entry: &Entry, start: u64, end: u64) -> Result<(), PackageError> {
        if entry.is_folder() && entry.unpacked > 0 {
            return Err(entry.refused(EntryError::FolderWithContent));
        }
        let mut packed = BufReader::with_capacity(CHUNK, self.archive.span(start, end));
        let mut seen = Seen {
            entry,
            hash: Hasher::new(),
            size: 0,
        };
        if entry.is_folder() && entry.packed == 0 {
            // Some writers set a method although the entry is empty.
        } else if entry.method == directory::STORED {
            self.copy(&mut packed, &mut seen)?;
        } else {
            self.inflate(&mut packed, &mut seen)?;
        }
        seen.finish()
    }

    fn copy(&mut self, packed: &mut impl Read, seen: &mut Seen<'_>) -> Result<(), PackageError> {
        loop {
            let count = packed.read(&mut self.unpacked)?;
            if count == 0 {
                return Ok(());
            }
            seen.take(&self.unpacked[..count])?;
        }
    }

    /// Inflates until the stream ends, which must be the end of the data.
    fn inflate(&mut self, packed: &mut impl BufRead, seen: &mut Seen<'_>) -> Result<(), PackageError> {
        let damaged = || seen.entry.refused(EntryError::Damaged);
        self.inflate.reset(false);
        loop {
            let (taken, given) = (self.inflate.total_in(), self.inflate.total_out());
            let input = packed.fill_buf()?;
            let status = self
                .inflate
                .decompress(input, &mut self.unpacked, FlushDecompress::None);
            let status = status.map_err(|_| damaged())?;
            let progress = |now: u64, before: u64| usize::try_from(now - before).unwrap_or(0);
            let (taken, given) = (
                progress(self.inflate.total_in(), taken),
                progress(self.inflate.total_out(), given),
            );
            packed.consume(taken);
            seen.take(&self.unpacked[..given])?;
            if status == flate2::Status::StreamEnd {
                break;
            }
            if taken == 0 && given == 0 {
                return Err(damaged());
            }
        }
        if packed.fill_buf()?.is_empty() {
            Ok(())
        } else {
            Err(damaged())
        }
    }
}

/// The unpacked size and checksum of an entry so far.
struct Seen<'a> {
    entry: &'a Entry,
    hash: Hasher,
    size: u64,
}

impl Seen<'_> {
    fn take(&mut self, bytes: &[u8]) -> Result<(), PackageError> {
        self.size += bytes.len() as u64;
        if self.size > self.entry.unpacked {
            return Err(self.entry.refused(EntryError::Size));
        }
        self.hash.update(bytes);
        Ok(())
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

/// An entry's own header (APPNOTE 4.3.7).
struct Local {
    flags: u16,
    method: u16,
    checksum: u32,
    packed: u32,
    unpacked: u32,
    name: Vec<u8>,
    extra: Vec<u8>,
    data_start: u64,
}

impl Local {
    /// Reads the header, which must end before `end`.
    fn read(archive: &Archive<'_>, entry: &Entry, end: u64) -> Result<Local, PackageError> {
        let names_start = entry.start.checked_add(HEADER).filter(|start| *start <= end);
        let names_start = names_start.ok_or_else(|| entry.refused(EntryError::Overlaps))?;
        let mut fixed = [0; HEADER as usize];
        archive.read(entry.start, &mut fixed)?;
        let (mut local, name_length, extra_length) =
            Local::read_fixed(&fixed).ok_or_else(|| entry.refused(EntryError::NotThere))?;
        local.data_start = names_start + u64::from(name_length) + u64::from(extra_length);
        if local.data_start > end {
            return Err(entry.refused(EntryError::Overlaps));
        }
        local.name = vec![0; usize::from(name_length)];
        archive.read(names_start, &mut local.name)?;
        local.extra = vec![0; usize::from(extra_length)];
        archive.read(names_start + u64::from(name_length), &mut local.extra)?;
        Ok(local)
    }

    /// The fixed part, and the lengths of name and extra fields.
    fn read_fixed(bytes: &[u8]) -> Option<(Local, u16, u16)> {
        let mut fields = Fields(bytes);
        if fields.u32()? != u32::from_le_bytes(*b"PK\x03\x04") {
            return None;
        }
        // The version needed to extract.
        fields.u16()?;
        let (flags, method) = (fields.u16()?, fields.u16()?);
        // Time and date.
        fields.u32()?;
        let (checksum, packed, unpacked) = (fields.u32()?, fields.u32()?, fields.u32()?);
        let local = Local {
            flags,
            method,
            checksum,
            packed,
            unpacked,
            name: Vec::new(),
            extra: Vec::new(),
            data_start: 0,
        };
        Some((local, fields.u16()?, fields.u16()?))
    }

    fn check(&self, entry: &Entry) -> Result<(), EntryError> {
        if *self.name != *entry.name {
            return Err(EntryError::Disagrees("name"));
        }
        if self.method != entry.method {
            return Err(EntryError::Disagrees("method"));
        }
        if self.flags & directory::MEANINGFUL != entry.flags & directory::MEANINGFUL {
            return Err(EntryError::Disagrees("set of flags"));
        }
        let extra = Extra::read(&self.extra).ok_or(EntryError::Extra)?;
        if extra.other_name(&self.name) {
            return Err(EntryError::Disagrees("name"));
        }
        let mut wide = extra.wide();
        let unpacked = wide.number(self.unpacked).ok_or(EntryError::Extra)?;
        let packed = wide.number(self.packed).ok_or(EntryError::Extra)?;
        let is_open = entry.flags & directory::DESCRIPTOR != 0;
        let agrees = |found: u64, known: u64| found == known || is_open && found == 0;
        let checksum = agrees(self.checksum.into(), entry.checksum.into());
        if checksum && agrees(packed, entry.packed) && agrees(unpacked, entry.unpacked) {
            Ok(())
        } else {
            Err(EntryError::Disagrees("size or checksum"))
        }
    }
}
