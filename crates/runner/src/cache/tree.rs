//! Copies a directory tree. Links are copied as links and never followed.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Timespec, Timestamps, UTIME_OMIT, futimens};

use crate::effort::Effort;
use crate::inside::{Inside, Kind, MAX_DEPTH};

/// A trusted directory and a path below it, no part of which may be a link.
pub(super) type Place<'p> = (&'p Path, &'p Path);

/// Copies a file or tree; existing files at the target are kept. Deducts the bytes from `left`. Returns whether
/// anything was copied: devices, pipes and missing files are not.
///
/// # Errors
/// An I/O error; `left` is too small; the effort is used up.
pub(super) fn copy(from: Place<'_>, to: Place<'_>, left: &mut u64, effort: &mut Effort<'_>) -> io::Result<bool> {
    let (source, target) = (Inside::open(from.0)?, Inside::open(to.0)?);
    let Some(kind) = source.kind(from.1)? else {
        return Ok(false);
    };
    if target.kind(to.1)?.is_some() {
        return Ok(false);
    }
    let (above, name) = divided(from.1);
    let (above_there, name_there) = divided(to.1);
    let (above, above_there) = (source.enter(above)?, target.make_directories(above_there)?);
    let mut copying = Copying { left, effort };
    copying.copy_entry(&above, name, kind, &above_there, name_there, 0)?;
    Ok(true)
}

fn divided(path: &Path) -> (&Path, &OsStr) {
    let above = path.parent().unwrap_or(Path::new(""));
    (above, path.file_name().unwrap_or_default())
}

/// Removes a file or tree below `base`.
///
/// # Errors
/// An I/O error.
pub(super) fn remove(base: &Path, path: &Path) -> io::Result<()> {
    match Inside::open(base)?.kind(path)? {
        Some(Kind::Directory) => crate::workspace::remove(&base.join(path)),
        Some(_) => Inside::open(base)?.remove_file(path),
        None => Ok(()),
    }
}

/// A copy in progress.
struct Copying<'c, 's> {
    left: &'c mut u64,
    effort: &'c mut Effort<'s>,
}

impl Copying<'_, '_> {
    fn copy_entry(
        &mut self,
        from: &Inside,
        name: &OsStr,
        kind: Kind,
        to: &Inside,
        name_there: &OsStr,
        depth: usize,
    ) -> io::Result<()> {
        let (path, path_there) = (Path::new(name), Path::new(name_there));
        match kind {
            Kind::Directory if depth > MAX_DEPTH => Err(io::Error::other("folders are nested too deeply")),
            Kind::Directory => {
                let (inner, inner_there) = (from.enter(path)?, to.make_directories(path_there)?);
                for entry in inner.entries(self.effort)? {
                    self.copy_entry(&inner, &entry.name, entry.kind, &inner_there, &entry.name, depth + 1)?;
                }
                // The mode is set last, as it may close the directory.
                inner_there.set_mode(from.mode(name)? | 0o700)
            }
            Kind::File => self.file(from, name, to, path_there),
            Kind::Link => to.link(&from.target(path)?, path_there),
            Kind::Other => Ok(()),
        }
    }

    fn file(&mut self, from: &Inside, name: &OsStr, to: &Inside, path_there: &Path) -> io::Result<()> {
        let source = from.read(Path::new(name))?;
        let about = source.metadata()?;
        // A sparse file is rejected by its length, before it is read.
        if about.len() > *self.left {
            return Err(too_large());
        }
        let target = to.create(path_there, from.mode(name)? | 0o600)?;
        self.bytes(source, &target)?;
        // Build tools compare modification times.
        let times = Timestamps {
            last_access: Timespec {
                tv_sec: 0,
                tv_nsec: UTIME_OMIT,
            },
            last_modification: Timespec {
                tv_sec: about.mtime(),
                tv_nsec: about.mtime_nsec(),
            },
        };
        Ok(futimens(&target, &times)?)
    }

    fn bytes(&mut self, mut from: File, mut to: &File) -> io::Result<()> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            self.effort.check_stopped()?;
            let count = from.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            *self.left = self.left.checked_sub(count as u64).ok_or_else(too_large)?;
            to.write_all(&buffer[..count])?;
        }
    }
}

fn too_large() -> io::Error {
    io::Error::other("it exceeds the size limit of caches")
}
