//! The fields of headers and rows. Reading returns `None` for what was not written so.

use std::str::FromStr;

use launchway_domain::id::{Id, Kind};
use uuid::Uuid;

use crate::bytes::{push_number, push_signed};

/// Appends fields.
pub struct FieldWriter<'o>(pub &'o mut Vec<u8>);

impl FieldWriter<'_> {
    /// Appends a text.
    pub fn text(&mut self, text: &str) {
        push_number(self.0, text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Appends a text that may be missing.
    pub fn optional(&mut self, text: Option<&str>) {
        self.flag(text.is_some());
        if let Some(text) = text {
            self.text(text);
        }
    }

    /// Appends a number.
    pub fn number(&mut self, number: u64) {
        push_number(self.0, number);
    }

    /// Appends a number that may be negative.
    pub fn signed(&mut self, number: i64) {
        push_signed(self.0, number);
    }

    /// Appends yes or no.
    pub fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    /// Appends an identifier.
    pub fn id<K: Kind>(&mut self, id: Id<K>) {
        self.0.extend_from_slice(id.uuid().as_bytes());
    }
}

/// Reads fields in the order in which they were written.
pub struct FieldReader<'b>(&'b [u8]);

impl<'b> FieldReader<'b> {
    /// Reads from the start of these bytes.
    pub fn new(bytes: &'b [u8]) -> FieldReader<'b> {
        FieldReader(bytes)
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next so many bytes.
    pub fn take(&mut self, count: u64) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    /// A text.
    pub fn text(&mut self) -> Option<&'b str> {
        let length = self.number()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    /// A text, copied.
    pub fn string(&mut self) -> Option<String> {
        self.text().map(str::to_owned)
    }

    /// A text as a value.
    pub fn parse<T: FromStr>(&mut self) -> Option<T> {
        self.text()?.parse().ok()
    }

    /// A text that may be missing, as a value.
    pub fn optional<T: FromStr>(&mut self) -> Option<Option<T>> {
        if self.flag()? {
            self.parse().map(Some)
        } else {
            Some(None)
        }
    }

    /// A number.
    pub fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A number that may be negative.
    pub fn signed(&mut self) -> Option<i64> {
        let value = self.number()?;
        Some(((value >> 1) as i64) ^ -((value & 1) as i64))
    }

    /// Yes or no.
    pub fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// An identifier.
    pub fn id<K: Kind>(&mut self) -> Option<Id<K>> {
        let bytes = self.take(16)?.try_into().ok()?;
        Some(Id::from_uuid(Uuid::from_bytes(bytes)))
    }
}
