//! Parses property lists in the OpenStep format of Xcode projects: `{ key = value; list = (a, b); }`.

use std::borrow::Cow;

/// Nesting limit of dictionaries and arrays.
const DEEPEST: usize = 32;
/// Limit of values in a file. The largest real projects have a tenth of it.
const MOST_VALUES: usize = 1_000_000;

#[derive(Debug, PartialEq, Eq)]
pub enum Value<'t> {
    /// A string, number or word.
    Text(Cow<'t, str>),
    /// An array, in parentheses.
    List(Vec<Value<'t>>),
    /// A dictionary.
    Table(Vec<(Cow<'t, str>, Value<'t>)>),
}

impl<'t> Value<'t> {
    /// Parses a whole file; `None` when it is invalid or exceeds a limit.
    pub fn parse(text: &'t str) -> Option<Self> {
        let mut reader = Reader {
            rest: text,
            values_left: MOST_VALUES,
        };
        let value = reader.value(0)?;
        reader.skip_space();
        reader.rest.is_empty().then_some(value)
    }

    /// The value of a key in a dictionary.
    pub fn get(&self, name: &str) -> Option<&Value<'t>> {
        let Value::Table(values) = self else { return None };
        values.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The string.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            Value::List(_) | Value::Table(_) => None,
        }
    }

    /// The string under a key of a dictionary.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.get(name)?.text()
    }

    /// The strings of the array under a key of a dictionary.
    pub fn texts_of(&self, name: &str) -> impl Iterator<Item = &str> {
        let list = match self.get(name) {
            Some(Value::List(list)) => list.as_slice(),
            _ => &[],
        };
        list.iter().filter_map(Value::text)
    }
}

struct Reader<'t> {
    rest: &'t str,
    values_left: usize,
}

impl<'t> Reader<'t> {
    fn skip_space(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let end = match self.rest.get(..2) {
                Some("//") => self.rest.find('\n'),
                Some("/*") => self.rest.find("*/").map(|end| end + 2),
                _ => return,
            };
            self.rest = &self.rest[end.unwrap_or(self.rest.len())..];
        }
    }

    /// Consumes the letter if it is next.
    fn takes(&mut self, letter: char) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(letter);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Value<'t>> {
        self.values_left = self.values_left.checked_sub(1)?;
        if depth > DEEPEST {
            return None;
        }
        if self.takes('{') {
            let mut values = Vec::new();
            while !self.takes('}') {
                let name = self.text()?;
                let value = self.takes('=').then(|| self.value(depth + 1))??;
                self.takes(';').then_some(())?;
                values.push((name, value));
            }
            return Some(Value::Table(values));
        }
        if self.takes('(') {
            let mut values = Vec::new();
            while !self.takes(')') {
                values.push(self.value(depth + 1)?);
                if !self.takes(',') {
                    self.takes(')').then_some(())?;
                    break;
                }
            }
            return Some(Value::List(values));
        }
        self.text().map(Value::Text)
    }

    fn text(&mut self) -> Option<Cow<'t, str>> {
        self.skip_space();
        if let Some(quote) = self.rest.chars().next().filter(|letter| ['"', '\''].contains(letter)) {
            return self.quoted(quote);
        }
        let is_plain = |letter: char| letter.is_alphanumeric() || "_$/:.-+@<>~".contains(letter);
        let end = self.rest.find(|letter| !is_plain(letter)).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!text.is_empty()).then_some(Cow::Borrowed(text))
    }

    fn quoted(&mut self, quote: char) -> Option<Cow<'t, str>> {
        let text = &self.rest[1..];
        let (mut escaped, mut any) = (false, false);
        for (at, letter) in text.char_indices() {
            match letter {
                _ if escaped => escaped = false,
                '\\' => (escaped, any) = (true, true),
                _ if letter == quote => {
                    self.rest = &text[at + 1..];
                    return Some(match any {
                        true => Cow::Owned(unescaped(&text[..at])),
                        false => Cow::Borrowed(&text[..at]),
                    });
                }
                _ => {}
            }
        }
        None
    }
}

fn unescaped(text: &str) -> String {
    let mut letters = text.chars();
    let mut whole = String::with_capacity(text.len());
    while let Some(letter) = letters.next() {
        whole.push(match letter {
            '\\' => match letters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(other) => other,
                None => break,
            },
            letter => letter,
        });
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_xcode_writes() {
        let text =
            "// !$*UTF8*$!\n{\n\ta = {isa = X; list = (\n\t\tb /* c */,\n\t\t\"d \\\"e\\\"\",\n\t);};\n\tn = 46;\n}\n";
        let value = Value::parse(text).expect("it is right");
        let inner = value.get("a").expect("it is there");
        assert_eq!(inner.text_of("isa"), Some("X"));
        assert_eq!(inner.texts_of("list").collect::<Vec<_>>(), ["b", "d \"e\""]);
        assert_eq!(
            (value.text_of("n"), value.text_of("a"), value.text_of("x")),
            (Some("46"), None, None)
        );
    }

    #[test]
    fn what_is_broken_is_nothing() {
        let deep = "(".repeat(100_000);
        for text in [
            "",
            "{",
            "{a}",
            "{a=b}",
            "{a=;}",
            "(a b)",
            "\"a",
            "{} x",
            "{'a\\",
            "/*",
            deep.as_str(),
        ] {
            assert_eq!(Value::parse(text), None, "{text:.20}");
        }
        assert_eq!(Value::parse("()"), Some(Value::List(Vec::new())));
        let many = format!("({})", "a,".repeat(MOST_VALUES));
        assert_eq!(Value::parse(&many), None, "more than anybody has");
    }
}
