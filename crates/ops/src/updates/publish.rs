//! Publishes an over-the-air update from an upload, or republishes an earlier update's bytes
//! (`docs/reference/updates.md#publishing`).

use launchway_api::updates::{CreateUpdate, FingerprintInput, TextOrNumber, UpdateView};
use launchway_domain::app::Package;
use launchway_domain::build::Build;
use launchway_domain::build_number::BuildNumber;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::fingerprint::{Fingerprint, FingerprintDocument};
use launchway_domain::id::{BuildId, OrgId, UpdateId, UploadId};
use launchway_domain::platform::Platform;
use launchway_domain::release::{ReleaseFacts, UpdateKind};
use launchway_domain::rollout::Rollout;
use launchway_domain::update::{MAX_RELEASE_NOTES, Update, UpdateStatus};
use launchway_domain::version::Version;
use launchway_store::{NewUpdate, Org};

use crate::api_error::ApiError;
use crate::app::App;
use crate::packages::{Prepared, package_of};
use crate::trust::error::TrustError;
use crate::trust::publication::{self, SignedFile, Signing};
use crate::updates::release::{self, ReleasePlan};
use crate::updates::release_error::ReleaseError;
use crate::uploads::ALREADY_USED;
use crate::write::{NOTHING, Write};
use crate::{apps, fingerprints, usage};

/// A validated request to publish an update.
#[derive(Clone, Debug)]
pub struct UpdatePlan {
    /// Where the bytes come from.
    pub source: Source,
    pub(super) bundle: BundleId,
    pub(super) platform: Platform,
    pub(super) version: Version,
    version_text: String,
    build: Option<BuildNumber>,
    pub(super) configuration: Option<Configuration>,
    fingerprint: Option<(Fingerprint, Option<String>)>,
    /// The `lwfp-2` hash of the same native code.
    lwfp2: Option<Fingerprint>,
    release_notes: Option<String>,
    rollout: Rollout,
    mandatory: bool,
    /// The build that it belongs to. A malformed id becomes `None`: it names nothing.
    build_id: Option<Option<BuildId>>,
    /// The signed next version of its role.
    signed: Option<SignedFile>,
    /// Whether signatures of an open draft may be lost.
    force: bool,
    /// What it is to the clients of other services.
    pub release: ReleasePlan,
}

/// Where the bytes come from. A malformed id becomes `None`: it names nothing.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// Nowhere: devices return to what their app was installed with.
    BuiltIn,
    /// An upload.
    Upload(Option<UploadId>),
    /// An earlier update.
    Update(Option<UpdateId>),
}

impl UpdatePlan {
    /// The plan with the `lwfp-2` hash of its native code.
    pub fn with_lwfp2(self, lwfp2: Option<Fingerprint>) -> Self {
        Self { lwfp2, ..self }
    }

    /// Refuses a signed role whose version is in use.
    pub async fn check_version(&self, app: &App, org: OrgId) -> Result<(), ApiError> {
        match &self.signed {
            Some(signed) => publication::check_version(app, org, &self.bundle, signed).await,
            None => Ok(()),
        }
    }
}

/// Validates a request to publish.
pub fn plan(request: &CreateUpdate) -> Result<UpdatePlan, ApiError> {
    let build = build_number(request.build_number.as_ref())?;
    if request.signed.is_some() && build.is_none() {
        return Err(TrustError::NoBuildNumber.into());
    }
    let release = ReleasePlan::read(request)?;
    let source = match (release.kind, &request.upload_id, &request.source_update_id) {
        (UpdateKind::Embedded, None, None) => Source::BuiltIn,
        (UpdateKind::Embedded, ..) => return Err(ReleaseError::EmbeddedContent.into()),
        (_, Some(upload), None) => Source::Upload(upload.parse().ok()),
        (_, None, Some(update)) => Source::Update(update.parse().ok()),
        _ => return Err(ApiError::bad("Specify either uploadId or sourceUpdateId")),
    };
    let bundle = apps::bundle_id(&request.bundle_id)?;
    let platform = request.platform.checked();
    let platform = platform.map_err(|unknown| ApiError::bad(unknown.to_string()))?;
    let given = request.fingerprint.as_ref();
    Ok(UpdatePlan {
        source,
        bundle,
        platform,
        version: Version::parse(&request.version)
            .map_err(|_| ApiError::bad("version must be a semantic version such as 1.2.3"))?,
        version_text: request.version.clone(),
        build,
        configuration: request.configuration.as_deref().map(configuration).transpose()?,
        fingerprint: given.map(|given| fingerprint(given, platform)).transpose()?,
        lwfp2: None,
        release_notes: request.release_notes.as_deref().map(release_notes).transpose()?,
        rollout: rollout(request.rollout.unwrap_or(100))?,
        mandatory: request.mandatory.unwrap_or(false),
        build_id: request.build_id.as_ref().map(|id| id.parse().ok()),
        signed: request.signed.as_ref().map(SignedFile::read).transpose()?,
        force: request.force.unwrap_or(false),
        release,
    })
}

