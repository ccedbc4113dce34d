//! Android's resource table (`ResTable`): the value of a resource in the default configuration.

use super::binary_xml;
use super::manifest::Value;
use super::string_pool::{Chunk, STRING_POOL, StringPool};
use crate::fields::{Fields, MalformedError};

const TABLE: u16 = 0x0002;
const PACKAGE: u16 = 0x0200;
const TYPE: u16 = 0x0201;
/// Marks a missing entry.
const NONE: u32 = u32::MAX;
/// Flags of entries in a sparse or compact encoding.
const PACKED: u8 = 0x01 | 0x02;
/// Flags of complex entries (lists or styles) and of compact ones.
const NOT_PLAIN: u16 = 0x0001 | 0x0008;
/// The maximum length of a chain of references.
const MAX_STEPS: usize = 8;

/// The value of a resource; `None` if it is missing or not a simple value.
pub(super) fn value(table: &[u8], id: u32) -> Result<Option<Value>, MalformedError> {
    let mut id = id;
    for _ in 0..MAX_STEPS {
        match one_value(table, id)? {
            Some(Value::Reference(next)) => id = next,
            value => return Ok(value),
        }
    }
    Ok(None)
}

fn one_value(table: &[u8], id: u32) -> Result<Option<Value>, MalformedError> {
    let [package, kind, ..] = id.to_be_bytes();
    let file = Chunk::next(&mut Fields(table))?;
    if file.kind != TABLE {
        return Err(MalformedError);
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
                        && let Some(value) = value_in_type(&chunk, id as u16, &strings)?
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

/// The value of an entry of one type in one configuration, if that is the default configuration.
fn value_in_type(chunk: &Chunk<'_>, entry: u16, strings: &StringPool<'_>) -> Result<Option<Value>, MalformedError> {
    let mut header = chunk.header;
    let (_kind, flags, _reserved) = (header.u8()?, header.u8()?, header.u16()?);
    let (count, start) = (header.u32()?, header.size()?);
    let size = header.size()?.checked_sub(4).ok_or(MalformedError)?;
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
    let mut fields = Fields::at(chunk.whole, place.ok_or(MalformedError)?)?;
    let (size, flags) = (usize::from(fields.u16()?), fields.u16()?);
    if flags & NOT_PLAIN != 0 {
        return Ok(None);
    }
    // The value follows the entry, whose first four bytes are already read.
    fields.skip(size.checked_sub(4).ok_or(MalformedError)?)?;
    // The size of the value, and a byte that is always zero.
    fields.skip(3)?;
    let (kind, data) = (fields.u8()?, fields.u32()?);
    Ok(binary_xml::value(kind, data, strings))
}
