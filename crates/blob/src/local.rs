//! Object storage in a local directory: each object is a file whose path is its key.
//!
//! Files appear by rename or link once they are complete and on disk, and are never modified in place. So a reader sees
//! either the old or the new object, a hard link is a safe copy, and acknowledged writes survive a power cut. A folder
//! is removed with its last object; a writer that loses its folder to this re-creates it.

mod disk;
mod grant;
mod listing;
mod opened;
mod pieces;

use std::fmt;
use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, TryStreamExt};
use launchway_domain::mac::MacKey;
use launchway_os::free_space::Floor;
use tokio::fs::File;

use super::{BlobError, Fetched, Key, Listed, fetch};
use disk::Draft;
pub(crate) use grant::{Access, Grant, GrantError, Method};
pub(crate) use opened::Opened;
use pieces::write_exactly;

/// Read size in bytes for downloads.
pub(super) const CHUNK: usize = 64 * 1024;
/// Read size in bytes for the service itself. It is larger because each read costs a thread, and few run at once.
const LARGE_CHUNK: usize = 256 * 1024;

/// A directory of objects and the key that signs their URLs. `Debug` shows no secret.
pub struct Directory {
    root: PathBuf,
    base_url: String,
    signing_key: MacKey,
    floor: Floor,
}

impl Directory {
    /// Opens the directory at `root`, and creates it if it is missing. `base_url` is the external address of
    /// [`super::serve::router`], without a trailing slash.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`] or [`BlobError::Full`] if it cannot be created.
    pub(crate) fn open(root: &Path, base_url: &str, signing_key: [u8; 32]) -> Result<Directory, BlobError> {
        disk::make_folders(root).map_err(BlobError::io("making the object directory"))?;
        Ok(Directory {
            root: root.to_owned(),
            base_url: base_url.to_owned(),
            signing_key: MacKey::new(&signing_key),
            floor: Floor::NONE,
        })
    }

    /// The same directory, refusing writes that would leave less than the floor free.
    #[must_use]
    pub(crate) fn keep_free(self, floor: Floor) -> Directory {
        Directory { floor, ..self }
    }

    /// Stores an upload of exactly `size` bytes under `key`. The object is on disk when this returns. After an error,
    /// nothing of the upload remains and an existing object is unchanged.
    ///
    /// # Errors
    /// [`BlobError::TooLarge`] or [`BlobError::TooShort`] if the size differs, [`BlobError::Interrupted`] if `body`
    /// fails, [`BlobError::Full`].
    pub(crate) async fn put_stream<S, E>(&self, key: &Key, size: u64, body: S) -> Result<(), BlobError>
    where
        S: Stream<Item = Result<Bytes, E>>,
        E: fmt::Display,
    {
        let (path, root, floor) = (self.path(key), self.root.clone(), self.floor);
        let doing = "storing an upload";
        let begin = move || {
            if !floor.leaves_room(&root, size) {
                return Err(BlobError::Full);
            }
            Draft::beside(path).map_err(BlobError::io(doing))
        };
        let draft = blocking(doing, begin).await?;
        let handle = draft.file().try_clone().map_err(BlobError::io(doing))?;
        write_exactly(handle, size, body).await?;
        blocking(doing, move || draft.replace().map_err(BlobError::io(doing))).await
    }

    /// Opens an object for reading.
    ///
    /// # Errors
    /// [`BlobError::NotFound`], [`BlobError::Unavailable`].
    pub(crate) async fn read(&self, key: &Key) -> Result<Opened, BlobError> {
        Opened::open(self.path(key)).await
    }

