//! The files that builds produce: announced, uploaded to object storage by their runner, checked and read at the end
//! (`docs/reference/builds.md#artifacts`). The upload itself is never served and never trusted twice. What is served is
//! a copy, once its size and hash are verified.

use launchway_api::runner::{AnnounceArtifact, ArtifactTarget};
use launchway_api::words::PendingStatus;
use launchway_binaries::{BinaryFacts, RequestedFacts, mismatches};
use launchway_blob::{BlobError, Key};
use launchway_domain::app::SIGNED_URL_SECONDS;
use launchway_domain::build::plan::is_kind;
use launchway_domain::build::{Artifact, Build};
use launchway_domain::id::{ArtifactId, BuildId, OrgId};
use launchway_domain::time::iso;
use launchway_inspection::InspectionError;

use crate::api_error::ApiError;
use crate::app::App;
use crate::binaries::{self, ReadError};
use crate::caller::RunnerCaller;
use crate::held_builds::{begin_change, reachable_url};
use crate::write::Write;
use crate::{free_space, usage};

/// The maximum size of one artifact in bytes.
const MAX_SIZE: u64 = 4 << 30;
/// The maximum number of artifacts of one attempt.
const MAX_ARTIFACTS: usize = 200;

/// Validates the announcement of an artifact.
pub fn plan(wanted: &AnnounceArtifact) -> Result<(), ApiError> {
    if !is_kind(&wanted.kind) {
        return Err(ApiError::bad("kind must be 1 to 32 lower-case letters, digits and '-'"));
    }
    let letter = |letter: char| !letter.is_control() && !"/\\".contains(letter);
    let name = &wanted.name;
    let plain = !matches!(name.as_str(), "" | "." | "..") && name.len() <= 255 && name.chars().all(letter);
    if !plain {
        return Err(ApiError::bad(
            "name must be a file's name of 1 to 255 bytes, without a path",
        ));
    }
    if wanted.size > MAX_SIZE {
        return Err(ApiError::bad(format!(
            "size: an artifact must have at most {MAX_SIZE} bytes"
        )));
    }
    let hex = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
    if wanted.sha256.len() != 64 || !wanted.sha256.bytes().all(hex) {
        return Err(ApiError::bad("sha256 must be 64 lower-case hex digits"));
    }
    Ok(())
}

/// Announces an artifact and signs the URL for its bytes. Replaces an artifact announced earlier under the same name.
pub async fn announce(
    app: &App,
    caller: &RunnerCaller,
    id: BuildId,
    wanted: AnnounceArtifact,
) -> Result<ArtifactTarget, ApiError> {
    free_space::room_for(app, wanted.size)?;
    let (mut write, build) = begin_change(app, caller, id, wanted.attempt).await?;
    let now = write.now();
    let mut known = write.org().artifacts(id).await?;
    known.retain(|artifact| artifact.attempt == wanted.attempt);
    let replaced: Vec<_> = known.extract_if(.., |artifact| artifact.name == wanted.name).collect();
    if known.len() >= MAX_ARTIFACTS {
        return Err(ApiError::bad(format!(
            "A build can have at most {MAX_ARTIFACTS} artifacts"
        )));
    }
    for artifact in &replaced {
        write.org().forget_artifact(artifact.id).await?;
    }
    usage::room_to_store(&mut write, i64::try_from(wanted.size).unwrap_or(i64::MAX)).await?;
    let artifact_id = app.random.id(now);
    let key = staging_key(artifact_id)?;
    let artifact = Artifact {
        id: artifact_id,
        build_id: id,
        attempt: wanted.attempt,
        is_stored: false,
        kind: wanted.kind,
        name: wanted.name,
        size: i64::try_from(wanted.size).unwrap_or(i64::MAX),
        sha256: wanted.sha256,
        blob_key: key.to_string(),
        facts: None,
        created_at: now,
    };
    write.org().create_artifact(&artifact).await?;
    write.commit().await?;
    drop_bytes(app, &replaced).await;
    let signed = app.blob.presign_put(&key, wanted.size, now, SIGNED_URL_SECONDS);
    Ok(ArtifactTarget {
        id: artifact.id.to_string(),
        status: PendingStatus::Pending.into(),
        url: reachable_url(app, caller, signed.url),
        expires_at: iso(signed.expires_at_ms),
        cancel: build.state.cancel_requested,
    })
}

/// The key to which a runner uploads an artifact. Nothing is ever served from it.
fn staging_key(id: ArtifactId) -> Result<Key, ApiError> {
    Ok(Key::new(&format!("uploads/{id}"))?)
}

/// An artifact whose bytes are verified, but that no row names yet. If it is not used, pass it to [`discard`].
pub struct Checked {
    /// The artifact.
    pub artifact: Artifact,
    /// The key of the verified copy.
    pub key: Key,
    /// The facts that it states about itself.
    pub facts: Option<BinaryFacts>,
    /// What is unusual about it, one sentence each.
    pub warnings: Vec<String>,
}

