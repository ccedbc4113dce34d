//! The end of a ZIP archive (APPNOTE 4.3.14 to 4.3.16), validated before the library opens the archive: the library
//! allocates what a central directory claims to contain, and searches a whole file for what resembles one.

use std::io::{self, Read, Seek, SeekFrom};

use super::SourceError;

/// The lengths of the end record without its comment, of the ZIP64 locator, of the ZIP64 end record, and of the
/// shortest entry.
const END: u64 = 22;
const LOCATOR: u64 = 20;
const WIDE_END: u64 = 56;
const SHORTEST_ENTRY: u64 = 46;
/// The maximum average size of a directory entry. Names, extra fields and comments of real ones take some hundred
/// bytes.
const MAX_FOR_ENTRY: u64 = 4096;

const MAX_COMMENT: u64 = u16::MAX as u64;
const END_MARK: &[u8; 4] = b"PK\x05\x06";
const LOCATOR_MARK: &[u8; 4] = b"PK\x06\x07";
const WIDE_MARK: &[u8; 4] = b"PK\x06\x06";
const ENTRY_MARK: &[u8; 4] = b"PK\x01\x02";

/// What the end records say about the central directory.
#[derive(Clone, Copy)]
struct Directory {
    count: u64,
    size: u64,
    start: u64,
}

/// Checks that the archive ends with one central directory of at most `most` entries, at its stated offset right before
/// the end records, and no larger than that many entries need. Uses constant memory.
///
/// # Errors
/// The archive does not.
pub(super) fn check(packed: &mut (impl Read + Seek), most: u64) -> Result<(), SourceError> {
    let (directory, end) = find(packed).map_err(broken)?;
    if directory.count > most {
        let problem = format!("it has {} entries; a source may have {most}", directory.count);
        return Err(SourceError::Invalid(problem));
    }
    let least_size = directory.count.saturating_mul(SHORTEST_ENTRY);
    let most_size = directory.count.saturating_mul(MAX_FOR_ENTRY);
    if !(least_size..=most_size).contains(&directory.size) {
        let problem = format!(
            "its directory has {} bytes, which does not fit its {} entries",
            directory.size, directory.count
        );
        return Err(SourceError::Invalid(problem));
    }
    if directory.start.checked_add(directory.size) != Some(end) {
        let problem = "its directory is not at its offset: nothing may precede or follow the archive";
        return Err(SourceError::Invalid(problem.to_owned()));
    }
    if directory.count > 0 && read_at::<4>(packed, directory.start).map_err(broken)? != *ENTRY_MARK {
        return Err(broken(io::ErrorKind::InvalidData.into()));
    }
    Ok(())
}

/// The central directory according to the last end record, or its ZIP64 form, and the offset of these records.
fn find(packed: &mut (impl Read + Seek)) -> io::Result<(Directory, u64)> {
    let length = packed.seek(SeekFrom::End(0))?;
    let tail_start = length.saturating_sub(END + MAX_COMMENT);
    packed.seek(SeekFrom::Start(tail_start))?;
    let mut tail = Vec::new();
    packed.take(END + MAX_COMMENT).read_to_end(&mut tail)?;
    let nothing = || io::Error::new(io::ErrorKind::InvalidData, "the end of the ZIP archive is missing");
    // The last signature, which is also where the library starts.
    let at = tail
        .windows(4)
        .rposition(|bytes| bytes == END_MARK)
        .ok_or_else(nothing)?;
    let record = tail.get(at..at + END as usize).ok_or_else(nothing)?;
    if u64::from(u16_at(record, 20)) != (tail.len() - at) as u64 - END {
        return Err(nothing());
    }
    let end = tail_start + at as u64;
    let narrow = Directory {
        count: u16_at(record, 10).into(),
        size: u32_at(record, 12).into(),
        start: u32_at(record, 16).into(),
    };
    match wide(packed, end)? {
        Some(wide) => Ok((wide, end - LOCATOR - WIDE_END)),
        None => Ok((narrow, end)),
    }
}

/// The central directory according to the ZIP64 end record, whose locator is right before `end`, with the record right
/// before the locator.
fn wide(packed: &mut (impl Read + Seek), end: u64) -> io::Result<Option<Directory>> {
    let Some(start) = end.checked_sub(LOCATOR + WIDE_END) else {
        return Ok(None);
    };
    let locator: [u8; LOCATOR as usize] = read_at(packed, end - LOCATOR)?;
    if !locator.starts_with(LOCATOR_MARK) {
        return Ok(None);
    }
    let record: [u8; WIDE_END as usize] = read_at(packed, start)?;
    let is_here = u64_at(&locator, 8) == start && record.starts_with(WIDE_MARK);
    if !is_here || u64_at(&record, 4) != WIDE_END - 12 {
        let problem = "its ZIP64 end record is not at its offset";
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    Ok(Some(Directory {
        count: u64_at(&record, 32),
        size: u64_at(&record, 40),
        start: u64_at(&record, 48),
    }))
}

fn read_at<const N: usize>(packed: &mut (impl Read + Seek), place: u64) -> io::Result<[u8; N]> {
    packed.seek(SeekFrom::Start(place))?;
    let mut bytes = [0; N];
    packed.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn u16_at(bytes: &[u8], place: usize) -> u16 {
    u16::from_le_bytes([bytes[place], bytes[place + 1]])
}

fn u32_at(bytes: &[u8], place: usize) -> u32 {
    u32::from(u16_at(bytes, place)) | u32::from(u16_at(bytes, place + 2)) << 16
}

fn u64_at(bytes: &[u8], place: usize) -> u64 {
    u64::from(u32_at(bytes, place)) | u64::from(u32_at(bytes, place + 4)) << 32
}

fn broken(error: io::Error) -> SourceError {
    SourceError::Invalid(format!("cannot read the archive: {error}"))
}
