//! Turns a build or an upload into the files of a submission: copies them to write-once keys of its own, so that they
//! outlive the build, and reads the facts of the app.

use super::form::{NewSubmission, Source, Symbol, SymbolSource};

use launchway_binaries::BinaryFacts;
use launchway_blob::{BlobError, Key};
use launchway_domain::build::{Artifact, Build, BuildStatus};
use launchway_domain::id::{BuildId, OrgId, SubmissionId, UploadId};
use launchway_domain::platform::Platform;
use launchway_domain::submission::{FileKind, SubmissionFile};
use launchway_inspection::InspectionError;

use crate::api_error::ApiError;
use crate::app::App;
use crate::binaries::{self, APPS, ReadError};
use crate::builds::view::artifacts_of;
use crate::uploads::{self, WRONG_BYTES};

/// Files that no submission names yet, and the facts of the app. If they are not used, pass them to [`discard`].
#[derive(Debug)]
pub struct Prepared {
    /// The files, the app first.
    pub files: Vec<SubmissionFile>,
    /// The uploads that they came from.
    pub uploads: Vec<UploadId>,
    /// The build of the app.
    pub build_id: Option<BuildId>,
    /// The app's bundle id.
    pub bundle_id: String,
    /// Its platform.
    pub platform: Platform,
    /// Its version.
    pub version: Option<String>,
    /// Its build number.
    pub build_number: Option<String>,
    /// The keys of the copies.
    keys: Vec<Key>,
}

/// Copies and verifies the files of a submission.
pub async fn prepare(app: &App, org: OrgId, new: &NewSubmission, id: SubmissionId) -> Result<Prepared, ApiError> {
    let mut prepared = match new.source {
        Source::Build(build) => of_build(app, org, build, new, id).await?,
        Source::Upload(upload) => of_upload(app, org, upload, id).await?,
    };
    for symbol in &new.symbols {
        if let Err(failure) = add_symbol(app, org, &mut prepared, symbol, id).await {
            discard(app, &prepared).await;
            return Err(failure);
        }
    }
    Ok(prepared)
}

/// Removes copies that were not used.
pub async fn discard(app: &App, prepared: &Prepared) {
    for key in &prepared.keys {
        uploads::remove(app, key).await;
    }
}

/// A write-once key for a file of a submission that comes from a build or an upload.
fn key(from: &str, id: SubmissionId, number: usize) -> Result<Key, ApiError> {
    Ok(Key::new(&format!("submissions/{from}/{id}-{number}"))?)
}

async fn of_build(
    app: &App,
    org: OrgId,
    build: Option<BuildId>,
    new: &NewSubmission,
    id: SubmissionId,
) -> Result<Prepared, ApiError> {
    let none = || ApiError::NoSuch("build");
    let mut tx = app.db.read().await?;
    let mut rows = tx.org(org);
    let build = rows.build(build.ok_or_else(none)?).await?.ok_or_else(none)?;
    let artifacts = artifacts_of(&mut rows, &build).await?;
    drop(tx);
    if build.state.status != BuildStatus::Success {
        return Err(ApiError::bad(format!(
            "The build is {}. Only a successful build can be submitted.",
            build.state.status
        )));
    }
    super::destination(build.platform, &new.destination)?;
    let artifact = app_of(&build, &artifacts)?;
    let mut prepared = Prepared {
        files: Vec::new(),
        uploads: Vec::new(),
        build_id: Some(build.id),
        bundle_id: build.bundle_id.clone(),
        platform: build.platform,
        version: build.spec.version.clone(),
        build_number: build.spec.build_number.clone(),
        keys: Vec::new(),
    };
    add_artifact(app, &mut prepared, artifact, FileKind::App, id).await?;
    Ok(prepared)
}

/// The artifact of a build that its app store accepts: of Android's formats the bundle before the package.
fn app_of<'a>(build: &Build, artifacts: &'a [Artifact]) -> Result<&'a Artifact, ApiError> {
    let endings: &[&str] = match build.platform {
        Platform::Android => &[".aab", ".apk"],
        _ => &[".ipa"],
    };
    let ends = |artifact: &&Artifact, ending: &str| artifact.name.to_ascii_lowercase().ends_with(ending);
    let found = endings
        .iter()
        .find_map(|ending| artifacts.iter().find(|artifact| ends(artifact, ending)));
    found.ok_or_else(|| {
        let wanted = endings.join(" or ");
        ApiError::bad(format!(
            "The build has no {wanted}. Build with distribution store, and add the file to the plan's artifacts."
        ))
    })
}

