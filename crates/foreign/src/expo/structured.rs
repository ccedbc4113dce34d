//! Structured fields of HTTP (RFC 8941) as far as the protocol uses them: lists and dictionaries are read, texts are written.
//! Parameters are validated and dropped.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The longest field that is read, in bytes.
pub const MAX_FIELD_BYTES: usize = 8 * 1024;
/// The largest number of members of a list or dictionary, and of parameters or items of one member.
pub const MAX_MEMBERS: usize = 128;

/// The text is not a structured field of the expected kind, or it exceeds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a structured field")]
pub struct StructuredFieldError;

/// A member of a list, or the value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Item<'h> {
    /// A text in quotation marks, without its escapes.
    Text(Cow<'h, str>),
    /// An identifier without quotation marks.
    Token(&'h str),
    /// A whole number of at most 15 digits.
    Integer(i64),
    /// A number with a fraction, as it was written.
    Decimal(&'h str),
    /// True or false.
    Boolean(bool),
    /// Bytes that were written in Base64.
    Bytes(Vec<u8>),
    /// A list in parentheses; the protocol has no use for its items.
    InnerList,
}

impl<'h> Item<'h> {
    /// The text of a text; `None` for every other kind.
    pub fn into_text(self) -> Option<Cow<'h, str>> {
        match self {
            Item::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Reads a list. An empty field is an empty list.
///
/// # Errors
/// The field is not a list, is longer than [`MAX_FIELD_BYTES`], or has more than [`MAX_MEMBERS`] members.
pub fn list(field: &str) -> Result<Vec<Item<'_>>, StructuredFieldError> {
    let mut reader = Reader::new(field)?;
    let mut members = Vec::new();
    while !reader.is_at_end() {
        bound(members.len())?;
        members.push(reader.member()?);
        reader.comma()?;
    }
    Ok(members)
}

/// Reads a dictionary: its keys with their values, in order. Of a key that occurs more than once, the last value counts.
///
/// # Errors
/// The field is not a dictionary, is longer than [`MAX_FIELD_BYTES`], or has more than [`MAX_MEMBERS`] members.
pub fn dictionary(field: &str) -> Result<Vec<(&str, Item<'_>)>, StructuredFieldError> {
    let mut reader = Reader::new(field)?;
    let mut members: Vec<(&str, Item<'_>)> = Vec::new();
    while !reader.is_at_end() {
        bound(members.len())?;
        let key = reader.key()?;
        let value = if reader.skip(b'=') {
            reader.member()?
        } else {
            reader.parameters()?;
            Item::Boolean(true)
        };
        match members.iter_mut().find(|(known, _)| *known == key) {
            Some(known) => known.1 = value,
            None => members.push((key, value)),
        }
        reader.comma()?;
    }
    Ok(members)
}

/// A text as it stands in a field, in quotation marks; `None` if it has characters other than printable ASCII, which no
/// field can express.
pub fn quoted(text: &str) -> Option<String> {
    let mut field = String::with_capacity(text.len() + 2);
    field.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => field.extend(['\\', character]),
            ' '..='~' => field.push(character),
            _ => return None,
        }
    }
    field.push('"');
    Some(field)
}

/// Whether a text can be the key of a dictionary.
pub fn is_key(text: &str) -> bool {
    let [first, rest @ ..] = text.as_bytes() else {
        return false;
    };
    is_key_start(*first) && rest.iter().copied().all(is_key_byte)
}

fn bound(members: usize) -> Result<(), StructuredFieldError> {
    if members < MAX_MEMBERS {
        Ok(())
    } else {
        Err(StructuredFieldError)
    }
}

fn is_key_start(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte == b'*'
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-' | b'.' | b'*')
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte)
}

/// What remains of a field. Positions are at character boundaries, since only ASCII is consumed.
struct Reader<'h> {
    rest: &'h str,
}

