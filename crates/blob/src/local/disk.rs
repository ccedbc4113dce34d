//! Files that get their name once they are complete and on disk, and the folders above them.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use launchway_os::folders::{folder_of, sync_folder};
use tempfile::NamedTempFile;

/// Prefix of the names of unfinished files. No key contains this character, so they can be neither requested nor
/// listed.
const DRAFT: &str = "~";

/// How often a folder may vanish concurrently before the missing file must have another cause.
const MANY: u32 = 100;

/// An unfinished file beside its target. Dropping it removes it.
pub(super) struct Draft {
    temporary: NamedTempFile,
    target: PathBuf,
}

impl Draft {
    /// An empty draft for `target`. Creates missing folders.
    pub fn beside(target: PathBuf) -> io::Result<Draft> {
        let folder = folder_of(&target);
        let temporary = in_folder(folder, || tempfile::Builder::new().prefix(DRAFT).tempfile_in(folder))?;
        Ok(Draft { temporary, target })
    }

    /// The file to write to.
    pub fn file(&self) -> &File {
        self.temporary.as_file()
    }

    /// Renames the draft to its target, replacing an existing file, and returns when file and name are on disk.
    pub fn replace(self) -> io::Result<()> {
        self.file().sync_all()?;
        self.temporary.persist(&self.target)?;
        sync_folder(folder_of(&self.target))
    }

    /// Like [`Draft::replace`], but fails with [`ErrorKind::AlreadyExists`] if the target exists.
    fn appear(self) -> io::Result<()> {
        self.file().sync_all()?;
        self.temporary.persist_noclobber(&self.target)?;
        sync_folder(folder_of(&self.target))
    }
}

/// Whether this is the name of an unfinished file.
pub(super) fn is_draft(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(DRAFT.as_bytes()))
}

/// Makes `from` available as `to` too, which must not exist: as a hard link if the file system supports it, otherwise
/// as a copy.
pub(super) fn copy_once(from: &Path, to: PathBuf) -> io::Result<()> {
    let folder = folder_of(&to);
    if !fs::metadata(from)?.is_file() {
        return Err(ErrorKind::NotFound.into());
    }
    match in_folder(folder, || fs::hard_link(from, &to)) {
        Err(error) if !matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
            copy_into(&mut File::open(from)?, to).and_then(Draft::appear)
        }
        linked => linked.and_then(|()| sync_folder(folder)),
    }
}

/// A draft with the remaining bytes of `source`.
pub(super) fn copy_into(source: &mut File, target: PathBuf) -> io::Result<Draft> {
    let draft = Draft::beside(target)?;
    io::copy(source, &mut draft.file())?;
    Ok(draft)
}

/// Creates something in a folder. Creates the folder if it is missing, also when it vanishes concurrently with its last
/// file.
fn in_folder<T>(folder: &Path, work: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let attempt = || make_folders(folder).and_then(|()| work());
    for _ in 0..MANY {
        match attempt() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            done => return done,
        }
    }
    attempt()
}

/// Removes a file, and then the folders above it up to `root` that are empty.
pub(super) fn remove(root: &Path, file: &Path) -> io::Result<()> {
    fs::remove_file(file)?;
    for folder in file.ancestors().skip(1).take_while(|folder| *folder != root) {
        // A folder that is not empty stays; so does one that cannot be removed for any other reason.
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

/// Creates a folder and those above it, accessible only to their owner. Each new one is on disk when this returns.
pub(super) fn make_folders(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let above = folder_of(folder);
    if above != folder {
        make_folders(above)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => match fs::metadata(folder) {
            // A concurrent writer created it first.
            Ok(there) if there.is_dir() => {}
            // It has vanished again.
            Err(gone) if gone.kind() == ErrorKind::NotFound => return Err(gone),
            _ => return Err(error),
        },
        made => made?,
    }
    sync_folder(above)
}

/// Calls `visit` for every file under `folder`. Skips what vanishes concurrently; a missing folder counts as empty.
pub(super) fn walk(folder: &Path, visit: &mut impl FnMut(&Path, &Metadata) -> io::Result<()>) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let seen = entry.metadata().and_then(|metadata| {
                if metadata.is_dir() {
                    folders.push(entry.path());
                } else if metadata.is_file() {
                    visit(&entry.path(), &metadata)?;
                }
                Ok(())
            });
            match seen {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                seen => seen?,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_without_links_is_write_once_too() {
        let folder = tempfile::tempdir().unwrap();
        let (source, target) = (folder.path().join("source"), folder.path().join("a/b/target"));
        fs::write(&source, "one").unwrap();
        let copy = || copy_into(&mut File::open(&source).unwrap(), target.clone()).and_then(Draft::appear);
        copy().unwrap();
        fs::write(&source, "two").unwrap();
        assert_eq!(copy().unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&target).unwrap(), "one");
        assert_eq!(
            fs::read_dir(target.parent().unwrap()).unwrap().count(),
            1,
            "the refused copy left nothing"
        );
    }

    #[test]
    fn a_draft_that_is_dropped_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        drop(Draft::beside(folder.path().join("x")).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
