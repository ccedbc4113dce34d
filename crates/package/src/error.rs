//! Why a package is rejected, in sentences for its author.

use std::io;

use crate::entry_name::EntryName;
use crate::path::{Collision, PathError};

/// Why a package cannot be published. Its text is a whole sentence for the user.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// It has no end record of a ZIP.
    #[error("The package is not a ZIP archive, or its end is missing")]
    NotZip,
    /// Something follows the end of the archive.
    #[error("There are bytes after the end of the ZIP archive")]
    TrailingBytes,
    /// Something comes before the first entry.
    #[error("There are bytes before the first entry of the ZIP archive")]
    LeadingBytes,
    /// The directory at the end of the archive is inconsistent.
    #[error("The directory of the ZIP archive is damaged: {0}")]
    Directory(&'static str),
    /// It contains no file.
    #[error("The package contains no file")]
    Empty,
    /// There are too many entries.
    #[error("The package has {count} entries, but at most {limit} are allowed")]
    TooManyEntries {
        /// The number of entries.
        count: u64,
        /// The maximum number.
        limit: u64,
    },
    /// Its unpacked size is too large.
    #[error("The package unpacks to more than {limit} bytes, which is the limit")]
    TooLarge {
        /// The maximum in bytes.
        limit: u64,
    },
    /// Its compression ratio is suspiciously high.
    #[error("The package unpacks to more than {ratio} times its size")]
    Bomb {
        /// The maximum ratio.
        ratio: u64,
    },
    /// An entry is invalid.
    #[error("The entry `{entry}` {fault}")]
    Entry {
        /// The entry.
        entry: EntryName,
        /// The error.
        fault: EntryError,
    },
    /// The file cannot be read here, which is not the fault of the package.
    #[error("Cannot read the package: {0}")]
    Unreadable(#[from] io::Error),
    /// The unpacked bytes cannot be written, which is not the fault of the package.
    #[error("Cannot write the unpacked files: {0}")]
    Target(io::Error),
}

impl From<Collision> for PackageError {
    fn from(Collision { path, error }: Collision) -> Self {
        Self::Entry {
            entry: path,
            fault: error.into(),
        }
    }
}

/// Why an entry is rejected. Its text follows the entry's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// Its path is not allowed, or collides with that of another entry.
    #[error(transparent)]
    Path(#[from] PathError),
    /// It is a symbolic link.
    #[error("is a symbolic link")]
    Link,
    /// It is a device, a pipe or a socket.
    #[error("is neither a file nor a folder")]
    Special,
    /// Its attributes and its name disagree on whether it is a folder.
    #[error("is a folder by its name or by its attributes, but not by both")]
    KindDisagrees,
    /// It is a folder with contents.
    #[error("is a folder with content")]
    FolderWithContent,
    /// It is encrypted.
    #[error("is encrypted")]
    Encrypted,
    /// Its compression method is not supported by every device.
    #[error("is compressed with method {0}; only stored and deflated entries are supported")]
    Method(u16),
    /// It is in another file, or needs another file to unpack.
    #[error("requires another file")]
    Incomplete,
    /// Its extra fields cannot be parsed.
    #[error("has damaged extra fields")]
    Extra,
    /// Its own header is not at the offset in the directory.
    #[error("is not at the offset in the directory")]
    NotThere,
    /// Its own header and the directory disagree.
    #[error("has a different {0} in its own header than in the directory")]
    Disagrees(&'static str),
    /// Its flags declare a data descriptor, but there is none.
    #[error("is not followed by its sizes")]
    NoDescriptor,
    /// It shares bytes with another entry.
    #[error("overlaps another entry or the directory")]
    Overlaps,
    /// The bytes after it belong to nothing.
    #[error("is followed by bytes that belong to no entry")]
    Stray,
    /// Its data cannot be unpacked.
    #[error("cannot be unpacked, because its bytes are damaged")]
    Damaged,
    /// Its unpacked size differs from the declared one.
    #[error("does not have its declared size")]
    Size,
    /// Its checksum differs from the declared one.
    #[error("does not have its declared checksum")]
    Checksum,
    /// Its compression ratio is suspiciously high.
    #[error("unpacks to more than {ratio} times its size")]
    Bomb {
        /// The maximum ratio.
        ratio: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_a_sentence() {
        let error = PackageError::Entry {
            entry: EntryName::new(b"a/../../b"),
            fault: PathError::Climbs.into(),
        };
        assert_eq!(error.to_string(), "The entry `a/../../b` is outside the package");
    }
}
