//! Paths of entries: which are allowed, and which are equal on some device.

use unicode_normalization::UnicodeNormalization;

use super::directory::Entry;
use super::error::{EntryError, EntryName, PackageError};

/// The maximum length of a file name in bytes on common file systems.
const MAX_PART: usize = 255;

/// Checks that the path stays inside the folder that it is unpacked to, on every system. A trailing slash marks a
/// folder.
pub(super) fn check_path(name: &[u8], max_path: usize) -> Result<(), EntryError> {
    if name.is_empty() {
        return Err(EntryError::NoName);
    }
    if name.len() > max_path {
        return Err(EntryError::PathTooLong { limit: max_path });
    }
    let path = std::str::from_utf8(name).map_err(|_| EntryError::NotUtf8)?;
    if path.chars().any(char::is_control) {
        return Err(EntryError::ControlCharacter);
    }
    if path.contains('\\') {
        return Err(EntryError::Backslash);
    }
    if path.starts_with('/') {
        return Err(EntryError::Absolute);
    }
    if matches!(name, [letter, b':', ..] if letter.is_ascii_alphabetic()) {
        return Err(EntryError::DriveLetter);
    }
    for part in path.strip_suffix('/').unwrap_or(path).split('/') {
        match part {
            ".." => return Err(EntryError::Climbs),
            "" | "." => return Err(EntryError::NotPlain),
            part if part.len() > MAX_PART => return Err(EntryError::PathTooLong { limit: max_path }),
            _ => {}
        }
    }
    Ok(())
}

/// Checks that each entry has a path of its own on every device.
pub(super) fn check_collisions(entries: &[Entry]) -> Result<(), PackageError> {
    let mut places: Vec<(String, &Entry)> = entries.iter().map(|entry| (place(entry.path()), entry)).collect();
    places.sort_by(|(first, _), (second, _)| first.cmp(second));
    // A file is directly followed by the entries that use it as a folder: their paths begin with its own and the lowest
    // character.
    for pair in places.windows(2) {
        let [(place, entry), (next_place, next)] = pair else {
            continue;
        };
        match next_place.strip_prefix(place.as_str()) {
            Some("") if entry.is_folder() != next.is_folder() => {
                let file = if entry.is_folder() { next } else { entry };
                return Err(file.refused(EntryError::FileAndFolder));
            }
            Some("") if entry.path() == next.path() => return Err(entry.refused(EntryError::Duplicate)),
            Some("") => {
                return Err(next.refused(EntryError::DuplicateByCase {
                    other: EntryName::new(&entry.name),
                }));
            }
            Some(rest) if rest.starts_with(SEPARATOR) && !entry.is_folder() => {
                return Err(entry.refused(EntryError::FileAndFolder));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Replaces the slash, and sorts before every character that paths may contain.
const SEPARATOR: char = '\0';

/// The path as a file system sees it that ignores letter case and Unicode forms. Upper case comes first because it
/// joins what lower case alone keeps apart (`ſ` and `s`, `ß` and `ss`).
fn place(path: &[u8]) -> String {
    let path = String::from_utf8_lossy(path);
    let folded = path.nfd().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    folded
        .nfc()
        .map(|character| if character == '/' { SEPARATOR } else { character })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_paths() {
        let long_part = "a".repeat(256);
        let cases: [(&[u8], Option<EntryError>); 25] = [
            (b"index.html", None),
            (b"a/b/c.js", None),
            (b"a/", None),
            (b"..a/.b/c..", None),
            (b"ab:c", None),
            ("\u{fc}/\u{1f600}.png".as_bytes(), None),
            (b"", Some(EntryError::NoName)),
            (b"/", Some(EntryError::Absolute)),
            (b"/etc/passwd", Some(EntryError::Absolute)),
            (b"..", Some(EntryError::Climbs)),
            (b"../a", Some(EntryError::Climbs)),
            (b"a/../../b", Some(EntryError::Climbs)),
            (b"a/..", Some(EntryError::Climbs)),
            (b"a/../", Some(EntryError::Climbs)),
            (b"a//b", Some(EntryError::NotPlain)),
            (b"./a", Some(EntryError::NotPlain)),
            (b"a//", Some(EntryError::NotPlain)),
            (b"..\\a", Some(EntryError::Backslash)),
            (b"C:/a", Some(EntryError::DriveLetter)),
            (b"c:a", Some(EntryError::DriveLetter)),
            (b"a\0b", Some(EntryError::ControlCharacter)),
            (b"a\nb", Some(EntryError::ControlCharacter)),
            ("a\u{85}b".as_bytes(), Some(EntryError::ControlCharacter)),
            (b"a\xff", Some(EntryError::NotUtf8)),
            (long_part.as_bytes(), Some(EntryError::PathTooLong { limit: 300 })),
        ];
        for (path, fault) in cases {
            assert_eq!(check_path(path, 300).err(), fault, "{:?}", EntryName::new(path));
        }
        assert_eq!(check_path(&[b'a'; 6], 5), Err(EntryError::PathTooLong { limit: 5 }));
    }

    #[test]
    fn equal_places() {
        for (one, other) in [
            ("A/b", "a/B"),
            ("\u{e9}", "e\u{301}"),
            ("\u{c9}", "e\u{301}"),
            ("\u{17f}", "S"),
            ("STRASSE", "stra\u{df}e"),
        ] {
            assert_eq!(place(one.as_bytes()), place(other.as_bytes()), "{one} {other}");
        }
        assert_ne!(place(b"e"), place("\u{e9}".as_bytes()));
    }
}
