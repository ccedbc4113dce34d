//! An entry's own header (APPNOTE 4.3.7) and the data descriptor after its data: both must agree with the directory.

use std::io::{Read, Seek};

use crate::directory::{DESCRIPTOR, Entry, MEANINGFUL};
use crate::error::{EntryError, PackageError};
use crate::extra::Extra;
use crate::fields::Fields;
use crate::source::Source;

/// Length in bytes of the fixed part.
const HEADER: u64 = 30;

/// Checks the header and the extent of an entry, which must extend to `end`. Returns the offset of its data.
pub(crate) fn check<R: Read + Seek>(source: &mut Source<R>, entry: &Entry, end: u64) -> Result<u64, PackageError> {
    let data_start = check_header(source, entry, end)?;
    let data_end = data_start.checked_add(entry.packed).filter(|data_end| *data_end <= end);
    let data_end = data_end.ok_or_else(|| entry.refused(EntryError::Overlaps))?;
    if entry.flags & DESCRIPTOR != 0 {
        check_descriptor(source, entry, data_end, end)?;
    } else if data_end < end {
        return Err(entry.refused(EntryError::Stray));
    }
    Ok(data_start)
}

/// Checks the header, which must end before `end`. Returns where it ends.
fn check_header<R: Read + Seek>(source: &mut Source<R>, entry: &Entry, end: u64) -> Result<u64, PackageError> {
    let overlaps = || entry.refused(EntryError::Overlaps);
    let names_start = entry.start.checked_add(HEADER).filter(|start| *start <= end);
    let names_start = names_start.ok_or_else(overlaps)?;
    let mut fixed = [0; HEADER as usize];
    source.read_at(entry.start, &mut fixed)?;
    let local = Local::read(&fixed).ok_or_else(|| entry.refused(EntryError::NotThere))?;
    let name_length = usize::from(local.name_length);
    let mut names = vec![0; name_length + usize::from(local.extra_length)];
    let data_start = names_start + names.len() as u64;
    if data_start > end {
        return Err(overlaps());
    }
    source.read_at(names_start, &mut names)?;
    let (name, extra) = names.split_at(name_length);
    local.check(entry, name, extra).map_err(|fault| entry.refused(fault))?;
    Ok(data_start)
}

/// Checks the data descriptor from `start` to `end`: checksum and sizes, with an optional signature, in one of two
/// widths. The start of the next entry tells which.
fn check_descriptor<R: Read + Seek>(
    source: &mut Source<R>,
    entry: &Entry,
    start: u64,
    end: u64,
) -> Result<(), PackageError> {
    let stray = || entry.refused(EntryError::Stray);
    let mut buffer = [0; 24];
    let length = usize::try_from(end - start).ok();
    let bytes = length.and_then(|length| buffer.get_mut(..length)).ok_or_else(stray)?;
    if bytes.is_empty() {
        return Err(entry.refused(EntryError::NoDescriptor));
    }
    source.read_at(start, bytes)?;
    let mut fields = Fields(bytes);
    if matches!(bytes.len(), 16 | 24) && fields.u32() != Some(u32::from_le_bytes(*b"PK\x07\x08")) {
        return Err(stray());
    }
    let checksum = fields.u32();
    let sizes = match bytes.len() {
        12 | 16 => (fields.u32().map(u64::from), fields.u32().map(u64::from)),
        20 | 24 => (fields.u64(), fields.u64()),
        _ => return Err(stray()),
    };
    if checksum == Some(entry.checksum) && sizes == (Some(entry.packed), Some(entry.unpacked)) {
        Ok(())
    } else {
        Err(entry.refused(EntryError::Disagrees("size or checksum")))
    }
}

/// The fixed part of the header.
struct Local {
    flags: u16,
    method: u16,
    checksum: u32,
    packed: u32,
    unpacked: u32,
    name_length: u16,
    extra_length: u16,
}

impl Local {
    fn read(bytes: &[u8]) -> Option<Local> {
        let mut fields = Fields(bytes);
        if fields.u32()? != u32::from_le_bytes(*b"PK\x03\x04") {
            return None;
        }
        // The version needed to extract.
        fields.u16()?;
        let (flags, method) = (fields.u16()?, fields.u16()?);
        // Time and date.
        fields.u32()?;
        Some(Local {
            flags,
            method,
            checksum: fields.u32()?,
            packed: fields.u32()?,
            unpacked: fields.u32()?,
            name_length: fields.u16()?,
            extra_length: fields.u16()?,
        })
    }

    fn check(&self, entry: &Entry, name: &[u8], extra: &[u8]) -> Result<(), EntryError> {
        if name != entry.name().as_bytes() {
            return Err(EntryError::Disagrees("name"));
        }
        if self.method != entry.method {
            return Err(EntryError::Disagrees("method"));
        }
        if self.flags & MEANINGFUL != entry.flags & MEANINGFUL {
            return Err(EntryError::Disagrees("set of flags"));
        }
        let extra = Extra::read(extra).ok_or(EntryError::Extra)?;
        if extra.other_name(name) {
            return Err(EntryError::Disagrees("name"));
        }
        let mut wide = extra.wide();
        let unpacked = wide.number(self.unpacked).ok_or(EntryError::Extra)?;
        let packed = wide.number(self.packed).ok_or(EntryError::Extra)?;
        let is_open = entry.flags & DESCRIPTOR != 0;
        let agrees = |found: u64, known: u64| found == known || is_open && found == 0;
        let checksum = agrees(self.checksum.into(), entry.checksum.into());
        if checksum && agrees(packed, entry.packed) && agrees(unpacked, entry.unpacked) {
            Ok(())
        } else {
            Err(EntryError::Disagrees("size or checksum"))
        }
    }
}
