//! Reads JSON. The text's length bounds the memory, and [`MAX_DEPTH`] the stack.

use std::collections::HashSet;

use super::{Json, MAX_DEPTH, MAX_INTEGER};

/// Why a text is refused, and at which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// There are more bytes than the caller takes.
    #[error("the text has more than {0} bytes")]
    TooLong(usize),
    /// The text is not UTF-8.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// The text is not JSON.
    #[error("byte {0} is not what JSON has there")]
    Syntax(usize),
    /// Arrays and objects are nested too deeply.
    #[error("byte {0} nests deeper than {MAX_DEPTH}")]
    TooDeep(usize),
    /// An object has a name twice.
    #[error("the name before byte {0} occurs twice in its object")]
    Duplicate(usize),
    /// A number is not a whole number up to 2^53.
    #[error("the number before byte {0} is not a whole number up to 2^53")]
    Number(usize),
}

/// Reads a text of at most `max` bytes.
///
/// # Errors
/// The first rule that the text breaks.
pub fn parse(bytes: &[u8], max: usize) -> Result<Json, JsonError> {
    if bytes.len() > max {
        return Err(JsonError::TooLong(max));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| JsonError::NotUtf8)?;
    let mut reader = Reader { text, at: 0, depth: 0 };
    let value = reader.value()?;
    reader.spaces();
    if reader.at < text.len() {
        return Err(reader.wrong());
    }
    Ok(value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    const fn wrong(&self) -> JsonError {
        JsonError::Syntax(self.at)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips spaces and then `byte`, if it is there.
    fn skip(&mut self, byte: u8) -> bool {
        self.spaces();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), JsonError> {
        if self.skip(byte) { Ok(()) } else { Err(self.wrong()) }
    }

    fn value(&mut self) -> Result<Json, JsonError> {
        self.spaces();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Json, JsonError>) -> Result<Json, JsonError> {
        if self.depth == MAX_DEPTH {
            return Err(JsonError::TooDeep(self.at));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Result<Json, JsonError> {
        let mut members: Vec<(String, Json)> = Vec::new();
        let mut names = HashSet::new();
        if self.skip(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.spaces();
            let name = self.string()?;
            if !names.insert(name.clone()) {
                return Err(JsonError::Duplicate(self.at));
            }
            self.expect(b':')?;
            members.push((name, self.value()?));
            if self.skip(b'}') {
                return Ok(Json::Object(members));
            }
            self.expect(b',')?;
        }
    }

    fn array(&mut self) -> Result<Json, JsonError> {
        let mut values = Vec::new();
        if self.skip(b']') {
            return Ok(Json::Array(values));
        }
        loop {
            values.push(self.value()?);
            if self.skip(b']') {
                return Ok(Json::Array(values));
            }
            self.expect(b',')?;
        }
    }

    fn word(&mut self) -> Result<Json, JsonError> {
        for (word, value) in [
            ("true", Json::Bool(true)),
            ("false", Json::Bool(false)),
            ("null", Json::Null),
        ] {
            if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong())
    }

    fn number(&mut self) -> Result<Json, JsonError> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let first = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        let digits = &self.text[first..self.at];
        if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
            return Err(self.wrong());
        }
        let fractional = matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        let number = self.text[start..self.at].parse::<i64>().ok();
        let number = number.filter(|number| number.unsigned_abs() <= MAX_INTEGER.unsigned_abs());
        match number {
            Some(0) if first > start => Err(JsonError::Number(self.at)),
            Some(number) if !fractional => Ok(Json::Integer(number)),
            _ => Err(JsonError::Number(self.at)),
        }
    }

    fn string(&mut self) -> Result<String, JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.wrong());
        }
        self.at += 1;
        let mut text = String::new();
        loop {
            let start = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..=0x1f)) {
                self.at += 1;
            }
            text.push_str(&self.text[start..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escaped()?),
                _ => return Err(self.wrong()),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, JsonError> {
        self.at += 1;
        let character = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code_point(),
            _ => return Err(self.wrong()),
        };
        self.at += 1;
        Ok(character)
    }

    /// `uXXXX`, or two of them that make one character. Half a pair is refused.
    fn code_point(&mut self) -> Result<char, JsonError> {
        let first = self.unit()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first).ok_or(self.wrong());
        }
        if !self.text.as_bytes()[self.at..].starts_with(b"\\u") {
            return Err(self.wrong());
        }
        self.at += 1;
        let second = self.unit()?;
        if !(0xdc00..0xe000).contains(&second) {
            return Err(self.wrong());
        }
        char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)).ok_or(self.wrong())
    }

    fn unit(&mut self) -> Result<u32, JsonError> {
        let digits = self.text.as_bytes().get(self.at + 1..self.at + 5).ok_or(self.wrong())?;
        let value = |digit: &u8| char::from(*digit).to_digit(16);
        let unit = digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | value(digit)?));
        self.at += 5;
        unit.ok_or(self.wrong())
    }
}
