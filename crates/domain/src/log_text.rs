//! The text of a log's line as people read and search it: without colors and control characters.

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
pub fn searchable_into(line: &[u8], text: &mut Vec<u8>) {
    text.clear();
    if !line.is_ascii() {
        let lower = plain(&String::from_utf8_lossy(line)).to_lowercase();
        text.extend_from_slice(lower.as_bytes());
        return;
    }
    // Nearly every line. What follows is `plain` for bytes.
    let mut rest = line;
    loop {
        let (shown, control) = rest.split_at(plain_length(rest));
        text.extend_from_slice(shown);
        rest = match control {
            [] => break,
            [0x1b, b'[', sequence @ ..] => {
                let end = sequence.iter().position(|byte| (b'@'..=b'~').contains(byte));
                end.map_or(&[], |end| &sequence[end + 1..])
            }
            [_, rest @ ..] => rest,
        };
    }
    text.make_ascii_lowercase();
}

/// The number of bytes before the first control character that is not shown.
fn plain_length(bytes: &[u8]) -> usize {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let mut length = 0;
    // A whole piece is looked at faster than byte after byte up to the first.
    for piece in bytes.chunks(32) {
        if !piece.iter().fold(true, |all, byte| all & is_plain(byte)) {
            return length + piece.iter().take_while(|byte| is_plain(byte)).count();
        }
        length += piece.len();
    }
    length
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
        fn a_line_of_bytes_is_searched_as_its_text(line in "[a-cA-C\u{1b}\\[@~m0;\t\n\u{7f}\u{0} é]{0,80}") {
            let expected = plain(&line).to_lowercase();
            prop_assert_eq!(searchable(line.as_bytes()), expected);
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
