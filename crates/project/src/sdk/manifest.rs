//! Adds a dependency to the text of a `package.json`, and a plugin to that of an `app.json`. Everything else stays byte for
//! byte: order, indentation, line ends.

use serde::de::IgnoredAny;

const LIST: &str = "dependencies";

/// A pair of an object, by its positions in the text.
struct Entry {
    key: String,
    /// Where the key begins, with its quote.
    start: usize,
    /// What is between key and value, such as `: `.
    colon: String,
    /// Where the value begins.
    value: usize,
    /// Where it ends.
    end: usize,
}

/// An object, by its positions in the text.
struct Object {
    /// Where its brace is.
    open: usize,
    entries: Vec<Entry>,
}

/// The text with the dependency; `None` if it is not an object of JSON. `dependencies` is created if it does not exist.
pub fn with_dependency(text: &str, name: &str, range: &str) -> Option<String> {
    let root = root(text)?;
    // As for all readers of JSON, the last one of several counts.
    let list = root.entries.iter().rev().find(|entry| entry.key == LIST);
    let Some(list) = list else {
        let layout = Layout::of(text);
        let inner = layout.object(1, &pair(name, ": ", &quoted(range)));
        return Some(root.with(text, LIST, &inner, false));
    };
    if !text[list.value..].starts_with('{') {
        return None;
    }
    let list = Object::read(text, list.value)?;
    let is_sorted = list.entries.is_sorted_by(|this, that| this.key <= that.key);
    Some(list.with(text, name, &quoted(range), is_sorted))
}

/// The text with the plugin, before the others in `plugins` of Expo's configuration, which is `expo` or the file itself;
/// `None` if its form is another one.
pub fn with_plugin(text: &str, name: &str) -> Option<String> {
    let root = root(text)?;
    let config = match root.entries.iter().rev().find(|entry| entry.key == "expo") {
        Some(expo) if text[expo.value..].starts_with('{') => Object::read(text, expo.value)?,
        Some(_) => return None,
        None => root,
    };
    let Some(list) = config.entries.iter().rev().find(|entry| entry.key == "plugins") else {
        return Some(config.with(text, "plugins", &format!("[{}]", quoted(name)), false));
    };
    let open = list.value + 1;
    if !text[list.value..].starts_with('[') {
        return None;
    }
    let first = skip_blank(text.as_bytes(), open);
    Some(match text[first..].starts_with(']') {
        true => format!("{}{}{}", &text[..open], quoted(name), &text[first..]),
        false => format!("{}{},{}", &text[..first], quoted(name), &text[open..]),
    })
}

/// The outermost object of a text; `None` if the text is not an object of JSON.
fn root(text: &str) -> Option<Object> {
    let _: IgnoredAny = serde_json::from_str(text).ok()?;
    let open = text.len() - text.trim_start().len();
    match text[open..].starts_with('{') {
        true => Object::read(text, open),
        false => None,
    }
}

impl Object {
    /// Reads the object whose brace is at `open` in a text that is valid JSON.
    fn read(text: &str, open: usize) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut entries = Vec::new();
        let mut at = skip_blank(bytes, open + 1);
        while bytes.get(at) == Some(&b'"') {
            let key_end = string_end(bytes, at)?;
            let value = skip_blank(bytes, skip_blank(bytes, key_end) + 1);
            let end = value_end(bytes, value)?;
            entries.push(Entry {
                key: serde_json::from_str(text.get(at..key_end)?).ok()?,
                start: at,
                colon: text.get(key_end..value)?.to_owned(),
                value,
                end,
            });
            at = skip_blank(bytes, end);
            if bytes.get(at) == Some(&b',') {
                at = skip_blank(bytes, at + 1);
            }
        }
        Some(Self { open, entries })
    }

    /// The text with another pair in this object: in the order of the keys if `is_sorted`, else at the end.
    fn with(&self, text: &str, key: &str, value: &str, is_sorted: bool) -> String {
        let (Some(first), Some(last)) = (self.entries.first(), self.entries.last()) else {
            let close = self.open + 1 + text[self.open + 1..].find('}').unwrap_or_default();
            let level = Layout::of(text).level(text, self.open);
            let inner = Layout::of(text).object(level, &pair(key, ": ", value));
            return format!("{}{inner}{}", &text[..self.open], &text[close + 1..]);
        };
        let pair = pair(key, &first.colon, value);
        let next = self
            .entries
            .iter()
            .position(|entry| is_sorted && entry.key.as_str() > key);
        match next {
            Some(at) => {
                let start = self.entries[at].start;
                format!(
                    "{}{pair},{}{}",
                    &text[..start],
                    self.blank_before(text, at),
                    &text[start..]
                )
            }
            None => {
                let blank = self.blank_before(text, self.entries.len() - 1);
                format!("{},{blank}{pair}{}", &text[..last.end], &text[last.end..])
            }
        }
    }

    /// The white space before an entry.
    fn blank_before<'t>(&self, text: &'t str, at: usize) -> &'t str {
        let start = self.entries[at].start;
        let before = &text[..start];
        &before[before.trim_end_matches([' ', '\t', '\r', '\n']).len()..]
    }
}

/// How a file is laid out.
struct Layout<'t> {
    line_end: &'t str,
    /// The indentation of one level; empty with an empty `line_end` in a file of one line.
    indent: &'t str,
}

