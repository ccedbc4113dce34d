//! An entry's own header (APPNOTE 4.3.7) and the record behind its data: both must agree with the directory.

use std::io::{Read, Seek};

use super::bytes::{Fields, Source};
use super::directory::{DESCRIPTOR, MEANINGFUL};
use super::extra::Extra;
use super::{ArchiveError, Entry, Fault};

/// Length of the fixed part.
const HEADER: u64 = 30;

/// Checks the header and the extent of an entry, which must fill the file up to `entry.end`. Answers where its data
/// starts.
pub(super) fn check<R: Read + Seek>(source: &mut Source<R>, entry: &Entry) -> Result<u64, ArchiveError> {
    let data_start = check_header(source, entry)?;
    let data_end = data_start
        .checked_add(entry.header.packed)
        .filter(|end| *end <= entry.end);
    let data_end = data_end.ok_or_else(|| entry.refused(Fault::Overlaps))?;
    if entry.header.flags & DESCRIPTOR != 0 {
        check_descriptor(source, entry, data_end)?;
    } else if data_end < entry.end {
        return Err(entry.refused(Fault::Stray));
    }
    Ok(data_start)
}

fn check_header<R: Read + Seek>(source: &mut Source<R>, entry: &Entry) -> Result<u64, ArchiveError> {
    let overlaps = || entry.refused(Fault::Overlaps);
    let names_start = entry
        .header
        .start
        .checked_add(HEADER)
        .filter(|start| *start <= entry.end);
    let names_start = names_start.ok_or_else(overlaps)?;
    let mut fixed = [0; HEADER as usize];
    source.read_at(entry.header.start, &mut fixed)?;
    let local = Local::read(&fixed).ok_or_else(|| entry.refused(Fault::NotThere))?;
    let names_length = u64::from(local.name_length) + u64::from(local.extra_length);
    let data_start = names_start + names_length;
    if data_start > entry.end {
        return Err(overlaps());
    }
    let mut names = vec![0; usize::from(local.name_length) + usize::from(local.extra_length)];
    source.read_at(names_start, &mut names)?;
    let (name, extra) = names.split_at(usize::from(local.name_length));
    local.check(entry, name, extra).map_err(|fault| entry.refused(fault))?;
    Ok(data_start)
}

/// Checks what follows the data: checksum and sizes, with or without a mark before them, in one of two widths. The
/// start of the next entry tells which.
fn check_descriptor<R: Read + Seek>(source: &mut Source<R>, entry: &Entry, at: u64) -> Result<(), ArchiveError> {
    let stray = || entry.refused(Fault::Stray);
    let mut buffer = [0; 24];
    let length = usize::try_from(entry.end - at).ok();
    let bytes = length.and_then(|length| buffer.get_mut(..length)).ok_or_else(stray)?;
    source.read_at(at, bytes)?;
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
    let header = &entry.header;
    if checksum == Some(header.checksum) && sizes == (Some(header.packed), Some(header.unpacked)) {
        Ok(())
    } else {
        Err(entry.refused(Fault::Disagrees("size or checksum")))
    }
}

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
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        if fields.u32()? != u32::from_le_bytes(*b"PK\x03\x04") {
            return None;
        }
        // The version that reads it.
        fields.u16()?;
        let (flags, method) = (fields.u16()?, fields.u16()?);
        // Date and time.
        fields.u32()?;
        Some(Self {
            flags,
            method,
            checksum: fields.u32()?,
            packed: fields.u32()?,
            unpacked: fields.u32()?,
            name_length: fields.u16()?,
            extra_length: fields.u16()?,
        })
    }

    fn check(&self, entry: &Entry, name: &[u8], extra: &[u8]) -> Result<(), Fault> {
        let header = &entry.header;
        let plain = if header.folder {
            name.strip_suffix(b"/").unwrap_or_default()
        } else {
            name
        };
        if plain != entry.path.as_bytes() {
            return Err(Fault::Disagrees("name"));
        }
        if self.method != header.method {
            return Err(Fault::Disagrees("method"));
        }
        if self.flags & MEANINGFUL != header.flags & MEANINGFUL {
            return Err(Fault::Disagrees("set of flags"));
        }
        let extra = Extra::read(extra).ok_or(Fault::Extra)?;
        if extra.other_name(name) {
            return Err(Fault::Disagrees("name"));
        }
        let mut wide = extra.wide();
        let unpacked = wide.number(self.unpacked).ok_or(Fault::Extra)?;
        let packed = wide.number(self.packed).ok_or(Fault::Extra)?;
        let open = header.flags & DESCRIPTOR != 0;
        let agrees = |found: u64, known: u64| found == known || (open && found == 0);
        let checksum = agrees(self.checksum.into(), header.checksum.into());
        if checksum && agrees(packed, header.packed) && agrees(unpacked, header.unpacked) {
            Ok(())
        } else {
            Err(Fault::Disagrees("size or checksum"))
        }
    }
}
