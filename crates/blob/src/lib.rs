//! Object storage: a local directory whose URLs the service signs and serves itself, or a bucket of an S3-compatible
//! store (`docs/reference/uploads.md#object-storage`). Bytes travel by pre-signed URL, never in the API's JSON.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

mod disposition;
mod error;
mod fetch;
mod key;
pub mod local;
pub mod range;
mod reader;
pub mod s3;
pub mod serve;
mod sigv4;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;
use launchway_domain::percent;
use launchway_os::clock::Clock;
use launchway_os::free_space::Floor;
use tokio::fs::File;

pub use error::BlobError;
pub use fetch::Fetched;
pub use key::{BlobKeyError, Key};
use local::Directory;
pub use reader::Reader;
use s3::{Bucket, Credentials, RoleSource};

/// A URL that needs no other proof until it expires. `Debug` hides it, because it is a secret until then.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedUrl {
    /// The whole URL.
    pub url: String,
    /// When it expires, in epoch milliseconds. Always a whole second.
    pub expires_at_ms: i64,
}

impl std::fmt::Debug for SignedUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignedUrl")
            .field("expires_at_ms", &self.expires_at_ms)
            .finish_non_exhaustive()
    }
}

/// Appends a percent-encoded text to a URL.
fn push_encoded(url: &mut Vec<u8>, text: &str) {
    percent::encode(text).for_each(|piece| url.extend_from_slice(piece.as_bytes()));
}

/// An object in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its key.
    pub key: Key,
    /// When it was last written, by the clock of the storage, in epoch milliseconds. In the local directory, a copy
    /// counts as written when it is made.
    pub written_ms: i64,
}

/// The object storage. A clone is another handle to the same storage.
#[derive(Clone, Debug)]
pub enum Blob {
    /// A directory of this machine.
    Local(Arc<Directory>),
    /// A bucket of an S3-compatible store.
    S3(Arc<Bucket>),
}

impl Blob {
    /// A local directory, created if it is missing. `base_url` is the external address of [`serve::router`], without a
    /// trailing slash; `signing_key` signs its URLs and must be the same in every process that shares the directory;
    /// `floor` is the disk space to leave free.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`] or [`BlobError::Full`] if the directory cannot be created.
    pub fn local(root: &Path, base_url: &str, signing_key: [u8; 32], floor: Floor) -> Result<Blob, BlobError> {
        let directory = Directory::open(root, base_url, signing_key)?;
        Ok(Blob::Local(Arc::new(directory.keep_free(floor))))
    }

    /// The bucket that `url` names: `s3://BUCKET[/PREFIX]?endpoint=…&region=…&path_style=true|false`. Does not call the
    /// store yet.
    ///
    /// # Errors
    /// [`BlobError::Settings`] with what is wrong in `url` or `credentials`.
    pub fn s3(url: &str, credentials: &Credentials) -> Result<Blob, BlobError> {
        Ok(Blob::S3(Arc::new(Bucket::open(url, credentials)?)))
    }

    /// Like [`Blob::s3`], with the temporary credentials of a role. They are asked for now, and renewed in the background
    /// before they expire. `region` applies if the URL names none.
    ///
    /// # Errors
    /// [`BlobError::Settings`] with what is wrong in `url`; [`BlobError::Unavailable`] if there are no credentials.
    pub async fn s3_with_role(
        url: &str,
        role: &RoleSource,
        region: Option<&str>,
        clock: Arc<dyn Clock>,
    ) -> Result<Blob, BlobError> {
        Ok(Blob::S3(Arc::new(
            Bucket::open_with_role(url, role, region, clock).await?,
        )))
    }

    /// A URL to download `key` for `seconds`, as an attachment named `file_name`. Does not check that the key exists.
    pub fn presign_get(&self, key: &Key, file_name: &str, now_ms: i64, seconds: u32) -> SignedUrl {
        signed(|out| self.presign_get_into(out, key, file_name, now_ms, seconds))
    }

    /// Appends the URL of [`Blob::presign_get`] to `out`, and returns its expiry in epoch milliseconds: the signing
    /// time floored to the second, plus `seconds`, but never past the end of temporary credentials. The URL is ASCII
    /// and contains nothing that JSON would escape. Allocates only to grow `out`, because the public check calls this.
    pub fn presign_get_into(&self, out: &mut Vec<u8>, key: &Key, file_name: &str, now_ms: i64, seconds: u32) -> i64 {
        match self {
            Blob::Local(directory) => directory.presign_get_into(out, key, file_name, now_ms, seconds),
            Blob::S3(bucket) => bucket.presign_get_into(out, key, file_name, now_ms, seconds),
        }
    }

    /// A URL to upload exactly `size` bytes to `key` with PUT for `seconds`. A second upload replaces the first.
    pub fn presign_put(&self, key: &Key, size: u64, now_ms: i64, seconds: u32) -> SignedUrl {
        signed(|out| match self {
            Blob::Local(directory) => directory.presign_put_into(out, key, size, now_ms, seconds),
            Blob::S3(bucket) => bucket.presign_put_into(out, key, size, now_ms, seconds),
        })
    }

    /// Copies `from` to `to` inside the storage. Later uploads to `from` do not change the copy
    /// (`docs/reference/uploads.md#using-an-upload`). The local directory enforces write-once itself; in a bucket a
    /// check precedes the copy, so two concurrent copies could both succeed.
    ///
    /// # Errors
    /// [`BlobError::NotFound`] if `from` is missing, [`BlobError::Exists`] if `to` exists.
    pub async fn copy(&self, from: &Key, to: &Key) -> Result<(), BlobError> {
        match self {
            Blob::Local(directory) => directory.copy(from, to).await,
            Blob::S3(bucket) => bucket.copy(from, to).await,
        }
    }

