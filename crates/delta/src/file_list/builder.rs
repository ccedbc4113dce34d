//! Makes a list while somebody else unpacks the package.

use std::io::{self, Write};

use super::{FileList, ListedFile};
use crate::digest::HashWriter;
use crate::limits::FileListError;

/// A list of the files whose content is written to it, one after the other. Memory is that of the list.
pub struct FileListBuilder {
    hash: HashWriter<io::Sink>,
    size: u64,
    files: Vec<ListedFile>,
}

impl Default for FileListBuilder {
    fn default() -> Self {
        Self {
            hash: HashWriter::new(io::sink()),
            size: 0,
            files: Vec::new(),
        }
    }
}

impl FileListBuilder {
    /// Lists what was written since the last call as the file at `path`.
    pub fn end_file(&mut self, path: &str) {
        let hash = std::mem::replace(&mut self.hash, HashWriter::new(io::sink()));
        self.files.push(ListedFile {
            path: path.to_owned(),
            size: std::mem::take(&mut self.size),
            sha256: hash.finish(),
        });
    }

    /// The list.
    ///
    /// # Errors
    /// The first rule of file lists that the files break.
    pub fn finish(self) -> Result<FileList, FileListError> {
        FileList::new(self.files)
    }
}

impl Write for FileListBuilder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.hash.write(bytes)?;
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_list::hash_file;

    #[test]
    fn the_list_is_that_of_files_hashed_one_by_one() {
        let files: [(&str, &[u8]); 3] = [("b.js", b"two"), ("a.html", b"one"), ("empty", b"")];
        let mut builder = FileListBuilder::default();
        for (path, content) in files {
            for byte in content {
                builder.write_all(&[*byte]).expect("memory");
            }
            builder.end_file(path);
        }
        let hashed = files.map(|(path, mut content)| hash_file(path.to_owned(), &mut content).expect("memory"));
        assert_eq!(builder.finish(), FileList::new(hashed.to_vec()));
    }

    #[test]
    fn the_rules_of_lists_hold() {
        let mut builder = FileListBuilder::default();
        builder.end_file("a");
        builder.end_file("A");
        assert!(matches!(builder.finish(), Err(FileListError::Path { .. })));
        assert_eq!(FileListBuilder::default().finish(), Err(FileListError::Empty));
    }
}
