//! Long release notes outside the index's memory: in an unnamed file, read back through the page cache. Slots have
//! sizes of powers of two and are reused, so the file grows only with what is offered at one time.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The size of the smallest slot in bytes. The largest holds 4 KiB of notes even if JSON escapes every byte.
const SMALLEST: usize = 512;
const SIZES: usize = 7;

/// The file and its free slots.
#[derive(Debug)]
pub struct LongTexts {
    file: File,
    places: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    end: u64,
    free: [Vec<u64>; SIZES],
}

/// A text in the file. Dropping it frees its slot.
#[derive(Debug)]
pub struct LongText {
    texts: Arc<LongTexts>,
    offset: u64,
    length: usize,
    size: usize,
}

impl LongTexts {
    /// An empty, unnamed file in `dir`, which disappears with the process, however that ends.
    pub fn open(dir: &Path) -> io::Result<Arc<LongTexts>> {
        launchway_os::folders::make_private_dir(dir)?;
        let file = tempfile::tempfile_in(dir)?;
        Ok(Arc::new(LongTexts {
            file,
            places: Mutex::default(),
        }))
    }

    /// Stores a text. Fails if it is too long for any slot, or the disk is full.
    pub fn keep(self: &Arc<Self>, text: &[u8]) -> io::Result<LongText> {
        let size = (0..SIZES).find(|size| text.len() <= SMALLEST << size);
        let size = size.ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let kept = LongText {
            texts: self.clone(),
            offset: self.take(size),
            length: text.len(),
            size,
        };
        self.file.write_all_at(text, kept.offset)?;
        Ok(kept)
    }

    fn take(&self, size: usize) -> u64 {
        let mut places = self.places.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        places.free[size].pop().unwrap_or_else(|| {
            let offset = places.end;
            places.end += (SMALLEST << size) as u64;
            offset
        })
    }
}

impl LongText {
    /// Appends the text to `out`.
    pub fn read_into(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let start = out.len();
        out.resize(start + self.length, 0);
        self.texts.file.read_exact_at(&mut out[start..], self.offset)
    }
}

impl Drop for LongText {
    fn drop(&mut self) {
        let mut places = self
            .texts
            .places
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        places.free[self.size].push(self.offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &LongText) -> Vec<u8> {
        let mut out = b"before ".to_vec();
        text.read_into(&mut out).expect("reads");
        out
    }

    #[test]
    fn texts_come_back_and_their_places_are_used_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let texts = LongTexts::open(dir.path()).expect("a file");
        let one = texts.keep(&[b'a'; 513]).expect("kept");
        let other = texts.keep(&[b'b'; 24_576]).expect("kept");
        assert_eq!(read(&one), [b"before ".as_slice(), &[b'a'; 513]].concat());
        let place = one.offset;
        drop(one);
        let next = texts.keep(&[b'c'; 1024]).expect("kept");
        assert_eq!(next.offset, place);
        assert_eq!(read(&other), [b"before ".as_slice(), &[b'b'; 24_576]].concat());
        assert!(texts.keep(&[0; 32_769]).is_err());
        assert_eq!(dir.path().read_dir().expect("lists").count(), 0);
    }
}
