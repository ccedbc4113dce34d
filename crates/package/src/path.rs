//! Paths of entries: which are allowed, and which are equal on some device
//! (`docs/reference/file-lists.md#paths`).

use unicode_normalization::UnicodeNormalization;

use crate::entry_name::EntryName;

/// The maximum length of a file name in bytes on common file systems.
const MAX_PART: usize = 255;

/// Why a path is rejected. Its text follows the path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It is empty.
    #[error("has no name")]
    NoName,
    /// It, or one segment of it, is too long.
    #[error("has a path longer than {limit} bytes, or a part of it is longer than {MAX_PART}")]
    PathTooLong {
        /// The maximum in bytes.
        limit: usize,
    },
    /// It is not UTF-8.
    #[error("has a name that is not UTF-8")]
    NotUtf8,
    /// It is absolute.
    #[error("has an absolute path")]
    Absolute,
    /// It contains `..`.
    #[error("is outside the package")]
    Climbs,
    /// It contains a backslash.
    #[error("has a backslash in its path")]
    Backslash,
    /// It starts with a drive letter.
    #[error("starts with a drive letter")]
    DriveLetter,
    /// It contains control characters.
    #[error("has control characters in its path")]
    ControlCharacter,
    /// It contains an empty segment or a `.`.
    #[error("has an empty part or a `.` in its path")]
    NotPlain,
    /// Another entry has exactly the same path.
    #[error("is in the package twice")]
    Duplicate,
    /// Another entry has the same path on a device that ignores letter case or Unicode forms.
    #[error("has the same name as `{other}` on devices that ignore letter case and Unicode forms")]
    DuplicateByCase {
        /// The path of the other entry.
        other: EntryName,
    },
    /// Other entries need a folder at this path.
    #[error("is a file, but other entries use it as a folder")]
    FileAndFolder,
}

/// A path that cannot exist beside another one on every device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// The path.
    pub path: EntryName,
    /// How it collides.
    pub error: PathError,
}

/// Checks that the path of an entry stays inside the folder that it is unpacked to, on every system, and returns it. A
/// trailing slash marks a folder.
///
/// # Errors
/// The first rule that it breaks.
pub fn check(path: &[u8], max_path: usize) -> Result<&str, PathError> {
    if path.is_empty() {
        return Err(PathError::NoName);
    }
    if path.len() > max_path {
        return Err(PathError::PathTooLong { limit: max_path });
    }
    let text = std::str::from_utf8(path).map_err(|_| PathError::NotUtf8)?;
    if text.chars().any(char::is_control) {
        return Err(PathError::ControlCharacter);
    }
    if text.contains('\\') {
        return Err(PathError::Backslash);
    }
    if text.starts_with('/') {
        return Err(PathError::Absolute);
    }
    if matches!(path, [letter, b':', ..] if letter.is_ascii_alphabetic()) {
        return Err(PathError::DriveLetter);
    }
    for part in text.strip_suffix('/').unwrap_or(text).split('/') {
        match part {
            ".." => return Err(PathError::Climbs),
            "" | "." => return Err(PathError::NotPlain),
            part if part.len() > MAX_PART => return Err(PathError::PathTooLong { limit: max_path }),
            _ => {}
        }
    }
    Ok(text)
}

/// Checks the path of a file: as [`check`], but it must not name a folder.
///
/// # Errors
/// The first rule that it breaks.
pub fn check_file(path: &[u8], max_path: usize) -> Result<&str, PathError> {
    let path = check(path, max_path)?;
    if path.ends_with('/') {
        return Err(PathError::NotPlain);
    }
    Ok(path)
}

