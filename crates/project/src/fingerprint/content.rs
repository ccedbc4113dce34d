//! The content hash of a file: line endings of text as LF, and the fields masked that change with every release.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use memchr::memchr;
use sha2::{Digest, Sha256};

use super::problem::CollectError;
use super::walk::TreeFile;
use super::{mask, signing};

/// As in git, a file is text when its first bytes contain no NUL.
const LOOKED_AT: usize = 8000;
/// Bytes of the largest file whose fields are masked.
const LARGEST_MASKED: u64 = 16 << 20;
const BUFFER: usize = 64 << 10;

/// The SHA-256 of a file.
pub type Hash = [u8; 32];

/// The hashes of a file, one for each algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// By `lwfp-1`.
    pub first: Hash,
    /// By `lwfp-2`; `None` when the file does not count in it.
    pub second: Option<Hash>,
}

/// The hashes of the files, in the same order, computed by one thread per processor.
///
/// # Errors
/// The first file that cannot be read.
pub fn hashes(files: &[TreeFile]) -> Result<Vec<Hashes>, CollectError> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(files.len()));
    let work = || {
        let mut own = Vec::new();
        let mut buffer = vec![0; BUFFER];
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(number) else { break };
            let hash =
                hash_file(file, &mut buffer).map_err(|error| CollectError::unreadable(file.path.as_str(), error));
            own.push((number, hash));
        }
        if let Ok(mut done) = done.lock() {
            done.append(&mut own);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(files.len());
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, hash)| hash).collect()
}

/// The hashes of bytes that come from no file.
pub fn hash_bytes(path: &str, bytes: &[u8]) -> Hashes {
    let text = fold_line_ends(bytes);
    let Some((mask, text)) = mask::for_path(path).zip(str::from_utf8(&text).ok()) else {
        return unmasked_hashes(path, Sha256::digest(&text).into());
    };
    let masked = mask.apply(text);
    let hashes = unmasked_hashes(path, Sha256::digest(&masked).into());
    match signing::strip(path, &masked) {
        Some(left) => Hashes {
            second: hashes.second.map(|_| Sha256::digest(left).into()),
            ..hashes
        },
        None => hashes,
    }
}

/// The hashes of a file without masked fields. A file that only signs has no `lwfp-2` hash.
fn unmasked_hashes(path: &str, hash: Hash) -> Hashes {
    Hashes {
        first: hash,
        second: (!signing::is_only_for_signing(path)).then_some(hash),
    }
}

fn hash_file(file: &TreeFile, buffer: &mut [u8]) -> io::Result<Hashes> {
    let mut content = open(&file.real)?;
    if mask::for_path(&file.path).is_some() && content.metadata()?.len() <= LARGEST_MASKED {
        let mut bytes = Vec::new();
        content.take(LARGEST_MASKED + 1).read_to_end(&mut bytes)?;
        return Ok(hash_bytes(&file.path, &bytes));
    }
    let mut hash = Sha256::new();
    let mut length = fill(&mut content, buffer)?;
    let is_text = is_text(&buffer[..length]);
    let mut held = false;
    loop {
        if is_text {
            held = fold(&buffer[..length], held, |part| hash.update(part));
        } else {
            hash.update(&buffer[..length]);
        }
        // It was filled to its end only if there may be more.
        if length < buffer.len() {
            break;
        }
        length = fill(&mut content, buffer)?;
    }
    if held {
        hash.update(b"\r");
    }
    Ok(unmasked_hashes(&file.path, hash.finalize().into()))
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // A file may have been replaced by a pipe since the walk; opening a pipe would block.
    const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    File::options().read(true).custom_flags(NONBLOCK).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Reads until the buffer is full or the file ends.
fn fill(content: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match content.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

fn is_text(start: &[u8]) -> bool {
    !start[..start.len().min(LOOKED_AT)].contains(&0)
}

/// Writes a piece of text with CRLF as LF. `held` is true when the previous piece ended with a CR that was not yet
/// written; the return value says the same about this piece.
fn fold(piece: &[u8], held: bool, mut out: impl FnMut(&[u8])) -> bool {
    if piece.is_empty() {
        return held;
    }
    if held && piece.first() != Some(&b'\n') {
        out(b"\r");
    }
    let mut rest = piece;
    while let Some(at) = memchr(b'\r', rest) {
        match rest.get(at + 1) {
            None => {
                out(&rest[..at]);
                return true;
            }
            Some(b'\n') => out(&rest[..at]),
            Some(_) => out(&rest[..=at]),
        }
        rest = &rest[at + 1..];
    }
    out(rest);
    false
}

/// The content with CRLF as LF if it is text.
pub fn fold_line_ends(bytes: &[u8]) -> Vec<u8> {
    if !is_text(bytes) {
        return bytes.to_vec();
    }
    let mut text = Vec::with_capacity(bytes.len());
    if fold(bytes, false, |part| text.extend_from_slice(part)) {
        text.push(b'\r');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn line_ends_of_text_are_folded_and_binaries_are_not() {
        let rows: [(&[u8], &[u8]); 6] = [
            (b"a\r\nb\r\n", b"a\nb\n"),
            (b"a\rb\r", b"a\rb\r"),
            (b"\r\r\n\n", b"\r\n\n"),
            (b"", b""),
            (b"\r", b"\r"),
            (b"\0a\r\n", b"\0a\r\n"),
        ];
        for (bytes, expected) in rows {
            assert_eq!(fold_line_ends(bytes), expected, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_fold_as_the_whole_does(pieces in prop::collection::vec("[\r\na]{0,4}", 0..6)) {
            let (mut text, mut held) = (Vec::new(), false);
            for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
                held = fold(piece.as_bytes(), held, |part| text.extend_from_slice(part));
            }
            if held {
                text.push(b'\r');
            }
            prop_assert_eq!(String::from_utf8(text).unwrap(), pieces.concat().replace("\r\n", "\n"));
        }
    }
}
