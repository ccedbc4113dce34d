//! The package of an update as this machine reads it: nothing is signed that was not measured here.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use launchway_delta::{FileList, ListedFile};
use launchway_trust::Sha256;

use crate::failure::Failure;
use crate::sealing::{Sealed, seal};

/// What is signed of a package, and the files in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredPackage {
    /// The hash of its bytes.
    pub sha256: Sha256,
    /// Its length in bytes.
    pub length: u64,
    /// Its files.
    pub files: FileList,
}

impl MeasuredPackage {
    /// The hash of the list of files.
    pub fn manifest(&self) -> Sha256 {
        Sha256::from_bytes(self.files.manifest().0)
    }

    /// Reads a package of which size and hash are known. Fails if phones would not unpack it.
    pub fn of_sealed(path: &Path, sealed: &Sealed) -> Result<Self, Failure> {
        let unreadable = |problem: String| Failure::failed(format!("cannot read the package: {problem}"));
        let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
        let files = FileList::of_archive(BufReader::new(file)).map_err(|error| unreadable(error.to_string()))?;
        Ok(Self {
            sha256: sealed
                .sha256
                .parse()
                .map_err(|_| unreadable("it has no hash".to_owned()))?,
            length: sealed.size,
            files,
        })
    }

    /// Reads a package.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let sealed = seal(path, &|_| ());
        let sealed = sealed.map_err(|error| Failure::failed(format!("cannot read {}: {error}", path.display())))?;
        Self::of_sealed(path, &sealed)
    }
}

/// What changes from one package to another, a line for each file.
pub fn differences(before: &FileList, after: &FileList) -> Vec<String> {
    let mut lines = Vec::new();
    for file in after.files() {
        match before.find(&file.path) {
            None => lines.push(format!("+ {} ({} bytes)", file.path, file.size)),
            Some(old) if old.sha256 != file.sha256 => {
                lines.push(format!("~ {} ({} → {} bytes)", file.path, old.size, file.size));
            }
            Some(_) => {}
        }
    }
    let is_gone = |file: &&ListedFile| after.find(&file.path).is_none();
    lines.extend(
        before
            .files()
            .iter()
            .filter(is_gone)
            .map(|file| format!("- {}", file.path)),
    );
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(files: &[(&str, &[u8])]) -> FileList {
        let files = files.iter().map(|(path, bytes)| ListedFile {
            path: (*path).to_owned(),
            size: bytes.len() as u64,
            sha256: launchway_delta::Digest::of(bytes),
        });
        FileList::new(files.collect()).expect("a list")
    }

    #[test]
    fn files_that_differ_are_named_with_how() {
        let before = list(&[("index.html", b"old"), ("gone.js", b"x"), ("same.css", b"same")]);
        let after = list(&[("index.html", b"newer"), ("more.js", b"xy"), ("same.css", b"same")]);
        let expected = ["~ index.html (3 → 5 bytes)", "+ more.js (2 bytes)", "- gone.js"];
        assert_eq!(differences(&before, &after), expected);
        assert!(differences(&before, &before).is_empty());
        // A file of the same size counts by its content.
        let swapped = list(&[("index.html", b"dlo"), ("gone.js", b"x"), ("same.css", b"same")]);
        assert_eq!(differences(&before, &swapped), ["~ index.html (3 → 3 bytes)"]);
    }
}