/// Parses a build number from a body; `None` is `"auto"` or an absent one.
pub fn build_number(given: Option<&TextOrNumber>) -> Result<Option<BuildNumber>, ApiError> {
    let text = match given {
        None => return Ok(None),
        Some(TextOrNumber::Text(text)) if text == "auto" => return Ok(None),
        Some(TextOrNumber::Text(text)) => text.clone(),
        Some(TextOrNumber::Number(number)) => number.to_string(),
    };
    text.parse()
        .map(Some)
        .map_err(|_| ApiError::bad("buildNumber must be 1 to 18 digits, or \"auto\""))
}

/// Parses a configuration's name from a body.
pub fn configuration(text: &str) -> Result<Configuration, ApiError> {
    text.parse()
        .map_err(|error: launchway_domain::configuration::ConfigurationError| {
            ApiError::bad(format!("configuration {error}"))
        })
}

/// Parses a rollout from a body.
pub fn rollout(percent: i64) -> Result<Rollout, ApiError> {
    let rollout = u8::try_from(percent).ok().and_then(Rollout::new);
    rollout.ok_or_else(|| ApiError::bad("rollout must be a whole number from 0 to 100"))
}

/// Validates release notes from a body. PostgreSQL cannot store a NUL in text.
pub fn release_notes(text: &str) -> Result<String, ApiError> {
    if text.len() > MAX_RELEASE_NOTES {
        return Err(ApiError::bad(format!(
            "releaseNotes must have at most {MAX_RELEASE_NOTES} bytes"
        )));
    }
    if text.contains('\0') {
        return Err(ApiError::bad("releaseNotes must not contain a NUL character"));
    }
    Ok(text.to_owned())
}

/// Parses a fingerprint of this platform from a body: the hash, and the document if one was sent.
pub fn fingerprint(input: &FingerprintInput, platform: Platform) -> Result<(Fingerprint, Option<String>), ApiError> {
    let (hash, document) = any_fingerprint(input)?;
    check_platform(document.as_ref(), platform)?;
    Ok((hash, document.map(|document| document.canonical())))
}

/// Refuses a fingerprint document of another platform: its hash is that of no app of this one.
pub fn check_platform(document: Option<&FingerprintDocument>, platform: Platform) -> Result<(), ApiError> {
    match document.map(FingerprintDocument::platform) {
        Some(other) if other != platform => Err(ApiError::bad(format!(
            "fingerprint.platform is {other}, but this is for {platform}. Send the document of that platform."
        ))),
        _ => Ok(()),
    }
}

/// Parses a fingerprint of any platform from a body.
pub fn any_fingerprint(input: &FingerprintInput) -> Result<(Fingerprint, Option<FingerprintDocument>), ApiError> {
    match input {
        FingerprintInput::Hash(hash) => {
            let hash = hash
                .parse()
                .map_err(|_| ApiError::bad("fingerprint must be 1 to 128 visible ASCII characters"))?;
            Ok((hash, None))
        }
        FingerprintInput::Document(document) => {
            let document = FingerprintDocument::from_value(serde_json::Value::Object(document.clone()))
                .map_err(|error| ApiError::bad(error.to_string()))?;
            Ok((document.hash(), Some(document)))
        }
    }
}

