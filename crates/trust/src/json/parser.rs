//! A strict parser for hostile bytes: every bound is checked before memory is taken.

use super::{MAX_DEPTH, MAX_INTEGER, Object, Value};

/// Why a text is refused. Offsets are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The text is longer than its limit.
    #[error("is longer than {limit} bytes")]
    TooLarge {
        /// The most bytes that are read.
        limit: usize,
    },
    /// The bytes are not UTF-8.
    #[error("is not UTF-8")]
    Encoding,
    /// The text is not JSON.
    #[error("is not JSON at byte {at}")]
    Syntax {
        /// Where reading stopped.
        at: usize,
    },
    /// Arrays and objects nest deeper than [`MAX_DEPTH`].
    #[error("nests deeper than {MAX_DEPTH} levels at byte {at}")]
    Depth {
        /// Where the level begins.
        at: usize,
    },
    /// An object has two members of one name.
    #[error("has a name twice at byte {at}")]
    DuplicateName {
        /// Where the second name begins.
        at: usize,
    },
    /// A number is not an integer, or larger than [`MAX_INTEGER`] in magnitude, or `-0`.
    #[error("has a number other than an integer below 2^53 at byte {at}")]
    Number {
        /// Where the number begins.
        at: usize,
    },
    /// An escape names half of a surrogate pair.
    #[error("has half of a surrogate pair at byte {at}")]
    Surrogate {
        /// Where the escape begins.
        at: usize,
    },
}

impl JsonError {
    /// The name of the reason, as the vectors for all languages use it.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too-large",
            Self::Encoding => "encoding",
            Self::Syntax { .. } => "syntax",
            Self::Depth { .. } => "depth",
            Self::DuplicateName { .. } => "duplicate-name",
            Self::Number { .. } => "number",
            Self::Surrogate { .. } => "surrogate",
        }
    }
}

/// Reads one value of at most `limit` bytes; white space may surround it.
///
/// # Errors
/// See [`JsonError`].
pub fn parse(bytes: &[u8], limit: usize) -> Result<Value, JsonError> {
    if bytes.len() > limit {
        return Err(JsonError::TooLarge { limit });
    }
    let text = std::str::from_utf8(bytes).map_err(|_| JsonError::Encoding)?;
    let mut parser = Parser { text, at: 0 };
    let value = parser.value(0)?;
    parser.skip_white_space();
    if parser.at == text.len() {
        Ok(value)
    } else {
        Err(parser.syntax())
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn syntax(&self) -> JsonError {
        JsonError::Syntax { at: self.at }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_white_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips white space, then takes `byte` if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_white_space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), JsonError> {
        if self.take(byte) { Ok(()) } else { Err(self.syntax()) }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, JsonError> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.syntax())
        }
    }

    /// `depth` is the number of arrays and objects around the value.
    fn value(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.skip_white_space();
        if depth == MAX_DEPTH && matches!(self.peek(), Some(b'{' | b'[')) {
            return Err(JsonError::Depth { at: self.at });
        }
        match self.peek() {
            Some(b'{') => self.object(depth + 1).map(Value::Object),
            Some(b'[') => self.array(depth + 1).map(Value::Array),
            Some(b'"') => self.string().map(Value::Text),
            Some(b'-' | b'0'..=b'9') => self.integer().map(Value::Integer),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            _ => Err(self.syntax()),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Object, JsonError> {
        self.expect(b'{')?;
        let mut members = Object::new();
        if self.take(b'}') {
            return Ok(members);
        }
        loop {
            self.skip_white_space();
            let at = self.at;
            let name = self.string()?;
            self.expect(b':')?;
            if members.contains_key(&name) {
                return Err(JsonError::DuplicateName { at });
            }
            let value = self.value(depth)?;
            members.insert(name, value);
            if !self.take(b',') {
                self.expect(b'}')?;
                return Ok(members);
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Value>, JsonError> {
        self.expect(b'[')?;
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(items);
        }
        loop {
            items.push(self.value(depth)?);
            if !self.take(b',') {
                self.expect(b']')?;
                return Ok(items);
            }
        }
    }

    fn integer(&mut self) -> Result<i64, JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        // Only the shortest spelling of an integer reads back as itself: no leading zeros, no `-0`, no fraction.
        text.parse::<i64>()
            .ok()
            .filter(|number| number.unsigned_abs() <= MAX_INTEGER.unsigned_abs() && number.to_string() == text)
            .ok_or(JsonError::Number { at: start })
    }

    fn string(&mut self) -> Result<String, JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.syntax());
        }
        self.at += 1;
        let mut text = String::new();
        loop {
            let start = self.at;
            while self
                .peek()
                .is_some_and(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\')
            {
                self.at += 1;
            }
            text.push_str(&self.text[start..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                // The end of the text, or a control character that must be escaped.
                _ => return Err(self.syntax()),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        self.at += 1;
        let escaped = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode(start);
            }
            _ => return Err(self.syntax()),
        };
        self.at += 1;
        Ok(escaped)
    }

    /// What follows `\u`: one unit, or two that make a pair.
    fn unicode(&mut self, start: usize) -> Result<char, JsonError> {
        let half = JsonError::Surrogate { at: start };
        let first = self.unit()?;
        if !(0xd800..0xe000).contains(&first) {
            return char::from_u32(first).ok_or(half);
        }
        if first >= 0xdc00 || !self.text.as_bytes()[self.at..].starts_with(b"\\u") {
            return Err(half);
        }
        self.at += 2;
        let second = self.unit()?;
        if !(0xdc00..0xe000).contains(&second) {
            return Err(half);
        }
        char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)).ok_or(half)
    }

    fn unit(&mut self) -> Result<u32, JsonError> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let unit = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.syntax())?;
        self.at += 4;
        Ok(unit)
    }
}
