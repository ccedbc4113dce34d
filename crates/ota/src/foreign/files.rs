//! Where the files of live updates are in their packages, by hash: clients of Expo and Capgo download them one by one.

use std::collections::HashMap;
use std::sync::Arc;

use launchway_blob::Key;
use launchway_foreign::Place;
use launchway_foreign::expo::content_type;

/// The number of live releases that are not offered, the newest ones, whose files are served all the same: devices may be
/// downloading them.
pub(super) const MAX_OTHERS: usize = 20;

/// The files of a bundle by the SHA-256 of their content.
#[derive(Debug, Default)]
pub struct StoredFiles(HashMap<[u8; 32], StoredFile>);

/// Where a file is.
#[derive(Clone, Debug)]
pub struct StoredFile {
    /// The key of its package.
    pub blob_key: Arc<Key>,
    /// Where it is in the package.
    pub place: Place,
    /// Its content type.
    pub content_type: &'static str,
}

impl StoredFiles {
    /// Adds files of a package: of each its hash, its place and its extension without a dot.
    pub(super) fn add<'f>(&mut self, blob_key: &str, files: impl Iterator<Item = ([u8; 32], Place, &'f str)>) {
        let Ok(key) = Key::new(blob_key) else { return };
        let key = Arc::new(key);
        for (sha256, place, extension) in files {
            self.0.entry(sha256).or_insert_with(|| StoredFile {
                blob_key: key.clone(),
                place,
                content_type: content_type(extension),
            });
        }
    }

    /// Where the file with this hash is, if a release that is published or paused has it.
    pub fn get(&self, sha256: &[u8; 32]) -> Option<&StoredFile> {
        self.0.get(sha256)
    }
}
