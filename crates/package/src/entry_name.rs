//! Names of entries as people may see them.

use std::fmt;

/// The name of an entry in a form that is safe to show: without control sequences for terminals or logs, at most 120
/// characters.
#[derive(Clone, PartialEq, Eq)]
pub struct EntryName(String);

const MAX_SHOWN: usize = 120;

impl EntryName {
    /// The printable form of any bytes in the archive.
    #[must_use]
    pub fn new(bytes: &[u8]) -> EntryName {
        // A character has at least one byte, so what is cut off here would not be shown anyway.
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_SHOWN * 4)]).into_owned();
        let mut shown: Vec<char> = text.chars().flat_map(visible).take(MAX_SHOWN + 1).collect();
        if shown.len() > MAX_SHOWN {
            shown.truncate(MAX_SHOWN - 1);
            shown.push('…');
        }
        EntryName(shown.into_iter().collect())
    }
}

/// Escapes invisible characters, but not quotes and backslashes.
fn visible(character: char) -> impl Iterator<Item = char> {
    let plain = matches!(character, '\\' | '"' | '\'').then_some(character);
    plain
        .into_iter()
        .chain(plain.is_none().then(|| character.escape_debug()).into_iter().flatten())
}

impl fmt::Display for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_shown_without_harm() {
        let shown = |bytes: &[u8]| EntryName::new(bytes).to_string();
        assert_eq!(shown("a/\"b'\\é.txt".as_bytes()), "a/\"b'\\é.txt");
        assert_eq!(shown(b"a\n\x1b[31m\0"), "a\\n\\u{1b}[31m\\0");
        assert_eq!(shown("\u{202e}gpj.exe".as_bytes()), "\\u{202e}gpj.exe");
        assert_eq!(shown(b"\xff"), "\u{fffd}");
        assert_eq!(shown(&[b'x'; 120]), "x".repeat(120));
        assert_eq!(shown(&[b'x'; 121]), "x".repeat(119) + "…");
        assert_eq!(shown("\n".repeat(70_000).as_bytes()).chars().count(), 120);
    }
}
