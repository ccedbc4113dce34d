//! The storage port on a folder of the file system.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::ports::{Kind, Lock, Source, Storage, Target};

/// A folder that belongs to the client alone.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

struct Written(File);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Target for Written {
    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_all()
    }
}

/// Unlocks when it is dropped, or when the process ends in any way.
struct Locked(#[expect(dead_code, reason = "holds the lock while it is open")] File);

impl Lock for Locked {}

impl Folder {
    /// Uses `root`, and creates it if it is missing.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn open(root: &Path) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        Ok(Self { root: root.to_owned() })
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}

/// Options that fail at a link instead of following it.
fn without_links() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has the flag"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    }
    options
}

/// Nothing was there, which is fine.
fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

impl Storage for Folder {
    fn kind(&self, path: &str) -> io::Result<Option<Kind>> {
        match fs::symlink_metadata(self.at(path)) {
            Ok(found) if found.is_file() => Ok(Some(Kind::File(found.len()))),
            Ok(found) if found.is_dir() => Ok(Some(Kind::Folder)),
            Ok(_) => Ok(Some(Kind::Other)),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn list(&self, path: &str) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(self.at(path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let name = |entry: io::Result<fs::DirEntry>| {
            let name = entry?.file_name();
            name.into_string()
                .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
        };
        entries.map(name).collect()
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn Source>> {
        Ok(Box::new(without_links().read(true).open(self.at(path))?))
    }

    fn create(&self, path: &str) -> io::Result<Box<dyn Target>> {
        let file = without_links()
            .write(true)
            .create(true)
            .truncate(true)
            .open(self.at(path))?;
        Ok(Box::new(Written(file)))
    }

    fn append(&self, path: &str) -> io::Result<Box<dyn Target>> {
        let file = without_links().append(true).create(true).open(self.at(path))?;
        Ok(Box::new(Written(file)))
    }

    fn make_folder(&self, path: &str) -> io::Result<()> {
        fs::create_dir_all(self.at(path))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.at(from), self.at(to))
    }

    fn remove_file(&self, path: &str) -> io::Result<()> {
        ignore_missing(fs::remove_file(self.at(path)))
    }

    fn remove_folder(&self, path: &str) -> io::Result<()> {
        ignore_missing(fs::remove_dir(self.at(path)))
    }

    fn sync_folder(&self, path: &str) -> io::Result<()> {
        // Only Unix opens folders as files; elsewhere the file system keeps its own journal of names.
        if cfg!(unix) {
            File::open(self.at(path))?.sync_all()
        } else {
            Ok(())
        }
    }

    fn free_space(&self) -> io::Result<u64> {
        #[cfg(unix)]
        {
            let found = rustix::fs::statvfs(&self.root)?;
            Ok(found.f_bavail.saturating_mul(found.f_frsize))
        }
        #[cfg(not(unix))]
        Ok(u64::MAX)
    }

    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
        let file = File::create(self.at("lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(Locked(file)))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
