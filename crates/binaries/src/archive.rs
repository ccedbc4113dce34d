//! ZIP archives (APPNOTE), as far as needed to find a few files: the central directory, and the data of each file. Only
//! the central directory is authoritative, as for Android and Apple's tools.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use flate2::read::DeflateDecoder;

use crate::error::BinaryError;
use crate::fields::{Fields, MalformedError};

/// The maximum size of the central directory in bytes: half a million entries, more than ten times those of large apps.
const MAX_DIRECTORY: u64 = 32 << 20;
/// The length of the end record without its comment, and of the ZIP64 locator.
const END: usize = 22;
const LOCATOR: usize = 20;
const MAX_COMMENT: usize = u16::MAX as usize;
/// The length of the fixed part of a local file header.
const HEADER: u64 = 30;

const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// An archive whose central directory was read.
pub(crate) struct Archive<R> {
    file: R,
    directory: Vec<u8>,
    directory_start: u64,
}

/// The central directory's entry for one file.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a [u8],
    place: Place,
}

/// The position and compression of a file's data.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    flags: u16,
    method: u16,
    checksum: u32,
    packed: u64,
    unpacked: u64,
    header: u64,
}

impl<R: Read + Seek> Archive<R> {
    /// Reads the central directory.
    pub(crate) fn open(mut file: R) -> Result<Self, BinaryError> {
        let length = file.seek(SeekFrom::End(0))?;
        let tail_length = length.min((END + MAX_COMMENT + LOCATOR) as u64);
        let mut starts = [0; 4];
        file.seek(SeekFrom::Start(0))?;
        let is_zip = length >= 4 && file.read_exact(&mut starts).map(|()| starts == *b"PK\x03\x04")?;
        let tail = read_at(&mut file, length - tail_length, tail_length)?;
        let wrong = if is_zip {
            BinaryError::DamagedArchive
        } else {
            BinaryError::NotAnApp
        };
        let Some(end) = find_end(&tail) else {
            return Err(wrong);
        };
        let Ok((start, size)) = directory_place(&mut file, length, &tail, end)? else {
            return Err(wrong);
        };
        let before_end = length - (tail.len() - end) as u64;
        if size > MAX_DIRECTORY || start.checked_add(size).is_none_or(|stop| stop > before_end) {
            return Err(wrong);
        }
        let directory = read_at(&mut file, start, size)?;
        let mut fields = Fields(&directory);
        while !fields.is_empty() {
            Entry::read(&mut fields).map_err(|MalformedError| BinaryError::DamagedArchive)?;
        }
        Ok(Self {
            file,
            directory,
            directory_start: start,
        })
    }

    /// All files, in the order of the central directory.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut fields = Fields(&self.directory);
        std::iter::from_fn(move || Entry::read(&mut fields).ok())
    }

    /// The file with this name, which must be unique. `part` is its name in messages.
    pub(crate) fn find(&self, name: &[u8], part: &'static str) -> Result<Option<Place>, BinaryError> {
        let mut found = self.entries().filter(|entry| entry.name == name);
        let first = found.next().map(|entry| entry.place);
        match found.next() {
            Some(_) => Err(BinaryError::Ambiguous { part }),
            None => Ok(first),
        }
    }

    /// The first `most` files with matching names, in the order of the central directory.
    pub(crate) fn files(&self, most: usize, is_wanted: impl Fn(&[u8]) -> bool) -> Vec<(Vec<u8>, Place)> {
        let wanted = self.entries().filter(|entry| is_wanted(entry.name));
        wanted
            .map(|entry| (entry.name.to_vec(), entry.place))
            .take(most)
            .collect()
    }

    /// The content of a file of at most `limit` bytes.
    pub(crate) fn read(&mut self, place: Place, limit: u64, part: &'static str) -> Result<Vec<u8>, BinaryError> {
        if place.unpacked > limit {
            return Err(BinaryError::TooLarge { part, limit });
        }
        let mut bytes = Vec::new();
        let unpacked = self.unpack(place, part)?.take(limit + 1).read_to_end(&mut bytes);
        unpacked.map_err(|error| damaged_or_unreadable(error, part))?;
        if bytes.len() as u64 != place.unpacked || crc32fast::hash(&bytes) != place.checksum {
            return Err(BinaryError::Damaged { part });
        }
        Ok(bytes)
    }

    /// A reader of the content of a file, which does not verify the checksum.
    pub(crate) fn unpack(&mut self, place: Place, part: &'static str) -> Result<Box<dyn Read + '_>, BinaryError> {
        if place.flags & ENCRYPTED != 0 || !matches!(place.method, STORED | DEFLATED) {
            return Err(BinaryError::Packing { part });
        }
        let damaged = || BinaryError::Damaged { part };
        // Headers and data precede the central directory.
        let room = self
            .directory_start
            .checked_sub(HEADER)
            .filter(|last| place.header <= *last);
        room.ok_or_else(damaged)?;
        let header = read_at(&mut self.file, place.header, HEADER)?;
        let data = place.header + HEADER + names_length(&header).map_err(|MalformedError| damaged())?;
        if data
            .checked_add(place.packed)
            .is_none_or(|stop| stop > self.directory_start)
        {
            return Err(damaged());
        }
        self.file.seek(SeekFrom::Start(data))?;
        let packed = BufReader::new((&mut self.file).take(place.packed));
        Ok(if place.method == STORED {
            Box::new(packed)
        } else {
            Box::new(DeflateDecoder::new(packed))
        })
    }

    /// Up to `limit` bytes right before the central directory, where an APK has its signature.
    pub(crate) fn before_directory(&mut self, limit: u64) -> io::Result<Vec<u8>> {
        let length = limit.min(self.directory_start);
        read_at(&mut self.file, self.directory_start - length, length)
    }
}

