//! Finds the files of a directory, in the byte order of their names, and rejects entries that a package cannot contain.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::pack::PackError;

/// A file to pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name in the package: relative, with forward slashes.
    pub name: String,
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
}

/// Finds every file below `root`.
pub fn walk(root: &Path) -> Result<Vec<Entry>, PackError> {
    if !fs::metadata(root).is_ok_and(|found| found.is_dir()) {
        return Err(PackError::NotADirectory(root.to_owned()));
    }
    let mut entries = Vec::new();
    let mut directories = vec![(root.to_owned(), String::new())];
    while let Some((directory, prefix)) = directories.pop() {
        let unreadable = |error| PackError::Read {
            path: directory.clone(),
            error,
        };
        for found in fs::read_dir(&directory).map_err(unreadable)? {
            let found = found.map_err(unreadable)?;
            let path = found.path();
            if is_junk(&found.file_name()) {
                continue;
            }
            let name = format!("{prefix}{}", checked(&found.file_name(), &path)?);
            // Does not follow links.
            let kind = fs::symlink_metadata(&path).map_err(|error| PackError::Read {
                path: path.clone(),
                error,
            })?;
            if kind.is_symlink() {
                return Err(PackError::Link(path));
            } else if kind.is_dir() {
                directories.push((path, format!("{name}/")));
            } else if kind.is_file() {
                entries.push(Entry {
                    name,
                    path,
                    size: kind.len(),
                });
            } else {
                return Err(PackError::Special(path));
            }
        }
    }
    if entries.is_empty() {
        return Err(PackError::Empty(root.to_owned()));
    }
    entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    refuse_same_but_case(&entries)?;
    Ok(entries)
}

/// Files that file managers create and no app needs.
fn is_junk(name: &OsStr) -> bool {
    [".DS_Store", "Thumbs.db", "desktop.ini"]
        .iter()
        .any(|junk| name == *junk)
}

fn checked<'n>(name: &'n OsStr, path: &Path) -> Result<&'n str, PackError> {
    if name == ".git" {
        return Err(PackError::Repository(path.to_owned()));
    }
    let refuse = |why| PackError::Name {
        path: path.to_owned(),
        why,
    };
    let text = name.to_str().ok_or_else(|| refuse("it is not UTF-8"))?;
    if text.contains('\\') {
        return Err(refuse("it contains a backslash"));
    }
    if text.chars().any(char::is_control) {
        return Err(refuse("it contains a control character"));
    }
    Ok(text)
}

fn refuse_same_but_case(entries: &[Entry]) -> Result<(), PackError> {
    let mut seen = HashMap::new();
    for entry in entries {
        if let Some(one) = seen.insert(entry.name.to_lowercase(), &entry.name) {
            return Err(PackError::SameButCase {
                one: one.clone(),
                other: entry.name.clone(),
            });
        }
    }
    Ok(())
}
