//! The directory at the end of a ZIP (APPNOTE 4.3.12): what it says of each entry, and whether that is allowed.

use std::io::{BufReader, Read, Seek, SeekFrom};

use super::end::End;
use super::extra::Extra;
use super::{ArchiveError, Fault};
use crate::archive::bytes::{Fields, Source};
use crate::file_list::MAX_FILES;
use crate::path;

/// Length of the fixed part of an entry.
const HEADER: usize = 46;

/// Flags of an entry.
const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
const PATCH: u16 = 1 << 5;
/// Sizes and checksum follow the data instead of preceding it.
pub(super) const DESCRIPTOR: u16 = 1 << 3;
const UTF8: u16 = 1 << 11;
/// The flags that change what an entry is. The others are hints.
pub(super) const MEANINGFUL: u16 = ENCRYPTED | PATCH | DESCRIPTOR | UTF8;

/// Methods of packing.
pub(super) const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const AES: u16 = 99;

/// The directory: each entry's path and the rest.
pub(super) struct Directory {
    pub entries: Vec<(String, Header)>,
    pub start: u64,
}

/// What the directory says of an entry beside its path.
#[derive(Debug)]
pub(super) struct Header {
    pub folder: bool,
    pub flags: u16,
    pub method: u16,
    pub checksum: u32,
    pub packed: u64,
    pub unpacked: u64,
    /// Where its own header starts.
    pub start: u64,
}

/// Reads the whole directory.
pub(super) fn read<R: Read + Seek>(source: &mut Source<R>) -> Result<Directory, ArchiveError> {
    let end = End::find(source)?;
    if end.count > MAX_FILES as u64 {
        return Err(ArchiveError::TooManyEntries);
    }
    source
        .inner
        .seek(SeekFrom::Start(end.start))
        .map_err(ArchiveError::Source)?;
    let mut reader = Reader {
        bytes: BufReader::with_capacity(super::CHUNK, &mut source.inner),
        left: end.end - end.start,
    };
    let mut entries = Vec::new();
    for _ in 0..end.count {
        entries.push(reader.entry()?);
    }
    if reader.left > 0 {
        return Err(ArchiveError::Directory("it has more bytes than its entries"));
    }
    Ok(Directory {
        entries,
        start: end.start,
    })
}

struct Reader<R> {
    bytes: R,
    left: u64,
}

impl<R: Read> Reader<R> {
    fn entry(&mut self) -> Result<(String, Header), ArchiveError> {
        let mut fixed = [0; HEADER];
        self.fill(&mut fixed)?;
        let fixed = Fixed::read(&fixed).ok_or(ArchiveError::Directory("an entry does not start as one"))?;
        let name = self.take(fixed.name_length)?;
        let extra = self.take(fixed.extra_length)?;
        self.take(fixed.comment_length)?;
        let refused = |fault| ArchiveError::Entry {
            path: String::from_utf8_lossy(&name).into_owned(),
            fault,
        };
        let folder = name.ends_with(b"/") && name.len() > 1;
        let plain = if folder { &name[..name.len() - 1] } else { &name[..] };
        let path = path::check(plain).map_err(|error| refused(error.into()))?;
        let header = fixed.header(&name, &extra, folder).map_err(refused)?;
        Ok((path.to_owned(), header))
    }

    fn take(&mut self, count: u16) -> Result<Vec<u8>, ArchiveError> {
        let mut bytes = vec![0; usize::from(count)];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), ArchiveError> {
        let short = ArchiveError::Directory("it has fewer bytes than its entries");
        self.left = self.left.checked_sub(buffer.len() as u64).ok_or(short)?;
        self.bytes.read_exact(buffer).map_err(ArchiveError::Source)
    }
}

/// The fixed part of an entry of the directory.
struct Fixed {
    flags: u16,
    method: u16,
    checksum: u32,
    packed: u32,
    unpacked: u32,
    name_length: u16,
    extra_length: u16,
    comment_length: u16,
    disk: u16,
    attributes: u32,
    start: u32,
}

impl Fixed {
    fn read(bytes: &[u8; HEADER]) -> Option<Self> {
        let mut fields = Fields(bytes);
        if fields.u32()? != u32::from_le_bytes(*b"PK\x01\x02") {
            return None;
        }
        // The versions that made it and that read it.
        fields.u32()?;
        let (flags, method) = (fields.u16()?, fields.u16()?);
        // Date and time.
        fields.u32()?;
        let (checksum, packed, unpacked) = (fields.u32()?, fields.u32()?, fields.u32()?);
        let (name_length, extra_length, comment_length) = (fields.u16()?, fields.u16()?, fields.u16()?);
        let disk = fields.u16()?;
        // Whether it is text.
        fields.u16()?;
        Some(Self {
            flags,
            method,
            checksum,
            packed,
            unpacked,
            name_length,
            extra_length,
            comment_length,
            disk,
            attributes: fields.u32()?,
            start: fields.u32()?,
        })
    }

    fn header(&self, name: &[u8], extra: &[u8], folder: bool) -> Result<Header, Fault> {
        self.check(folder)?;
        let extra = Extra::read(extra).ok_or(Fault::Extra)?;
        if extra.other_name(name) {
            return Err(Fault::Disagrees("name"));
        }
        let mut wide = extra.wide();
        let mut number = |field| wide.number(field).ok_or(Fault::Extra);
        let (unpacked, packed, start) = (number(self.unpacked)?, number(self.packed)?, number(self.start)?);
        Ok(Header {
            folder,
            flags: self.flags,
            method: self.method,
            checksum: self.checksum,
            packed,
            unpacked,
            start,
        })
    }

    fn check(&self, folder: bool) -> Result<(), Fault> {
        if self.flags & ENCRYPTED != 0 || self.method == AES {
            return Err(Fault::Encrypted);
        }
        if !matches!(self.method, STORED | DEFLATED) {
            return Err(Fault::Method(self.method));
        }
        if self.flags & PATCH != 0 || self.disk != 0 {
            return Err(Fault::Incomplete);
        }
        // The kind of file in Unix's form. Programs of other systems leave it 0, but not all readers ask which it was.
        match self.attributes >> 16 & 0o170_000 {
            0 => Ok(()),
            0o040_000 if folder => Ok(()),
            0o100_000 if !folder => Ok(()),
            0o040_000 | 0o100_000 => Err(Fault::KindDisagrees),
            0o120_000 => Err(Fault::Link),
            _ => Err(Fault::Special),
        }
    }
}
