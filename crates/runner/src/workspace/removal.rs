//! Removes whatever a build leaves: also folders that the build made unreadable, or nested deeper than the maximum
//! length of a path or the maximum number of open files allows. All processes of the build must have ended.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, chmodat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

/// The number of names read at a time.
const BATCH: usize = 1000;

/// Removes a directory or file.
///
/// # Errors
/// An I/O error; part of the tree is left then.
pub fn remove(path: &Path) -> io::Result<()> {
    let kind = match statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(()),
        stat => FileType::from_raw_mode(stat?.st_mode),
    };
    if kind != FileType::Directory {
        return Ok(unlinkat(CWD, path, AtFlags::empty())?);
    }
    let root = open(CWD, path.as_os_str())?;
    let mut moved = 0;
    loop {
        let batch = batch(&root)?;
        if batch.is_empty() {
            return Ok(unlinkat(CWD, path, AtFlags::REMOVEDIR)?);
        }
        for (name, is_directory) in batch {
            if is_directory {
                empty(&root, &name, &mut moved)?;
            }
            delete(&root, &name, is_directory)?;
        }
    }
}

/// Empties the folder `name` of `root`. Its folders are moved up into `root`, so no tree is too deep.
fn empty(root: &OwnedFd, name: &OsStr, moved: &mut u64) -> io::Result<()> {
    let folder = open(root, name)?;
    loop {
        let batch = batch(&folder)?;
        if batch.is_empty() {
            return Ok(());
        }
        for (name, is_directory) in batch {
            if !is_directory || unlinkat(&folder, &name, AtFlags::REMOVEDIR).is_err() {
                match is_directory {
                    true => lift(&folder, &name, root, moved)?,
                    false => delete(&folder, &name, false)?,
                }
            }
        }
    }
}

/// Moves a folder into `root`, under a free name.
fn lift(from: &OwnedFd, name: &OsStr, root: &OwnedFd, moved: &mut u64) -> io::Result<()> {
    // Moving a folder requires write permission for it, as its `..` changes.
    chmodat(from, name, Mode::RWXU, AtFlags::empty())?;
    loop {
        *moved += 1;
        match renameat(from, name, root, format!(".removed-{moved}")) {
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
            done => return Ok(done?),
        }
    }
}

fn delete(folder: &OwnedFd, name: &OsStr, is_directory: bool) -> io::Result<()> {
    let flags = match is_directory {
        true => AtFlags::REMOVEDIR,
        false => AtFlags::empty(),
    };
    match unlinkat(folder, name, flags) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Makes a folder accessible to its owner, then opens it.
fn open(above: impl AsFd, name: &OsStr) -> io::Result<OwnedFd> {
    chmodat(&above, name, Mode::RWXU, AtFlags::empty())?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(above, name, flags, Mode::empty())?)
}

/// Some entries of a folder, and whether each is a folder.
fn batch(folder: &OwnedFd) -> io::Result<Vec<(OsString, bool)>> {
    let mut batch = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            known => known,
        };
        batch.push((name.to_owned(), kind == FileType::Directory));
        if batch.len() == BATCH {
            break;
        }
    }
    Ok(batch)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    use super::*;
    use crate::inside::Inside;

    #[test]
    fn nothing_is_too_deep_too_many_or_closed() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("other"), "other").unwrap();
        let root = directory.path().join("build");
        fs::create_dir_all(root.join("closed/inner")).unwrap();
        fs::write(root.join("closed/inner/file"), "x").unwrap();
        // The names that lifted folders get may already be in use.
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        fs::create_dir_all(root.join("a/d/e")).unwrap();
        fs::create_dir_all(root.join(".removed-1/full")).unwrap();
        fs::write(root.join(".removed-2"), "").unwrap();
        fs::create_dir(root.join(".removed-3")).unwrap();
        symlink(directory.path(), root.join("a/b/link")).unwrap();
        for number in 0..BATCH + 10 {
            fs::write(root.join(format!("a/{number}")), "").unwrap();
        }
        for closed in ["closed/inner", "closed", "a/b", "a"] {
            fs::set_permissions(root.join(closed), fs::Permissions::from_mode(0o0)).unwrap();
        }
        remove(&root).unwrap();
        assert!(!root.exists());
        remove(&root).unwrap();
        symlink(directory.path().join("other"), &root).unwrap();
        remove(&root).unwrap();
        assert_eq!(fs::read(directory.path().join("other")).unwrap(), b"other");
    }

    #[test]
    fn a_tree_of_any_depth_is_removed_on_a_small_stack() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("build");
        fs::create_dir(&root).unwrap();
        let deep: PathBuf = (0..10_000).map(|_| "d").collect();
        Inside::open(&root).unwrap().make_directories(&deep).unwrap();
        let small = std::thread::Builder::new().stack_size(128 << 10);
        let removed = small.spawn({
            let root = root.clone();
            move || remove(&root)
        });
        removed.unwrap().join().unwrap().unwrap();
        assert!(!root.exists());
    }
}
