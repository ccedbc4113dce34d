//! Whole files and folders on top of the storage port: bounded reads, replacement that survives a power cut, removal.

use std::io::{self, Read, Write};

use launchway_delta::file_list::{self, ListedFile};

use crate::ports::{Kind, Storage};

/// Reads a file of at most `max` bytes. `None`: there is none.
pub(crate) fn read(storage: &dyn Storage, path: &str, max: usize) -> io::Result<Option<Vec<u8>>> {
    match storage.kind(path)? {
        None => return Ok(None),
        Some(Kind::File(size)) if size <= max as u64 => {}
        Some(_) => return Err(io::ErrorKind::InvalidData.into()),
    }
    let mut bytes = Vec::new();
    // The file may have grown since it was measured.
    storage.open(path)?.take(max as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > max {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(Some(bytes))
}

/// Replaces a file: whoever reads it, also after a power cut, finds the old bytes or the new ones.
pub(crate) fn replace(storage: &dyn Storage, path: &str, bytes: &[u8]) -> io::Result<()> {
    let temporary = format!("{path}.new");
    let mut target = storage.create(&temporary)?;
    target.write_all(bytes)?;
    target.sync()?;
    drop(target);
    storage.rename(&temporary, path)?;
    storage.sync_folder(parent(path))
}

/// The folder of a path; the client's own folder is the empty path.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// `name` in `folder`.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

/// Removes a file or a folder with everything in it. A missing one is fine.
pub(crate) fn remove_tree(storage: &dyn Storage, path: &str) -> io::Result<()> {
    if storage.kind(path)? != Some(Kind::Folder) {
        return storage.remove_file(path);
    }
    // Folders are listed again after their contents are deleted: no recursion, whatever the depth.
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.last().cloned() {
        let mut inner = None;
        for name in storage.list(&folder)? {
            let child = join(&folder, &name);
            if storage.kind(&child)? == Some(Kind::Folder) {
                inner = Some(child);
            } else {
                storage.remove_file(&child)?;
            }
        }
        match inner {
            Some(child) => folders.push(child),
            None => {
                storage.remove_folder(&folder)?;
                folders.pop();
            }
        }
    }
    Ok(())
}

/// The files below a folder with sizes and digests, at most `max` of them.
pub(crate) fn hash_files(storage: &dyn Storage, folder: &str, max: usize) -> io::Result<Vec<ListedFile>> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(below) = folders.pop() {
        for name in storage.list(join(folder, &below).trim_end_matches('/'))? {
            let path = join(&below, &name);
            let whole = join(folder, &path);
            match storage.kind(&whole)? {
                Some(Kind::Folder) => folders.push(path),
                Some(Kind::File(_)) if found.len() < max => {
                    found.push(file_list::hash_file(path, &mut storage.open(&whole)?)?);
                }
                _ => return Err(io::ErrorKind::InvalidData.into()),
            }
            if folders.len() > max {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }
    Ok(found)
}
