//! The end of a ZIP archive (APPNOTE 4.3.14 to 4.3.16), read before the library sees the archive: the library keeps in memory
//! what a directory claims to hold, and searches a whole file for what looks like one.

use std::io::{self, Read, Seek, SeekFrom};

use super::SourceError;

/// Lengths of the end record without its comment, of the locator of its wide form, of that, and of the shortest entry.
const END: u64 = 22;
const LOCATOR: u64 = 20;
const WIDE_END: u64 = 56;
const SHORTEST_ENTRY: u64 = 46;
/// Bytes of the directory for each entry. Names, extra fields and comments of real ones take some hundred.
const MOST_FOR_ENTRY: u64 = 4096;

const MOST_COMMENT: u64 = u16::MAX as u64;
const END_MARK: &[u8; 4] = b"PK\x05\x06";
const LOCATOR_MARK: &[u8; 4] = b"PK\x06\x07";
const WIDE_MARK: &[u8; 4] = b"PK\x06\x06";
const ENTRY_MARK: &[u8; 4] = b"PK\x01\x02";

/// What the end records say of the directory.
#[derive(Clone, Copy)]
struct Directory {
    count: u64,
    size: u64,
    start: u64,
}

/// Checks that the archive ends in one directory of at most `most` entries that lies where it says, right before the end
/// records, and has no more bytes than so many entries need. Constant memory.
///
/// # Errors
/// It does not.
pub(super) fn check(packed: &mut (impl Read + Seek), most: u64) -> Result<(), SourceError> {
    let (directory, end) = find(packed).map_err(broken)?;
    if directory.count > most {
        let problem = format!("it has {} entries; a source may have {most}", directory.count);
        return Err(SourceError::Invalid(problem));
    }
    let least_size = directory.count.saturating_mul(SHORTEST_ENTRY);
    let most_size = directory.count.saturating_mul(MOST_FOR_ENTRY);
    if !(least_size..=most_size).contains(&directory.size) {
        let problem = format!(
            "its directory has {} bytes, which do not fit its {} entries",
            directory.size, directory.count
        );
        return Err(SourceError::Invalid(problem));
    }
    if directory.start.checked_add(directory.size) != Some(end) {
        let problem = "its directory is not where it says: nothing may stand before or behind the archive";
        return Err(SourceError::Invalid(problem.to_owned()));
    }
    if directory.count > 0 && read_at::<4>(packed, directory.start).map_err(broken)? != *ENTRY_MARK {
        return Err(broken(io::ErrorKind::InvalidData.into()));
    }
    Ok(())
}

/// The directory by the last end record, by its wide form where there is one, and where these records begin.
fn find(packed: &mut (impl Read + Seek)) -> io::Result<(Directory, u64)> {
    let length = packed.seek(SeekFrom::End(0))?;
    let tail_start = length.saturating_sub(END + MOST_COMMENT);
    packed.seek(SeekFrom::Start(tail_start))?;
    let mut tail = Vec::new();
    packed.take(END + MOST_COMMENT).read_to_end(&mut tail)?;
    let nothing = || io::Error::new(io::ErrorKind::InvalidData, "there is no end of a ZIP archive");
    // The last mark, which is the one that the library begins with.
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

/// The directory by the wide end record, whose locator lies right before `end` and the record itself right before that.
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
        let problem = "its wide end record is not where it should be";
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
    SourceError::Invalid(format!("it is no readable archive: {error}"))
}
