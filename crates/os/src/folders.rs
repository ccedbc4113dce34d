//! Durable folders: a new or renamed file survives a power cut only once its folder is on disk too. Also private files
//! and folders, whatever the umask.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Creates a file that only its owner can read and write.
///
/// # Errors
/// The error of the operating system, also if the name is taken.
pub fn new_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Creates a folder and its missing parents, accessible only to its owner. Leaves an existing folder as it is.
///
/// # Errors
/// The error of the operating system.
pub fn make_private_dir(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Creates a folder and its missing parents, accessible only to its owner. Restricts an existing folder too.
///
/// # Errors
/// The error of the operating system.
pub fn close_to_others(folder: &Path) -> io::Result<()> {
    make_private_dir(folder)?;
    std::fs::set_permissions(folder, Permissions::from_mode(0o700))
}

/// The parent folder of a path.
pub fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Returns when the entries of a folder are on disk.
///
/// # Errors
/// The error of the operating system.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        // The folder was removed concurrently with its contents: there is nothing to sync.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        opened => opened?.sync_all(),
    }
}
