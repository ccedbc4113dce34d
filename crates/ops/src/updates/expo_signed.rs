//! Signed updates of Expo: what developers signed is validated, kept as it is and served as it is. The undo is sealed until the update
//! is withdrawn (`docs/reference/expo.md#signed-updates`).

use std::collections::BTreeSet;

use launchway_api::expo::{SignedExpo, SignedText};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{OrgId, UpdateId};
use launchway_domain::release::{RuntimeVersion, UpdateKind};
use launchway_domain::time::{EpochMs, MINUTE};
use launchway_domain::update::Update;
use launchway_foreign::expo::{
    Directive, DirectiveError, Manifest, ManifestError, PackedExport, RollBack, Signature, SignatureError, StoredPart,
    StoredUndo, UNDO_SPAN,
};
use launchway_store::{IssueGroup, NewIssue};
use launchway_vault::Place;
use uuid::Uuid;

use crate::api_error::ApiError;
use crate::write::Write;

/// How far a time may be ahead of the server's clock.
pub(super) const MAX_AHEAD: EpochMs = 5 * MINUTE;
/// The largest certificates, in bytes.
const MAX_CHAIN: usize = 16 * 1024;
/// The name of the sealed field.
const UNDO: &str = "undo";

/// Why what was signed is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignedExpoError {
    /// The manifest is none.
    #[error("expo.{0} {1}")]
    Manifest(&'static str, ManifestError),
    /// The directive is none.
    #[error("expo.{0} {1}")]
    Directive(&'static str, DirectiveError),
    /// The signature has another form.
    #[error("expo.{0}.signature {1}")]
    Signature(&'static str, SignatureError),
    /// The certificates have another form.
    #[error("expo.certificateChain must be certificates in PEM, of at most 16 KiB")]
    Chain,
    /// A text is for another kind of release.
    #[error("expo.part must be a manifest for an update, and a rollBackToEmbedded directive for kind embedded")]
    Kind,
    /// An update without undo.
    #[error("expo.undo is required: without it, devices cannot leave the update once it is withdrawn")]
    NoUndo,
    /// A directive with an undo.
    #[error("expo.undo is only for updates")]
    Undo,
    /// The undo is at another time.
    #[error("expo.undo must be created right after the update: previous one millisecond later, embedded two")]
    UndoTime,
    /// The undo's manifest without its update, or the other way round.
    #[error("expo.undo.previous and expo.undo.previousUpdateId go together")]
    Previous,
    /// The undo is not for devices of the update.
    #[error(
        "expo.undo.previous must have another id than the update, the same runtimeVersion, and the files of previousUpdateId"
    )]
    OtherPrevious,
    /// The manifest is for another runtime.
    #[error("expo.part has another runtimeVersion than the request")]
    Runtime,
    /// The time is not above that of an earlier update.
    #[error(
        "expo.part must be created more than {UNDO_SPAN} ms after the newest update of its configuration and runtime, which was created at {0}"
    )]
    NotLater(String),
    /// The time is too far ahead.
    #[error("expo.part must be created at most 5 minutes ahead of the server's clock")]
    Ahead,
    /// The files are not those of the package.
    #[error("expo.part names a file that is not in the package, or another script")]
    OtherFiles,
    /// The addresses are not those of this server.
    #[error(
        "expo.part names a file at another address than {0}/expo/BUNDLE/assets/SHA256, where this server serves it"
    )]
    OtherAddress(String),
    /// An id is in use.
    #[error("expo: another update of this app and platform already has the id {0}")]
    Taken(String),
}

impl From<SignedExpoError> for ApiError {
    fn from(error: SignedExpoError) -> Self {
        ApiError::bad(error.to_string())
    }
}

/// A validated signed release.
#[derive(Clone, Debug)]
pub struct SignedPlan {
    part: StoredPart,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Update(Box<SignedManifest>),
    Embedded(EpochMs),
}

#[derive(Clone, Debug)]
struct SignedManifest {
    manifest: Manifest,
    undo: StoredUndo,
    /// The content before it, and the update that this is. A malformed id becomes `None`: it names nothing.
    previous: Option<(Manifest, Option<UpdateId>)>,
}

impl SignedPlan {
    /// Validates what was signed for a release of this kind and runtime.
    ///
    /// # Errors
    /// A client would refuse or misread it.
    pub fn read(
        signed: &SignedExpo,
        kind: UpdateKind,
        runtime_version: Option<&RuntimeVersion>,
    ) -> Result<Self, SignedExpoError> {
        let chain = signed.certificate_chain.as_deref();
        if chain.is_some_and(|chain| !is_pem(chain)) {
            return Err(SignedExpoError::Chain);
        }
        let part = stored("part", &signed.part, chain)?;
        let content = match kind {
            UpdateKind::Embedded if signed.undo.is_some() => return Err(SignedExpoError::Undo),
            UpdateKind::Embedded => Content::Embedded(roll_back("part", &signed.part)?),
            UpdateKind::Update => Content::Update(Box::new(read_manifest(signed, chain)?)),
        };
        if let (Content::Update(update), Some(given)) = (&content, runtime_version)
            && update.manifest.runtime_version != *given
        {
            return Err(SignedExpoError::Runtime);
        }
        Ok(Self { part, content })
    }

