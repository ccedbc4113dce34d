//! Folders whose names last: a file that is made or renamed is safe from a power cut when its folder is on disk, too.
//! And files and folders that only their owner may read, whatever the umask allows.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// A new file that only its owner reads and writes.
///
/// # Errors
/// What the operating system says, also when there is something with this name.
pub fn new_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Makes a folder, and those above it that are missing, for its owner alone. One that is there is closed to others, too.
///
/// # Errors
/// What the operating system says.
pub fn close_to_others(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    std::fs::set_permissions(folder, Permissions::from_mode(0o700))
}

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