/// Publishes an update. `prepared` holds the verified bytes of an upload; without it, the source is an earlier update.
pub async fn publish(
    write: &mut Write<'_>,
    mut plan: UpdatePlan,
    prepared: Option<&Prepared>,
) -> Result<Update, ApiError> {
    // The lock precedes the claim: otherwise the operator could transfer the app in between.
    write.touch_updates(&plan.bundle).await?;
    let (app, _) = apps::claim(write, &plan.bundle, plan.bundle.as_str()).await?;
    let (source, package) = content(write, &plan, prepared).await?;
    if let Some(source) = &source {
        plan.release.inherit(write, source).await?;
    }
    let release = plan.release.facts(write, &plan, &package).await?;
    let signing = signing(write, &plan, &release).await?;
    let stored = if source.is_some() { 0 } else { package.size };
    usage::count_update(write, stored).await?;
    let build = build(&mut write.org(), &plan).await?;
    let fingerprint = fingerprint_of(write, &plan, build.as_ref(), source.as_ref()).await?;
    let inherited_notes = source.as_ref().map(|source| source.release_notes.clone());
    let mut update = Update {
        id: write.app().random.id(write.now()),
        org_id: write.org_id(),
        status: UpdateStatus::Published,
        bundle_id: app.bundle_id,
        platform: plan.platform,
        version: plan.version.clone(),
        version_text: plan.version_text.clone(),
        build_number: reserve_build_number(write, &plan).await?,
        configuration: plan.configuration.clone(),
        fingerprint,
        build_id: build.map(|build| build.id.to_string()),
        source_update_id: source.as_ref().map(|source| source.id),
        package_id: package.id,
        release_notes: plan.release_notes.or(inherited_notes).unwrap_or_default(),
        mandatory: plan.mandatory,
        rollout: plan.rollout,
        size: package.size,
        sha256: package.sha256,
        file_count: package.file_count,
        blob_key: package.blob_key,
        manifest: package.manifest,
        trust_role: signing.as_ref().map(Signing::role),
        release,
        created_by: write.actor_text(),
        created_at: write.now(),
        published_at: None,
    };
    store(write, &plan.bundle, signing, &mut update, &plan.release).await?;
    Ok(update)
}

/// The package of the update, and the update whose bytes it republishes.
async fn content(
    write: &mut Write<'_>,
    plan: &UpdatePlan,
    prepared: Option<&Prepared>,
) -> Result<(Option<Update>, Package), ApiError> {
    match (plan.source, prepared) {
        (Source::BuiltIn, _) => Ok((None, release::store_empty_package(write).await?)),
        (Source::Update(id), _) => {
            let source = source(write, plan, id).await?;
            plan.release.check_source(&source)?;
            let package = package_of(&source);
            Ok((Some(source), package))
        }
        (Source::Upload(_), Some(prepared)) => Ok((None, use_upload(write, prepared).await?)),
        (Source::Upload(_), None) => Err(ApiError::NoSuch("upload")),
    }
}

/// How the update is signed; `None` if no role of the app signs it: only our own SDK verifies roles.
async fn signing(
    write: &mut Write<'_>,
    plan: &UpdatePlan,
    release: &ReleaseFacts,
) -> Result<Option<Signing>, ApiError> {
    let signed = plan.signed.clone();
    if !release.is_for_check() {
        return match signed {
            Some(_) => Err(ReleaseError::Signed.into()),
            None => Ok(None),
        };
    }
    Signing::begin(write, &plan.bundle, plan.configuration.as_ref(), signed, plan.force).await
}

/// Stores a new update with its event: published, or waiting for signatures.
async fn store(
    write: &mut Write<'_>,
    bundle: &BundleId,
    signing: Option<Signing>,
    update: &mut Update,
    release: &ReleasePlan,
) -> Result<(), ApiError> {
    let Some(signing) = signing else {
        create(write, bundle, update).await?;
        release.name(write, bundle, update).await?;
        let view = UpdateView::of(update);
        write.audit("update.publish", update.id, NOTHING, Some(&view)).await?;
        return write.event("update.published", &view).await;
    };
    if !signing.is_complete(write, bundle, update).await? {
        update.status = UpdateStatus::AwaitingSignature;
    }
    create(write, bundle, update).await?;
    release.name(write, bundle, update).await?;
    signing.end(write, bundle, update).await
}