    /// The runtime of the manifest; `None` for a directive.
    pub fn runtime_version(&self) -> Option<&RuntimeVersion> {
        match &self.content {
            Content::Update(update) => Some(&update.manifest.runtime_version),
            Content::Embedded(_) => None,
        }
    }

    /// Stores what was signed for a new release. `export` has the files of its package; a directive has none.
    ///
    /// # Errors
    /// It does not fit the package, or the releases before it.
    pub async fn store(
        &self,
        write: &mut Write<'_>,
        bundle: &BundleId,
        update: &Update,
        export: Option<&PackedExport>,
        new_id: Uuid,
    ) -> Result<(), ApiError> {
        let (id, time) = match &self.content {
            Content::Update(signed) => (signed.manifest.id, signed.manifest.created_at),
            Content::Embedded(time) => (new_id, *time),
        };
        check_time(write, bundle, update, time).await?;
        let mut sealed = None;
        if let Content::Update(signed) = &self.content {
            check_files(&signed.manifest, export, &write.app().asset_base, update)?;
            let undo = serde_json::to_vec(&signed.undo).map_err(|error| ApiError::Internal(error.to_string()))?;
            sealed = Some(write.seal(&Place::new(update.id, UNDO), &undo).await?);
        }
        let issue = NewIssue {
            bundle,
            platform: update.platform,
            update_id: update.id,
            id: &id.to_string(),
            created_at: time,
            undoes: None,
        };
        add(write, &issue).await?;
        if let Content::Update(signed) = &self.content
            && let Some((manifest, previous)) = &signed.previous
        {
            let previous = previous.ok_or(ApiError::NoSuch("update"))?;
            check_previous(write, bundle, update, manifest, previous).await?;
            let undo = NewIssue {
                update_id: previous,
                id: &manifest.id.to_string(),
                created_at: manifest.created_at,
                undoes: Some(update.id),
                ..issue
            };
            add(write, &undo).await?;
        }
        let part = serde_json::to_string(&self.part).map_err(|error| ApiError::Internal(error.to_string()))?;
        write.org().set_signed_part(update.id, &part, sealed.as_deref()).await?;
        Ok(())
    }
}

/// Opens the undo of a signed update that was withdrawn, so that it is served.
///
/// # Errors
/// Errors of the database, and an undo that cannot be opened.
pub async fn serve_undo(write: &mut Write<'_>, update: &Update) -> Result<(), ApiError> {
    let Some((_, Some(sealed))) = write.org().signed_part(update.id).await? else {
        return Ok(());
    };
    let undo = write.open_plain(&Place::new(update.id, UNDO), &sealed).await?;
    let undo = str::from_utf8(&undo).map_err(|error| ApiError::Internal(error.to_string()))?;
    write.org().set_undo(update.id, undo).await?;
    Ok(())
}

/// Seals the undos of an app, which were sealed for `from`, for the organization of the change, to which the app moved.
///
/// # Errors
/// Errors of the database, and undos that cannot be opened.
pub async fn seal_again(write: &mut Write<'_>, bundle: &BundleId, from: OrgId) -> Result<(), ApiError> {
    let to = write.org_id();
    if from == to {
        return Ok(());
    }
    for id in write.org().updates_with_undo(bundle).await? {
        let Some((part, Some(sealed))) = write.org().signed_part(id).await? else {
            continue;
        };
        write.enter(from);
        let opened = write.open_plain(&Place::new(id, UNDO), &sealed).await;
        write.enter(to);
        let sealed = write.seal(&Place::new(id, UNDO), &opened?).await?;
        write.org().set_signed_part(id, &part, Some(&sealed)).await?;
    }
    Ok(())
}

fn read_manifest(signed: &SignedExpo, chain: Option<&str>) -> Result<SignedManifest, SignedExpoError> {
    let manifest = manifest("part", &signed.part)?;
    let undo = signed.undo.as_ref().ok_or(SignedExpoError::NoUndo)?;
    let previous = match (&undo.previous, &undo.previous_update_id) {
        (None, None) => None,
        (Some(text), Some(update)) => Some((self::manifest("undo.previous", text)?, update.parse().ok())),
        _ => return Err(SignedExpoError::Previous),
    };
    let in_order = previous
        .as_ref()
        .is_none_or(|(previous, _)| previous.created_at == manifest.created_at + 1);
    let embedded = roll_back("undo.embedded", &undo.embedded)?;
    if !in_order || embedded != RollBack::from(&manifest).commit_time {
        return Err(SignedExpoError::UndoTime);
    }
    let fits = |previous: &Manifest| previous.id != manifest.id && previous.runtime_version == manifest.runtime_version;
    if previous.as_ref().is_some_and(|(previous, _)| !fits(previous)) {
        return Err(SignedExpoError::OtherPrevious);
    }
    let stored_previous = undo.previous.as_ref().map(|text| stored("undo.previous", text, chain));
    Ok(SignedManifest {
        manifest,
        previous,
        undo: StoredUndo {
            previous: stored_previous.transpose()?,
            previous_update: undo.previous_update_id.clone(),
            embedded: stored("undo.embedded", &undo.embedded, chain)?,
        },
    })
}

