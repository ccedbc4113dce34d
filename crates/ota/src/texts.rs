//! The texts that the records of a shard refer to, each stored once: many updates share configuration, fingerprint or
//! release notes.

use std::collections::HashMap;

use crate::bytes::{Reader, push_number};

/// Two characters before a text are its length, in this base. All characters below it exist and take up to three
/// bytes.
const LENGTH_BASE: usize = 1 << 15;

/// Where the texts of a record are.
pub trait TextSource<'s>: Copy {
    /// The text that the next number of the record refers to.
    fn read(self, reader: &mut Reader<'s>) -> &'s str;

    /// Skips a text, and returns the record from there on: reading it later is cheaper than reading what nobody needs.
    fn skip(self, reader: &mut Reader<'s>) -> Reader<'s>;
}

/// Where the texts of a record go.
pub trait TextSink {
    /// Writes what [`TextSource::read`] needs to find this text again.
    fn write(&mut self, out: &mut Vec<u8>, text: &str);
}

/// The texts of a finished shard. A record refers to one by its position.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'s>(pub &'s str);

impl<'s> Texts<'s> {
    /// The text at this position, and the position of the next one.
    fn at(self, position: usize) -> (&'s str, usize) {
        let mut chars = self.0.get(position..).unwrap_or_default().chars();
        let mut digit = || chars.next().map_or(0, |digit| digit as usize);
        let length = digit() * LENGTH_BASE + digit();
        let start = self.0.len() - chars.as_str().len();
        let end = start + length;
        (self.0.get(start..end).unwrap_or_default(), end)
    }
}

impl<'s> TextSource<'s> for Texts<'s> {
    fn read(self, reader: &mut Reader<'s>) -> &'s str {
        self.at(reader.number() as usize).0
    }

    fn skip(self, reader: &mut Reader<'s>) -> Reader<'s> {
        let start = *reader;
        reader.number();
        start
    }
}

/// Texts to which more are added.
#[derive(Debug, Default)]
pub struct Interner {
    all: String,
    positions: HashMap<Box<str>, usize>,
}

impl Interner {
    /// Adds to these texts.
    pub fn new(texts: &str) -> Interner {
        let mut positions = HashMap::new();
        let mut next = 0;
        while next < texts.len() {
            let (text, end) = Texts(texts).at(next);
            positions.insert(text.into(), next);
            next = end;
        }
        Interner {
            all: texts.to_owned(),
            positions,
        }
    }

    /// The texts so far.
    pub fn into_texts(self) -> Box<str> {
        // A copy: what grew by doubling would keep the room that it did not need.
        self.all.as_str().into()
    }

    fn position(&mut self, text: &str) -> usize {
        if let Some(position) = self.positions.get(text) {
            return *position;
        }
        let position = self.all.len();
        for digit in [text.len() / LENGTH_BASE, text.len() % LENGTH_BASE] {
            self.all.push(char::from_u32(digit as u32).unwrap_or_default());
        }
        self.all.push_str(text);
        self.positions.insert(text.into(), position);
        position
    }
}

impl TextSink for Interner {
    fn write(&mut self, out: &mut Vec<u8>, text: &str) {
        let position = self.position(text);
        push_number(out, position as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_stored_once_and_comes_back() {
        let long = "ü".repeat(40_000);
        let texts = ["production", "", "production", &long, "\u{0}", "notes", ""];
        let (mut interner, mut record) = (Interner::default(), Vec::new());
        for text in &texts[..4] {
            interner.write(&mut record, text);
        }
        let mut interner = Interner::new(&interner.into_texts());
        for text in &texts[4..] {
            interner.write(&mut record, text);
        }
        let all = interner.into_texts();
        let mut reader = Reader::new(&record);
        for text in texts {
            assert_eq!(Texts(&all).read(&mut reader), text);
        }
        assert!(reader.rest().is_empty());
        assert_eq!(all.matches("production").count(), 1);
    }

    /// A position that is in no record reads as an empty text instead of failing.
    #[test]
    fn a_position_beyond_the_end_is_an_empty_text() {
        for position in [1, 2, 4, 200] {
            let mut record = Vec::new();
            push_number(&mut record, position);
            assert_eq!(Texts("ü").read(&mut Reader::new(&record)), "");
        }
    }
}
