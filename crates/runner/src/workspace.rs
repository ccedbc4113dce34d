//! The directory of one attempt: created fresh, closed to other users, removed afterwards.

pub mod disk;
mod removal;

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use crate::effort::Effort;
use crate::inside::Inside;

pub use removal::remove;

/// The directory of one attempt of a build.
#[derive(Debug)]
pub struct Workspace {
    /// The whole directory, which the build may change.
    pub root: PathBuf,
    /// The user and group id of the build's steps; `None` is the runner's own.
    pub user: Option<(u32, u32)>,
}

impl Workspace {
    /// Creates the new directory `path` with the subdirectories that a build needs.
    ///
    /// # Errors
    /// An I/O error; `user` cannot reach the directory.
    pub fn make(path: PathBuf, user: Option<(u32, u32)>) -> io::Result<Workspace> {
        fs::create_dir(&path)?;
        let workspace = Workspace { root: path, user };
        for directory in [
            workspace.root.clone(),
            workspace.source(),
            workspace.home(),
            workspace.temporary(),
            workspace.files(),
            workspace.tools(),
        ] {
            if directory != workspace.root {
                fs::create_dir(&directory)?;
            }
            fs::set_permissions(&directory, fs::Permissions::from_mode(0o700))?;
            if let Some((uid, gid)) = user {
                chown(&directory, Some(uid), Some(gid))?;
            }
        }
        if let Some((uid, gid)) = user {
            check_way(&workspace.root, uid, gid)?;
        }
        Ok(workspace)
    }

    /// The source, which is also the working directory of steps.
    pub fn source(&self) -> PathBuf {
        self.root.join("source")
    }

    /// The build's `HOME`.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// The build's `TMPDIR`.
    pub fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// The directory of credentials.
    pub fn files(&self) -> PathBuf {
        self.root.join("files")
    }

    /// The directory of the programs that the runner provides to steps.
    pub fn tools(&self) -> PathBuf {
        self.root.join("tools")
    }

    /// Makes the user of the build the owner of everything in the workspace.
    ///
    /// # Errors
    /// An I/O error; the effort is used up.
    pub fn hand_over(&self, effort: &mut Effort<'_>) -> io::Result<()> {
        match self.user {
            Some((uid, gid)) => Inside::open(&self.root)?.give_to(uid, gid, effort),
            None => Ok(()),
        }
    }
}

/// Whether a user may run the program `path`, which has no links.
pub fn is_reachable(path: &Path, uid: u32, gid: u32) -> bool {
    let runs = fs::metadata(path).is_ok_and(|about| about.mode() & right(&about, uid, gid) != 0);
    runs && check_way(path, uid, gid).is_ok()
}

/// The permission bit that lets a user run a program or traverse a directory.
fn right(about: &fs::Metadata, uid: u32, gid: u32) -> u32 {
    if about.uid() == uid {
        0o100
    } else if about.gid() == gid {
        0o010
    } else {
        0o001
    }
}

/// Checks that a user can traverse every directory on the way to `path`.
fn check_way(path: &Path, uid: u32, gid: u32) -> io::Result<()> {
    for directory in path.ancestors().skip(1) {
        let about = fs::metadata(directory)?;
        if about.mode() & right(&about, uid, gid) == 0 {
            let problem = format!(
                "builds run as the user {uid}, which cannot access {}: run chmod o+x on it, or choose another work \
                 directory",
                directory.display()
            );
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn whatever_a_build_leaves_is_removed_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("other"), "other").unwrap();
        let workspace = Workspace::make(directory.path().join("build"), None).unwrap();
        assert_eq!(fs::metadata(&workspace.root).unwrap().mode() & 0o777, 0o700);
        assert!(
            Workspace::make(workspace.root.clone(), None).is_err(),
            "it is there already"
        );
        let source = workspace.source();
        symlink("../../other", source.join("link")).unwrap();
        symlink("../..", source.join("folder")).unwrap();
        fs::create_dir_all(source.join("closed/inner")).unwrap();
        fs::write(source.join("closed/inner/file"), "x").unwrap();
        // Deeper than a path may be long.
        let deep: PathBuf = (0..1500).map(|_| "deeper").collect();
        Inside::open(&source).unwrap().make_directories(&deep).unwrap();
        for closed in ["closed/inner", "closed"] {
            fs::set_permissions(source.join(closed), fs::Permissions::from_mode(0o0)).unwrap();
        }
        remove(&workspace.root).unwrap();
        assert!(!workspace.root.exists());
        remove(&workspace.root).unwrap();
        assert_eq!(fs::read(directory.path().join("other")).unwrap(), b"other");
    }

    #[test]
    fn a_way_that_is_closed_to_the_user_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("work/build");
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let stranger = fs::metadata(&path).unwrap().uid() + 1;
        let problem = check_way(&path, stranger, stranger).unwrap_err().to_string();
        assert!(
            problem.contains(&format!("cannot access {}", directory.path().display())),
            "{problem}"
        );
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o711)).unwrap();
        check_way(&path, stranger, stranger).unwrap();
    }
}
