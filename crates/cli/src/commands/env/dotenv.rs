//! Parses `.env` files: `NAME=VALUE` on each line, the value bare or quoted. Pure. Anything unreadable is an error,
//! because a truncated secret would only be noticed in a build.

use launchway_api::secret::SecretText;

/// A problem on a line. It contains no value.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line number, from 1.
    pub line: usize,
    pub what: &'static str,
}

/// The variables of a file, in order. Quoted values may span lines; in double quotes, `\n`, `\r`, `\t`, `\"`, `\\` and
/// `\$` are escapes as in shells. Nothing is expanded.
///
/// # Errors
/// A line that is not a variable, an invalid name, or a duplicate name.
pub fn read(text: &str) -> Result<Vec<(String, SecretText)>, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut variables: Vec<(String, SecretText)> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let line = text[..text.len() - rest.len()].matches('\n').count() + 1;
        let problem = |what| Problem { line, what };
        let end = rest.find('\n').unwrap_or(rest.len());
        let begin = rest[..end].trim();
        if begin.is_empty() || begin.starts_with('#') {
            rest = after(rest, end);
            continue;
        }
        let (name, _) = begin.split_once('=').ok_or_else(|| problem("must be NAME=VALUE"))?;
        let name = name.trim().strip_prefix("export ").unwrap_or(name).trim();
        if !is_name(name) {
            return Err(problem(
                "a name has letters, digits and _, and does not start with a digit",
            ));
        }
        if variables.iter().any(|(known, _)| known == name) {
            return Err(problem("the name is already used in this file"));
        }
        let equals = rest.find('=').unwrap_or(end);
        let value = rest[equals + 1..].trim_start_matches([' ', '\t']);
        let (value, left) = value_at(value).map_err(problem)?;
        variables.push((name.to_owned(), SecretText::new(value)));
        rest = left;
    }
    Ok(variables)
}

/// The value at the start of a text, and the text after its line.
fn value_at(text: &str) -> Result<(String, &str), &'static str> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''));
    let Some(quote) = quote else {
        let end = text.find('\n').unwrap_or(text.len());
        let line = &text[..end];
        // A # within a word belongs to the word.
        let comment = line
            .char_indices()
            .find(|(at, letter)| *letter == '#' && (*at == 0 || line[..*at].ends_with([' ', '\t'])));
        let value = comment.map_or(line, |(at, _)| &line[..at]);
        return Ok((value.trim().to_owned(), after(text, end)));
    };
    let mut value = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' if quote == '"' => match letters.next().map(|(_, escaped)| escaped) {
                Some('n') => value.push('\n'),
                Some('r') => value.push('\r'),
                Some('t') => value.push('\t'),
                Some(escaped @ ('"' | '\\' | '$')) => value.push(escaped),
                Some(other) => value.extend(['\\', other]),
                None => break,
            },
            end if end == quote => {
                let behind = &text[at + 1..];
                let line_end = behind.find('\n').unwrap_or(behind.len());
                let tail = behind[..line_end].trim();
                if !tail.is_empty() && !tail.starts_with('#') {
                    return Err("unexpected text after the closing quote");
                }
                return Ok((value, after(behind, line_end)));
            }
            other => value.push(other),
        }
    }
    Err("the closing quote is missing")
}

/// The text after the line break at `end`.
fn after(text: &str, end: usize) -> &str {
    text.get(end + 1..).unwrap_or_default()
}

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let read = read(text).expect("it can be read");
        read.into_iter()
            .map(|(name, value)| (name, value.reveal().to_owned()))
            .collect()
    }

    #[test]
    fn reads_what_such_files_hold() {
        let text = "\u{feff}# a comment\r\n\nA=1\r\n export B = two words # said\nC=\nD='single $B \\n'\nE=\"x\\ny\\\"\\$\" # end\nF=a#b\nG=\"two\nlines\"\nH=a=b\nI=last";
        let expected = [
            ("A", "1"),
            ("B", "two words"),
            ("C", ""),
            ("D", "single $B \\n"),
            ("E", "x\ny\"$"),
            ("F", "a#b"),
            ("G", "two\nlines"),
            ("H", "a=b"),
            ("I", "last"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(pairs(text), expected);
        assert!(pairs("").is_empty() && pairs("\n# nothing\n").is_empty());
    }

    #[test]
    fn says_what_cannot_be_read_and_where() {
        let rows = [
            ("A=1\nsecret", 2, "must be NAME=VALUE"),
            (
                "A='x\ny'\n1B=2",
                3,
                "a name has letters, digits and _, and does not start with a digit",
            ),
            (
                "=2",
                1,
                "a name has letters, digits and _, and does not start with a digit",
            ),
            ("A=1\nA=2", 2, "the name is already used in this file"),
            ("A=\"open", 1, "the closing quote is missing"),
            ("A=\"open\\", 1, "the closing quote is missing"),
            ("A='x' y", 1, "unexpected text after the closing quote"),
        ];
        for (text, line, what) in rows {
            assert_eq!(read(text).expect_err(text), Problem { line, what }, "{text}");
        }
    }
}
