//! Statements in nested blocks, as in Gradle files and JavaScript configurations. This is not a parser of either
//! language: it recognizes strings, comments and braces, and gives up when blocks nest too deeply.

/// Nesting limit. Deeper blocks are ignored.
const DEEPEST: usize = 64;
/// Bytes of a statement that are kept. Values are near its beginning.
const LONGEST: usize = 2048;

/// The value that a statement assigns to a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// No value.
    #[default]
    Absent,
    /// A value that only executing the file would show.
    Unclear,
    /// This text.
    Plain(String),
}

/// Passes each statement to `take` with the names of its blocks, the outermost first. The name of a block is the quoted
/// text before its brace, as in `create("staging") {`, or else the last word.
pub fn statements(text: &str, mut take: impl FnMut(&[String], &str)) {
    let mut blocks: Vec<String> = Vec::new();
    let mut statement = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' | '\'' | '`' => {
                let length = quoted(rest, letter);
                keep(&mut statement, &rest[..length]);
                length
            }
            '{' => {
                if blocks.len() == DEEPEST {
                    return;
                }
                blocks.push(name(&statement));
                statement.clear();
                1
            }
            '\n' | ';' | ',' | '}' => {
                take(&blocks, statement.trim());
                statement.clear();
                if letter == '}' {
                    blocks.pop();
                }
                1
            }
            _ => {
                keep(&mut statement, &rest[..letter.len_utf8()]);
                letter.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    take(&blocks, statement.trim());
}

fn keep(statement: &mut String, text: &str) {
    if statement.len() + text.len() <= LONGEST {
        statement.push_str(text);
    }
}

/// The length of the string at the start of `text`. Only strings in backticks may contain line breaks.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' if quote != '`' => return at,
            _ if letter == quote => return at + letter.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

fn name(statement: &str) -> String {
    let in_quotes = statement.split(['"', '\'']).nth(1);
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let last_word = || {
        statement
            .split(|letter| !is_word(letter))
            .rfind(|word| !word.is_empty())
    };
    in_quotes.or_else(last_word).unwrap_or_default().to_owned()
}

/// The value of `name "value"`, `name = 'value'`, `name("value")` or `"name": "value"`.
pub fn assignment(statement: &str, name: &str) -> Reading {
    let statement = statement.trim_start_matches(['"', '\'']);
    let Some(rest) = statement.strip_prefix(name) else {
        return Reading::Absent;
    };
    let rest = rest.trim_start_matches(['"', '\'']);
    let value = rest.trim_start_matches([' ', '\t', ':', '=', '(']);
    if value.len() == rest.len() {
        return Reading::Absent;
    }
    let Some(quote) = value.chars().next().filter(|letter| ['"', '\'', '`'].contains(letter)) else {
        return Reading::Unclear;
    };
    let (text, behind) = match value[1..].split_once(quote) {
        Some(parts) => parts,
        None => return Reading::Unclear,
    };
    let behind = behind.trim().trim_end_matches(')').trim();
    let made_of_others = text.contains(['$', '\\']) || !(behind.is_empty() || behind == "as const");
    match made_of_others {
        true => Reading::Unclear,
        false => Reading::Plain(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        statements(text, |blocks, statement| {
            if !statement.is_empty() {
                found.push(format!("{}: {statement}", blocks.join("/")));
            }
        });
        found
    }

    #[test]
    fn statements_know_their_blocks() {
        let gradle =
            "android { // { \n defaultConfig {\n a \"}{\"; b 1 }\n create(\"x y\") { c = 2 } /* } */\n d 'it''s' }\ne";
        let expected = [
            "android/defaultConfig: a \"}{\"",
            "android/defaultConfig: b 1",
            "android/x y: c = 2",
            "android: d 'it''s'",
            ": e",
        ];
        assert_eq!(all(gradle), expected);
        let script = "export default ({ config }) => ({ ...config, ios: { id: 'a\\'b', 'x': `}\n` } })";
        assert_eq!(
            all(script),
            [
                "default: config",
                ": ...config",
                "/ios: id: 'a\\'b'",
                "/ios: 'x': `}\n`",
                ": )"
            ]
        );
    }

    #[test]
    fn hostile_texts_end() {
        assert_eq!(all(&"{".repeat(100_000)), [""; 0]);
        assert_eq!(all(&"}".repeat(1000)), [""; 0]);
        for text in ["'", "\"\\", "/*", "//", "`é", "a{'"] {
            all(text);
        }
    }

    #[test]
    fn assignments_are_plain_or_unclear() {
        let plain = |text: &str| Reading::Plain(text.to_owned());
        let rows = [
            ("id 'a.b'", plain("a.b")),
            ("id = \"a.b\"", plain("a.b")),
            ("id(\"a.b\")", plain("a.b")),
            ("\"id\": \"a.b\"", plain("a.b")),
            ("id: 'a.b' as const", plain("a.b")),
            ("id: dev ? 'a' : 'b'", Reading::Unclear),
            ("id: `a.${b}`", Reading::Unclear),
            ("id: 'a' + b", Reading::Unclear),
            ("id project.id", Reading::Unclear),
            ("idea 'a'", Reading::Absent),
            ("my.id 'a'", Reading::Absent),
            ("id", Reading::Absent),
            ("", Reading::Absent),
        ];
        for (statement, expected) in rows {
            assert_eq!(assignment(statement, "id"), expected, "{statement}");
        }
    }
}
