//! The hash by which CodePush names the content of a package (`docs/reference/codepush.md#package-hash`).

use std::cmp::Ordering;

use sha2::{Digest, Sha256};

/// The file with the signature of a package, which is no part of its content.
pub const METADATA_FILE: &str = ".codepushrelease";
/// The file that macOS adds to folders.
const FOLDER_FILE: &str = ".DS_Store";
/// The folder that macOS adds to archives.
const ARCHIVE_FOLDER: &str = "__MACOSX/";

/// Collects the files of a package.
#[derive(Debug, Default)]
pub struct PackageHash {
    entries: Vec<String>,
}

impl PackageHash {
    /// Adds a file: its path in the archive, with slashes and without a leading one, and the SHA-256 of its content. Folders are no
    /// files. The order of calls makes no difference.
    pub fn add(&mut self, path: &str, sha256: [u8; 32]) {
        if !is_ignored(path) {
            self.entries.push(format!("{path}:{}", hex::encode(sha256)));
        }
    }

    /// The hash: 64 hexadecimal digits in lower case. It is the SHA-256 of the JSON array of all entries in the order of UTF-16, which
    /// is how the clients compute it on the device.
    pub fn finish(mut self) -> String {
        self.entries.sort_unstable_by(|this, that| utf16_order(this, that));
        let mut digest = Sha256::new();
        let mut separator = "[";
        for entry in &self.entries {
            digest.update(separator);
            digest.update(serde_json::Value::from(entry.as_str()).to_string());
            separator = ",";
        }
        digest.update(if self.entries.is_empty() { "[]" } else { "]" });
        hex::encode(digest.finalize())
    }
}

/// Whether the clients leave this file out of the hash.
fn is_ignored(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.starts_with(ARCHIVE_FOLDER) || name == FOLDER_FILE || name == METADATA_FILE
}

/// The order of texts in JavaScript and Java. It differs from that of UTF-8 above U+FFFF.
fn utf16_order(this: &str, that: &str) -> Ordering {
    this.encode_utf16().cmp(that.encode_utf16())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hash_of(paths: &[&str]) -> String {
        let mut hash = PackageHash::default();
        for path in paths {
            hash.add(path, Sha256::digest(format!("content of {path}")).into());
        }
        hash.finish()
    }

    /// Printed by the `PackageManifest` of code-push-server ff1d84c.
    #[test]
    fn hashes_are_those_of_the_original() {
        for (paths, expected) in [
            (
                &[][..],
                "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
            ),
            (
                &["CodePush/main.jsbundle"],
                "7cc57d4189fb4134a58601590c09247d0d03241a5811076260b21b0f3491cdc1",
            ),
            (
                &[
                    "main.jsbundle",
                    ".DS_Store",
                    "a/.DS_Store",
                    "__MACOSX/x",
                    ".codepushrelease",
                    "CodePush/.codepushrelease",
                    "CodePush/b",
                    "CodePush/B",
                    "CodePush/a b",
                ],
                "523f0777a62cc0c535e55fe5fff2f093a2d5ce5cbc7867aa06dd21480ccb299e",
            ),
            (
                &[
                    "é",
                    "\u{FF5E}",
                    "\u{1F600}",
                    "a\"b",
                    "a\\u",
                    "tab\tx",
                    " ",
                    "xDS_Store",
                    "a.DS_Store",
                    "x.codepushrelease",
                    "a/__MACOSX/b",
                ],
                "b13c18a07fd52f93ae2155f07cd9ed64f1d43df40608c14f8120d6aaef46d06f",
            ),
            (
                &["a", "a/b", "a-b", "a:b"],
                "830f848fa400cece8e4efd3f62fe06786b6c2f411fc10d25961a77d8b80abda1",
            ),
        ] {
            assert_eq!(hash_of(paths), expected, "{paths:?}");
        }
    }

    proptest! {
        #[test]
        fn the_order_of_files_makes_no_difference(paths in prop::collection::btree_set(".{1,8}|[a-b/]{1,4}", 0..6)) {
            let mut paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let hash = hash_of(&paths);
            paths.reverse();
            prop_assert_eq!(hash_of(&paths), hash);
        }
    }
}
