//! Property lists, binary and XML: the texts and lists of texts of the outermost dictionary. Of a binary one nothing else
//! is read, so that lists which hold each other cost nothing.

use std::collections::{BTreeMap, BTreeSet};

use launchway_credentials::read_xml_dictionary;
use launchway_domain::submission::preflight::purpose_keys;
use plist::Value;

use crate::MAX_TEXT;
use crate::fields::{Fields, Malformed};

/// Texts taken of one list.
const MAX_ITEMS: usize = 16;
/// The fields that are read.
const WANTED: [&str; 7] = [
    "CFBundleExecutable",
    "CFBundleIdentifier",
    "CFBundleShortVersionString",
    "CFBundleSupportedPlatforms",
    "CFBundleVersion",
    "DTPlatformName",
    "MinimumOSVersion",
];

/// What a list holds.
#[derive(Default)]
pub(crate) struct Properties {
    /// Texts by the names of their fields.
    texts: BTreeMap<&'static str, Vec<String>>,
    /// Keys whose text is not empty.
    purpose_strings: BTreeSet<&'static str>,
}

impl Properties {
    /// The text of a field, if it is not empty.
    pub(crate) fn text(&self, field: &str) -> Option<String> {
        self.texts(field).first().filter(|text| !text.is_empty()).cloned()
    }

    /// The texts of a list.
    pub(crate) fn texts(&self, field: &str) -> &[String] {
        self.texts.get(field).map_or(&[], Vec::as_slice)
    }

    /// The keys of the purpose strings in it, in order.
    pub(crate) fn purpose_strings(&self) -> Vec<&'static str> {
        self.purpose_strings.iter().copied().collect()
    }
}

/// Reads a property list of either form.
pub(crate) fn read(bytes: &[u8]) -> Result<Properties, Malformed> {
    if bytes.starts_with(b"bplist00") {
        Binary::new(bytes)?.read()
    } else {
        read_xml(bytes)
    }
}

fn read_xml(bytes: &[u8]) -> Result<Properties, Malformed> {
    let dictionary = read_xml_dictionary(bytes).map_err(|_| Malformed)?;
    let text = |value: &Value| {
        let text = value.as_string().filter(|text| text.chars().count() <= MAX_TEXT);
        text.map(ToOwned::to_owned)
    };
    let texts = |value: &Value| match value.as_array() {
        Some(items) => items.iter().take(MAX_ITEMS).filter_map(text).collect(),
        None => text(value).into_iter().collect(),
    };
    let found = WANTED
        .into_iter()
        .filter_map(|name| Some((name, texts(dictionary.get(name)?))));
    let is_said = |key: &&str| {
        let text = dictionary.get(key).and_then(Value::as_string);
        text.is_some_and(|text| !text.is_empty())
    };
    Ok(Properties {
        texts: found.collect(),
        purpose_strings: purpose_keys().filter(is_said).collect(),
    })
}

/// A binary list: objects, a table of their places, and a trailer.
struct Binary<'a> {
    bytes: &'a [u8],
    /// Bytes of a place in the table, and of the number of an object.
    place_size: usize,
    number_size: usize,
    top: u64,
    table: usize,
}

impl<'a> Binary<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, Malformed> {
        const TRAILER: usize = 32;
        let mut trailer = Fields::at(bytes, bytes.len().checked_sub(TRAILER).ok_or(Malformed)?)?;
        trailer.skip(6)?;
        let (place_size, number_size) = (trailer.u8()?, trailer.u8()?);
        // How many objects there are: places outside the table are found by their bytes.
        trailer.skip(8)?;
        Ok(Self {
            bytes,
            place_size: place_size.into(),
            number_size: number_size.into(),
            top: trailer.big_endian(8)?,
            table: trailer.big_endian_size(8)?,
        })
    }

    fn read(&self) -> Result<Properties, Malformed> {
        let (kind, count, mut keys) = self.object(self.top)?;
        if kind != 0xd {
            return Err(Malformed);
        }
        let mut values = keys;
        values.skip(count.checked_mul(self.number_size).ok_or(Malformed)?)?;
        let mut found = Properties::default();
        for _ in 0..count {
            let (key, value) = (self.number(&mut keys)?, self.number(&mut values)?);
            let Some(key) = self.text(key)? else { continue };
            if let Some(name) = WANTED.into_iter().find(|name| *name == key)
                && !found.texts.contains_key(name)
            {
                found.texts.insert(name, self.texts(value)?);
            }
            if let Some(name) = purpose_keys().find(|name| *name == key)
                && let (0x5 | 0x6, 1.., _) = self.object(value)?
            {
                found.purpose_strings.insert(name);
            }
        }
        Ok(found)
    }

    /// The number of an object.
    fn number(&self, fields: &mut Fields<'a>) -> Result<u64, Malformed> {
        // A number of no bytes would be read for ever.
        if self.number_size == 0 {
            return Err(Malformed);
        }
        fields.big_endian(self.number_size)
    }

    /// An object's kind, its count of bytes, letters or objects, and what follows.
    fn object(&self, number: u64) -> Result<(u8, usize, Fields<'a>), Malformed> {
        let number = usize::try_from(number).map_err(|_| Malformed)?;
        let in_table = number
            .checked_mul(self.place_size)
            .and_then(|place| place.checked_add(self.table));
        let place = Fields::at(self.bytes, in_table.ok_or(Malformed)?)?.big_endian_size(self.place_size)?;
        let mut fields = Fields::at(self.bytes, place)?;
        let mark = fields.u8()?;
        let (kind, mut count) = (mark >> 4, usize::from(mark & 0xf));
        if count == 0xf && matches!(kind, 0x5 | 0x6 | 0xa | 0xd) {
            // The count stands in an integer of its own, whose bytes are a power of two.
            let integer = fields.u8()?;
            if integer >> 4 != 1 || integer & 0xf > 3 {
                return Err(Malformed);
            }
            count = fields.big_endian_size(1 << (integer & 0xf))?;
        }
        Ok((kind, count, fields))
    }

    /// A text; `None` for another object, and for a text that is too long.
    fn text(&self, number: u64) -> Result<Option<String>, Malformed> {
        let (kind, count, mut fields) = self.object(number)?;
        if count > MAX_TEXT {
            return Ok(None);
        }
        Ok(match kind {
            0x5 => Some(String::from_utf8_lossy(fields.take(count)?).into_owned()),
            0x6 => {
                let units = fields.take(count * 2)?.chunks_exact(2);
                let units: Vec<_> = units.map(|unit| u16::from_be_bytes([unit[0], unit[1]])).collect();
                Some(String::from_utf16_lossy(&units))
            }
            _ => None,
        })
    }

    /// The text, or the texts of a list.
    fn texts(&self, number: u64) -> Result<Vec<String>, Malformed> {
        let (kind, count, mut items) = self.object(number)?;
        if kind != 0xa {
            return Ok(self.text(number)?.into_iter().collect());
        }
        let mut texts = Vec::new();
        for _ in 0..count.min(MAX_ITEMS) {
            let item = self.number(&mut items)?;
            texts.extend(self.text(item)?);
        }
        Ok(texts)
    }
}
