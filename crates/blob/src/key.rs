//! Object keys, such as `packages/update_01k0/package.zip`. A key is safe in paths and URLs without escaping.

use std::fmt;
use std::str::FromStr;

use launchway_domain::id::{PackageId, UploadId};

/// The name of an object: segments of ASCII letters, digits, `.`, `_` and `-`, joined by `/`. No segment is `.` or
/// `..`. At most 512 characters in all and 255 in a segment.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Box<str>);

/// The text is not a valid key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an object key has segments of letters, digits, `.`, `_` and `-`, joined by `/`")]
pub struct BlobKeyError;

const MAX_LEN: usize = 512;

/// The length of the key of a package.
const PACKAGE_KEY: usize = "packages/upload_/package_".len() + 2 * 26;

/// The maximum length of a file name on common file systems.
const MAX_SEGMENT: usize = 255;

impl Key {
    /// Parses a key.
    ///
    /// # Errors
    /// [`BlobKeyError`] if the text breaks the rules of [`Key`].
    pub fn new(text: &str) -> Result<Key, BlobKeyError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        let is_segment = |segment: &str| {
            !matches!(segment, "" | "." | "..") && segment.len() <= MAX_SEGMENT && segment.bytes().all(plain)
        };
        if text.len() <= MAX_LEN && text.split('/').all(is_segment) {
            Ok(Key(text.into()))
        } else {
            Err(BlobKeyError)
        }
    }

    /// The write-once key of an upload's copy that is a package: `packages/<upload>/<package>`.
    pub fn of_package(upload: UploadId, package: PackageId) -> Key {
        let mut key = String::with_capacity(PACKAGE_KEY);
        key.push_str("packages/");
        upload.push_to(&mut key);
        key.push('/');
        package.push_to(&mut key);
        Key(key.into())
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Key {
    type Err = BlobKeyError;

    fn from_str(text: &str) -> Result<Key, BlobKeyError> {
        Key::new(text)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_package_is_a_key() {
        let key = Key::of_package(UploadId::new(1, [2; 10]), PackageId::new(3, [4; 10]));
        assert_eq!(Key::new(key.as_str()).as_ref(), Ok(&key));
        assert_eq!(key.as_str().len(), PACKAGE_KEY);
    }

    #[test]
    fn takes_only_plain_paths() {
        for good in ["a", "uploads/upload_01k0", "packages/x/My-App_1.2.zip", "...", "a/.b"] {
            assert_eq!(Key::new(good).map(|key| key.to_string()), Ok(good.to_owned()));
        }
        let long_segment = "a".repeat(256);
        let long = ["ab"; 171].join("/") + "c";
        assert_eq!(long.len(), 513);
        let bad = [
            "",
            "/",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "a/../b",
            "a/./b",
            "a b",
            "a\\b",
            "a%2fb",
            "é",
            "a\0",
            "a\n",
            "~x",
            &long_segment,
            &long,
        ];
        for bad in bad {
            assert_eq!(Key::new(bad), Err(BlobKeyError), "{bad:?}");
        }
        assert!(Key::new(&long[..512]).is_ok() && Key::new(&long_segment[..255]).is_ok());
    }
}
