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

/// The text in which a search looks for a lower-case text: the line as [`plain`] text in lower case. Search indexes are made of
/// the same text: a change of this function needs a new version of [`crate::log_index`].
pub fn searchable(line: &[u8]) -> String {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let mut text = String::from_utf8_lossy(line).into_owned();
    // Nearly every line.
    if !line.iter().all(is_plain) {
        text = plain(&text);
    }
    match text.is_ascii() {
        true => text.make_ascii_lowercase(),
        false => text = text.to_lowercase(),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_and_control_characters_go() {
        assert_eq!(plain("\u{1b}[1;31mred\u{1b}[0m\r\n\u{7}a\tb\u{1b}"), "red\na\tb");
        assert_eq!(plain("\u{1b}[31"), "");
        assert_eq!(plain("<b>\u{1b}]0;title"), "<b>]0;title");
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
