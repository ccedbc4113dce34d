//! Files that are complete and on disk before they get their name, and the folders above them.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::folders::{folder_of, sync_folder};

/// Starts the names of files in the making. No key holds this character, so none of them can be asked for or listed.
const DRAFT: &str = "~";

/// How often a folder may vanish from under us before we believe that something else is missing.
const MANY: u32 = 100;

/// A file in the making, beside the place it will take. Dropped, it is gone.
pub(super) struct Draft {
    temporary: NamedTempFile,
    target: PathBuf,
}

impl Draft {
    /// An empty one that is to become `target`; missing folders are made.
    pub fn beside(target: PathBuf) -> io::Result<Draft> {
        let folder = folder_of(&target);
        let temporary = in_folder(folder, || tempfile::Builder::new().prefix(DRAFT).tempfile_in(folder))?;
        Ok(Draft { temporary, target })
    }

    /// The file to write to.
    pub fn file(&self) -> &File {
        self.temporary.as_file()
    }

    /// Gives the file its name in place of what had it, and returns when both are on disk.
    pub fn replace(self) -> io::Result<()> {
        self.file().sync_all()?;
        self.temporary.persist(&self.target)?;
        sync_folder(folder_of(&self.target))
    }

    /// The same, but fails with [`ErrorKind::AlreadyExists`] when the name is taken.
    fn appear(self) -> io::Result<()> {
        self.file().sync_all()?;
        self.temporary.persist_noclobber(&self.target)?;
        sync_folder(folder_of(&self.target))
    }
}

/// Whether this is the name of a file in the making.
pub(super) fn is_draft(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(DRAFT.as_bytes()))
}

/// The file `from` under the name `to` as well, which must not be taken: a hard link where the file system has them, else
/// a copy.
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

/// A file in the making with all that is left to read of `source`.
pub(super) fn copy_into(source: &mut File, target: PathBuf) -> io::Result<Draft> {
    let draft = Draft::beside(target)?;
    io::copy(source, &mut draft.file())?;
    Ok(draft)
}

/// Makes something in a folder, which is made if it is missing. One that goes meanwhile, with its last file, is made anew.
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

/// Removes a file, and the folders above it up to `root` that are empty then.
pub(super) fn remove(root: &Path, file: &Path) -> io::Result<()> {
    fs::remove_file(file)?;
    for folder in file.ancestors().skip(1).take_while(|folder| *folder != root) {
        // One that is not empty stays, whatever else may be the reason that it stays.
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

/// Makes a folder and those above it, for their owner alone; each new one is on disk when this returns.
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
            // Another writer was faster.
            Ok(there) if there.is_dir() => {}
            // And it is gone again.
            Err(gone) if gone.kind() == ErrorKind::NotFound => return Err(gone),
            _ => return Err(error),
        },
        made => made?,
    }
    sync_folder(above)
}

/// Shows every file under `folder` to `visit`. What vanishes meanwhile is passed over, a missing folder is empty.
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