    /// Writes the bytes of `key` to `file` from its current position, in constant memory, and flushes it.
    ///
    /// # Errors
    /// [`BlobError::NotFound`], or [`BlobError::TooLarge`] if there are more than `limit` bytes; `file` may then hold a
    /// part of them.
    pub async fn fetch_to_file(&self, key: &Key, file: &mut File, limit: u64) -> Result<Fetched, BlobError> {
        match self {
            Blob::Local(directory) => directory.fetch_to_file(key, file, limit).await,
            Blob::S3(bucket) => bucket.fetch_to_file(key, file, limit).await,
        }
    }

    /// A file with the bytes of `key`, their number and their SHA-256. In the local directory it is the object itself, open for
    /// reading, which is never modified; otherwise it is the empty file that `scratch` creates. It may be at any position.
    ///
    /// # Errors
    /// As [`Blob::fetch_to_file`], and those of `scratch`.
    pub async fn open<E: From<BlobError>>(
        &self,
        key: &Key,
        limit: u64,
        scratch: impl FnOnce() -> Result<std::fs::File, E>,
    ) -> Result<(std::fs::File, Fetched), E> {
        match self {
            Blob::Local(directory) => Ok(directory.open_object(key, limit).await?),
            Blob::S3(bucket) => {
                let mut copy = File::from_std(scratch()?);
                let fetched = bucket.fetch_to_file(key, &mut copy, limit).await?;
                Ok((copy.into_std().await, fetched))
            }
        }
    }

    /// Streams `count` bytes of `key` from offset `first`, or as many as there are, in constant memory.
    ///
    /// # Errors
    /// [`BlobError::NotFound`], [`BlobError::Unavailable`]; the stream may also fail midway.
    pub async fn read(
        &self,
        key: &Key,
        first: u64,
        count: u64,
    ) -> Result<BoxStream<'static, Result<Bytes, BlobError>>, BlobError> {
        match self {
            Blob::Local(directory) => directory.read_part(key, first, count).await,
            Blob::S3(bucket) => bucket.read_part(key, first, count).await,
        }
    }

    /// Reads ranges of several objects into memory at once, in their order. A range ends with its object.
    ///
    /// # Errors
    /// [`BlobError::NotFound`] if one of them does not exist, [`BlobError::Unavailable`].
    pub async fn read_ranges(&self, ranges: Vec<(Key, Range<u64>)>) -> Result<Vec<Bytes>, BlobError> {
        match self {
            Blob::Local(directory) => directory.read_ranges(ranges).await,
            Blob::S3(bucket) => bucket.read_ranges(ranges).await,
        }
    }

    /// Stores the file at `source` under `key`, in constant memory, replacing an existing object.
    ///
    /// # Errors
    /// [`BlobError::Full`], or [`BlobError::Unavailable`], also if `source` cannot be read.
    pub async fn put_file(&self, key: &Key, source: &Path) -> Result<(), BlobError> {
        match self {
            Blob::Local(directory) => directory.put_file(key, source).await,
            Blob::S3(bucket) => bucket.put_file(key, source).await,
        }
    }

    /// Removes `key`. A missing key is not an error.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`].
    pub async fn delete(&self, key: &Key) -> Result<(), BlobError> {
        match self {
            Blob::Local(directory) => directory.delete(key).await,
            Blob::S3(bucket) => bucket.delete(key).await,
        }
    }

    /// All keys under `prefix` (`uploads` lists `uploads/…`), or all keys without one, in ascending order.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`].
    pub async fn list(&self, prefix: Option<&Key>) -> Result<Vec<Key>, BlobError> {
        match self {
            Blob::Local(directory) => directory.list(prefix).await,
            Blob::S3(bucket) => bucket.list(prefix).await,
        }
    }

    /// At most `limit` objects in `folder`, in ascending order of their keys, starting after `after` or, without it, at
    /// the first. Pages through any number of objects.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`].
    pub async fn list_page(&self, folder: &Key, after: Option<&Key>, limit: usize) -> Result<Vec<Listed>, BlobError> {
        match self {
            Blob::Local(directory) => directory.list_page(folder, after, limit).await,
            Blob::S3(bucket) => bucket.list_page(folder, after, limit).await,
        }
    }

    /// The size of `key` in bytes, or `None` if it is missing.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`].
    pub async fn head(&self, key: &Key) -> Result<Option<u64>, BlobError> {
        match self {
            Blob::Local(directory) => directory.head(key).await,
            Blob::S3(bucket) => bucket.head(key).await,
        }
    }

    /// Checks for `/readyz` that the storage is usable: the directory is writable, the bucket answers within five
    /// seconds.
    ///
    /// # Errors
    /// The reason why it is not.
    pub async fn check(&self) -> Result<(), BlobError> {
        match self {
            Blob::Local(directory) => directory.check().await,
            Blob::S3(bucket) => bucket.check().await,
        }
    }

    /// Removes the remains of uploads whose process died, if they were last written before `before_ms` (epoch
    /// milliseconds). Returns how many there were. A bucket has no visible remains, so the count is zero.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`].
    pub async fn remove_abandoned(&self, before_ms: i64) -> Result<u64, BlobError> {
        match self {
            Blob::Local(directory) => directory.remove_abandoned(before_ms).await,
            Blob::S3(_) => Ok(0),
        }
    }
}

fn signed(write: impl FnOnce(&mut Vec<u8>) -> i64) -> SignedUrl {
    let mut url = Vec::with_capacity(512);
    let expires_at_ms = write(&mut url);
    SignedUrl {
        url: String::from_utf8(url).expect("signers write ASCII only"),
        expires_at_ms,
    }
}
