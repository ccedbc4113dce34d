//! Why a package is refused.

use std::io;

use crate::file_list::{FileListError, MAX_FILES, MAX_TOTAL};
use crate::path::Collision;

/// Why a package cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The package cannot be read. This alone is not the package's fault.
    #[error("the package cannot be read: {0}")]
    Source(io::Error),
    /// The unpacked bytes cannot be written. This is not the package's fault.
    #[error("the unpacked files cannot be written: {0}")]
    Target(io::Error),
    /// It is not a ZIP, or its end is missing.
    #[error("the package is not a ZIP archive, or its end is missing")]
    NotZip,
    /// There are bytes that belong to no part of it.
    #[error("the package has bytes before its first entry")]
    LeadingBytes,
    /// There are bytes behind its end.
    #[error("the package has bytes behind its end")]
    TrailingBytes,
    /// The directory contradicts itself.
    #[error("the directory of the package is damaged: {0}")]
    Directory(&'static str),
    /// There is no file in it.
    #[error("the package holds no file")]
    Empty,
    /// There are more entries than allowed.
    #[error("the package has more than {MAX_FILES} entries")]
    TooManyEntries,
    /// The files are larger than allowed.
    #[error("the package unpacks to more than {MAX_TOTAL} bytes")]
    TooLarge,
    /// Two entries cannot both exist everywhere.
    #[error(transparent)]
    Collision(#[from] Collision),
    /// The files do not make a list.
    #[error(transparent)]
    FileList(#[from] FileListError),
    /// One entry is at fault.
    #[error("the entry `{path}` {fault}")]
    Entry {
        /// The entry's path, with what is not text replaced.
        path: String,
        /// What is wrong.
        fault: Fault,
    },
}

/// What is wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Its path is not allowed.
    #[error(transparent)]
    Path(#[from] crate::path::PathError),
    /// It is encrypted.
    #[error("is encrypted")]
    Encrypted,
    /// It is packed by a method that phones do not know.
    #[error("is packed by method {0}; only stored and deflated entries are read")]
    Method(u16),
    /// It is a patch of, or in, another file.
    #[error("is incomplete")]
    Incomplete,
    /// It is a link.
    #[error("is a link")]
    Link,
    /// It is neither file nor folder.
    #[error("is neither a file nor a folder")]
    Special,
    /// Its path and attributes disagree on whether it is a folder.
    #[error("is a folder by its path or its attributes, but not by both")]
    KindDisagrees,
    /// Its extra fields are damaged.
    #[error("has damaged extra fields")]
    Extra,
    /// Its own header is not where the directory says.
    #[error("is not where the directory says")]
    NotThere,
    /// Its own header and the directory disagree.
    #[error("has another {0} in its header than in the directory")]
    Disagrees(&'static str),
    /// It reaches into the next entry.
    #[error("overlaps another entry or the directory")]
    Overlaps,
    /// There are bytes behind it that belong to no entry.
    #[error("is followed by bytes that belong to no entry")]
    Stray,
    /// It has content although it is a folder.
    #[error("is a folder and has content")]
    FolderWithContent,
    /// Its packed bytes are damaged.
    #[error("cannot be unpacked, its bytes are damaged")]
    Damaged,
    /// It unpacks to another size than it says.
    #[error("does not have the size that it says")]
    Size,
    /// It unpacks to another content than it says.
    #[error("does not have the checksum that it says")]
    Checksum,
}