    pub(super) async fn read_part(
        &self,
        key: &Key,
        first: u64,
        count: u64,
    ) -> Result<BoxStream<'static, Result<Bytes, BlobError>>, BlobError> {
        let (path, doing) = (self.path(key), "reading an object");
        let file = blocking(doing, move || opened::open_at(&path, first)).await?;
        let body = opened::chunks(file, count, LARGE_CHUNK);
        Ok(body.map_err(BlobError::io(doing)).boxed())
    }

    pub(super) async fn read_ranges(&self, ranges: Vec<(Key, Range<u64>)>) -> Result<Vec<Bytes>, BlobError> {
        let paths: Vec<_> = ranges
            .into_iter()
            .map(|(key, range)| (self.path(&key), range))
            .collect();
        let read = move || {
            let pieces = paths.iter();
            pieces
                .map(|(path, range)| opened::read_range(path, range.start, range.end - range.start))
                .collect()
        };
        blocking("reading objects", read).await
    }

    pub(super) async fn copy(&self, from: &Key, to: &Key) -> Result<(), BlobError> {
        let (from, to) = (self.path(from), self.path(to));
        let doing = "copying an object";
        blocking(doing, move || {
            disk::copy_once(&from, to).map_err(BlobError::of_key(doing))
        })
        .await
    }

    pub(super) async fn fetch_to_file(&self, key: &Key, file: &mut File, limit: u64) -> Result<Fetched, BlobError> {
        let opened = self.read(key).await?;
        let body = opened::chunks(opened.file, opened.size, LARGE_CHUNK).map_err(BlobError::io("reading an object"));
        fetch::to_file(Box::pin(body), file, limit).await
    }

    pub(super) async fn open_object(&self, key: &Key, limit: u64) -> Result<(fs::File, Fetched), BlobError> {
        let opened = self.read(key).await?;
        if opened.size > limit {
            return Err(BlobError::TooLarge { limit });
        }
        let measured = fetch::measure(opened.file).await;
        measured.map_err(BlobError::io("reading an object"))
    }

    pub(super) async fn put_file(&self, key: &Key, source: &Path) -> Result<(), BlobError> {
        let (source, path) = (source.to_owned(), self.path(key));
        let (root, floor) = (self.root.clone(), self.floor);
        let doing = "storing a file";
        let store = move || {
            let mut source = fs::File::open(source)?;
            if !floor.leaves_room(&root, source.metadata()?.len()) {
                return Err(std::io::ErrorKind::StorageFull.into());
            }
            disk::copy_into(&mut source, path)?.replace()
        };
        blocking(doing, move || store().map_err(BlobError::io(doing))).await
    }

    pub(super) async fn delete(&self, key: &Key) -> Result<(), BlobError> {
        let (root, path) = (self.root.clone(), self.path(key));
        let doing = "removing an object";
        blocking(doing, move || {
            match disk::remove(&root, &path).map_err(BlobError::of_key(doing)) {
                Err(BlobError::NotFound) => Ok(()),
                other => other,
            }
        })
        .await
    }

    pub(super) async fn list(&self, prefix: Option<&Key>) -> Result<Vec<Key>, BlobError> {
        let root = self.root.clone();
        let start = prefix.map_or_else(|| root.clone(), |prefix| self.path(prefix));
        let doing = "listing objects";
        let list = move || {
            let mut keys = Vec::new();
            disk::walk(&start, &mut |path, _| {
                let name = path.strip_prefix(&root).ok().and_then(Path::to_str);
                keys.extend(name.and_then(|name| Key::new(name).ok()));
                Ok(())
            })?;
            keys.sort_unstable();
            Ok(keys)
        };
        blocking(doing, move || list().map_err(BlobError::io(doing))).await
    }

    pub(super) async fn list_page(
        &self,
        folder: &Key,
        after: Option<&Key>,
        limit: usize,
    ) -> Result<Vec<Listed>, BlobError> {
        let (root, folder) = (self.root.clone(), format!("{folder}/"));
        let after = after.map(|key| key.as_str().to_owned()).unwrap_or_default();
        let doing = "listing objects";
        let list = move || listing::page(&root, &folder, &after, limit);
        blocking(doing, move || list().map_err(BlobError::io(doing))).await
    }

    pub(super) async fn head(&self, key: &Key) -> Result<Option<u64>, BlobError> {
        match tokio::fs::metadata(self.path(key))
            .await
            .map_err(BlobError::of_key("looking for an object"))
        {
            Ok(metadata) => Ok(metadata.is_file().then_some(metadata.len())),
            Err(BlobError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn check(&self) -> Result<(), BlobError> {
        let path = self.root.join("check");
        let doing = "writing to the object directory";
        // The draft is dropped, and so removed, without ever getting its name.
        let write = move || Draft::beside(path)?.file().write_all(b"can be written");
        blocking(doing, move || write().map_err(BlobError::io(doing))).await
    }

    pub(super) async fn remove_abandoned(&self, before_ms: i64) -> Result<u64, BlobError> {
        let root = self.root.clone();
        let before = UNIX_EPOCH + Duration::from_millis(u64::try_from(before_ms).unwrap_or(0));
        let doing = "removing abandoned uploads";
        let remove = move || {
            let mut count = 0;
            disk::walk(&root, &mut |path, metadata| {
                if disk::is_draft(path) && metadata.modified()? < before {
                    disk::remove(&root, path)?;
                    count += 1;
                }
                Ok(())
            })?;
            Ok(count)
        };
        blocking(doing, move || remove().map_err(BlobError::io(doing))).await
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.root.join(key.as_str())
    }
}

impl fmt::Debug for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Directory")
            .field("root", &self.root)
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

/// Runs disk work on a blocking thread, so that it delays no other request.
async fn blocking<T: Send + 'static>(
    doing: &'static str,
    work: impl FnOnce() -> Result<T, BlobError> + Send + 'static,
) -> Result<T, BlobError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        Err(BlobError::Unavailable {
            doing,
            cause: error.to_string(),
        })
    })
}

#[cfg(test)]
mod tests;