impl<'a> Entry<'a> {
    /// Parses one entry of the central directory (APPNOTE 4.3.12).
    fn read(fields: &mut Fields<'a>) -> Result<Self, MalformedError> {
        if fields.u32()? != u32::from_le_bytes(*b"PK\x01\x02") {
            return Err(MalformedError);
        }
        // The versions of the writer and the required reader.
        fields.skip(4)?;
        let (flags, method) = (fields.u16()?, fields.u16()?);
        // Date and time.
        fields.skip(4)?;
        let (checksum, packed, unpacked) = (fields.u32()?, fields.u32()?, fields.u32()?);
        let lengths = [fields.u16()?, fields.u16()?, fields.u16()?].map(usize::from);
        // Disk number and attributes.
        fields.skip(8)?;
        let header = fields.u32()?;
        let (name, extra) = (fields.take(lengths[0])?, fields.take(lengths[1])?);
        fields.skip(lengths[2])?;
        let mut wide = wide_numbers(extra)?;
        let mut number = |short: u32| {
            if short == u32::MAX {
                wide.u64()
            } else {
                Ok(short.into())
            }
        };
        let (unpacked, packed, header) = (number(unpacked)?, number(packed)?, number(header)?);
        Ok(Self {
            name,
            place: Place {
                flags,
                method,
                checksum,
                packed,
                unpacked,
                header,
            },
        })
    }
}

/// The content of the ZIP64 extra field (APPNOTE 4.5.3), or nothing.
fn wide_numbers(extra: &[u8]) -> Result<Fields<'_>, MalformedError> {
    let mut fields = Fields(extra);
    // Some writers pad with a byte or two that are not a field.
    while fields.0.len() >= 4 {
        let (id, length) = (fields.u16()?, fields.u16()?);
        let Ok(content) = fields.take(length.into()) else { break };
        if id == 1 {
            return Ok(Fields(content));
        }
    }
    Ok(Fields(&[]))
}

/// The offset of the end record in `tail`: the last one whose comment ends at the end of the file.
fn find_end(tail: &[u8]) -> Option<usize> {
    let last = tail.len().checked_sub(END)?;
    (0..=last).rev().find(|at| {
        let record = &tail[*at..];
        record.starts_with(b"PK\x05\x06")
            && usize::from(u16::from_le_bytes([record[20], record[21]])) == record.len() - END
    })
}

/// Offset and size of the central directory, from the end record or its ZIP64 form (APPNOTE 4.3.14).
fn directory_place<R: Read + Seek>(
    file: &mut R,
    length: u64,
    tail: &[u8],
    end: usize,
) -> io::Result<Result<(u64, u64), MalformedError>> {
    const WIDE_END: u64 = 56;
    let short = || {
        let mut fields = Fields::at(tail, end + 12)?;
        let (size, start) = (fields.u32()?, fields.u32()?);
        Ok((u64::from(start), u64::from(size)))
    };
    let locator = end.checked_sub(LOCATOR).map(|at| &tail[at..end]);
    let Some(locator) = locator.filter(|locator| locator.starts_with(b"PK\x06\x07")) else {
        return Ok(short());
    };
    let Ok(wide_end) = Fields(&locator[8..]).u64() else {
        return Ok(Err(MalformedError));
    };
    if wide_end.checked_add(WIDE_END).is_none_or(|stop| stop > length) {
        return Ok(Err(MalformedError));
    }
    let record = read_at(file, wide_end, WIDE_END)?;
    if !record.starts_with(b"PK\x06\x06") {
        return Ok(Err(MalformedError));
    }
    let mut fields = Fields(&record[40..]);
    Ok(fields.u64().and_then(|size| Ok((fields.u64()?, size))))
}

/// The total length of name and extra fields in a local file header.
fn names_length(header: &[u8]) -> Result<u64, MalformedError> {
    if !header.starts_with(b"PK\x03\x04") {
        return Err(MalformedError);
    }
    let mut lengths = Fields::at(header, 26)?;
    Ok(u64::from(lengths.u16()?) + u64::from(lengths.u16()?))
}

/// Reads bytes that must exist: the caller has compared the range with the file's length.
fn read_at<R: Read + Seek>(file: &mut R, start: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length {
        Ok(bytes)
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// Corrupt compressed data is the binary's fault; a failing disk is not.
fn damaged_or_unreadable(error: io::Error, part: &'static str) -> BinaryError {
    match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            BinaryError::Damaged { part }
        }
        _ => BinaryError::Unreadable(error),
    }
}
