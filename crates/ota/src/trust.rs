//! The signed metadata of an app as it is served from memory: every root, and the current and previous version of the
//! other roles (`docs/reference/trust.md#serving`).

mod answer;
mod load;

use std::collections::BTreeMap;

use bytes::Bytes;
use launchway_blob::Key;
use sha2::{Digest, Sha256};

pub use answer::TrustQuery;
pub use load::TrustLoad;

/// Everything that is served of one app's metadata. A change of the app replaces it as a whole, together with the
/// app's updates, so no reader sees parts of two versions.
#[derive(Debug)]
pub struct TrustSet {
    /// By name, such as `3.root.json`.
    files: BTreeMap<Box<str>, ServedFile>,
    announcement: Box<str>,
    etag: Box<str>,
    /// The version of the newest root.
    root: u64,
    current: Listing,
    previous: Option<Listing>,
    /// By the path of their target, with the hash before the name of the file.
    downloads: BTreeMap<Box<str>, Download>,
}

/// A file of metadata as it is served.
#[derive(Clone, Debug)]
pub struct ServedFile {
    /// The bytes that were signed.
    pub bytes: Bytes,
    /// A strong entity tag, in quotes.
    pub etag: Box<str>,
}

/// The package of a signed update that everybody may download.
#[derive(Clone, Debug)]
pub struct Download {
    /// Its key in object storage.
    pub blob_key: Key,
    /// The file name of the download.
    pub file_name: Box<str>,
}

/// What a snapshot lists.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Listing {
    snapshot: u64,
    /// The versions of `targets` and of the delegated roles.
    roles: BTreeMap<String, u64>,
}

impl TrustSet {
    /// The versions of root and snapshot that a check announces, as JSON: `{"root":3,"snapshot":1795168800}`.
    pub fn announcement(&self) -> &str {
        &self.announcement
    }

    /// The file of this name, such as `timestamp.json` or `2.c-production.json`.
    pub fn file(&self, name: &str) -> Option<&ServedFile> {
        self.files.get(name)
    }

    /// The package of a target that is published for everybody, by the path under which clients of consistent snapshots
    /// fetch it: `c-production/android/<sha256>.1.2.3_4.zip`.
    pub fn download(&self, path: &str) -> Option<&Download> {
        self.downloads.get(path)
    }

    /// The entity tag of [`TrustSet::answer`], in quotes. It differs whenever a file does.
    pub fn etag(&self) -> &str {
        &self.etag
    }
}

/// The name of a file in a repository with consistent snapshots.
fn file_name(role: &str, version: u64) -> String {
    if role == "timestamp" {
        "timestamp.json".to_owned()
    } else {
        format!("{version}.{role}.json")
    }
}

/// A strong entity tag for these bytes.
fn etag_of(bytes: &[u8]) -> Box<str> {
    let digest = Sha256::digest(bytes);
    let (first, _) = digest.split_at(16);
    format!("\"{}\"", hex::encode(first)).into()
}

#[cfg(test)]
mod tests;
