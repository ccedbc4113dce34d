//! Reads a file list from its canonical bytes, and from no others: whatever parses is written back identically.

use super::{ALGORITHM, FileList, FileListError, ListedFile, MAX_CANONICAL, MAX_FILES, MAX_PATH, check_path};

/// Reads the whole text.
pub(super) fn parse(bytes: &[u8]) -> Result<FileList, FileListError> {
    if bytes.len() > MAX_CANONICAL {
        return Err(FileListError::TooLarge);
    }
    let mut text = Text { bytes, at: 0 };
    text.expect("{\"alg\":\"")?;
    text.expect(ALGORITHM)?;
    text.expect("\",\"files\":[")?;
    let mut files: Vec<ListedFile> = Vec::new();
    while !text.skip("]}") {
        if !files.is_empty() {
            text.expect(",")?;
        }
        if files.len() == MAX_FILES {
            return Err(FileListError::TooManyFiles);
        }
        let start = text.at;
        let file = text.file()?;
        if files.last().is_some_and(|last| last.path >= file.path) {
            return Err(FileListError::NotCanonical { at: start });
        }
        files.push(file);
    }
    if text.at < bytes.len() {
        return Err(text.wrong());
    }
    FileList::new(files)
}

/// The bytes and how far they were read.
struct Text<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Text<'_> {
    fn wrong(&self) -> FileListError {
        FileListError::NotCanonical { at: self.at }
    }

    fn skip(&mut self, expected: &str) -> bool {
        let found = self.bytes[self.at..].starts_with(expected.as_bytes());
        if found {
            self.at += expected.len();
        }
        found
    }

    fn expect(&mut self, expected: &str) -> Result<(), FileListError> {
        if self.skip(expected) { Ok(()) } else { Err(self.wrong()) }
    }

    fn file(&mut self) -> Result<ListedFile, FileListError> {
        self.expect("{\"path\":\"")?;
        let path = self.path()?;
        self.expect(",\"sha256\":\"")?;
        let digest = self.bytes.get(self.at..self.at + 64).ok_or(self.wrong())?;
        let digest = std::str::from_utf8(digest).ok().and_then(|text| text.parse().ok());
        let sha256 = digest.ok_or(self.wrong())?;
        self.at += 64;
        self.expect("\",\"size\":")?;
        let size = self.size()?;
        self.expect("}")?;
        Ok(ListedFile { path, size, sha256 })
    }

    /// A path up to and including its closing quotation mark.
    fn path(&mut self) -> Result<String, FileListError> {
        let start = self.at;
        let mut path = Vec::new();
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') if self.bytes.get(self.at + 1) == Some(&b'"') => {
                    path.push(b'"');
                    self.at += 2;
                }
                Some(b'\\' | 0..=0x1f) | None => return Err(self.wrong()),
                Some(byte) => {
                    path.push(*byte);
                    self.at += 1;
                }
            }
            if path.len() > MAX_PATH {
                return Err(FileListError::NotCanonical { at: start });
            }
        }
        self.at += 1;
        check_path(&path).map(str::to_owned)
    }

    /// An integer without sign and leading zeros. Anything near the limits of a list fits in ten digits.
    fn size(&mut self) -> Result<u64, FileListError> {
        let digits = self.bytes[self.at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let text = &self.bytes[self.at..self.at + digits];
        if text.is_empty() || digits > 10 || (digits > 1 && text[0] == b'0') {
            return Err(self.wrong());
        }
        self.at += digits;
        Ok(text
            .iter()
            .fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
    }
}
