//! The string pool of Android's binary files (`ResStringPool`), and the chunks that such files consist of.

use crate::MAX_TEXT;
use crate::fields::{Fields, MalformedError};

pub(super) const STRING_POOL: u16 = 0x0001;
const UTF8: u32 = 1 << 8;

/// A chunk: its type, the rest of its header, and its body. Offsets count from the start of `whole`.
pub(super) struct Chunk<'a> {
    pub(super) kind: u16,
    pub(super) header: Fields<'a>,
    pub(super) body: Fields<'a>,
    pub(super) whole: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// Parses the next chunk.
    pub(super) fn next(fields: &mut Fields<'a>) -> Result<Self, MalformedError> {
        let start = *fields;
        let (kind, header, size) = (fields.u16()?, usize::from(fields.u16()?), fields.size()?);
        if header < 8 || header > size {
            return Err(MalformedError);
        }
        *fields = start;
        let whole = fields.take(size)?;
        let (header, body) = whole.split_at(header);
        Ok(Self {
            kind,
            header: Fields::at(header, 8)?,
            body: Fields(body),
            whole,
        })
    }
}

/// Strings by index.
#[derive(Clone, Copy, Default)]
pub(super) struct StringPool<'a> {
    offsets: &'a [u8],
    strings: &'a [u8],
    is_utf8: bool,
}

impl<'a> StringPool<'a> {
    pub(super) fn read(chunk: &Chunk<'a>) -> Result<Self, MalformedError> {
        let mut header = chunk.header;
        let (count, _styles, flags) = (header.size()?, header.u32()?, header.u32()?);
        let start = header.size()?;
        let mut body = chunk.body;
        Ok(Self {
            offsets: body.take(count.checked_mul(4).ok_or(MalformedError)?)?,
            // The start offset of an empty pool may be anything.
            strings: chunk.whole.get(start..).unwrap_or_default(),
            is_utf8: flags & UTF8 != 0,
        })
    }

    /// The string at an index; `None` if it is missing or too long to be relevant.
    pub(super) fn get(&self, number: u32) -> Option<String> {
        let place = usize::try_from(number).ok()?.checked_mul(4)?;
        let offset = Fields::at(self.offsets, place).ok()?.size().ok()?;
        let mut fields = Fields::at(self.strings, offset).ok()?;
        if self.is_utf8 {
            let _units = short_length(&mut fields)?;
            let length = short_length(&mut fields)?;
            // Up to 3 bytes for each UTF-16 code unit.
            let bytes = (length <= 3 * MAX_TEXT).then(|| fields.take(length).ok())??;
            Some(String::from_utf8_lossy(bytes).into_owned())
        } else {
            let length = long_length(&mut fields)?;
            let bytes = (length <= MAX_TEXT).then(|| fields.take(2 * length).ok())??;
            let units: Vec<_> = bytes
                .chunks_exact(2)
                .map(|unit| u16::from_le_bytes([unit[0], unit[1]]))
                .collect();
            Some(String::from_utf16_lossy(&units))
        }
    }
}

/// One byte, or two if the highest bit of the first is set.
fn short_length(fields: &mut Fields<'_>) -> Option<usize> {
    let first = usize::from(fields.u8().ok()?);
    if first & 0x80 == 0 {
        return Some(first);
    }
    Some((first & 0x7f) << 8 | usize::from(fields.u8().ok()?))
}

/// The same with 16-bit units.
fn long_length(fields: &mut Fields<'_>) -> Option<usize> {
    let first = usize::from(fields.u16().ok()?);
    if first & 0x8000 == 0 {
        return Some(first);
    }
    Some((first & 0x7fff) << 16 | usize::from(fields.u16().ok()?))
}
