//! The record at the end of a ZIP that says where its directory is (APPNOTE 4.3.14 to 4.3.16).

use std::io::{Read, Seek};

use super::ArchiveError;
use super::bytes::{Fields, Source};

/// Lengths of the record, of the locator of its ZIP64 form, and of that form.
const END: u64 = 22;
const LOCATOR: u64 = 20;
const WIDE_END: u64 = 56;

/// In place of a number that only the ZIP64 record has.
const ELSEWHERE_16: u16 = u16::MAX;
const ELSEWHERE_32: u32 = u32::MAX;

/// Where the directory is.
pub(super) struct End {
    pub count: u64,
    pub start: u64,
    pub end: u64,
}

impl End {
    /// Takes the last end record, as readers do that search from the end. It must end with the file.
    pub fn find<R: Read + Seek>(source: &mut Source<R>) -> Result<Self, ArchiveError> {
        const MAX_TAIL: u64 = END + u16::MAX as u64;
        let tail_start = source.len.saturating_sub(MAX_TAIL);
        let mut tail = vec![0; usize::try_from(source.len - tail_start).unwrap_or(0)];
        source.read_at(tail_start, &mut tail)?;
        let at = tail
            .windows(4)
            .rposition(|bytes| bytes == b"PK\x05\x06")
            .ok_or(ArchiveError::NotZip)?;
        let (narrow, comment) = Narrow::read(&tail[at..]).ok_or(ArchiveError::NotZip)?;
        let rest = source.len - tail_start - at as u64 - END;
        if rest > comment {
            return Err(ArchiveError::TrailingBytes);
        }
        if rest < comment {
            return Err(ArchiveError::NotZip);
        }
        let at = tail_start + at as u64;
        let (whole, end) = match narrow.wide(source, at)? {
            Some(wide) => wide,
            None => (narrow.widened(), at),
        };
        if whole.disk != 0 || whole.directory_disk != 0 || whole.count_here != whole.count {
            return Err(ArchiveError::Directory("it is only one part of several files"));
        }
        match whole.start.checked_add(whole.size) {
            Some(sum) if sum == end => Ok(Self {
                count: whole.count,
                start: whole.start,
                end,
            }),
            // A program or a picture with an archive behind it: all positions are too small.
            Some(sum) if sum < end => Err(ArchiveError::LeadingBytes),
            _ => Err(ArchiveError::Directory("it is not where its end record says")),
        }
    }
}

/// The numbers of the end record.
struct Narrow {
    disk: u16,
    directory_disk: u16,
    count_here: u16,
    count: u16,
    size: u32,
    start: u32,
}

/// The same numbers in full width.
struct Wide {
    disk: u32,
    directory_disk: u32,
    count_here: u64,
    count: u64,
    size: u64,
    start: u64,
}

impl Narrow {
    /// The record, and the length of the comment behind it.
    fn read(bytes: &[u8]) -> Option<(Self, u64)> {
        let mut fields = Fields(bytes);
        fields.u32()?;
        let narrow = Self {
            disk: fields.u16()?,
            directory_disk: fields.u16()?,
            count_here: fields.u16()?,
            count: fields.u16()?,
            size: fields.u32()?,
            start: fields.u32()?,
        };
        Some((narrow, u64::from(fields.u16()?)))
    }

    fn widened(&self) -> Wide {
        Wide {
            disk: self.disk.into(),
            directory_disk: self.directory_disk.into(),
            count_here: self.count_here.into(),
            count: self.count.into(),
            size: self.size.into(),
            start: self.start.into(),
        }
    }

    /// The ZIP64 record if there is one before `at`, and where it starts. It must agree with this one, because some
    /// readers take the one and some the other.
    fn wide<R: Read + Seek>(&self, source: &mut Source<R>, at: u64) -> Result<Option<(Wide, u64)>, ArchiveError> {
        let Some(locator_start) = at.checked_sub(LOCATOR) else {
            return Ok(None);
        };
        let mut locator = [0; LOCATOR as usize];
        source.read_at(locator_start, &mut locator)?;
        let mut fields = Fields(&locator);
        if fields.u32() != Some(u32::from_le_bytes(*b"PK\x06\x07")) {
            return Ok(None);
        }
        let damaged = || ArchiveError::Directory("its ZIP64 end record does not fit");
        let (disk, start, disks) = (fields.u32(), fields.u64(), fields.u32());
        let expected = locator_start.checked_sub(WIDE_END);
        let (Some(start), true) = (start, start == expected && disk == Some(0) && disks <= Some(1)) else {
            return Err(damaged());
        };
        let mut record = [0; WIDE_END as usize];
        source.read_at(start, &mut record)?;
        match Wide::read(&record) {
            Some(wide) if self.agrees(&wide) => Ok(Some((wide, start))),
            _ => Err(damaged()),
        }
    }

    fn agrees(&self, wide: &Wide) -> bool {
        let count = |narrow: u16, wide: u64| narrow == ELSEWHERE_16 || u64::from(narrow) == wide;
        let place = |narrow: u32, wide: u64| narrow == ELSEWHERE_32 || u64::from(narrow) == wide;
        count(self.disk, wide.disk.into())
            && count(self.directory_disk, wide.directory_disk.into())
            && count(self.count_here, wide.count_here)
            && count(self.count, wide.count)
            && place(self.size, wide.size)
            && place(self.start, wide.start)
    }
}

impl Wide {
    fn read(record: &[u8]) -> Option<Self> {
        let mut fields = Fields(record);
        let whole = fields.u32()? == u32::from_le_bytes(*b"PK\x06\x06") && fields.u64()? == WIDE_END - 12;
        // The versions that made it and that read it.
        fields.u32()?;
        whole.then_some(Self {
            disk: fields.u32()?,
            directory_disk: fields.u32()?,
            count_here: fields.u64()?,
            count: fields.u64()?,
            size: fields.u64()?,
            start: fields.u64()?,
        })
    }
}
