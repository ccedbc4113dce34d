//! Object storage in a bucket of an S3-compatible store.
//!
//! This crate signs URLs itself, because the public check cannot afford a library's signer. Everything else goes
//! through `object_store`.

mod active;
mod address;
mod credentials;
mod role;

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use launchway_os::clock::Clock;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::buffered::BufWriter;
use object_store::path::Path as ObjectPath;
use object_store::{ClientOptions, Error, GetOptions, ObjectStore, ObjectStoreExt, RetryConfig};
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

use super::sigv4::Permit;
use super::{BlobError, Fetched, Key, Listed, disposition, fetch, push_encoded};
use active::{Active, Present, keep_fresh};
use address::Address;

pub use credentials::Credentials;
pub use role::{Authorization, INSTANCE_METADATA, RoleError, RoleSource};

/// Size in bytes of one part of an upload. Two parts are sent at a time.
const PART: usize = 8 * 1024 * 1024;
/// Requests for short ranges that run at a time.
const AT_ONCE: usize = 8;

/// How long `/readyz` waits for the store.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// A bucket, or the part of it under a prefix. `Debug` shows no secret.
pub struct Bucket {
    address: Address,
    present: Arc<Present>,
    store: Arc<AmazonS3>,
}

impl Bucket {
    /// The bucket that `url` names: `s3://BUCKET[/PREFIX]?endpoint=…&region=…&path_style=true|false`. Path style is the
    /// default with an endpoint. A process-wide cryptography provider for rustls must be installed.
    ///
    /// # Errors
    /// [`BlobError::Settings`] with what is wrong in `url` or `credentials`.
    pub(crate) fn open(url: &str, credentials: &Credentials) -> Result<Bucket, BlobError> {
        let address = Address::parse(url, credentials.region.as_deref())?;
        let active = Active::of(credentials, &address.region)?;
        Bucket::with(address, active)
    }

    /// The bucket that `url` names, with the credentials of a role, which are asked for now and renewed in the background
    /// before they expire. `region` applies if the URL names none.
    ///
    /// # Errors
    /// [`BlobError::Settings`] with what is wrong in `url`; [`BlobError::Unavailable`] without credentials.
    pub(crate) async fn open_with_role(
        url: &str,
        role: &RoleSource,
        region: Option<&str>,
        clock: Arc<dyn Clock>,
    ) -> Result<Bucket, BlobError> {
        let address = Address::parse(url, region)?;
        let session = role.fetch().await;
        let session = session.map_err(|error| unavailable("getting credentials", &error.to_string()))?;
        let active = Active::of_session(&session, &address.region);
        let bucket = Bucket::with(address, active)?;
        let (present, region) = (Arc::downgrade(&bucket.present), bucket.address.region.clone());
        tokio::spawn(keep_fresh(present, role.clone(), region, clock, tokio::time::sleep));
        Ok(bucket)
    }

    fn with(address: Address, active: Active) -> Result<Bucket, BlobError> {
        let present = Present::new(active);
        let client = ClientOptions::new()
            // A timeout for the whole request would cut off large objects; the read timeout still ends requests to a
            // silent store.
            .with_timeout_disabled()
            .with_read_timeout(Duration::from_secs(120))
            .with_connect_timeout(Duration::from_secs(5))
            .with_allow_http(address.origin.starts_with("http://"));
        let retry = RetryConfig {
            max_retries: 3,
            retry_timeout: Duration::from_secs(60),
            ..RetryConfig::default()
        };
        let builder = AmazonS3Builder::new()
            .with_bucket_name(&address.bucket)
            .with_region(&address.region)
            .with_endpoint(address.library_endpoint())
            .with_virtual_hosted_style_request(!address.path_style)
            .with_credentials(present.clone())
            // One at a time: not every store supports bulk deletes.
            .with_disable_bulk_delete(true)
            .with_client_options(client)
            .with_retry(retry);
        let store = builder
            .build()
            .map_err(|error| BlobError::Settings(error.to_string()))?;
        Ok(Bucket {
            address,
            present,
            store: Arc::new(store),
        })
    }

