//! Android's table of resources (`ResTable`): the value of one resource, in the configuration that fits every device.

use super::binary_xml;
use super::manifest::Value;
use super::string_pool::{Chunk, STRING_POOL, StringPool};
use crate::fields::{Fields, Malformed};

const TABLE: u16 = 0x0002;
const PACKAGE: u16 = 0x0200;
const TYPE: u16 = 0x0201;
/// No entry.
const NONE: u32 = u32::MAX;
/// Entries are packed in other ways than by an offset for each.
const PACKED: u8 = 0x01 | 0x02;
/// A list or a style, and an entry in short form.
const NOT_PLAIN: u16 = 0x0001 | 0x0008;
/// Resources that name each other.
const MAX_STEPS: usize = 8;

/// The value of a resource; `None` if it is not there, or not plain.
pub(super) fn value(table: &[u8], id: u32) -> Result<Option<Value>, Malformed> {
    let mut id = id;
    for _ in 0..MAX_STEPS {
        match one_value(table, id)? {
            Some(Value::Reference(next)) => id = next,
            value => return Ok(value),
        }
    }
    Ok(None)
}

fn one_value(table: &[u8], id: u32) -> Result<Option<Value>, Malformed> {
    let [package, kind, ..] = id.to_be_bytes();
    let file = Chunk::next(&mut Fields(table))?;
    if file.kind != TABLE {
        return Err(Malformed);
    }
    let mut strings = StringPool::default();
    let mut chunks = file.body;
    while !chunks.is_empty() {
        let chunk = Chunk::next(&mut chunks)?;
        match chunk.kind {
            STRING_POOL => strings = StringPool::read(&chunk)?,
            PACKAGE if { chunk.header }.u32()? == u32::from(package) => {
                let mut types = chunk.body;
                while !types.is_empty() {
                    let chunk = Chunk::next(&mut types)?;
                    if chunk.kind == TYPE
                        && { chunk.header }.u8()? == kind
                        && let Some(value) = in_type(&chunk, id as u16, &strings)?
                    {
                        return Ok(Some(value));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(None)
}

/// The value of an entry of one type in one configuration, if that is the one for every device.
fn in_type(chunk: &Chunk<'_>, entry: u16, strings: &StringPool<'_>) -> Result<Option<Value>, Malformed> {
    let mut header = chunk.header;
    let (_kind, flags, _reserved) = (header.u8()?, header.u8()?, header.u16()?);
    let (count, start) = (header.u32()?, header.size()?);
    let size = header.size()?.checked_sub(4).ok_or(Malformed)?;
    let is_for_all = header.take(size.min(header.0.len()))?.iter().all(|byte| *byte == 0);
    if !is_for_all || flags & PACKED != 0 || u32::from(entry) >= count {
        return Ok(None);
    }
    let offset = Fields::at(chunk.body.0, usize::from(entry) * 4)?.u32()?;
    if offset == NONE {
        return Ok(None);
    }
    let place = usize::try_from(offset)
        .ok()
        .and_then(|offset| offset.checked_add(start));
    let mut fields = Fields::at(chunk.whole, place.ok_or(Malformed)?)?;
    let (size, flags) = (usize::from(fields.u16()?), fields.u16()?);
    if flags & NOT_PLAIN != 0 {
        return Ok(None);
    }
    // The value follows the entry, whose first four bytes were read.
    fields.skip(size.checked_sub(4).ok_or(Malformed)?)?;
    // Its length, and a byte that is always zero.
    fields.skip(3)?;
    let (kind, data) = (fields.u8()?, fields.u32()?);
    Ok(binary_xml::value(kind, data, strings))
}
