//! Files of packages that are compressed with Brotli, in memory (`docs/reference/expo.md#assets`): each is compressed once, as long as
//! there is room for it, and one at a time.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

/// The most bytes that are kept.
const MAX_KEPT: usize = 64 << 20;
/// The size below which Brotli saves nothing that matters.
const MIN_SIZE: u64 = 512;
/// The size above which files are not compressed: it takes memory and time.
const MAX_SIZE: u64 = 16 << 20;
/// The size up to which files are compressed as well as possible, which takes a third of a second; larger ones take a second at most
/// with the quality below.
const MAX_BEST: usize = 256 << 10;
const BEST: i32 = 11;
const GOOD: i32 = 9;
/// The base-2 logarithm of the window, which every client can hold.
const WINDOW: i32 = 22;
/// What a file counts beside its bytes, which bounds their number.
const FILE_BYTES: usize = 4096;

/// The compressed files of this process.
pub struct BrotliFiles {
    kept: Arc<Mutex<Kept>>,
    slot: Arc<Semaphore>,
}

/// What is kept, by the SHA-256 of the content.
#[derive(Default)]
struct Kept {
    files: HashMap<[u8; 32], File>,
    size: usize,
    uses: u64,
}

struct File {
    /// `None` if Brotli does not make it smaller than Deflate did.
    bytes: Option<Bytes>,
    last_use: u64,
}

/// A file that may be compressed.
#[derive(Clone, Copy, Debug)]
pub struct Original {
    /// The SHA-256 of its content.
    pub sha256: [u8; 32],
    /// The size of its content in bytes.
    pub size: u64,
    /// Its size in bytes after Deflate.
    pub deflated: u64,
}

impl Default for BrotliFiles {
    fn default() -> Self {
        Self {
            kept: Arc::default(),
            slot: Arc::new(Semaphore::new(1)),
        }
    }
}