    pub(super) fn presign_get_into(
        &self,
        out: &mut Vec<u8>,
        key: &Key,
        file_name: &str,
        now_ms: i64,
        seconds: u32,
    ) -> i64 {
        let more_query = |out: &mut Vec<u8>| {
            out.extend(b"&response-content-disposition=");
            disposition::attachment(file_name, |piece| push_encoded(out, piece));
            out.extend(b"&response-content-type=application%2Foctet-stream");
        };
        let path = [self.address.base_path.as_str(), key.as_str()];
        let active = self.present.load();
        active
            .signer
            .sign_into(out, &self.permit("GET", &path, None), more_query, now_ms, seconds)
    }

    pub(super) fn presign_put_into(&self, out: &mut Vec<u8>, key: &Key, size: u64, now_ms: i64, seconds: u32) -> i64 {
        let path = [self.address.base_path.as_str(), key.as_str()];
        let active = self.present.load();
        active
            .signer
            .sign_into(out, &self.permit("PUT", &path, Some(size)), |_| (), now_ms, seconds)
    }

    fn permit<'a>(&'a self, method: &'static str, path: &'a [&'a str], content_length: Option<u64>) -> Permit<'a> {
        Permit {
            method,
            origin: &self.address.origin,
            host: &self.address.host,
            path,
            content_length,
        }
    }

    pub(super) async fn copy(&self, from: &Key, to: &Key) -> Result<(), BlobError> {
        if self.head(to).await?.is_some() {
            return Err(BlobError::Exists);
        }
        let copied = self.store.copy(&self.path(from), &self.path(to)).await;
        copied.map_err(|error| self.failure("copying an object", &error))
    }

    pub(super) async fn fetch_to_file(&self, key: &Key, file: &mut File, limit: u64) -> Result<Fetched, BlobError> {
        let doing = "reading an object";
        let found = self
            .store
            .get(&self.path(key))
            .await
            .map_err(|error| self.failure(doing, &error))?;
        let size = found.meta.size;
        if size > limit {
            return Err(BlobError::TooLarge { limit });
        }
        let body = found.into_stream().map_err(|error| self.failure(doing, &error));
        let fetched = fetch::to_file(body, file, limit).await?;
        if fetched.size == size {
            Ok(fetched)
        } else {
            Err(unavailable(
                doing,
                "the object storage sent a different size than announced",
            ))
        }
    }

    pub(super) async fn read_part(
        &self,
        key: &Key,
        first: u64,
        count: u64,
    ) -> Result<BoxStream<'static, Result<Bytes, BlobError>>, BlobError> {
        let doing = "reading an object";
        // A store answers an empty range with an error.
        if count == 0 {
            return Ok(futures::stream::empty().boxed());
        }
        let options = GetOptions {
            range: Some((first..first.saturating_add(count)).into()),
            ..GetOptions::default()
        };
        let found = self.store.get_opts(&self.path(key), options).await;
        let body = found.map_err(|error| self.failure(doing, &error))?.into_stream();
        let present = self.present.clone();
        Ok(body
            .map_err(move |error| unavailable(doing, &redact(present.load().token(), &error)))
            .boxed())
    }

    pub(super) async fn read_ranges(&self, ranges: Vec<(Key, Range<u64>)>) -> Result<Vec<Bytes>, BlobError> {
        let reads = ranges.into_iter().map(|(key, range)| async move {
            let count = range.end - range.start;
            let mut stream = self.read_part(&key, range.start, count).await?;
            let mut bytes = BytesMut::with_capacity(count as usize);
            while let Some(piece) = stream.try_next().await? {
                bytes.extend_from_slice(&piece);
            }
            Ok(bytes.freeze())
        });
        futures::stream::iter(reads).buffered(AT_ONCE).try_collect().await
    }

    pub(super) async fn put_file(&self, key: &Key, source: &Path) -> Result<(), BlobError> {
        let doing = "storing a file";
        let mut source = File::open(source)
            .await
            .map_err(BlobError::io("reading a file to store"))?;
        let store: Arc<dyn ObjectStore> = self.store.clone();
        let mut writer = BufWriter::with_capacity(store, self.path(key), PART).with_max_concurrency(2);
        let sent = match tokio::io::copy(&mut source, &mut writer).await {
            Ok(_) => writer.shutdown().await,
            Err(error) => Err(error),
        };
        if let Err(error) = sent {
            // The first error is more informative than a failed clean-up.
            let _ = writer.abort().await;
            return Err(unavailable(doing, &self.without_secrets(&error)));
        }
        Ok(())
    }

