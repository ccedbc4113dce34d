//! The hash of a tree, computed from one line per file (`docs/reference/fingerprints.md#hash-of-a-tree`).

use sha2::{Digest, Sha256};

use super::content::Hash;

/// The files of a tree, in any order.
#[derive(Default)]
pub struct Tree<'p>(Vec<(Hash, &'p str)>);

impl<'p> Tree<'p> {
    /// Adds a file.
    pub fn add(&mut self, path: &'p str, hash: Hash) {
        self.0.push((hash, path));
    }

    /// The SHA-256 of the lines, sorted by bytes, in lower-case hex. The line of a file is its hash, two spaces, its path and a
    /// line feed. An empty tree has a hash too.
    pub fn hash(mut self) -> String {
        let end = |path: &'p str| path.bytes().chain([b'\n']);
        // The digits of hashes are in the order of their bytes.
        self.0.sort_unstable_by(|(hash, path), (other_hash, other_path)| {
            let paths = || end(path).cmp(end(other_path));
            hash.cmp(other_hash).then_with(paths)
        });
        let (mut sum, mut line) = (Sha256::new(), Vec::new());
        for (hash, path) in self.0 {
            line.resize(2 * hash.len(), 0);
            // The line is as long as the digits.
            let _ = hex::encode_to_slice(hash, &mut line);
            line.extend_from_slice(b"  ");
            line.extend_from_slice(path.as_bytes());
            line.push(b'\n');
            sum.update(&line);
        }
        hex::encode(sum.finalize())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(path: &str, hash: &Hash) -> String {
        format!("{}  {path}\n", hex::encode(hash))
    }

    proptest! {
        #[test]
        fn the_hash_is_that_of_the_sorted_lines(files in prop::collection::vec((0u8..3, "[a-c\t\n!]{0,4}"), 0..20)) {
            let files: Vec<(String, Hash)> = files.into_iter().map(|(byte, path)| (path, [byte * 100; 32])).collect();
            let mut tree = Tree::default();
            files.iter().for_each(|(path, hash)| tree.add(path, *hash));
            let mut lines: Vec<String> = files.iter().map(|(path, hash)| line(path, hash)).collect();
            lines.sort_unstable();
            prop_assert_eq!(tree.hash(), hex::encode(Sha256::digest(lines.concat())));
        }
    }
}
