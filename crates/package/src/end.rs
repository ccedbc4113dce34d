//! The record at the very end of a ZIP that locates the directory (APPNOTE 4.3.14 to 4.3.16).

use std::io::{Read, Seek};

use crate::error::PackageError;
use crate::fields::Fields;
use crate::source::Source;

/// Lengths in bytes of the record, of the ZIP64 locator, and of the ZIP64 record.
const END: u64 = 22;
const LOCATOR: u64 = 20;
const WIDE_END: u64 = 56;

/// The placeholder for a number in the ZIP64 record.
const ELSEWHERE_16: u16 = u16::MAX;
const ELSEWHERE_32: u32 = u32::MAX;

/// The contents of the end record.
pub(crate) struct End {
    /// The number of entries in the directory.
    pub count: u64,
    /// The offset of the directory.
    pub start: u64,
    /// The offset after the directory, where the end records begin.
    pub end: u64,
}

impl End {
    /// Finds the last end record, as readers that search from the end do. It must end with the file.
    pub fn find<R: Read + Seek>(source: &mut Source<R>) -> Result<End, PackageError> {
        const MAX_TAIL: u64 = END + u16::MAX as u64;
        let tail_start = source.len.saturating_sub(MAX_TAIL);
        let mut tail = vec![0; usize::try_from(source.len - tail_start).unwrap_or(0)];
        source.read_at(tail_start, &mut tail)?;
        let at = tail
            .windows(4)
            .rposition(|bytes| bytes == b"PK\x05\x06")
            .ok_or(PackageError::NotZip)?;
        let (narrow, comment) = Narrow::read(&tail[at..]).ok_or(PackageError::NotZip)?;
        let rest = source.len - tail_start - at as u64 - END;
        if rest > comment {
            return Err(PackageError::TrailingBytes);
        }
        if rest < comment {
            return Err(PackageError::NotZip);
        }
        let at = tail_start + at as u64;
        let (whole, end) = match narrow.wide(source, at)? {
            Some(wide) => wide,
            None => (narrow.as_wide(), at),
        };
        if whole.disk != 0 || whole.directory_disk != 0 || whole.count_here != whole.count {
            return Err(PackageError::Directory("it is only one part of several files"));
        }
        match whole.start.checked_add(whole.size) {
            Some(sum) if sum == end => Ok(End {
                count: whole.count,
                start: whole.start,
                end,
            }),
            // The classic sign of a program or a picture with an appended archive: all offsets are too small.
            Some(sum) if sum < end => Err(PackageError::LeadingBytes),
            _ => Err(PackageError::Directory("it is not at its offset")),
        }
    }
}

/// The end record's numbers in their regular width.
struct Narrow {
    disk: u16,
    directory_disk: u16,
    count_here: u16,
    count: u16,
    size: u32,
    start: u32,
}

/// The ZIP64 numbers in full width.
#[derive(PartialEq, Eq)]
struct Wide {
    disk: u32,
    directory_disk: u32,
    count_here: u64,
    count: u64,
    size: u64,
    start: u64,
}

impl Narrow {
    /// Also returns the length of the comment that follows.
    fn read(bytes: &[u8]) -> Option<(Narrow, u64)> {
        let mut fields = Fields(bytes);
        fields.u32()?;
        let narrow = Narrow {
            disk: fields.u16()?,
            directory_disk: fields.u16()?,
            count_here: fields.u16()?,
            count: fields.u16()?,
            size: fields.u32()?,
            start: fields.u32()?,
        };
        Some((narrow, u64::from(fields.u16()?)))
    }

    fn as_wide(&self) -> Wide {
        Wide {
            disk: self.disk.into(),
            directory_disk: self.directory_disk.into(),
            count_here: self.count_here.into(),
            count: self.count.into(),
            size: self.size.into(),
            start: self.start.into(),
        }
    }

    /// The ZIP64 end record before `at`, if there is one, and its offset. It must agree with this record, because some
    /// readers use the one and some the other.
    fn wide<R: Read + Seek>(&self, source: &mut Source<R>, at: u64) -> Result<Option<(Wide, u64)>, PackageError> {
        let Some(locator_start) = at.checked_sub(LOCATOR) else {
            return Ok(None);
        };
        let mut locator = [0; LOCATOR as usize];
        source.read_at(locator_start, &mut locator)?;
        let mut fields = Fields(&locator);
        if fields.u32() != Some(u32::from_le_bytes(*b"PK\x06\x07")) {
            return Ok(None);
        }
        let damaged = PackageError::Directory("its ZIP64 end record is inconsistent");
        let (disk, start, disks) = (fields.u32(), fields.u64(), fields.u32());
        let expected = locator_start.checked_sub(WIDE_END);
        let (Some(start), true) = (start, start == expected && disk == Some(0) && disks <= Some(1)) else {
            return Err(damaged);
        };
        let mut record = [0; WIDE_END as usize];
        source.read_at(start, &mut record)?;
        match Wide::read(&record) {
            Some(wide) if self.agrees(&wide) => Ok(Some((wide, start))),
            _ => Err(damaged),
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
    fn read(record: &[u8]) -> Option<Wide> {
        let mut fields = Fields(record);
        let is_whole = fields.u32()? == u32::from_le_bytes(*b"PK\x06\x06") && fields.u64()? == WIDE_END - 12;
        // The versions made by and needed to extract.
        fields.u32()?;
        is_whole.then_some(Wide {
            disk: fields.u32()?,
            directory_disk: fields.u32()?,
            count_here: fields.u64()?,
            count: fields.u64()?,
            size: fields.u64()?,
            start: fields.u64()?,
        })
    }
}