async fn add_artifact(
    app: &App,
    prepared: &mut Prepared,
    artifact: &Artifact,
    kind: FileKind,
    id: SubmissionId,
) -> Result<(), ApiError> {
    let from = Key::new(&artifact.blob_key)?;
    let to = key(&artifact.build_id.to_string(), id, prepared.files.len())?;
    match app.blob.copy(&from, &to).await {
        Err(BlobError::NotFound) => {
            return Err(ApiError::bad("The files of this build were deleted. Build again."));
        }
        copied => copied?,
    }
    prepared.files.push(SubmissionFile {
        kind,
        blob_key: to.as_str().to_owned(),
        file_name: artifact.name.clone(),
        size: artifact.size,
        sha256: artifact.sha256.clone(),
    });
    prepared.keys.push(to);
    Ok(())
}

async fn of_upload(app: &App, org: OrgId, upload: Option<UploadId>, id: SubmissionId) -> Result<Prepared, ApiError> {
    let upload_id = upload.ok_or(ApiError::NoSuch("upload"))?;
    let upload = uploads::usable(app, org, upload_id).await?;
    let name = upload.file_name.to_ascii_lowercase();
    if !APPS.iter().any(|ending| name.ends_with(ending)) {
        return Err(ApiError::bad(
            "The app must be an .ipa, .aab or .apk, and fileName of its upload must have that extension",
        ));
    }
    let (file, key, read) = copy_upload(app, org, upload_id, FileKind::App, id, 0).await?;
    let facts = match read {
        Some(Ok(facts)) => Ok(facts),
        Some(Err(refusal)) => Err(ApiError::bad(format!("The app cannot be submitted: {refusal}"))),
        None => Err(ApiError::Internal("cannot read an app".to_owned())),
    };
    let subject = facts.and_then(|facts| Ok((platform_of(&facts)?, facts)));
    let (platform, facts) = match subject {
        Ok(subject) => subject,
        Err(failure) => {
            uploads::remove(app, &key).await;
            return Err(failure);
        }
    };
    Ok(Prepared {
        files: vec![file],
        uploads: vec![upload_id],
        build_id: None,
        bundle_id: facts.bundle_id,
        platform,
        version: facts.version,
        build_number: facts.build_number,
        keys: vec![key],
    })
}

/// The platform that an app states; iPhones precede headsets.
fn platform_of(facts: &BinaryFacts) -> Result<Platform, ApiError> {
    [Platform::Ios, Platform::Visionos, Platform::Android]
        .into_iter()
        .find(|platform| facts.platforms.contains(platform))
        .ok_or_else(|| ApiError::bad("The app is not built for a supported platform"))
}

type Read = Option<Result<BinaryFacts, InspectionError>>;

async fn copy_upload(
    app: &App,
    org: OrgId,
    upload_id: UploadId,
    kind: FileKind,
    id: SubmissionId,
    number: usize,
) -> Result<(SubmissionFile, Key, Read), ApiError> {
    let upload = uploads::usable(app, org, upload_id).await?;
    let to = key(&upload_id.to_string(), id, number)?;
    uploads::copy(app, upload_id, &to).await?;
    let read = binaries::read(app, org, &to, &upload.file_name, upload.size, &upload.sha256).await;
    let read = match read {
        Ok(read) => read,
        Err(unread) => {
            uploads::remove(app, &to).await;
            return Err(match unread {
                ReadError::Different => ApiError::bad(WRONG_BYTES),
                // The upload expired meanwhile, and clean-up removed the copy with it.
                ReadError::Missing => ApiError::NoSuch("upload"),
                ReadError::Failed(failure) => failure,
            });
        }
    };
    let file = SubmissionFile {
        kind,
        blob_key: to.as_str().to_owned(),
        file_name: upload.file_name,
        size: upload.size,
        sha256: upload.sha256,
    };
    Ok((file, to, read))
}

async fn add_symbol(
    app: &App,
    org: OrgId,
    prepared: &mut Prepared,
    symbol: &Symbol,
    id: SubmissionId,
) -> Result<(), ApiError> {
    match symbol.source {
        SymbolSource::Artifact(artifact) => {
            let none = || ApiError::NoSuch("artifact");
            let artifact = app
                .db
                .read()
                .await?
                .org(org)
                .artifact(artifact.ok_or_else(none)?)
                .await?;
            let of_build = |artifact: &Artifact| artifact.is_stored && Some(artifact.build_id) == prepared.build_id;
            let artifact = artifact.filter(of_build).ok_or_else(none)?;
            add_artifact(app, prepared, &artifact, symbol.kind, id).await
        }
        SymbolSource::Upload(upload) => {
            let upload = upload.ok_or(ApiError::NoSuch("upload"))?;
            if prepared.uploads.contains(&upload) {
                return Err(ApiError::bad(uploads::ALREADY_USED));
            }
            let (file, key, _) = copy_upload(app, org, upload, symbol.kind, id, prepared.files.len()).await?;
            prepared.files.push(file);
            prepared.keys.push(key);
            prepared.uploads.push(upload);
            Ok(())
        }
    }
}