impl<'t> Layout<'t> {
    fn of(text: &'t str) -> Self {
        let is_one_line = !text.trim_end().contains('\n');
        let indented = text.lines().find(|line| line.starts_with([' ', '\t']));
        let indent = indented.map_or("  ", |line| &line[..line.len() - line.trim_start().len()]);
        Self {
            line_end: match (is_one_line, text.contains("\r\n")) {
                (true, _) => "",
                (false, true) => "\r\n",
                (false, false) => "\n",
            },
            indent: if is_one_line { "" } else { indent },
        }
    }

    /// The level of the line that a position is in.
    fn level(&self, text: &str, at: usize) -> usize {
        let start = text[..at].rfind('\n').map_or(0, |line| line + 1);
        let line = &text[start..at];
        let blank = line.len() - line.trim_start().len();
        blank.checked_div(self.indent.len()).unwrap_or_default()
    }

    /// An object with one pair, whose brace is in a line of this level.
    fn object(&self, level: usize, pair: &str) -> String {
        let Self { line_end, indent } = self;
        let (outer, inner) = (indent.repeat(level), indent.repeat(level + 1));
        format!("{{{line_end}{inner}{pair}{line_end}{outer}}}")
    }
}

fn pair(key: &str, colon: &str, value: &str) -> String {
    format!("{}{colon}{value}", quoted(key))
}

/// A string as JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn skip_blank(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    at + blank
}

/// The position after the string that begins at `at`.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut end = at + 1;
    loop {
        match bytes.get(end)? {
            b'"' => return Some(end + 1),
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
}

/// The position after the value that begins at `at`.
fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    let (mut depth, mut end) = (0_usize, at);
    loop {
        match bytes.get(end)? {
            b'"' => end = string_end(bytes, end)?,
            b'{' | b'[' => {
                depth += 1;
                end += 1;
            }
            b'}' | b']' if depth == 0 => return Some(end),
            b'}' | b']' => {
                depth -= 1;
                end += 1;
            }
            b',' if depth == 0 => return Some(end),
            byte if depth == 0 && byte.is_ascii_whitespace() => return Some(end),
            _ => end += 1,
        }
        if depth == 0 && matches!(bytes.get(end - 1), Some(b'"' | b'}' | b']')) {
            return Some(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    use super::*;

    const NAME: &str = "@launchway/capacitor";

    fn with(text: &str) -> String {
        with_dependency(text, NAME, "^0.1.0").unwrap()
    }

    #[test]
    fn a_dependency_takes_its_place_in_the_order() {
        let text = "{\n  \"name\": \"app\",\n  \"dependencies\": {\n    \"@capacitor/core\": \"8\",\n    \"zod\": \"4\"\n  },\n  \"x\": 1\n}\n";
        let expected = "{\n  \"name\": \"app\",\n  \"dependencies\": {\n    \"@capacitor/core\": \"8\",\n    \
                        \"@launchway/capacitor\": \"^0.1.0\",\n    \"zod\": \"4\"\n  },\n  \"x\": 1\n}\n";
        assert_eq!(with(text), expected);
    }

    #[test]
    fn the_layout_of_the_file_stays() {
        let rows = [
            (
                "{\"dependencies\":{\"a\":\"1\"}}",
                "{\"dependencies\":{\"@launchway/capacitor\":\"^0.1.0\",\"a\":\"1\"}}",
            ),
            (
                "{\r\n\t\"dependencies\": {\r\n\t\t\"b\": \"1\",\r\n\t\t\"a\": \"1\"\r\n\t}\r\n}",
                "{\r\n\t\"dependencies\": {\r\n\t\t\"b\": \"1\",\r\n\t\t\"a\": \"1\",\r\n\t\t\
                 \"@launchway/capacitor\": \"^0.1.0\"\r\n\t}\r\n}",
            ),
            (
                "{\n    \"name\": \"a\",\n    \"dependencies\": {}\n}\n",
                "{\n    \"name\": \"a\",\n    \"dependencies\": {\n        \"@launchway/capacitor\": \"^0.1.0\"\n    }\n}\n",
            ),
            (
                "{\n  \"name\": \"a\"\n}\n",
                "{\n  \"name\": \"a\",\n  \"dependencies\": {\n    \"@launchway/capacitor\": \"^0.1.0\"\n  }\n}\n",
            ),
            ("{}", "{\"dependencies\": {\"@launchway/capacitor\": \"^0.1.0\"}}"),
            (
                "{ \"dependencies\": { \"a\": \"}\\\"\", \"b\": \"2\" } }\n",
                "{ \"dependencies\": { \"@launchway/capacitor\": \"^0.1.0\", \"a\": \"}\\\"\", \"b\": \"2\" } }\n",
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(with(text), expected);
        }
    }

    #[test]
    fn what_is_not_an_object_is_left_alone() {
        for text in ["", "[]", "\"{}\"", "{", "{\"dependencies\": []}", "\u{feff}{}", "{} {}"] {
            assert_eq!(with_dependency(text, NAME, "1"), None, "{text}");
        }
    }

    proptest! {
        /// Whatever the file contains, only the dependency is added.
        #[test]
        fn nothing_else_changes(
            entries in prop::collection::btree_map("[a-z@/\"\\\\{}é]{1,6}", ".{0,8}", 0..5),
            before in ".{0,8}",
            pretty in any::<bool>(),
        ) {
            let list: Map<String, Value> = entries.into_iter().map(|(key, value)| (key, value.into())).collect();
            let mut value = serde_json::json!({"a": before, "dependencies": list, "z": [1, {"b": null}, "}"]});
            let text = if pretty { format!("{value:#}") } else { value.to_string() };
            let after: Value = serde_json::from_str(&with(&text)).unwrap();
            value["dependencies"][NAME] = "^0.1.0".into();
            prop_assert_eq!(after, value);
        }
    }
}