    pub(super) async fn delete(&self, key: &Key) -> Result<(), BlobError> {
        match self.store.delete(&self.path(key)).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failure("removing an object", &error)),
        }
    }

    pub(super) async fn list(&self, prefix: Option<&Key>) -> Result<Vec<Key>, BlobError> {
        let doing = "listing objects";
        let under = match (prefix, &self.address.prefix) {
            (Some(prefix), _) => Some(self.path(prefix)),
            (None, Some(prefix)) => Some(ObjectPath::from(prefix.as_str())),
            (None, None) => None,
        };
        let found: Vec<_> = self
            .store
            .list(under.as_ref())
            .try_collect()
            .await
            .map_err(|error| self.failure(doing, &error))?;
        let mut keys: Vec<_> = found.iter().filter_map(|object| self.key(&object.location)).collect();
        keys.sort_unstable();
        Ok(keys)
    }

    pub(super) async fn list_page(
        &self,
        folder: &Key,
        after: Option<&Key>,
        limit: usize,
    ) -> Result<Vec<Listed>, BlobError> {
        let folder = self.path(folder);
        let found = match after {
            Some(after) => self.store.list_with_offset(Some(&folder), &self.path(after)),
            None => self.store.list(Some(&folder)),
        };
        let listed = found.try_filter_map(async |object| {
            Ok(self.key(&object.location).map(|key| Listed {
                key,
                written_ms: object.last_modified.timestamp_millis(),
            }))
        });
        let listed = listed.take(limit).try_collect().await;
        listed.map_err(|error| self.failure("listing objects", &error))
    }

    pub(super) async fn head(&self, key: &Key) -> Result<Option<u64>, BlobError> {
        match self.store.head(&self.path(key)).await {
            Ok(found) => Ok(Some(found.size)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failure("looking for an object", &error)),
        }
    }

    pub(super) async fn check(&self) -> Result<(), BlobError> {
        let doing = "asking the bucket";
        // Lists an empty prefix: the answer is short and, unlike a HEAD of one object, distinguishes a missing bucket
        // from a missing object.
        let empty = ObjectPath::from(format!("{}readiness", self.address.key_prefix()));
        let mut listing = self.store.list(Some(&empty));
        match tokio::time::timeout(CHECK_TIMEOUT, listing.try_next()).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(unavailable(doing, &self.without_secrets(&error))),
            Err(_) => Err(unavailable(doing, "no response within five seconds")),
        }
    }

    fn path(&self, key: &Key) -> ObjectPath {
        ObjectPath::from(format!("{}{key}", self.address.key_prefix()))
    }

    fn key(&self, path: &ObjectPath) -> Option<Key> {
        Key::new(path.as_ref().strip_prefix(self.address.key_prefix())?).ok()
    }

    fn failure(&self, doing: &'static str, error: &Error) -> BlobError {
        match error {
            Error::NotFound { .. } => BlobError::NotFound,
            Error::AlreadyExists { .. } => BlobError::Exists,
            error => unavailable(doing, &self.without_secrets(error)),
        }
    }

    fn without_secrets(&self, error: &dyn fmt::Display) -> String {
        redact(self.present.load().token(), error)
    }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// The error's text for the log, with the session token removed, which stores repeat when they reject it.
fn redact(session_token: Option<&str>, error: &dyn fmt::Display) -> String {
    const ENOUGH: usize = 600;
    let text = session_token
        .iter()
        .fold(error.to_string(), |text, token| text.replace(token, "…"));
    text.chars().take(ENOUGH).collect()
}

fn unavailable(doing: &'static str, cause: &str) -> BlobError {
    BlobError::Unavailable {
        doing,
        cause: cause.to_owned(),
    }
}

#[cfg(test)]
mod role_tests;
#[cfg(test)]
mod tests;
