//! The object storage: whether objects can be listed, written, read and deleted.

use std::sync::Arc;
use std::time::Duration;

use launchway_blob::{Blob, BlobError, Key};
use launchway_config::{Config, Storage, StorageCredentials};
use launchway_ops::app::open_bucket;
use launchway_os::clock::SystemClock;
use launchway_os::random::{Random, SystemRandom};

use super::findings::Finding;
use super::folders;

const SUBJECT: &str = "storage";
/// The folder of the object that is written and deleted.
const FOLDER: &str = "check-config";
/// How long writing, reading and deleting a small object may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The directory is tried without opening it, which would create it; a bucket by a small object.
pub(super) async fn look(config: &Config) -> Vec<Finding> {
    match &config.storage {
        Storage::Directory(root) => vec![folders::folder(SUBJECT, "--storage-url", root)],
        Storage::S3 { url, credentials } => vec![bucket(url, credentials).await],
    }
}

async fn bucket(url: &str, credentials: &StorageCredentials) -> Finding {
    let shown = url.split('?').next().unwrap_or_default();
    let wrong = |error: BlobError| {
        let remedy = "check bucket, endpoint and region in --storage-url, the AWS variables, and what the key may do";
        Finding::error(SUBJECT, format!("{shown}: {error}"), remedy)
    };
    let blob = match open_bucket(url, credentials, Arc::new(SystemClock)).await {
        Ok(blob) => blob,
        Err(error) => return wrong(error),
    };
    // First what answers quickly: writing is retried for a minute.
    if let Err(error) = blob.check().await {
        return wrong(error);
    }
    match tokio::time::timeout(TIMEOUT, round_trip(&blob)).await {
        Ok(Ok(())) => Finding::ok(
            SUBJECT,
            format!("{shown}: objects can be listed, written, read and deleted"),
        ),
        Ok(Err(error)) => wrong(error),
        Err(_) => wrong(BlobError::Unavailable {
            doing: "writing an object",
            cause: "no response within 30 seconds".to_owned(),
        }),
    }
}

async fn round_trip(blob: &Blob) -> Result<(), BlobError> {
    let token = (&SystemRandom as &dyn Random).token();
    let key = Key::new(&format!("{FOLDER}/{token}")).map_err(|error| BlobError::Settings(error.to_string()))?;
    let file = tempfile::NamedTempFile::new().and_then(|file| std::fs::write(&file, FOLDER).map(|()| file));
    let file = file.map_err(|error| BlobError::Unavailable {
        doing: "creating a temporary file",
        cause: error.to_string(),
    })?;
    blob.put_file(&key, file.path()).await?;
    let size = blob.head(&key).await;
    blob.delete(&key).await?;
    match size? {
        Some(_) => Ok(()),
        None => Err(BlobError::NotFound),
    }
}