/// Checks that each of these paths is a place of its own on every device. A trailing slash marks a folder.
///
/// # Errors
/// The first collision.
pub fn check_collisions<'p>(paths: impl Iterator<Item = &'p str>) -> Result<(), Collision> {
    let mut places: Vec<(String, &str)> = paths.map(|path| (place(file_path(path)), path)).collect();
    places.sort_by(|(first, _), (second, _)| first.cmp(second));
    // A file is directly followed by the entries that use it as a folder: their paths begin with its own and the lowest
    // character.
    for pair in places.windows(2) {
        let &[(ref place, path), (ref next_place, next)] = pair else {
            continue;
        };
        let is_folder = path.ends_with('/');
        let collision = |path: &str, error| {
            let path = EntryName::new(path.as_bytes());
            Err(Collision { path, error })
        };
        match next_place.strip_prefix(place.as_str()) {
            Some("") if is_folder != next.ends_with('/') => {
                return collision(if is_folder { next } else { path }, PathError::FileAndFolder);
            }
            Some("") if path == next => return collision(path, PathError::Duplicate),
            Some("") => {
                let other = EntryName::new(path.as_bytes());
                return collision(next, PathError::DuplicateByCase { other });
            }
            Some(rest) if rest.starts_with(SEPARATOR) && !is_folder => {
                return collision(path, PathError::FileAndFolder);
            }
            _ => {}
        }
    }
    Ok(())
}

/// The path without a folder's trailing slash.
pub(crate) fn file_path(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

/// Replaces the slash, and sorts before every character that paths may contain.
const SEPARATOR: char = '\0';

/// The path as a file system sees it that ignores letter case and Unicode forms. Upper case comes first because it
/// joins what lower case alone keeps apart (`ſ` and `s`, `ß` and `ss`).
fn place(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase().replace('/', "\0");
    }
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
        let cases: [(&[u8], Option<PathError>); 25] = [
            (b"index.html", None),
            (b"a/b/c.js", None),
            (b"a/", None),
            (b"..a/.b/c..", None),
            (b"ab:c", None),
            ("\u{fc}/\u{1f600}.png".as_bytes(), None),
            (b"", Some(PathError::NoName)),
            (b"/", Some(PathError::Absolute)),
            (b"/etc/passwd", Some(PathError::Absolute)),
            (b"..", Some(PathError::Climbs)),
            (b"../a", Some(PathError::Climbs)),
            (b"a/../../b", Some(PathError::Climbs)),
            (b"a/..", Some(PathError::Climbs)),
            (b"a/../", Some(PathError::Climbs)),
            (b"a//b", Some(PathError::NotPlain)),
            (b"./a", Some(PathError::NotPlain)),
            (b"a//", Some(PathError::NotPlain)),
            (b"..\\a", Some(PathError::Backslash)),
            (b"C:/a", Some(PathError::DriveLetter)),
            (b"c:a", Some(PathError::DriveLetter)),
            (b"a\0b", Some(PathError::ControlCharacter)),
            (b"a\nb", Some(PathError::ControlCharacter)),
            ("a\u{85}b".as_bytes(), Some(PathError::ControlCharacter)),
            (b"a\xff", Some(PathError::NotUtf8)),
            (long_part.as_bytes(), Some(PathError::PathTooLong { limit: 300 })),
        ];
        for (path, fault) in cases {
            assert_eq!(check(path, 300).err(), fault, "{:?}", EntryName::new(path));
        }
        assert_eq!(check_file(b"a/", 300), Err(PathError::NotPlain));
        assert_eq!(check(&[b'a'; 6], 5), Err(PathError::PathTooLong { limit: 5 }));
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
            assert_eq!(place(one), place(other), "{one} {other}");
        }
        assert_ne!(place("e"), place("\u{e9}"));
    }

    #[test]
    fn a_path_is_used_once_and_as_one_kind() {
        let found = |paths: &[&'static str]| check_collisions(paths.iter().copied()).err().map(|found| found.error);
        assert_eq!(found(&["a", "b", "a"]), Some(PathError::Duplicate));
        assert_eq!(found(&["a", "a-b", "a/b"]), Some(PathError::FileAndFolder));
        assert_eq!(found(&["a/", "a"]), Some(PathError::FileAndFolder));
        assert_eq!(found(&["a/", "a/b", "ab"]), None);
    }
}
