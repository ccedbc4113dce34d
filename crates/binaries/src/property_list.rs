//! Property lists, binary and XML: the texts and lists of texts in the outermost dictionary, and the name of the icon
//! at a fixed place below it. The binary reader decodes nothing else, so cyclic lists are harmless.

use std::collections::{BTreeMap, BTreeSet};

use launchway_credentials::read_xml_dictionary;
use launchway_domain::submission::preflight::purpose_keys;
use plist::Value;

use crate::MAX_TEXT;
use crate::fields::{Fields, MalformedError};

/// The maximum number of texts from one list.
const MAX_ITEMS: usize = 16;
/// The fields to extract.
const WANTED: [&str; 10] = [
    "CFBundleExecutable",
    ICON_NAME,
    "CFBundleIdentifier",
    "CFBundleShortVersionString",
    "CFBundleSupportedPlatforms",
    "CFBundleVersion",
    "DTPlatformName",
    "DTPlatformVersion",
    "DTSDKName",
    "MinimumOSVersion",
];
/// The name of the icon in the asset catalog, and the dictionaries in which Xcode puts it.
const ICON_NAME: &str = "CFBundleIconName";
const ICON_PLACE: [&str; 3] = ["CFBundleIcons", "CFBundlePrimaryIcon", ICON_NAME];

/// The extracted content of a property list.
#[derive(Default)]
pub(crate) struct Properties {
    /// Texts by field name.
    texts: BTreeMap<&'static str, Vec<String>>,
    /// Keys whose text is not empty.
    purpose_strings: BTreeSet<&'static str>,
    /// Whether the dictionaries of icons name one.
    names_icon: bool,
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

    /// Whether it names an icon in the asset catalog.
    pub(crate) fn names_icon(&self) -> bool {
        self.names_icon || self.text(ICON_NAME).is_some()
    }

    /// The keys of the purpose strings, sorted.
    pub(crate) fn purpose_strings(&self) -> Vec<&'static str> {
        self.purpose_strings.iter().copied().collect()
    }
}

/// Parses a property list of either format.
pub(crate) fn read(bytes: &[u8]) -> Result<Properties, MalformedError> {
    if bytes.starts_with(b"bplist00") {
        Binary::new(bytes)?.read()
    } else {
        read_xml(bytes)
    }
}

fn read_xml(bytes: &[u8]) -> Result<Properties, MalformedError> {
    let dictionary = read_xml_dictionary(bytes).map_err(|_| MalformedError)?;
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
    let [icons, primary, name] = ICON_PLACE;
    let primary = dictionary
        .get(icons)
        .and_then(|icons| icons.as_dictionary()?.get(primary));
    // Of some platforms the primary icon is the name itself.
    let named = primary.and_then(|icon| icon.as_dictionary().map_or(Some(icon), |icon| icon.get(name)));
    Ok(Properties {
        texts: found.collect(),
        purpose_strings: purpose_keys().filter(is_said).collect(),
        names_icon: named.and_then(Value::as_string).is_some_and(|name| !name.is_empty()),
    })
}

/// A binary list: objects, a table of their offsets, and a trailer.
struct Binary<'a> {
    bytes: &'a [u8],
    /// The size of an offset in the table, and of an object's index, in bytes.
    place_size: usize,
    number_size: usize,
    top: u64,
    table: usize,
}

impl<'a> Binary<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, MalformedError> {
        const TRAILER: usize = 32;
        let mut trailer = Fields::at(bytes, bytes.len().checked_sub(TRAILER).ok_or(MalformedError)?)?;
        trailer.skip(6)?;
        let (place_size, number_size) = (trailer.u8()?, trailer.u8()?);
        // The number of objects is ignored: indexes outside the table are detected by its length.
        trailer.skip(8)?;
        Ok(Self {
            bytes,
            place_size: place_size.into(),
            number_size: number_size.into(),
            top: trailer.big_endian(8)?,
            table: trailer.big_endian_size(8)?,
        })
    }

    fn read(&self) -> Result<Properties, MalformedError> {
        let (kind, count, mut keys) = self.object(self.top)?;
        if kind != 0xd {
            return Err(MalformedError);
        }
        let mut values = keys;
        values.skip(count.checked_mul(self.number_size).ok_or(MalformedError)?)?;
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
            let [icons, primary, name] = ICON_PLACE;
            if key == icons
                && let Some(icon) = self.entry(value, primary)?
            {
                let named = self.entry(icon, name)?.unwrap_or(icon);
                found.names_icon |= matches!(self.object(named)?, (0x5 | 0x6, 1.., _));
            }
        }
        Ok(found)
    }

    /// The index of a value in a dictionary; `None` if the object is something else, or lacks the key.
    fn entry(&self, number: u64, wanted: &str) -> Result<Option<u64>, MalformedError> {
        let (kind, count, mut keys) = self.object(number)?;
        if kind != 0xd {
            return Ok(None);
        }
        let mut values = keys;
        values.skip(count.checked_mul(self.number_size).ok_or(MalformedError)?)?;
        for _ in 0..count.min(MAX_ITEMS) {
            let (key, value) = (self.number(&mut keys)?, self.number(&mut values)?);
            if self.text(key)?.as_deref() == Some(wanted) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// The index of an object.
    fn number(&self, fields: &mut Fields<'a>) -> Result<u64, MalformedError> {
        // An index of zero bytes would be read forever.
        if self.number_size == 0 {
            return Err(MalformedError);
        }
        fields.big_endian(self.number_size)
    }

    /// An object's type, its number of bytes, characters or elements, and the following bytes.
    fn object(&self, number: u64) -> Result<(u8, usize, Fields<'a>), MalformedError> {
        let number = usize::try_from(number).map_err(|_| MalformedError)?;
        let in_table = number
            .checked_mul(self.place_size)
            .and_then(|place| place.checked_add(self.table));
        let place = Fields::at(self.bytes, in_table.ok_or(MalformedError)?)?.big_endian_size(self.place_size)?;
        let mut fields = Fields::at(self.bytes, place)?;
        let mark = fields.u8()?;
        let (kind, mut count) = (mark >> 4, usize::from(mark & 0xf));
        if count == 0xf && matches!(kind, 0x5 | 0x6 | 0xa | 0xd) {
            // The count follows as an integer, whose size is a power of two.
            let integer = fields.u8()?;
            if integer >> 4 != 1 || integer & 0xf > 3 {
                return Err(MalformedError);
            }
            count = fields.big_endian_size(1 << (integer & 0xf))?;
        }
        Ok((kind, count, fields))
    }

    /// A text; `None` for another type, and for a text that is too long.
    fn text(&self, number: u64) -> Result<Option<String>, MalformedError> {
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
    fn texts(&self, number: u64) -> Result<Vec<String>, MalformedError> {
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
