//! The sweep: once a day it walks the whole object storage and removes what no row names. Normally there is nothing; it
//! finds what a process left behind that died between the object storage and the database.
//!
//! Each installation leaves its mark in the storage. If another installation's mark is there, nothing is removed,
//! because this database does not know the other's objects.

use launchway_blob::Key;
use launchway_domain::id::UploadId;
use launchway_domain::time::{DAY, EpochMs};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use serde::{Deserialize, Serialize};

/// The folders with our objects, sorted by name. Anything else in a bucket is not ours. A new kind of object needs a
/// line here, and one in the store's `is_blob_referenced`.
const FOLDERS: [&str; 6] = ["artifacts", "logs", "packages", "sources", "submissions", "uploads"];
/// Objects that are checked together.
const PAGE: usize = 1000;
/// How old an object must be to be removed.
const GRACE: EpochMs = DAY;
const EVERY: EpochMs = DAY;
/// The folder with the marks of installations.
const MARKS: &str = "installations";
/// The key of the metadata row with the name of this installation.
const INSTALLATION: &str = "installation";
/// The key of the metadata row with the progress of the sweep.
const PROGRESS: &str = "sweep";
const REASON: &str = "object storage holds the objects of every tenant";

/// The progress of the sweep.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Progress {
    began_at: EpochMs,
    /// The key after which the sweep continues; `None` at the end.
    after: Option<String>,
}

/// Continues the sweep, or begins the next one a day after the last began. The first begins a day after the first call,
/// because other installations that use the storage need time to leave their marks. Returns the number of removed
/// objects. Stores its progress after every page, so it can be interrupted anywhere.
pub async fn sweep(app: &App) -> Result<u64, ApiError> {
    let now = app.clock.now();
    let mut progress = match read_progress(app).await? {
        Some(progress) if progress.after.is_some() => progress,
        Some(progress) if now < progress.began_at + EVERY => return Ok(0),
        known => Progress {
            began_at: now,
            after: known.map(|_| String::new()),
        },
    };
    if !is_alone(app).await? {
        // Checked again in a day, not in a minute.
        progress = Progress {
            began_at: now,
            after: None,
        };
    }
    keep_progress(app, &progress).await?;
    let mut removed = 0;
    while let Some(after) = progress.after.take() {
        let (next, gone) = sweep_page(app, &after, PAGE).await?;
        removed += gone;
        progress.after = next;
        keep_progress(app, &progress).await?;
    }
    if removed > 0 {
        tracing::info!(removed, "removed unreferenced objects");
    }
    Ok(removed)
}

/// Leaves the mark of this installation in the storage, and returns whether it is the only one.
async fn is_alone(app: &App) -> Result<bool, ApiError> {
    let mut tx = app.db.write().await?;
    let name = tx.system(REASON).keep_meta(INSTALLATION, &app.random.token()).await?;
    tx.commit().await?;
    let (folder, mark) = (key(MARKS)?, key(&format!("{MARKS}/{name}"))?);
    if app.blob.head(&mark).await?.is_none() {
        let empty = tempfile::NamedTempFile::new()
            .map_err(|error| ApiError::Unavailable(format!("Cannot create a temporary file: {error}")))?;
        app.blob.put_file(&mark, empty.path()).await?;
    }
    let marks = app.blob.list_page(&folder, None, 2).await?;
    let other = marks.into_iter().find(|listed| listed.key != mark);
    if let Some(other) = &other {
        tracing::warn!(
            mark = other.key.as_str(),
            "another installation uses this object storage, so unreferenced objects are kept; delete its marker if \
             that installation no longer exists"
        );
    }
    Ok(other.is_none())
}

fn key(text: &str) -> Result<Key, ApiError> {
    Ok(Key::new(text)?)
}

async fn read_progress(app: &App) -> Result<Option<Progress>, ApiError> {
    let text = app.db.read().await?.system(REASON).meta(PROGRESS).await?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

async fn keep_progress(app: &App, progress: &Progress) -> Result<(), ApiError> {
    let text = serde_json::to_string(progress).map_err(|error| ApiError::Internal(error.to_string()))?;
    let mut tx = app.db.write().await?;
    tx.system(REASON).set_meta(PROGRESS, &text).await?;
    Ok(tx.commit().await?)
}

/// Checks the objects after `after`. Returns where to continue, or `None` at the end, and how many were removed.
async fn sweep_page(app: &App, after: &str, limit: usize) -> Result<(Option<String>, u64), ApiError> {
    let place = after.split('/').next().unwrap_or_default();
    let Some(folder) = FOLDERS.into_iter().find(|folder| *folder >= place) else {
        return Ok((None, 0));
    };
    let start = if folder == place { Key::new(after).ok() } else { None };
    let page = app.blob.list_page(&key(folder)?, start.as_ref(), limit).await?;
    let oldest = app.clock.now() - GRACE;
    let mut removed = 0;
    for object in page.iter().filter(|object| object.written_ms <= oldest) {
        if !is_wanted(app, &object.key).await? {
            app.blob.delete(&object.key).await?;
            removed += 1;
        }
    }
    // The last object of a folder is followed by the next folder: no name in it sorts after the folder's own name with
    // a `0`, the character after the slash.
    let next = match page.last() {
        Some(last) if page.len() == limit => last.key.to_string(),
        _ => format!("{folder}0"),
    };
    Ok((Some(next), removed))
}

/// Whether a row names an object, or may do so soon: while its upload exists, a concurrent publish may have copied it
/// and will name the copy. Both queries use one snapshot: a publish that is not in it no longer finds the upload.
async fn is_wanted(app: &App, key: &Key) -> Result<bool, ApiError> {
    let mut tx = app.db.read().await?;
    let mut system = tx.system(REASON);
    if system.is_blob_referenced(key.as_str()).await? {
        return Ok(true);
    }
    let upload: Option<UploadId> = key.as_str().split('/').nth(1).and_then(|id| id.parse().ok());
    match upload {
        Some(upload) => Ok(system.has_upload(upload).await?),
        None => Ok(false),
    }
}
