//! Paths inside a package: which are allowed, and which would share a place on some file system
//! (`docs/reference/file-lists.md#paths`).

use unicode_normalization::UnicodeNormalization;

/// The most bytes of a path.
pub const MAX_PATH: usize = 512;
/// The most bytes between two slashes: file systems take no longer names.
pub const MAX_PART: usize = 255;

/// Why a path is refused. The message completes "the path …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It has no characters.
    #[error("is empty")]
    Empty,
    /// It has more bytes than allowed.
    #[error("is longer than {MAX_PATH} bytes, or a part of it is longer than {MAX_PART}")]
    TooLong,
    /// It is not text.
    #[error("is not UTF-8")]
    NotUtf8,
    /// It contains a control character.
    #[error("contains a control character")]
    ControlCharacter,
    /// It contains a backslash, which some systems read as a separator.
    #[error("contains a backslash")]
    Backslash,
    /// It starts at the root of a file system.
    #[error("is absolute")]
    Absolute,
    /// It leaves its folder.
    #[error("climbs out of its folder")]
    Climbs,
    /// It has an empty part or a dot as part.
    #[error("has an empty part or a dot as part")]
    NotPlain,
}

/// Two paths that cannot both exist everywhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Collision {
    /// The same path twice.
    #[error("the path `{0}` occurs twice")]
    Duplicate(String),
    /// Paths that differ only by letter case or Unicode form.
    #[error("the paths `{0}` and `{1}` differ only by letter case or Unicode form")]
    SameName(String, String),
    /// A file whose path another entry uses as a folder.
    #[error("the path `{0}` is both a file and a folder")]
    FileAndFolder(String),
}

/// Checks the path of a file: relative, plain, and inside the folder it is unpacked to on every system.
///
/// # Errors
/// The first rule that it breaks.
pub fn check(path: &[u8]) -> Result<&str, PathError> {
    if path.is_empty() {
        return Err(PathError::Empty);
    }
    if path.len() > MAX_PATH {
        return Err(PathError::TooLong);
    }
    let text = std::str::from_utf8(path).map_err(|_| PathError::NotUtf8)?;
    if text.chars().any(char::is_control) {
        return Err(PathError::ControlCharacter);
    }
    if text.contains('\\') {
        return Err(PathError::Backslash);
    }
    if text.starts_with('/') || matches!(path, [letter, b':', ..] if letter.is_ascii_alphabetic()) {
        return Err(PathError::Absolute);
    }
    for part in text.split('/') {
        match part {
            ".." => return Err(PathError::Climbs),
            "" | "." => return Err(PathError::NotPlain),
            part if part.len() > MAX_PART => return Err(PathError::TooLong),
            _ => {}
        }
    }
    Ok(text)
}

/// Stands for the slash while places are compared, because it sorts before every allowed character.
const SEPARATOR: char = '\0';

/// Checks that every entry gets a place of its own on every file system. The second member says whether it is a folder.
///
/// # Errors
/// The first collision.
pub fn check_collisions<'p>(entries: impl Iterator<Item = (&'p str, bool)>) -> Result<(), Collision> {
    let mut places: Vec<(String, &str, bool)> = entries.map(|(path, folder)| (place(path), path, folder)).collect();
    places.sort_unstable();
    for pair in places.windows(2) {
        let [(one_place, one, one_folder), (other_place, other, other_folder)] = pair else {
            continue;
        };
        match other_place.strip_prefix(one_place.as_str()) {
            Some("") if one_folder != other_folder => return Err(Collision::FileAndFolder((*one).to_owned())),
            Some("") if one == other => return Err(Collision::Duplicate((*one).to_owned())),
            Some("") => return Err(Collision::SameName((*one).to_owned(), (*other).to_owned())),
            // The entries below a folder directly follow the entry that takes it for a file.
            Some(rest) if rest.starts_with(SEPARATOR) && !one_folder => {
                return Err(Collision::FileAndFolder((*one).to_owned()));
            }
            _ => {}
        }
    }
    Ok(())
}

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
    fn paths_that_stay_inside_are_allowed() {
        for path in [
            "index.html",
            "a/b/c.js",
            "..a/.b/c..",
            "ab:c",
            "\u{fc}/\u{1f600}.png",
            "a b/\"c\"",
        ] {
            assert_eq!(check(path.as_bytes()), Ok(path));
        }
    }

    #[test]
    fn every_other_path_is_refused() {
        let cases: [(&[u8], PathError); 19] = [
            (b"", PathError::Empty),
            (b"/", PathError::Absolute),
            (b"/etc/passwd", PathError::Absolute),
            (b"C:/a", PathError::Absolute),
            (b"c:a", PathError::Absolute),
            (b"..", PathError::Climbs),
            (b"../a", PathError::Climbs),
            (b"a/../../b", PathError::Climbs),
            (b"a/..", PathError::Climbs),
            (b"a//b", PathError::NotPlain),
            (b"./a", PathError::NotPlain),
            (b"a/", PathError::NotPlain),
            (b"a/.", PathError::NotPlain),
            (b"..\\a", PathError::Backslash),
            (b"a\0b", PathError::ControlCharacter),
            (b"a\nb", PathError::ControlCharacter),
            ("a\u{85}b".as_bytes(), PathError::ControlCharacter),
            (b"a\xff", PathError::NotUtf8),
            (&[b'a'; 256], PathError::TooLong),
        ];
        for (path, error) in cases {
            assert_eq!(check(path), Err(error), "{path:?}");
        }
        let longest = ["a".repeat(255), "b".repeat(255)].join("/") + "/";
        assert_eq!(check(format!("{longest}c").as_bytes()), Err(PathError::TooLong));
        assert!(check(longest.trim_end_matches('/').as_bytes()).is_ok());
    }

    #[test]
    fn names_that_one_file_system_takes_for_one_collide() {
        for (one, other) in [
            ("A/b", "a/B"),
            ("\u{e9}", "e\u{301}"),
            ("\u{c9}", "e\u{301}"),
            ("\u{17f}", "S"),
            ("STRASSE", "stra\u{df}e"),
        ] {
            let entries = [(one, false), ("between", false), (other, false)];
            assert!(
                matches!(check_collisions(entries.into_iter()), Err(Collision::SameName(..))),
                "{one} {other}"
            );
        }
        assert_eq!(check_collisions([("e", false), ("\u{e9}", false)].into_iter()), Ok(()));
    }

    #[test]
    fn a_path_is_used_once_and_as_one_kind() {
        let duplicate = check_collisions([("a", false), ("b", false), ("a", false)].into_iter());
        assert_eq!(duplicate, Err(Collision::Duplicate("a".to_owned())));
        let both = Err(Collision::FileAndFolder("a".to_owned()));
        assert_eq!(
            check_collisions([("a", false), ("a-b", false), ("a/b", false)].into_iter()),
            both
        );
        assert_eq!(check_collisions([("a", true), ("a", false)].into_iter()), both);
        assert_eq!(
            check_collisions([("a", true), ("a/b", false), ("ab", false)].into_iter()),
            Ok(())
        );
    }
}