impl<'h> Reader<'h> {
    fn new(field: &'h str) -> Result<Reader<'h>, StructuredFieldError> {
        if field.len() > MAX_FIELD_BYTES || !field.is_ascii() {
            return Err(StructuredFieldError);
        }
        Ok(Reader {
            rest: field.trim_matches(' '),
        })
    }

    fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    fn peek(&self) -> Option<u8> {
        self.rest.as_bytes().first().copied()
    }

    fn skip(&mut self, expected: u8) -> bool {
        let is_next = self.peek() == Some(expected);
        if is_next {
            self.rest = &self.rest[1..];
        }
        is_next
    }

    fn expect(&mut self, expected: u8) -> Result<(), StructuredFieldError> {
        if self.skip(expected) {
            Ok(())
        } else {
            Err(StructuredFieldError)
        }
    }

    fn take_while(&mut self, accepts: impl Fn(u8) -> bool) -> &'h str {
        let end = self
            .rest
            .bytes()
            .position(|byte| !accepts(byte))
            .unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// The comma before the next member, or the end of the field. No comma ends a field.
    fn comma(&mut self) -> Result<(), StructuredFieldError> {
        let is_space = |byte| matches!(byte, b' ' | b'\t');
        self.take_while(is_space);
        if self.is_at_end() {
            return Ok(());
        }
        self.expect(b',')?;
        self.take_while(is_space);
        if self.is_at_end() {
            Err(StructuredFieldError)
        } else {
            Ok(())
        }
    }

    fn key(&mut self) -> Result<&'h str, StructuredFieldError> {
        if !self.peek().is_some_and(is_key_start) {
            return Err(StructuredFieldError);
        }
        Ok(self.take_while(is_key_byte))
    }

