//! Turns an upload into a package: copies it to a write-once key, verifies its bytes against the announcement, inspects
//! it.

use std::fs::File;

use launchway_blob::{BlobError, Key};
use launchway_domain::app::{Package, Upload};
use launchway_domain::id::{OrgId, UploadId};
use launchway_domain::platform::Platform;
use launchway_domain::release::Format;
use launchway_domain::update::Update;
use launchway_inspection::{InspectionError, PackageFacts};
use launchway_os::folders::make_private_dir;

use crate::api_error::ApiError;
use crate::app::App;
use crate::uploads::{self, WRONG_BYTES};
use crate::usage;

/// Verified bytes that no update names yet. If they are not used, pass them to [`discard`].
#[derive(Debug)]
pub struct Prepared {
    /// The upload that they came from.
    pub upload: Upload,
    /// The record to store.
    pub package: Package,
    /// Its files and where they are, as JSON, for clients of Expo and Capgo.
    pub export: Option<String>,
}

/// What an upload should be.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Its format.
    pub format: Format,
    /// The platform for which it is published.
    pub platform: Platform,
    /// Whether clients of Capgo install it.
    pub is_for_capgo: bool,
}

/// Copies and verifies the bytes of an upload, a package of the wanted form. An upload key is never served and never trusted twice
/// (`docs/reference/uploads.md#using-an-upload`).
pub async fn prepare(app: &App, org: OrgId, upload_id: UploadId, wanted: Wanted) -> Result<Prepared, ApiError> {
    let now = app.clock.now();
    let upload = uploads::usable(app, org, upload_id).await?;
    let largest = app.config.max_package_size;
    if upload.size as u64 > largest {
        return Err(ApiError::bad(format!(
            "The package has {} bytes, but this server accepts at most {largest}",
            upload.size
        )));
    }
    usage::room_for_update(app, org, upload.size, now).await?;
    let id = app.random.id(now);
    let key = Key::of_package(upload_id, id);
    uploads::copy(app, upload_id, &key).await?;
    let checked = check(app, &key, &upload, wanted).await;
    let (facts, export) = match checked {
        Ok(facts) => facts,
        Err(failure) => {
            uploads::remove(app, &key).await;
            return Err(failure);
        }
    };
    let package = Package {
        id,
        org_id: org,
        blob_key: key.as_str().to_owned(),
        size: upload.size,
        sha256: upload.sha256.clone(),
        file_count: i64::try_from(facts.file_count).unwrap_or(i64::MAX),
        manifest: facts.manifest,
        format: wanted.format,
        content_id: facts.content_id,
    };
    Ok(Prepared {
        upload,
        package,
        export,
    })
}

/// Reads the copy once to verify its size and hash, and once as an archive.
async fn check(
    app: &App,
    key: &Key,
    upload: &Upload,
    wanted: Wanted,
) -> Result<(PackageFacts, Option<String>), ApiError> {
    let _place = app.inspections.take(upload.org_id).await?;
    let file = match fetch(app, key, upload.size, &upload.sha256).await {
        Err(FetchError::OtherBytes) => return Err(ApiError::bad(WRONG_BYTES)),
        // The upload expired meanwhile, and clean-up removed the copy with it.
        Err(FetchError::Gone) => return Err(ApiError::NoSuch("upload")),
        Err(FetchError::Failed(failure)) => return Err(failure),
        Ok(file) => file,
    };
    let (limits, refuse) = (app.config.package_limits, |refused: InspectionError| {
        ApiError::bad(refused.0)
    });
    let json = |result: serde_json::Result<String>| result.map_err(|error| ApiError::Internal(error.to_string()));
    if wanted.format == Format::Archive && wanted.is_for_capgo {
        let facts = app.inspector.files(file, limits).await?.map_err(refuse)?;
        let files = facts.files.map(|files| json(serde_json::to_string(&files)));
        return Ok((facts.package, files.transpose()?));
    }
    if wanted.format != Format::Expo {
        let inspected = app.inspector.package(file, limits, wanted.format).await?;
        return inspected.map(|facts| (facts, None)).map_err(refuse);
    }
    let inspected = app.inspector.export(file, limits, wanted.platform).await?;
    let facts = inspected.map_err(refuse)?;
    let export = json(serde_json::to_string(&facts.export))?;
    Ok((facts.package, Some(export)))
}

/// The hash of the list of files in a package that was stored before servers computed it; `None` if it is too large for
/// a list. Store it with [`launchway_store::Org::set_package_manifest`].
pub async fn manifest(app: &App, package: &Package) -> Result<Option<String>, ApiError> {
    let _place = app.inspections.take(package.org_id).await?;
    let key = Key::new(&package.blob_key)?;
    let file = match fetch(app, &key, package.size, &package.sha256).await {
        Err(FetchError::OtherBytes) => return Err(ApiError::Internal("a package changed in the storage".to_owned())),
        Err(FetchError::Gone) => return Err(ApiError::NoSuch("update")),
        Err(FetchError::Failed(failure)) => return Err(failure),
        Ok(file) => file,
    };
    let limits = app.config.package_limits;
    let inspected = app.inspector.package(file, limits, Format::Archive).await?;
    // It was accepted under limits that may have been larger.
    Ok(inspected.ok().and_then(|facts| facts.manifest))
}

/// The package of an update.
pub fn package_of(update: &Update) -> Package {
    Package {
        id: update.package_id,
        org_id: update.org_id,
        blob_key: update.blob_key.clone(),
        size: update.size,
        sha256: update.sha256.clone(),
        file_count: update.file_count,
        manifest: update.manifest.clone(),
        format: update.release.format,
        content_id: update.release.content_id.clone(),
    }
}

/// Why a package is not fetched.
enum FetchError {
    /// Its size or hash is not the expected one.
    OtherBytes,
    /// It is not in the storage.
    Gone,
    /// The storage or the disk fails.
    Failed(ApiError),
}

impl From<BlobError> for FetchError {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::TooLarge { .. } => FetchError::OtherBytes,
            BlobError::NotFound => FetchError::Gone,
            error => FetchError::Failed(error.into()),
        }
    }
}

/// Opens an object, and compares its size and hash.
async fn fetch(app: &App, key: &Key, size: i64, sha256: &str) -> Result<File, FetchError> {
    let scratch = || scratch_file(app).map_err(FetchError::Failed);
    let (file, fetched) = app.blob.open(key, size as u64, scratch).await?;
    if fetched.size == size as u64 && hex::encode(fetched.sha256) == sha256 {
        Ok(file)
    } else {
        Err(FetchError::OtherBytes)
    }
}

/// An unnamed file: it disappears with its last handle, even after a crash.
fn scratch_file(app: &App) -> Result<File, ApiError> {
    let dir = app.config.scratch_dir();
    make_private_dir(&dir)
        .and_then(|()| tempfile::tempfile_in(&dir))
        .map_err(scratch_failed)
}

fn scratch_failed(error: std::io::Error) -> ApiError {
    tracing::error!(%error, "no temporary file in the data directory");
    ApiError::Unavailable("The server has no space for a temporary file. The operator has to free up space.".to_owned())
}

/// Removes a copy that was not used.
pub async fn discard(app: &App, prepared: &Prepared) {
    if let Ok(key) = Key::new(&prepared.package.blob_key) {
        uploads::remove(app, &key).await;
    }
}
