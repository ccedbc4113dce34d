//! What a snapshot needs of its folder. Tests replace it.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use launchway_os::folders::{make_lasting_dir, new_private_file, sync_folder};

/// The folder of a snapshot.
pub trait Disk: Send + Sync {
    /// The names of the files.
    ///
    /// # Errors
    /// Those of the operating system, here and below.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Opens a file from its start.
    ///
    /// # Errors
    /// Also [`ErrorKind::NotFound`].
    fn open(&self, name: &str) -> io::Result<Box<dyn Read + Send>>;

    /// Creates a file in place of an earlier one.
    ///
    /// # Errors
    /// Those of the operating system.
    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;

    /// Renames a file, and replaces one of the new name.
    ///
    /// # Errors
    /// Those of the operating system.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file, unless it is missing.
    ///
    /// # Errors
    /// Those of the operating system.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Empties a file, unless it is missing; it is empty on disk when this returns.
    ///
    /// # Errors
    /// Those of the operating system.
    fn empty(&self, name: &str) -> io::Result<()>;

    /// Returns when the names of the files are on disk.
    ///
    /// # Errors
    /// Those of the operating system.
    fn sync(&self) -> io::Result<()>;
}

/// A file that is written from its start.
pub trait DiskFile: Write + Send {
    /// Returns when what was written is on disk.
    ///
    /// # Errors
    /// Those of the operating system.
    fn sync(&mut self) -> io::Result<()>;
}

/// A folder that one process uses.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Held while the process lives.
    _lock: File,
}

impl Folder {
    /// Opens the folder, which is created if it is missing; `None` if another process uses it.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn open(path: &Path) -> io::Result<Option<Folder>> {
        make_lasting_dir(path)?;
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path.join("lock"))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Folder {
                path: path.to_owned(),
                _lock: lock,
            })),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Disk for Folder {
    fn names(&self) -> io::Result<Vec<String>> {
        let entries = std::fs::read_dir(&self.path)?;
        // Our own files have names in ASCII.
        entries
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect()
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(File::open(self.path.join(name))?))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        self.remove(name)?;
        Ok(Box::new(new_private_file(&self.path.join(name))?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match std::fs::remove_file(self.path.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn empty(&self, name: &str) -> io::Result<()> {
        match OpenOptions::new().write(true).truncate(true).open(self.path.join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            file => file?.sync_all(),
        }
    }

    fn sync(&self) -> io::Result<()> {
        sync_folder(&self.path)
    }
}

impl DiskFile for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}