    fn member(&mut self) -> Result<Item<'h>, StructuredFieldError> {
        let item = if self.skip(b'(') {
            self.inner_list()?
        } else {
            self.bare_item()?
        };
        self.parameters()?;
        Ok(item)
    }

    fn inner_list(&mut self) -> Result<Item<'h>, StructuredFieldError> {
        for items in 0.. {
            self.take_while(|byte| byte == b' ');
            if self.skip(b')') {
                break;
            }
            bound(items)?;
            self.bare_item()?;
            self.parameters()?;
            if !matches!(self.peek(), Some(b' ' | b')')) {
                return Err(StructuredFieldError);
            }
        }
        Ok(Item::InnerList)
    }

    fn parameters(&mut self) -> Result<(), StructuredFieldError> {
        for parameters in 0.. {
            if !self.skip(b';') {
                break;
            }
            bound(parameters)?;
            self.take_while(|byte| byte == b' ');
            self.key()?;
            if self.skip(b'=') {
                self.bare_item()?;
            }
        }
        Ok(())
    }

    fn bare_item(&mut self) -> Result<Item<'h>, StructuredFieldError> {
        match self.peek() {
            Some(b'"') => self.text(),
            Some(b'?') => self.boolean(),
            Some(b':') => self.bytes(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(first) if first.is_ascii_alphabetic() || first == b'*' => {
                Ok(Item::Token(self.take_while(is_token_byte)))
            }
            _ => Err(StructuredFieldError),
        }
    }

    fn text(&mut self) -> Result<Item<'h>, StructuredFieldError> {
        self.expect(b'"')?;
        let plain = self.take_while(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\'));
        if self.skip(b'"') {
            return Ok(Item::Text(Cow::Borrowed(plain)));
        }
        let mut text = plain.to_owned();
        while !self.skip(b'"') {
            if self.skip(b'\\') {
                let escaped = self.take_first().filter(|byte| matches!(byte, b'"' | b'\\'));
                text.push(char::from(escaped.ok_or(StructuredFieldError)?));
            } else {
                let byte = self.take_first().filter(|byte| matches!(byte, b' '..=b'~'));
                text.push(char::from(byte.ok_or(StructuredFieldError)?));
            }
        }
        Ok(Item::Text(Cow::Owned(text)))
    }

    fn take_first(&mut self) -> Option<u8> {
        let first = self.peek()?;
        self.rest = &self.rest[1..];
        Some(first)
    }

    fn boolean(&mut self) -> Result<Item<'h>, StructuredFieldError> {
        self.expect(b'?')?;
        match self.take_first() {
            Some(b'1') => Ok(Item::Boolean(true)),
            Some(b'0') => Ok(Item::Boolean(false)),
            _ => Err(StructuredFieldError),
        }
    }

    fn bytes(&mut self) -> Result<Item<'h>, StructuredFieldError> {
        self.expect(b':')?;
        let encoded = self.take_while(|byte| byte != b':');
        self.expect(b':')?;
        let decoded = STANDARD.decode(encoded).map_err(|_| StructuredFieldError)?;
        Ok(Item::Bytes(decoded))
    }

    fn number(&mut self) -> Result<Item<'h>, StructuredFieldError> {
        let start = self.rest;
        self.skip(b'-');
        let whole = self.take_while(|byte| byte.is_ascii_digit()).len();
        let is_decimal = self.skip(b'.');
        let fraction = if is_decimal {
            self.take_while(|byte| byte.is_ascii_digit()).len()
        } else {
            0
        };
        let text = &start[..start.len() - self.rest.len()];
        match (is_decimal, whole, fraction) {
            (false, 1..=15, _) => Ok(Item::Integer(text.parse().map_err(|_| StructuredFieldError)?)),
            (true, 1..=12, 1..=3) => Ok(Item::Decimal(text)),
            _ => Err(StructuredFieldError),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_list_is_read() {
        let ids = list(r#""a", "b\"\\c" , tok/en;q=1;r,?1, 12, -1.5, :YQ==:, ("x" 1);a"#).unwrap();
        assert_eq!(
            ids,
            [
                Item::Text("a".into()),
                Item::Text("b\"\\c".into()),
                Item::Token("tok/en"),
                Item::Boolean(true),
                Item::Integer(12),
                Item::Decimal("-1.5"),
                Item::Bytes(b"a".to_vec()),
                Item::InnerList,
            ]
        );
        assert_eq!(list("  "), Ok(vec![]));
    }

    #[test]
    fn a_dictionary_is_read() {
        let read = dictionary(r#"sig, keyid="root", alg="rsa-v1_5-sha256", sig=?0;x"#).unwrap();
        let expected = [
            ("sig", Item::Boolean(false)),
            ("keyid", Item::Text("root".into())),
            ("alg", Item::Text("rsa-v1_5-sha256".into())),
        ];
        assert_eq!(read, expected);
        assert_eq!(dictionary(""), Ok(vec![]));
    }

    #[test]
    fn other_texts_are_refused() {
        let long = format!("\"{}\"", "a".repeat(MAX_FIELD_BYTES));
        let many = vec!["1"; MAX_MEMBERS + 1].join(",");
        let many_parameters = format!("1{}", ";a".repeat(MAX_MEMBERS + 1));
        let many_items = format!("({})", "1 ".repeat(MAX_MEMBERS + 1));
        for field in [
            "\"a",
            "a,",
            ",",
            "\"a\"\"b\"",
            "\"\\n\"",
            "?2",
            "1.",
            "1.1234",
            "1234567890123456",
            "-",
            "(1",
            "(1,2)",
            "=",
            "é",
            ":a:",
            "\"a\u{7f}\"",
            "1;A",
            "'a'",
            &long,
            &many,
            &many_parameters,
            &many_items,
        ] {
            assert_eq!(list(field), Err(StructuredFieldError), "{field:.60}");
        }
        for field in ["A=1", "a=", "a=1 b=2", "a=1,", "\"a\"=1", &long] {
            assert_eq!(dictionary(field), Err(StructuredFieldError), "{field:.60}");
        }
    }

    #[test]
    fn keys_and_texts_are_written_only_if_a_field_can_express_them() {
        assert_eq!(quoted(r#"a "b" \c"#).unwrap(), r#""a \"b\" \\c""#);
        assert_eq!(quoted("é"), None);
        assert_eq!(quoted("a\n"), None);
        for (key, expected) in [
            ("a-b.c_1*", true),
            ("*a", true),
            ("", false),
            ("1a", false),
            ("Ab", false),
            ("a b", false),
        ] {
            assert_eq!(is_key(key), expected, "{key}");
        }
    }

    proptest! {
        #[test]
        fn every_text_is_read_or_refused(text in ".{0,200}", field in r#"[a-c"\\;=,()?01.: *-]{0,60}"#) {
            for text in [&text, &field] {
                let (_, _) = (list(text), dictionary(text));
            }
        }

        #[test]
        fn what_is_written_is_read(texts in prop::collection::vec("[ -~]{0,40}", 0..20)) {
            let field: Vec<_> = texts.iter().map(|text| quoted(text).unwrap()).collect();
            let field = field.join(", ");
            let read = list(&field).unwrap();
            prop_assert_eq!(read, texts.iter().map(|text| Item::Text(text.as_str().into())).collect::<Vec<_>>());
        }
    }
}
