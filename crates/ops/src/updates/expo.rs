//! Updates of Expo: the ids and times under which clients receive them. A client takes only what was created later than what it
//! runs, so an update to which devices go back gets a new id with a later time (`docs/reference/expo.md#times`).

use launchway_api::updates::NewForeignId;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::release::{Format, RuntimeVersion, UpdateKind};
use launchway_domain::time::{EpochMs, from_iso};
use launchway_domain::update::Update;
use launchway_foreign::expo::{Issue, Manifest, PackedExport, UNDO_SPAN, created_at, reissued};
use launchway_store::{IssueGroup, NewIssue};
use uuid::{Builder, Uuid};

use crate::api_error::ApiError;
use crate::apps;
use crate::updates::expo_signed::{self, MAX_AHEAD, SignedPlan};
use crate::updates::release_error::ReleaseError;
use crate::write::Write;

/// Whether clients of Expo can receive an update.
fn is_for_expo(update: &Update) -> bool {
    update.release.format == Format::Expo || update.release.kind == UpdateKind::Embedded
}

/// The id by which clients of another server know a new update already, and when they take it as created.
#[derive(Clone, Copy, Debug)]
pub struct GivenIssue {
    id: Uuid,
    created_at: Option<EpochMs>,
}

impl GivenIssue {
    /// Reads it from a request.
    ///
    /// # Errors
    /// Some client would not take the id or the time.
    pub fn read(given: &NewForeignId) -> Result<Self, ReleaseError> {
        let text = given.id.as_deref().unwrap_or_default();
        let id = Uuid::try_parse(text).ok().filter(|id| id.to_string() == text);
        let time = |text: &String| from_iso(text).ok_or(ReleaseError::IdTime);
        Ok(Self {
            id: id.ok_or(ReleaseError::ExpoId)?,
            created_at: given.created_at.as_ref().map(time).transpose()?,
        })
    }

    /// Whether the request says when clients take it as created.
    pub fn has_time(&self) -> bool {
        self.created_at.is_some()
    }
}

/// A new update, or a return to the built-in content, that gets its id and time.
pub struct NewRelease<'n> {
    /// The app.
    pub bundle: &'n BundleId,
    /// The update.
    pub update: &'n Update,
    /// What developers signed.
    pub signed: Option<&'n SignedPlan>,
    /// The id that it has already.
    pub given: Option<GivenIssue>,
}

impl NewRelease<'_> {
    /// Gives it the id and time that were signed, those that it has already, or new ones.
    ///
    /// # Errors
    /// No client would accept it.
    pub async fn name(&self, write: &mut Write<'_>) -> Result<(), ApiError> {
        let NewRelease { bundle, update, .. } = *self;
        let id = self.given.map_or_else(|| new_id(write), |given| given.id);
        if let Some(signed) = self.signed {
            let export = match update.release.kind {
                UpdateKind::Update => Some(export(write, update).await?),
                UpdateKind::Embedded => None,
            };
            return signed.store(write, bundle, update, export.as_ref(), id).await;
        }
        let wanted = self.given.and_then(|given| given.created_at);
        if wanted.is_some_and(|wanted| wanted > write.now() + MAX_AHEAD) {
            return Err(ReleaseError::IdAhead.into());
        }
        // A later time than that of another server does no harm: its devices take what is later still.
        let newest = newest(write, bundle, update).await?;
        let time = created_at(wanted.unwrap_or(write.now()), newest);
        if update.release.kind == UpdateKind::Update {
            check_manifest(write, update, id, time).await?;
        }
        let new = NewIssue {
            bundle,
            platform: update.platform,
            update_id: update.id,
            id: &id.to_string(),
            created_at: time,
            undoes: None,
        };
        expo_signed::add(write, &new).await
    }
}

/// Makes sure that devices leave a withdrawn update: what they go back to is issued again, later than it.
///
/// # Errors
/// Errors of the database.
pub async fn withdrawn(write: &mut Write<'_>, update: &Update) -> Result<(), ApiError> {
    if !is_for_expo(update) {
        return Ok(());
    }
    expo_signed::serve_undo(write, update).await?;
    let bundle = apps::bundle_id(&update.bundle_id)?;
    let group = IssueGroup {
        bundle: &bundle,
        platform: update.platform,
        runtime_version: update.release.runtime_version.as_ref(),
        configuration: None,
    };
    let mut live = write.org().reissuable(&group).await?;
    live.retain(|other| !other.is_signed);
    let reissued = reissued(update.release.sequence, live, |other| other.sequence);
    let newest = newest(write, &bundle, update).await?;
    let mut time = created_at(write.now(), newest);
    for other in reissued {
        let id = new_id(write).to_string();
        let new = NewIssue {
            bundle: &bundle,
            platform: update.platform,
            update_id: other.id,
            id: &id,
            created_at: time,
            undoes: None,
        };
        write.org().add_issue(&new).await?;
        time += UNDO_SPAN + 1;
    }
    Ok(())
}

/// The newest time of the updates of its runtime.
async fn newest(write: &mut Write<'_>, bundle: &BundleId, update: &Update) -> Result<Option<EpochMs>, ApiError> {
    let group = IssueGroup {
        bundle,
        platform: update.platform,
        runtime_version: update.release.runtime_version.as_ref(),
        configuration: None,
    };
    Ok(write.org().newest_issue(&group).await?)
}

fn new_id(write: &Write<'_>) -> Uuid {
    let mut bytes = [0; 16];
    write.app().random.fill(&mut bytes);
    Builder::from_random_bytes(bytes).into_uuid()
}

/// Refuses files that a client would not accept under their names.
async fn check_manifest(write: &mut Write<'_>, update: &Update, id: Uuid, time: EpochMs) -> Result<(), ApiError> {
    let export = export(write, update).await?;
    let issue = Issue {
        id,
        created_at: time,
        runtime_version: runtime_version(update)?,
        configuration: update.configuration.as_ref().map(|label| label.as_str()),
        asset_base: &write.app().asset_base,
        bundle_id: &update.bundle_id,
    };
    match Manifest::parse(&export.manifest(&issue).to_json()) {
        Ok(_) => Ok(()),
        Err(refused) => Err(ApiError::bad(format!("The manifest of the export {refused}"))),
    }
}

fn runtime_version(update: &Update) -> Result<&RuntimeVersion, ApiError> {
    let runtime_version = update.release.runtime_version.as_ref();
    runtime_version.ok_or_else(|| ApiError::Internal("an update of Expo without runtime version".to_owned()))
}

async fn export(write: &mut Write<'_>, update: &Update) -> Result<PackedExport, ApiError> {
    let json = write.org().package_export(update.package_id).await?;
    let export = json.and_then(|json| serde_json::from_str(&json).ok());
    export.ok_or_else(|| ApiError::Internal("a package of Expo without its export".to_owned()))
}
