//! Access to files below a directory with untrusted content: no path component is ever followed as a link, so nothing
//! outside is read or written.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::effort::Effort;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::fs::{fstat, mkdirat, openat, readlinkat, renameat, statat, symlinkat, unlinkat};

/// The maximum depth of a tree: each level keeps a directory open.
pub const MAX_DEPTH: usize = 200;

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A directory whose content is accessed without following links.
#[derive(Debug)]
pub struct Inside {
    root: OwnedFd,
}

/// The type of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, socket or pipe.
    Other,
}

/// A directory entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name of the entry, which need not be UTF-8.
    pub name: OsString,
    /// The type of the entry.
    pub kind: Kind,
}

impl Inside {
    /// Opens a directory. The path to its parent is trusted. The directory itself may have been replaced by a link, as
    /// the user of a build can do in its workspace.
    ///
    /// # Errors
    /// It is a link or not a directory, or cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            root: openat(CWD, path, DIRECTORY, Mode::empty())?,
        })
    }

    /// Opens the directory `path` below this one.
    ///
    /// # Errors
    /// A component of the path is missing, a link, or not a directory.
    pub fn enter(&self, path: &Path) -> io::Result<Inside> {
        let mut here = self.root.try_clone()?;
        for name in names(path)? {
            here = openat(&here, name, DIRECTORY, Mode::empty())?;
        }
        Ok(Inside { root: here })
    }

    /// Like [`Inside::enter`], but creates missing directories with mode 0700.
    ///
    /// # Errors
    /// A component of the path is a link or not a directory.
    pub fn make_directories(&self, path: &Path) -> io::Result<Inside> {
        let mut here = self.root.try_clone()?;
        for name in names(path)? {
            match mkdirat(&here, name, Mode::RWXU) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            here = openat(&here, name, DIRECTORY, Mode::empty())?;
        }
        Ok(Inside { root: here })
    }

    /// Creates a new file with this mode, and its missing parent directories.
    ///
    /// # Errors
    /// The file exists, or a component of the path is a link.
    pub fn create(&self, path: &Path, mode: u32) -> io::Result<File> {
        let (directory, name) = self.parent(path, true)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&directory.root, name, flags, Mode::RUSR | Mode::WUSR)?;
        // `openat` would apply the umask.
        rustix::fs::fchmod(&file, rights(mode))?;
        Ok(File::from(file))
    }

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// The file is missing or not a regular file, or a component of the path is a link.
    pub fn read(&self, path: &Path) -> io::Result<File> {
        let (directory, name) = self.parent(path, false)?;
        // Opening a pipe without a writer would block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&directory.root, name, flags, Mode::empty())?;
        if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(no_file());
        }
        Ok(File::from(file))
    }

    /// Removes a file or link, if it exists.
    ///
    /// # Errors
    /// It is a directory, or a component of the path is a link.
    pub fn remove_file(&self, path: &Path) -> io::Result<()> {
        let (directory, name) = match self.parent(path, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            parent => parent?,
        };
        match unlinkat(&directory.root, name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates a symbolic link with this target, without checking the target.
    ///
    /// # Errors
    /// The path exists, or a component of it is a link.
    pub fn link(&self, target: &OsStr, path: &Path) -> io::Result<()> {
        let (directory, name) = self.parent(path, true)?;
        Ok(symlinkat(target, &directory.root, name)?)
    }

    /// The target of a symbolic link.
    ///
    /// # Errors
    /// The path is not a symbolic link.
    pub fn target(&self, path: &Path) -> io::Result<OsString> {
        let (directory, name) = self.parent(path, false)?;
        let target = readlinkat(&directory.root, name, Vec::new())?;
        Ok(OsStr::from_bytes(target.as_bytes()).to_owned())
    }

    /// The type of the entry at a path, which may itself be a link; `None` if it is missing.
    ///
    /// # Errors
    /// A component of the path before the last is a link or not a directory.
    pub fn kind(&self, path: &Path) -> io::Result<Option<Kind>> {
        let (directory, name) = match self.parent(path, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            parent => parent?,
        };
        match statat(&directory.root, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(kind_of(FileType::from_raw_mode(stat.st_mode)))),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The permissions of an entry of this directory, such as 0o644.
    ///
    /// # Errors
    /// The entry is missing.
    pub fn mode(&self, name: &OsStr) -> io::Result<u32> {
        let stat = statat(&self.root, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Mode::from_raw_mode(stat.st_mode).bits() as u32 & 0o777)
    }

    /// Sets the permissions of this directory.
    ///
    /// # Errors
    /// An I/O error.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::fchmod(&self.root, rights(mode))?)
    }

    /// Moves an entry to a trusted path on the same file system.
    ///
    /// # Errors
    /// The entry is missing, or a component of the path is a link.
    pub fn move_out(&self, path: &Path, to: &Path) -> io::Result<()> {
        let (directory, name) = self.parent(path, false)?;
        Ok(renameat(&directory.root, name, CWD, to)?)
    }

    /// The length of a regular file in bytes; a sparse file occupies less space.
    ///
    /// # Errors
    /// The file is missing or not a regular file, or a component of the path is a link.
    pub fn file_size(&self, path: &Path) -> io::Result<u64> {
        let (directory, name) = self.parent(path, false)?;
        let stat = statat(&directory.root, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match kind_of(FileType::from_raw_mode(stat.st_mode)) {
            Kind::File => Ok(u64::try_from(stat.st_size).unwrap_or(u64::MAX)),
            _ => Err(no_file()),
        }
    }

    /// The entries of this directory, sorted by name.
    ///
    /// # Errors
    /// An I/O error; the effort is used up.
    pub fn entries(&self, effort: &mut Effort<'_>) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.root)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            effort.entry()?;
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let stat = statat(&self.root, name, AtFlags::SYMLINK_NOFOLLOW)?;
                    FileType::from_raw_mode(stat.st_mode)
                }
                known => known,
            };
            entries.push(Entry {
                name: name.to_owned(),
                kind: kind_of(kind),
            });
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    /// Changes the owner of this directory and everything below it.
    ///
    /// # Errors
    /// An I/O error; the tree is too deep; the effort is used up.
    pub fn give_to(&self, uid: u32, gid: u32, effort: &mut Effort<'_>) -> io::Result<()> {
        let (user, group) = (rustix::fs::Uid::from_raw(uid), rustix::fs::Gid::from_raw(gid));
        rustix::fs::fchown(&self.root, Some(user), Some(group))?;
        self.walk(effort, &mut |directory, _, entry| {
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            rustix::fs::chownat(&directory.root, &entry.name, Some(user), Some(group), flags)?;
            Ok(())
        })
    }

    /// Calls `visit` with each entry below, its directory and its relative path; a directory precedes its content.
    ///
    /// # Errors
    /// An error of `visit`; an I/O error; the tree is deeper than [`MAX_DEPTH`]; the effort is used up.
    pub fn walk(
        &self,
        effort: &mut Effort<'_>,
        visit: &mut dyn FnMut(&Inside, &Path, &Entry) -> io::Result<()>,
    ) -> io::Result<()> {
        self.walk_from(&mut PathBuf::new(), 0, effort, visit)
    }

    fn walk_from(
        &self,
        path: &mut PathBuf,
        depth: usize,
        effort: &mut Effort<'_>,
        visit: &mut dyn FnMut(&Inside, &Path, &Entry) -> io::Result<()>,
    ) -> io::Result<()> {
        if depth > MAX_DEPTH {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "folders are nested too deeply",
            ));
        }
        for entry in self.entries(effort)? {
            path.push(&entry.name);
            visit(self, path, &entry)?;
            if entry.kind == Kind::Directory {
                self.enter(Path::new(&entry.name))?
                    .walk_from(path, depth + 1, effort, visit)?;
            }
            path.pop();
        }
        Ok(())
    }

    /// Opens the parent directory of a path. Returns it with the last component.
    fn parent<'p>(&self, path: &'p Path, make: bool) -> io::Result<(Inside, &'p OsStr)> {
        let name = path.file_name().ok_or_else(unfit)?;
        let parent = path.parent().unwrap_or(Path::new(""));
        let directory = if make {
            self.make_directories(parent)
        } else {
            self.enter(parent)
        };
        Ok((directory?, name))
    }
}

impl AsFd for Inside {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.root.as_fd()
    }
}

fn kind_of(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

/// Keeps only read, write and execute, so no set-user-id or similar bits.
fn rights(mode: u32) -> Mode {
    Mode::from_bits_truncate((mode & 0o777) as rustix::fs::RawMode)
}

/// The components of a path, without `.`. Fails if the path leaves the directory.
fn names(path: &Path) -> io::Result<Vec<&OsStr>> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            _ => return Err(unfit()),
        }
    }
    Ok(names)
}

fn no_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

fn unfit() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the path is outside the directory")
}

#[cfg(test)]
mod tests;
