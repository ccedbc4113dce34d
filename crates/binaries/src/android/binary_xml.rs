//! Android's binary XML (`ResXMLTree`): elements and attributes as string indexes, resource ids and typed values.

use super::manifest::{Field, Manifest, Value};
use super::string_pool::{Chunk, STRING_POOL, StringPool};
use crate::fields::{Fields, MalformedError};

const XML: u16 = 0x0003;
const START_ELEMENT: u16 = 0x0102;
const END_ELEMENT: u16 = 0x0103;
const RESOURCE_MAP: u16 = 0x0180;

const TYPE_REFERENCE: u8 = 0x01;
const TYPE_STRING: u8 = 0x03;
const TYPE_DECIMAL: u8 = 0x10;
const TYPE_HEX: u8 = 0x11;
const TYPE_BOOLEAN: u8 = 0x12;
/// The size of one attribute in bytes.
const ATTRIBUTE: usize = 20;

/// Parses a manifest.
pub(super) fn read(bytes: &[u8]) -> Result<Manifest, MalformedError> {
    let file = Chunk::next(&mut Fields(bytes))?;
    if file.kind != XML {
        return Err(MalformedError);
    }
    let mut tree = Tree::default();
    let mut chunks = file.body;
    while !chunks.is_empty() {
        let chunk = Chunk::next(&mut chunks)?;
        match chunk.kind {
            STRING_POOL => tree.strings = StringPool::read(&chunk)?,
            RESOURCE_MAP => tree.ids = chunk.body.0,
            START_ELEMENT => {
                tree.element(chunk.body)?;
                tree.depth += 1;
            }
            END_ELEMENT => tree.depth = tree.depth.checked_sub(1).ok_or(MalformedError)?,
            _ => {}
        }
    }
    if tree.depth == 0 {
        Ok(tree.manifest)
    } else {
        Err(MalformedError)
    }
}

#[derive(Default)]
struct Tree<'a> {
    strings: StringPool<'a>,
    /// The resource ids of the attributes whose names are the first strings.
    ids: &'a [u8],
    depth: usize,
    manifest: Manifest,
}

impl<'a> Tree<'a> {
    /// Extracts the relevant attributes of an element.
    fn element(&mut self, body: Fields<'a>) -> Result<(), MalformedError> {
        let mut fields = body;
        let (_namespace, name) = (fields.u32()?, fields.u32()?);
        let (start, size) = (usize::from(fields.u16()?), usize::from(fields.u16()?));
        let count = fields.u16()?;
        // Deeper elements are irrelevant.
        let element = (self.depth < 2).then(|| self.strings.get(name)).flatten();
        let Some(element) = element else { return Ok(()) };
        if size < ATTRIBUTE {
            return Err(MalformedError);
        }
        let mut attributes = Fields::at(body.0, start)?;
        for _ in 0..count {
            self.attribute(&element, Fields(attributes.take(size)?))?;
        }
        Ok(())
    }

    fn attribute(&mut self, element: &str, mut fields: Fields<'a>) -> Result<(), MalformedError> {
        let (_namespace, name, raw) = (fields.u32()?, fields.u32()?, fields.u32()?);
        // The size of the value, and a byte that is always zero.
        fields.skip(3)?;
        let (kind, data) = (fields.u8()?, fields.u32()?);
        let id = self.id(name);
        let text = match id {
            Some(_) => None,
            None => self.strings.get(name),
        };
        let field = Field::of(self.depth, element, id, text.as_deref().unwrap_or_default());
        let Some(field) = field.filter(|field| !self.manifest.has(*field)) else {
            return Ok(());
        };
        let value = match value(kind, data, &self.strings) {
            None => self.strings.get(raw).map(Value::Text),
            value => value,
        };
        if let Some(value) = value {
            self.manifest.replace(field, value);
        }
        Ok(())
    }

    fn id(&self, name: u32) -> Option<u32> {
        let place = usize::try_from(name).ok()?.checked_mul(4)?;
        Fields::at(self.ids, place).ok()?.u32().ok()
    }
}

/// A typed value (`Res_value`), if its type is relevant.
pub(super) fn value(kind: u8, data: u32, strings: &StringPool<'_>) -> Option<Value> {
    match kind {
        TYPE_REFERENCE => Some(Value::Reference(data)),
        TYPE_STRING => strings.get(data).map(Value::Text),
        TYPE_DECIMAL | TYPE_HEX => Some(Value::Number(data)),
        TYPE_BOOLEAN => Some(Value::Flag(data != 0)),
        _ => None,
    }
}
