//! The hash of a tree, computed from one line per file (`docs/reference/fingerprints.md#hash-of-a-tree`).

use sha2::{Digest, Sha256};

use super::content::Hash;

/// The line of a file: its hash, two spaces, its path, a line feed.
pub fn line(path: &str, hash: &Hash) -> String {
    format!("{}  {path}\n", hex::encode(hash))
}

/// The SHA-256 of the lines, sorted by bytes, in lower-case hex. An empty tree has a hash too.
pub fn hash(mut lines: Vec<String>) -> String {
    lines.sort_unstable();
    let mut hash = Sha256::new();
    lines.iter().for_each(|line| hash.update(line));
    hex::encode(hash.finalize())
}