/// Marks an upload as used and stores its package.
async fn use_upload(write: &mut Write<'_>, prepared: &Prepared) -> Result<Package, ApiError> {
    if !write.org().use_upload(prepared.upload.id).await? {
        return Err(ApiError::bad(ALREADY_USED));
    }
    let now = write.now();
    write.org().create_package(&prepared.package, now).await?;
    if let Some(export) = &prepared.export {
        write.org().set_package_export(prepared.package.id, export).await?;
    }
    Ok(prepared.package.clone())
}

/// The fingerprint of an update: that of its build, else the one from the request, else that of its source.
async fn fingerprint_of(
    write: &mut Write<'_>,
    plan: &UpdatePlan,
    build: Option<&Build>,
    source: Option<&Update>,
) -> Result<Option<Fingerprint>, ApiError> {
    if let Some(hash) = build.and_then(|build| build.fingerprint.clone()) {
        return Ok(Some(hash));
    }
    if let Some((hash, document)) = &plan.fingerprint {
        fingerprints::store(write, &plan.bundle, hash, document.as_deref()).await?;
        fingerprints::store_pair(write, &plan.bundle, hash, plan.lwfp2.as_ref()).await?;
        return Ok(Some(hash.clone()));
    }
    Ok(source.and_then(|source| source.fingerprint.clone()))
}

/// Stores a new update, unless its version and build number are taken.
async fn create(write: &mut Write<'_>, bundle: &BundleId, update: &Update) -> Result<(), ApiError> {
    if write.org().create_update(&NewUpdate { update, bundle }).await? {
        return Ok(());
    }
    Err(ApiError::bad(format!(
        "Version {} build {} of {} for {} is already used in this configuration, possibly by a deleted update. Raise \
         the build number.",
        update.version_text,
        update.build_number.as_str(),
        update.bundle_id,
        update.platform
    )))
}

/// The update whose bytes are republished: one of the same app and platform.
async fn source(write: &mut Write<'_>, plan: &UpdatePlan, id: Option<UpdateId>) -> Result<Update, ApiError> {
    let none = || ApiError::NoSuch("update");
    let source = write.org().update(id.ok_or_else(none)?).await?.ok_or_else(none)?;
    let same_app = source.bundle_id.eq_ignore_ascii_case(plan.bundle.as_str()) && source.platform == plan.platform;
    if same_app {
        Ok(source)
    } else {
        Err(ApiError::bad("sourceUpdateId is an update of another app or platform"))
    }
}

/// The build that an update belongs to: one of the same app, platform and fingerprint.
pub async fn build(org: &mut Org<'_>, plan: &UpdatePlan) -> Result<Option<Build>, ApiError> {
    let Some(id) = plan.build_id else { return Ok(None) };
    let none = || ApiError::NoSuch("build");
    let build = org.build(id.ok_or_else(none)?).await?.ok_or_else(none)?;
    if !build.bundle_id.eq_ignore_ascii_case(plan.bundle.as_str()) || build.platform != plan.platform {
        return Err(ApiError::bad("buildId is a build of another app or platform"));
    }
    if let (Some(known), Some((given, _))) = (&build.fingerprint, &plan.fingerprint)
        && !fingerprints::is_same_code(org, &plan.bundle, known, given, plan.lwfp2.as_ref()).await?
    {
        return Err(ApiError::bad(
            "fingerprint differs from that of the build; omit it to use the build's",
        ));
    }
    match &build.fingerprint {
        None if !build.state.status.is_final() => Err(ApiError::bad(format!(
            "The build is {} and its fingerprint is not known yet. Wait for it to end.",
            build.state.status
        ))),
        _ => Ok(Some(build)),
    }
}

async fn reserve_build_number(write: &mut Write<'_>, plan: &UpdatePlan) -> Result<BuildNumber, ApiError> {
    match &plan.build {
        Some(build) => {
            write
                .org()
                .note_build_number(&plan.bundle, plan.platform, build.value())
                .await?;
            Ok(build.clone())
        }
        None => {
            let next = write.org().next_build_number(&plan.bundle, plan.platform).await?;
            BuildNumber::from_value(next)
                .map_err(|_| ApiError::bad("No build number above the highest one is left. Specify one."))
        }
    }
}
