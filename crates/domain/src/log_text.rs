//! The text of a log's line as people read and search it: without colors and control characters.

use memchr::memchr2;

/// Begins an escape sequence.
const ESCAPE: u8 = 0x1b;

/// A text without the escape sequences that color terminal output, and without other control characters.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\u{1b}' if rest.peek() == Some(&'[') => {
                rest.next();
                while rest.next_if(|next| !('@'..='~').contains(next)).is_some() {}
                rest.next();
            }
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() => {}
            letter => out.push(letter),
        }
    }
    out
}

/// Writes to `text` in what a search looks for a lower-case text: the line as [`plain`] text in lower case, as UTF-8. Search indexes
/// are made of the same text: a change of this function needs a new version of [`crate::log_index`].
///
/// Of several lines in ASCII, the text contains that of each.
pub fn searchable_into(line: &[u8], text: &mut Vec<u8>) {
    text.clear();
    if !line.is_ascii() {
        let lower = plain(&String::from_utf8_lossy(line)).to_lowercase();
        text.extend_from_slice(lower.as_bytes());
        return;
    }
    // Nearly every line. What follows is `plain` for bytes.
    let plain_length = match line.iter().fold(false, |any, byte| any | is_other_control(*byte)) {
        false => length_to_usual_control,
        true => length_to_control,
    };
    let mut rest = line;
    loop {
        let (shown, control) = rest.split_at(plain_length(rest));
        text.extend_from_slice(shown);
        rest = match control {
            [] => break,
            [ESCAPE, b'[', sequence @ ..] => {
                // It ends with its line at the latest.
                let end = sequence.iter().position(|byte| matches!(byte, b'@'..=b'~' | b'\n'));
                end.map_or(&[], |end| &sequence[end + 1..])
            }
            [_, rest @ ..] => rest,
        };
    }
    text.make_ascii_lowercase();
}

/// Whether it is a control character that is not shown, and that few logs have. It has no branch, so that a loop over a text looks at
/// many bytes at a time.
fn is_other_control(byte: u8) -> bool {
    (byte < b' ') & !matches!(byte, b'\n' | b'\t' | b'\r' | ESCAPE) | (byte == 0x7f)
}

/// The number of bytes before the first [`ESCAPE`] or `\r`.
fn length_to_usual_control(bytes: &[u8]) -> usize {
    memchr2(ESCAPE, b'\r', bytes).unwrap_or(bytes.len())
}

/// The number of bytes before the first control character that is not shown.
fn length_to_control(bytes: &[u8]) -> usize {
    let is_hidden = |byte: &u8| is_other_control(*byte) || matches!(*byte, ESCAPE | b'\r');
    bytes.iter().position(is_hidden).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colors_and_control_characters_go() {
        assert_eq!(plain("\u{1b}[1;31mred\u{1b}[0m\r\n\u{7}a\tb\u{1b}"), "red\na\tb");
        assert_eq!(plain("\u{1b}[31"), "");
        assert_eq!(plain("<b>\u{1b}]0;title"), "<b>]0;title");
    }

    fn searchable(line: &[u8]) -> String {
        let mut text = b"of the last line".to_vec();
        searchable_into(line, &mut text);
        String::from_utf8(text).unwrap()
    }

    proptest! {
        #[test]
        fn a_line_of_bytes_is_searched_as_its_text(line in "([a-cA-C\u{1b}\\[@~m0;\t\r ]{0,80}|[a-cA-C\u{1b}\\[@~m0;\t\r\u{7f}\u{0} é]{0,80})\n?") {
            let expected = plain(&line).to_lowercase();
            prop_assert_eq!(searchable(line.as_bytes()), expected);
        }
    }

    proptest! {
        #[test]
        fn several_lines_contain_what_each_contains(lines in prop::collection::vec("[a-cA-C\u{1b}\\[@~m0;\t\r ]{0,20}\u{7f}?\n", 1..5)) {
            let all = searchable(lines.concat().as_bytes());
            let mut rest = &*all;
            for line in lines {
                let line = searchable(line.as_bytes());
                prop_assert!(rest.starts_with(&line), "{line:?} in {all:?}");
                rest = &rest[line.len()..];
            }
            prop_assert_eq!(rest, "");
        }
    }

    #[test]
    fn a_line_is_searched_in_lower_case_and_without_colors() {
        assert_eq!(
            searchable(b"\x1b[31mERROR\x1b[0m: Not\tFound\r\n"),
            "error: not\tfound\n"
        );
        assert_eq!(searchable("GRÖßE \u{80}x".as_bytes()), "größe x");
        assert_eq!(searchable(b"a\xffB"), "a\u{fffd}b");
    }
}
