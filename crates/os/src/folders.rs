//! Durable folders: a new or renamed file survives a power cut only once its folder is on disk too. Also private files
//! and folders, whatever the umask.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

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

/// Creates a folder and its missing parents like [`make_private_dir`], and returns when all of them are on disk.
///
/// # Errors
/// The error of the operating system.
pub fn make_lasting_dir(folder: &Path) -> io::Result<()> {
    let above = folders_above_new(folder);
    make_private_dir(folder)?;
    above.iter().try_for_each(|folder| sync_folder(folder))
}

/// The folders whose entries change when a folder is created with its missing parents, innermost first.
fn folders_above_new(folder: &Path) -> Vec<PathBuf> {
    let mut above = vec![folder_of(folder).to_owned()];
    loop {
        let Some(last) = above.last().filter(|last| !last.exists()) else {
            return above;
        };
        let next = folder_of(last).to_owned();
        if above.contains(&next) {
            return above;
        }
        above.push(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_above_a_new_one_reach_the_first_that_exists() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path();
        let deep = root.join("a/b/c");
        let expected = [root.join("a/b"), root.join("a"), root.to_owned()];
        assert_eq!(folders_above_new(&deep), expected);
        make_private_dir(&deep).expect("created");
        assert_eq!(folders_above_new(&deep), [root.join("a/b")]);
        assert_eq!(folders_above_new(Path::new("new")), [Path::new(".")]);
        assert_eq!(folders_above_new(Path::new("/")), [Path::new(".")]);
    }
}
