//! The XML of AABs: a tree of protocol buffers (`XmlNode` in aapt2's `Resources.proto`).

use super::manifest::{Field, Manifest, Value};
use crate::MAX_TEXT;
use crate::fields::{Fields, MalformedError};

/// Parses a manifest.
pub(super) fn read(bytes: &[u8]) -> Result<Manifest, MalformedError> {
    let mut manifest = Manifest::default();
    let root = node_element(Message(Fields(bytes)))?.ok_or(MalformedError)?;
    element(root, 0, &mut manifest)?;
    Ok(manifest)
}

/// The element in an XmlNode; `None` if it is text.
fn node_element(node: Message<'_>) -> Result<Option<Message<'_>>, MalformedError> {
    let mut found = None;
    for part in node {
        if let (1, Part::Bytes(bytes)) = part? {
            found = Some(Message(Fields(bytes)));
        }
    }
    Ok(found)
}

/// Extracts the relevant attributes of an element at depth `depth`, and of its children.
fn element(message: Message<'_>, depth: usize, manifest: &mut Manifest) -> Result<(), MalformedError> {
    let mut name = String::new();
    // The name may follow the attributes.
    for part in message {
        if let (3, Part::Bytes(bytes)) = part? {
            name = text(bytes).unwrap_or_default();
        }
    }
    for part in message {
        match part? {
            (4, Part::Bytes(bytes)) => attribute(Message(Fields(bytes)), depth, &name, manifest)?,
            (5, Part::Bytes(bytes)) if depth == 0 => {
                if let Some(child) = node_element(Message(Fields(bytes)))? {
                    element(child, depth + 1, manifest)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn attribute(message: Message<'_>, depth: usize, element: &str, manifest: &mut Manifest) -> Result<(), MalformedError> {
    let (mut name, mut plain, mut id, mut compiled) = (&[][..], &[][..], None, None);
    for part in message {
        match part? {
            (2, Part::Bytes(bytes)) => name = bytes,
            (3, Part::Bytes(bytes)) => plain = bytes,
            (5, Part::Number(number)) => id = u32::try_from(number).ok(),
            (6, Part::Bytes(bytes)) => compiled = Some(Message(Fields(bytes))),
            _ => {}
        }
    }
    let name = text(name).unwrap_or_default();
    let Some(field) = Field::of(depth, element, id, &name).filter(|field| !manifest.has(*field)) else {
        return Ok(());
    };
    let item = match compiled {
        Some(compiled) => item(compiled)?,
        None => None,
    };
    let value = match item {
        None => text(plain).filter(|text| !text.starts_with('@')).map(Value::Text),
        // References are not resolved.
        Some(Value::Reference(_)) => None,
        value => value,
    };
    if let Some(value) = value {
        manifest.replace(field, value);
    }
    Ok(())
}

/// A compiled value (`Item`), if its kind is relevant.
fn item(message: Message<'_>) -> Result<Option<Value>, MalformedError> {
    let mut value = None;
    for part in message {
        value = match part? {
            (1, Part::Bytes(_)) => Some(Value::Reference(0)),
            (2, Part::Bytes(bytes)) => string(bytes)?,
            (7, Part::Bytes(bytes)) => primitive(bytes)?,
            _ => value,
        };
    }
    Ok(value)
}

fn string(bytes: &[u8]) -> Result<Option<Value>, MalformedError> {
    let mut value = None;
    for part in Message(Fields(bytes)) {
        if let (1, Part::Bytes(bytes)) = part? {
            value = text(bytes).map(Value::Text);
        }
    }
    Ok(value)
}

fn primitive(bytes: &[u8]) -> Result<Option<Value>, MalformedError> {
    let mut value = None;
    for part in Message(Fields(bytes)) {
        value = match part? {
            // Decimal and hexadecimal. Negative numbers have 64 bits, of which the lower 32 are the value.
            (6 | 7, Part::Number(number)) => Some(Value::Number(number as u32)),
            (8, Part::Number(number)) => Some(Value::Flag(number != 0)),
            _ => value,
        };
    }
    Ok(value)
}

fn text(bytes: &[u8]) -> Option<String> {
    (bytes.len() <= MAX_TEXT).then(|| String::from_utf8_lossy(bytes).into_owned())
}

/// A message; iterates over its fields, each with its number.
#[derive(Clone, Copy)]
struct Message<'a>(Fields<'a>);

/// The value of one field.
enum Part<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Message<'a> {
    fn part(&mut self) -> Result<(u64, Part<'a>), MalformedError> {
        let key = self.varint()?;
        let part = match key & 7 {
            0 => Part::Number(self.varint()?),
            1 => Part::Number(self.0.u64()?),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| MalformedError)?;
                Part::Bytes(self.0.take(length)?)
            }
            5 => Part::Number(self.0.u32()?.into()),
            _ => return Err(MalformedError),
        };
        Ok((key >> 3, part))
    }

    /// Seven bits per byte, lowest first.
    fn varint(&mut self) -> Result<u64, MalformedError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.0.u8()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(MalformedError)
    }
}

impl<'a> Iterator for Message<'a> {
    type Item = Result<(u64, Part<'a>), MalformedError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let part = self.part();
        if part.is_err() {
            self.0 = Fields(&[]);
        }
        Some(part)
    }
}
