//! Why a package is refused, in sentences for who made it.

use std::fmt;
use std::io;

/// Why a package cannot be published. Its text is a whole sentence for the user.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// There is no end of a ZIP in it.
    #[error("The package is not a ZIP archive, or its end is missing.")]
    NotZip,
    /// Something follows the end of the archive.
    #[error("There are bytes behind the end of the ZIP archive.")]
    TrailingBytes,
    /// Something comes before the first entry.
    #[error("There are bytes before the first entry of the ZIP archive.")]
    LeadingBytes,
    /// The directory at the end of the archive does not hold together.
    #[error("The directory of the ZIP archive is damaged: {0}.")]
    Directory(&'static str),
    /// There is no file in it.
    #[error("The package holds no file.")]
    Empty,
    /// There are too many entries.
    #[error("The package has {count} entries; at most {limit} are allowed.")]
    TooManyEntries {
        /// How many there are.
        count: u64,
        /// How many are allowed.
        limit: u64,
    },
    /// Unpacked, it is too large.
    #[error("The package unpacks to more than {limit} bytes, which is the most that is allowed.")]
    TooLarge {
        /// How many bytes are allowed.
        limit: u64,
    },
    /// Unpacked, it is suspiciously large.
    #[error("The package unpacks to more than {ratio} times its size.")]
    Bomb {
        /// How many times is allowed.
        ratio: u64,
    },
    /// Something is wrong with an entry.
    #[error("The entry `{entry}` {fault}.")]
    Entry {
        /// Which.
        entry: EntryName,
        /// What.
        fault: EntryError,
    },
    /// The file cannot be read here. This is no fault of the package.
    #[error("The package could not be read: {0}.")]
    Unreadable(#[from] io::Error),
}

/// What is wrong with an entry. Its text goes on where the entry's name ends.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// Its name is empty.
    #[error("has no name")]
    NoName,
    /// Its path, or one part of it, is too long.
    #[error("has a path longer than {limit} bytes, or a part of it is longer than 255")]
    PathTooLong {
        /// How many bytes are allowed.
        limit: usize,
    },
    /// Its name is no UTF-8.
    #[error("has a name that is not UTF-8")]
    NotUtf8,
    /// Its path starts at a root.
    #[error("has an absolute path")]
    Absolute,
    /// Its path has a `..`.
    #[error("climbs out of the package")]
    Climbs,
    /// Its path has a backslash.
    #[error("has a backslash in its path")]
    Backslash,
    /// Its path starts with a drive letter.
    #[error("starts with a drive letter")]
    DriveLetter,
    /// Its path has control characters.
    #[error("has control characters in its path")]
    ControlCharacter,
    /// Its path has an empty part or a `.`.
    #[error("has an empty part or a `.` in its path")]
    NotPlain,
    /// It is a symbolic link.
    #[error("is a symbolic link")]
    Link,
    /// It is a device, a pipe or a socket.
    #[error("is neither a file nor a folder")]
    Special,
    /// Its attributes and its name do not agree on whether it is a folder.
    #[error("is a folder by its name or by its attributes, but not by both")]
    KindDisagrees,
    /// It has the very same name as another.
    #[error("comes twice")]
    Duplicate,
    /// It has the same name as another on a device that ignores letter case or Unicode forms.
    #[error("has the same name as `{other}` on devices that ignore letter case and Unicode forms")]
    DuplicateByCase {
        /// The other.
        other: EntryName,
    },
    /// Other entries need a folder in its place.
    #[error("is a file, but other entries need a folder there")]
    FileAndFolder,
    /// It is a folder and has bytes.
    #[error("is a folder with content")]
    FolderWithContent,
    /// It is encrypted.
    #[error("is encrypted")]
    Encrypted,
    /// It is packed in a way that not every device can unpack.
    #[error("is packed by method {0}; only stored and deflated entries can be unpacked")]
    Method(u16),
    /// It lies in another file or needs another to unpack.
    #[error("needs another file to be unpacked")]
    Incomplete,
    /// Its extra fields cannot be read.
    #[error("has damaged extra fields")]
    Extra,
    /// Its own header is not where the directory says.
    #[error("is not where the directory says")]
    NotThere,
    /// Its own header and the directory do not agree.
    #[error("has another {0} in its own header than in the directory")]
    Disagrees(&'static str),
    /// Its flags announce sizes behind its data, and they are not there.
    #[error("lacks the sizes that have to follow its bytes")]
    NoDescriptor,
    /// It has bytes of another.
    #[error("overlaps another entry or the directory")]
    Overlaps,
    /// Bytes behind it belong to nothing.
    #[error("is followed by bytes that belong to no entry")]
    Stray,
    /// Its packed bytes cannot be unpacked.
    #[error("cannot be unpacked, its bytes are damaged")]
    Damaged,
    /// It unpacks to more or fewer bytes than it says.
    #[error("does not have the size that it says")]
    Size,
    /// It unpacks to other bytes than it says.
    #[error("has another checksum than it says")]
    Checksum,
    /// Unpacked, it is suspiciously large.
    #[error("unpacks to more than {ratio} times its size")]
    Bomb {
        /// How many times is allowed.
        ratio: u64,
    },
}

/// The name of an entry as it can be shown: without anything that a terminal or a log would obey, at most 120 characters.
#[derive(Clone, PartialEq, Eq)]
pub struct EntryName(String);

const MAX_SHOWN: usize = 120;

impl EntryName {
    /// From the bytes in the archive, whatever they are.
    pub(super) fn new(bytes: &[u8]) -> EntryName {
        // No character is shorter than a byte: more of them could not be shown anyway.
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_SHOWN * 4)]).into_owned();
        let mut shown: Vec<char> = text.chars().flat_map(visible).take(MAX_SHOWN + 1).collect();
        if shown.len() > MAX_SHOWN {
            shown.truncate(MAX_SHOWN - 1);
            shown.push('…');
        }
        EntryName(shown.into_iter().collect())
    }
}

/// Escapes what cannot be seen. Quotes and backslashes can.
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

    #[test]
    fn a_refusal_is_a_sentence() {
        let error = PackageError::Entry {
            entry: EntryName::new(b"a/../../b"),
            fault: EntryError::Climbs,
        };
        assert_eq!(error.to_string(), "The entry `a/../../b` climbs out of the package.");
    }
}