impl BrotliFiles {
    /// The compressed file, whose `content` is read if it was not compressed before. `None` if there is none now: it is too small or
    /// too large, does not become smaller, is not what its hash says, or another one is being compressed.
    ///
    /// # Errors
    /// Those of `content`.
    pub async fn get<E>(
        &self,
        original: Original,
        content: impl Future<Output = Result<Vec<u8>, E>>,
    ) -> Result<Option<Bytes>, E> {
        if !(MIN_SIZE..=MAX_SIZE).contains(&original.size) {
            return Ok(None);
        }
        if let Some(kept) = lock(&self.kept).find(&original.sha256) {
            return Ok(kept);
        }
        let Ok(slot) = self.slot.clone().try_acquire_owned() else {
            return Ok(None);
        };
        let content = content.await?;
        let kept = self.kept.clone();
        let work = move || {
            // Held until the end, also if the request is over before.
            let _slot = slot;
            // What a damaged storage returned once would be sent until it is forgotten.
            if Sha256::digest(&content)[..] != original.sha256 {
                return None;
            }
            let bytes = compress(&content).ok().map(Bytes::from);
            let bytes = bytes.filter(|bytes| (bytes.len() as u64) < original.deflated);
            lock(&kept).keep(original.sha256, bytes.clone());
            bytes
        };
        Ok(tokio::task::spawn_blocking(work).await.ok().flatten())
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Kept {
    fn find(&mut self, sha256: &[u8; 32]) -> Option<Option<Bytes>> {
        self.uses += 1;
        let file = self.files.get_mut(sha256)?;
        file.last_use = self.uses;
        Some(file.bytes.clone())
    }

    /// Keeps a file. Those that were not used for the longest time make room for it.
    fn keep(&mut self, sha256: [u8; 32], bytes: Option<Bytes>) {
        self.uses += 1;
        let last_use = self.uses;
        let file = File { bytes, last_use };
        self.size += file.size();
        if let Some(before) = self.files.insert(sha256, file) {
            self.size -= before.size();
        }
        while self.size > MAX_KEPT {
            let oldest = self.files.iter().min_by_key(|(_, file)| file.last_use);
            let Some(oldest) = oldest.map(|(sha256, _)| *sha256) else {
                return;
            };
            self.size -= self.files.remove(&oldest).map_or(0, |file| file.size());
        }
    }
}

impl File {
    fn size(&self) -> usize {
        FILE_BYTES + self.bytes.as_ref().map_or(0, Bytes::len)
    }
}

fn compress(content: &[u8]) -> io::Result<Vec<u8>> {
    let params = brotli::enc::BrotliEncoderParams {
        quality: if content.len() <= MAX_BEST { BEST } else { GOOD },
        lgwin: WINDOW,
        size_hint: content.len(),
        ..Default::default()
    };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut &content[..], &mut compressed, &params)?;
    Ok(compressed)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn original(content: &[u8]) -> Original {
        Original {
            sha256: Sha256::digest(content).into(),
            size: content.len() as u64,
            deflated: content.len() as u64,
        }
    }

    async fn read(content: &[u8]) -> Result<Vec<u8>, Infallible> {
        Ok(content.to_vec())
    }

    async fn is_not_read() -> Result<Vec<u8>, Infallible> {
        panic!("the content is not read")
    }

    fn unpacked(mut bytes: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        brotli::BrotliDecompress(&mut bytes, &mut content).unwrap();
        content
    }

    #[tokio::test]
    async fn a_file_is_compressed_once() {
        let files = BrotliFiles::default();
        for content in [b"a script ".repeat(200), b"a large script ".repeat(40_000)] {
            let original = original(&content);
            let first = files.get(original, read(&content)).await.unwrap().unwrap();
            assert_eq!(unpacked(&first), content);
            assert!(first.len() < content.len() / 10);
            assert_eq!(files.get(original, is_not_read()).await.unwrap(), Some(first));
        }
    }

    #[tokio::test]
    async fn what_does_not_become_smaller_is_not_tried_again() {
        let files = BrotliFiles::default();
        let content = b"a script ".repeat(200);
        let original = Original {
            deflated: 10,
            ..original(&content)
        };
        assert_eq!(files.get(original, read(&content)).await.unwrap(), None);
        assert_eq!(files.get(original, is_not_read()).await.unwrap(), None);
    }

    #[tokio::test]
    async fn small_and_large_files_are_not_read() {
        let files = BrotliFiles::default();
        for size in [0, MIN_SIZE - 1, MAX_SIZE + 1] {
            let original = Original { size, ..original(b"") };
            assert_eq!(files.get(original, is_not_read()).await.unwrap(), None);
        }
    }

    #[tokio::test]
    async fn one_file_is_compressed_at_a_time() {
        let files = BrotliFiles::default();
        let [one, two, three] = ["one ", "two ", "three "].map(|word| word.repeat(400).into_bytes());
        let meanwhile = async {
            let other = files.get(original(&two), is_not_read()).await.unwrap();
            assert_eq!(other, None);
            read(&one).await
        };
        assert!(files.get(original(&one), meanwhile).await.unwrap().is_some());
        assert!(files.get(original(&two), read(&two)).await.unwrap().is_some());
        let failed: Result<_, &str> = files.get(original(&three), async { Err("gone") }).await;
        assert_eq!(failed, Err("gone"));
        assert!(files.get(original(&three), read(&three)).await.unwrap().is_some());
    }

    #[tokio::test]
    async fn what_is_not_as_its_hash_says_is_not_kept() {
        let files = BrotliFiles::default();
        let content = b"a script ".repeat(200);
        let damaged = b"another! ".repeat(200);
        assert_eq!(files.get(original(&content), read(&damaged)).await.unwrap(), None);
        let good = files.get(original(&content), read(&content)).await.unwrap();
        assert_eq!(unpacked(&good.unwrap()), content);
    }

    #[test]
    fn what_was_not_used_longest_makes_room() {
        let mut kept = Kept::default();
        let large = Bytes::from(vec![0; MAX_KEPT / 3]);
        for number in [1, 2] {
            kept.keep([number; 32], Some(large.clone()));
        }
        assert!(kept.find(&[1; 32]).is_some());
        kept.keep([3; 32], Some(large.clone()));
        assert!(kept.find(&[2; 32]).is_none());
        assert!(kept.find(&[1; 32]).is_some() && kept.find(&[3; 32]).is_some());
        kept.keep([3; 32], None);
        assert_eq!(kept.size, large.len() + 2 * FILE_BYTES);
        kept.keep([4; 32], Some(Bytes::from(vec![0; MAX_KEPT])));
        assert_eq!((kept.files.len(), kept.size), (0, 0));
    }
}