impl Checked {
    /// The facts as JSON, for the record.
    pub fn facts_text(&self) -> Result<Option<String>, ApiError> {
        let text = self.facts.as_ref().map(serde_json::to_string).transpose();
        text.map_err(|error| ApiError::Internal(error.to_string()))
    }
}

/// Copies and verifies the artifacts of a build, and reads the facts of apps.
///
/// # Errors
/// [`ApiError::BadRequest`] if an artifact is missing, or differs from its announcement.
pub async fn check(app: &App, build: &Build, ids: &[ArtifactId]) -> Result<Vec<Checked>, ApiError> {
    let known = app.db.read().await?.org(build.org_id).artifacts(build.id).await?;
    let mut checked = Vec::new();
    for id in ids {
        let mut of_attempt = known.iter().filter(|artifact| artifact.attempt == build.state.attempt);
        let one = match of_attempt.find(|artifact| artifact.id == *id) {
            Some(artifact) => check_one(app, build, artifact).await,
            None => Err(ApiError::bad(format!(
                "This attempt did not announce the artifact {id}"
            ))),
        };
        match one {
            Ok(one) => checked.push(one),
            Err(failure) => {
                discard(app, &checked).await;
                return Err(failure);
            }
        }
    }
    Ok(checked)
}

async fn check_one(app: &App, build: &Build, artifact: &Artifact) -> Result<Checked, ApiError> {
    let name = &artifact.name;
    // A key of its own for each check: concurrent checks see only their own copies.
    let text = format!("artifacts/{}/{}-{}", build.id, artifact.id, app.random.token());
    let key = Key::new(&text)?;
    match app.blob.copy(&staging_key(artifact.id)?, &key).await {
        Err(BlobError::NotFound) => {
            return Err(ApiError::bad(format!(
                "The artifact {name} is not uploaded yet. Upload it to its url first."
            )));
        }
        copied => copied?,
    }
    let read = read(app, build.org_id, &key, artifact).await;
    if read.is_err() {
        remove(app, &key).await;
    }
    let (facts, mut warnings) = match read? {
        Some(Ok(facts)) => (Some(facts), Vec::new()),
        Some(Err(refusal)) => (None, vec![format!("{name}: {refusal}")]),
        None => (None, Vec::new()),
    };
    if let Some(facts) = &facts {
        let requested = RequestedFacts {
            bundle_id: Some(&build.bundle_id),
            version: build.spec.version.as_deref(),
            build_number: build.spec.build_number.as_deref(),
            platform: Some(build.platform),
        };
        warnings.extend(facts.warnings.iter().map(|warning| format!("{name}: {warning}")));
        warnings.extend(
            mismatches(facts, &requested)
                .iter()
                .map(|warning| format!("{name}: {warning}")),
        );
    }
    Ok(Checked {
        artifact: artifact.clone(),
        key,
        facts,
        warnings,
    })
}

/// Verifies size and hash of a copy, and reads the facts of an app: `None` for another file, an inner error for an app
/// that cannot be parsed, which does not fail the build.
async fn read(
    app: &App,
    org: OrgId,
    key: &Key,
    artifact: &Artifact,
) -> Result<Option<Result<BinaryFacts, InspectionError>>, ApiError> {
    let name = &artifact.name;
    match binaries::read(app, org, key, name, artifact.size, &artifact.sha256).await {
        Ok(read) => Ok(read),
        Err(ReadError::Different) => Err(ApiError::bad(format!(
            "The artifact {name} differs from its announcement in size or sha256"
        ))),
        Err(ReadError::Missing) => Err(BlobError::NotFound.into()),
        Err(ReadError::Failed(failure)) => Err(failure),
    }
}

/// Deletes the rows of a build's artifacts except those to keep. Returns the deleted ones: remove their bytes once the
/// deletion is durable.
pub async fn forget(write: &mut Write<'_>, id: BuildId, keep: &[ArtifactId]) -> Result<Vec<Artifact>, ApiError> {
    let mut removed = write.org().artifacts(id).await?;
    removed.retain(|artifact| !keep.contains(&artifact.id));
    for artifact in &removed {
        write.org().forget_artifact(artifact.id).await?;
    }
    Ok(removed)
}

/// Removes the bytes of artifacts that no row names any more.
pub async fn drop_bytes(app: &App, removed: &[Artifact]) {
    for artifact in removed {
        if let Ok(key) = Key::new(&artifact.blob_key) {
            remove(app, &key).await;
        }
    }
}

/// Removes the uploads of artifacts that have been verified.
pub async fn drop_staged(app: &App, checked: &[Checked]) {
    for one in checked {
        if let Ok(key) = staging_key(one.artifact.id) {
            remove(app, &key).await;
        }
    }
}

/// Removes verified copies that were not used.
pub async fn discard(app: &App, checked: &[Checked]) {
    for one in checked {
        remove(app, &one.key).await;
    }
}

async fn remove(app: &App, key: &Key) {
    // The sweep removes what remains.
    if let Err(error) = app.blob.delete(key).await {
        tracing::warn!(%error, key = key.as_str(), "cannot delete an object");
    }
}
