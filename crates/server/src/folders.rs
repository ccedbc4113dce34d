//! Folders whose names last: a file that is made or renamed is safe from a power cut when its folder is on disk, too.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The folder that a file or folder lies in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Returns when the names in a folder are on disk.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        // Whoever removed what was in it was faster: there is nothing to keep.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        opened => opened?.sync_all(),
    }
}
