//! The directory at the end of a ZIP (APPNOTE 4.3.12): what it declares about each entry, and whether that is allowed.

use std::io::{BufReader, Read, Seek};

use crate::end::End;
use crate::entry_name::EntryName;
use crate::error::{EntryError, PackageError};
use crate::extra::Extra;
use crate::fields::Fields;
use crate::source::Source;
use crate::{CHUNK, Limits, path};

/// Length in bytes of the fixed part of an entry.
const HEADER: usize = 46;

/// Flags of an entry.
const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
const PATCH: u16 = 1 << 5;
/// Size and checksum follow the data and are absent from the entry's own header.
pub(crate) const DESCRIPTOR: u16 = 1 << 3;
const UTF8: u16 = 1 << 11;
/// The flags that change the meaning of an entry; the others are hints.
pub(crate) const MEANINGFUL: u16 = ENCRYPTED | PATCH | DESCRIPTOR | UTF8;

/// Compression methods.
pub(crate) const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const AES: u16 = 99;

/// The directory.
pub(crate) struct Directory {
    /// In the order of the directory.
    pub entries: Vec<Entry>,
    /// Its offset, at which the entries must end.
    pub start: u64,
}

/// The directory's declaration of one entry.
#[derive(Debug)]
pub struct Entry {
    name: Box<str>,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) checksum: u32,
    pub(crate) packed: u64,
    pub(crate) unpacked: u64,
    /// The offset of its own header.
    pub(crate) start: u64,
}

impl Entry {
    /// Its path, without a folder's trailing slash.
    #[must_use]
    pub fn path(&self) -> &str {
        path::file_path(&self.name)
    }

    /// Whether it is a folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        self.name.ends_with('/')
    }

    /// The unpacked size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.unpacked
    }

    /// Its path with a folder's trailing slash.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn refused(&self, fault: EntryError) -> PackageError {
        refused(self.name.as_bytes(), fault)
    }
}

fn refused(name: &[u8], fault: EntryError) -> PackageError {
    PackageError::Entry {
        entry: EntryName::new(name),
        fault,
    }
}

/// Reads the whole directory.
pub(crate) fn read<R: Read + Seek>(source: &mut Source<R>, limits: &Limits) -> Result<Directory, PackageError> {
    let end = End::find(source)?;
    if end.count > limits.max_files {
        return Err(PackageError::TooManyEntries {
            count: end.count,
            limit: limits.max_files,
        });
    }
    let mut reader = Reader {
        bytes: BufReader::with_capacity(CHUNK, source.read_from(end.start)?),
        left: end.end - end.start,
    };
    let mut entries = Vec::new();
    for _ in 0..end.count {
        entries.push(reader.entry(limits)?);
    }
    if reader.left > 0 {
        return Err(PackageError::Directory("it has more bytes than its entries"));
    }
    Ok(Directory {
        entries,
        start: end.start,
    })
}

/// Reads one entry after another.
struct Reader<R> {
    bytes: R,
    left: u64,
}

impl<R: Read> Reader<R> {
    fn entry(&mut self, limits: &Limits) -> Result<Entry, PackageError> {
        let mut fixed = [0; HEADER];
        self.fill(&mut fixed)?;
        let header = Header::read(&fixed).ok_or(PackageError::Directory("one of its entries is not valid"))?;
        let name = self.take(header.name_length)?;
        let extra = self.take(header.extra_length)?;
        self.take(header.comment_length)?;
        let refuse = |fault: EntryError| refused(&name, fault);
        let path = path::check(&name, limits.max_path).map_err(|error| refuse(error.into()))?;
        header.check(path.ends_with('/')).map_err(refuse)?;
        let extra = Extra::read(&extra).ok_or_else(|| refuse(EntryError::Extra))?;
        if extra.other_name(&name) {
            return Err(refuse(EntryError::Disagrees("name")));
        }
        let mut wide = extra.wide();
        let (unpacked, packed) = (wide.number(header.unpacked), wide.number(header.packed));
        let (Some(unpacked), Some(packed), Some(start)) = (unpacked, packed, wide.number(header.start)) else {
            return Err(refuse(EntryError::Extra));
        };
        let Header {
            flags,
            method,
            checksum,
            ..
        } = header;
        Ok(Entry {
            flags,
            method,
            checksum,
            packed,
            unpacked,
            start,
            name: path.into(),
        })
    }

    fn take(&mut self, count: u16) -> Result<Vec<u8>, PackageError> {
        let mut bytes = vec![0; usize::from(count)];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), PackageError> {
        let short = PackageError::Directory("it has fewer bytes than its entries");
        self.left = self.left.checked_sub(buffer.len() as u64).ok_or(short)?;
        Ok(self.bytes.read_exact(buffer)?)
    }
}

/// The fixed part of an entry of the directory.
struct Header {
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

impl Header {
    fn read(bytes: &[u8; HEADER]) -> Option<Header> {
        let mut fields = Fields(bytes);
        if fields.u32()? != u32::from_le_bytes(*b"PK\x01\x02") {
            return None;
        }
        // The versions made by and needed to extract.
        fields.u32()?;
        let (flags, method) = (fields.u16()?, fields.u16()?);
        // Time and date.
        fields.u32()?;
        let (checksum, packed, unpacked) = (fields.u32()?, fields.u32()?, fields.u32()?);
        let (name_length, extra_length, comment_length) = (fields.u16()?, fields.u16()?, fields.u16()?);
        let disk = fields.u16()?;
        // Internal attributes, such as whether it is text.
        fields.u16()?;
        let (attributes, start) = (fields.u32()?, fields.u32()?);
        Some(Header {
            flags,
            method,
            checksum,
            packed,
            unpacked,
            name_length,
            extra_length,
            comment_length,
            disk,
            attributes,
            start,
        })
    }

    fn check(&self, is_folder: bool) -> Result<(), EntryError> {
        if self.flags & ENCRYPTED != 0 || self.method == AES {
            return Err(EntryError::Encrypted);
        }
        if !matches!(self.method, STORED | DEFLATED) {
            return Err(EntryError::Method(self.method));
        }
        if self.flags & PATCH != 0 || self.disk != 0 {
            return Err(EntryError::Incomplete);
        }
        // The Unix file type. Programs of other systems leave it 0, but not all readers check which system it was.
        match self.attributes >> 16 & 0o170_000 {
            0 => Ok(()),
            0o040_000 if is_folder => Ok(()),
            0o100_000 if !is_folder => Ok(()),
            0o040_000 | 0o100_000 => Err(EntryError::KindDisagrees),
            0o120_000 => Err(EntryError::Link),
            _ => Err(EntryError::Special),
        }
    }
}