fn manifest(field: &'static str, text: &SignedText) -> Result<Manifest, SignedExpoError> {
    Manifest::parse(text.body.as_bytes()).map_err(|error| SignedExpoError::Manifest(field, error))
}

/// The time of a directive that returns to the built-in content.
fn roll_back(field: &'static str, text: &SignedText) -> Result<EpochMs, SignedExpoError> {
    match Directive::parse(text.body.as_bytes()) {
        Ok(Directive::RollBack(roll_back)) => Ok(roll_back.commit_time),
        Ok(Directive::NoUpdate) => Err(SignedExpoError::Kind),
        Err(error) => Err(SignedExpoError::Directive(field, error)),
    }
}

fn stored(field: &'static str, text: &SignedText, chain: Option<&str>) -> Result<StoredPart, SignedExpoError> {
    Signature::parse(&text.signature).map_err(|error| SignedExpoError::Signature(field, error))?;
    Ok(StoredPart {
        body: text.body.clone(),
        signature: text.signature.clone(),
        chain: chain.map(str::to_owned),
    })
}

/// Whether a text is nothing but certificates in PEM: it is served between the parts of an answer.
fn is_pem(text: &str) -> bool {
    let is_line = |line: &str| match line {
        "-----BEGIN CERTIFICATE-----" | "-----END CERTIFICATE-----" | "" => true,
        _ => {
            line.len() <= 76
                && line
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
        }
    };
    text.len() <= MAX_CHAIN && text.contains("-----BEGIN CERTIFICATE-----") && text.lines().all(is_line)
}

/// Clients take what was created last, so a time is above all earlier ones and not far ahead.
async fn check_time(write: &mut Write<'_>, bundle: &BundleId, update: &Update, time: EpochMs) -> Result<(), ApiError> {
    if time > write.now() + MAX_AHEAD {
        return Err(SignedExpoError::Ahead.into());
    }
    let group = IssueGroup {
        bundle,
        platform: update.platform,
        runtime_version: update.release.runtime_version.as_ref(),
        configuration: update.configuration.as_ref(),
    };
    match write.org().newest_issue(&group).await? {
        Some(newest) if time <= newest + UNDO_SPAN => {
            Err(SignedExpoError::NotLater(launchway_domain::time::iso(newest)).into())
        }
        _ => Ok(()),
    }
}

/// A manifest names files of the package, at the addresses where they are served.
fn check_files(
    manifest: &Manifest,
    export: Option<&PackedExport>,
    asset_base: &str,
    update: &Update,
) -> Result<(), SignedExpoError> {
    let export = export.ok_or(SignedExpoError::OtherFiles)?;
    let known: BTreeSet<_> = export.files().map(|file| file.sha256).collect();
    let is_script = manifest.launch_asset.sha256 == export.launch.sha256;
    if !is_script || !manifest.files().all(|asset| known.contains(&asset.sha256)) {
        return Err(SignedExpoError::OtherFiles);
    }
    let bundle_id = &update.bundle_id;
    if !manifest.files().all(|asset| asset.is_at(asset_base, bundle_id)) {
        return Err(SignedExpoError::OtherAddress(asset_base.to_owned()));
    }
    Ok(())
}

/// The content before an update is that of an update of the same app and platform.
async fn check_previous(
    write: &mut Write<'_>,
    bundle: &BundleId,
    update: &Update,
    manifest: &Manifest,
    previous: UpdateId,
) -> Result<(), ApiError> {
    let found = write.org().update(previous).await?.ok_or(ApiError::NoSuch("update"))?;
    let is_same_app = found.bundle_id.eq_ignore_ascii_case(bundle.as_str()) && found.platform == update.platform;
    let json = write.org().package_export(found.package_id).await?;
    let export: Option<PackedExport> = json.and_then(|json| serde_json::from_str(&json).ok());
    let asset_base = write.app().asset_base.clone();
    let has_files = check_files(manifest, export.as_ref(), &asset_base, &found).is_ok();
    if is_same_app && has_files {
        Ok(())
    } else {
        Err(SignedExpoError::OtherPrevious.into())
    }
}

/// Names an update by an id with a time.
pub(super) async fn add(write: &mut Write<'_>, new: &NewIssue<'_>) -> Result<(), ApiError> {
    if write.org().add_issue(new).await? {
        Ok(())
    } else {
        Err(SignedExpoError::Taken(new.id.to_owned()).into())
    }
}
