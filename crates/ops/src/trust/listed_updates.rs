//! The updates that a role lists: each new target must be one of them, signatures release those that wait, and revoked
//! ones are withdrawn.

use launchway_api::updates::UpdateView;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::id::UpdateId;
use launchway_domain::platform::Platform;
use launchway_domain::update::{Update, UpdateStatus};
use launchway_store::{NamedTarget, Org, UpdateChange};
use launchway_trust::metadata::{Metadata, Target, Targets};
use launchway_trust::{Sha256, Update as SignedUpdate, UpdateRole, target_path};

use super::error::TrustError;
use crate::api_error::ApiError;
use crate::write::Write;

const NOT_HERE: &str =
    "is not an update of this app on this server. Publish it first, or set restore if this server lost it.";
const OTHER: &str = "names an update whose package, length or fingerprint differs. Sign what the server has.";
const NO_FILE_LIST: &str = "names an update whose list of files is not known. Publish it again with sourceUpdateId.";

/// The role that signs an update of this configuration.
pub fn role_of(configuration: Option<&Configuration>) -> UpdateRole {
    match configuration {
        Some(label) => UpdateRole::Configuration(label.clone()),
        None => UpdateRole::Any,
    }
}

/// The path of an update's target.
pub fn path_of(update: &Update) -> String {
    let role = role_of(update.configuration.as_ref());
    target_path(&role, update.platform, &update.version, update.build_number.value())
}

/// Whether a role lists an update with its package.
pub fn lists(file: &Metadata<Targets>, update: &Update) -> bool {
    let target = file.body().targets.get(&path_of(update));
    target
        .and_then(Target::sha256)
        .is_some_and(|hash| hash.to_string() == update.sha256)
}

/// What is signed about an update; `None` if the list of its files is not known.
pub fn signed_update(update: &Update) -> Option<SignedUpdate> {
    let manifest = update.manifest.as_ref()?.parse().ok()?;
    let fingerprint = update.fingerprint.as_ref().map(|hash| hash.as_str().to_owned());
    Some(SignedUpdate::new(
        update.version.clone(),
        update.build_number.clone(),
        fingerprint,
        manifest,
    ))
}

/// Checks that each target that is new in a role is an update of this app. `lost_too` accepts those that this server does
/// not have.
pub(super) async fn check_new(
    org: &mut Org<'_>,
    bundle: &BundleId,
    role: &UpdateRole,
    (before, next): (Option<&Metadata<Targets>>, &Metadata<Targets>),
    lost_too: bool,
) -> Result<Vec<Update>, ApiError> {
    let mut found = Vec::new();
    for (path, target) in &next.body().targets {
        if before.is_some_and(|before| before.body().targets.get(path) == Some(target)) {
            continue;
        }
        let refused = |problem| {
            let path = path.clone();
            ApiError::from(TrustError::Target { path, problem })
        };
        match target_update(org, bundle, role, path, target).await? {
            None if lost_too => {}
            None => return Err(refused(NOT_HERE)),
            Some(update) => {
                check_target(&update, target).map_err(refused)?;
                found.push(update);
            }
        }
    }
    Ok(found)
}

/// The update that a target names.
pub(super) async fn target_update(
    org: &mut Org<'_>,
    bundle: &BundleId,
    role: &UpdateRole,
    path: &str,
    target: &Target,
) -> Result<Option<Update>, ApiError> {
    let Ok(signed) = SignedUpdate::of(target) else {
        return Ok(None);
    };
    let mut platforms = Platform::ALL.into_iter();
    let Some(platform) = platforms.find(|platform| signed.path(role, *platform) == path) else {
        return Ok(None);
    };
    let configuration = match role {
        UpdateRole::Configuration(label) => Some(label),
        UpdateRole::Any => None,
    };
    let named = NamedTarget {
        bundle,
        platform,
        configuration,
        version: signed.version(),
        build: signed.build(),
    };
    Ok(org.update_of_target(&named).await?)
}

/// Checks that a target says of an update what the server knows.
fn check_target(update: &Update, target: &Target) -> Result<(), &'static str> {
    let same_bytes = target.sha256().is_some_and(|hash| hash.to_string() == update.sha256)
        && i64::try_from(target.length).is_ok_and(|length| length == update.size);
    let known = signed_update(update).ok_or(NO_FILE_LIST)?;
    let signed = SignedUpdate::of(target).map_err(|_| OTHER)?;
    let same_content = signed.fingerprint == known.fingerprint && signed.manifest == known.manifest;
    if same_bytes && same_content { Ok(()) } else { Err(OTHER) }
}

/// Publishes the updates that waited for this version of their role.
pub(super) async fn release(
    write: &mut Write<'_>,
    bundle: &BundleId,
    role: &UpdateRole,
    file: &Metadata<Targets>,
) -> Result<Vec<UpdateId>, ApiError> {
    let waiting = write.org().awaiting_updates(bundle, &role.to_string()).await?;
    let mut released = Vec::new();
    for before in waiting.iter().rev().filter(|update| lists(file, update)) {
        let now = write.now();
        if !write.org().release_update(before.id, now).await? {
            continue;
        }
        let after = write.org().update(before.id).await?;
        let view = UpdateView::of(&after.ok_or(ApiError::NoSuch("update"))?);
        let old = UpdateView::of(before);
        write
            .audit("update.release", before.id, Some(&old), Some(&view))
            .await?;
        write.event("update.published", &view).await?;
        released.push(before.id);
    }
    Ok(released)
}

/// Withdraws the updates of a role whose packages it revokes since this version.
pub(super) async fn withdraw_revoked(
    write: &mut Write<'_>,
    bundle: &BundleId,
    role: &UpdateRole,
    (before, next): (Option<&Metadata<Targets>>, &Metadata<Targets>),
) -> Result<(), ApiError> {
    let revoked = next.body().revoked.iter();
    let known = |hash: &Sha256| before.is_some_and(|before| before.body().revoked.contains(hash));
    for hash in revoked.filter(|hash| !known(hash)) {
        let updates = write.org().updates_of_package(bundle, &hash.to_string()).await?;
        let of_role = |update: &&Update| role_of(update.configuration.as_ref()) == *role;
        for update in updates.iter().filter(of_role) {
            withdraw(write, update).await?;
        }
    }
    Ok(())
}

/// Withdraws an update, also one that waits for its signature.
pub(super) async fn withdraw(write: &mut Write<'_>, before: &Update) -> Result<(), ApiError> {
    let after = Update {
        status: UpdateStatus::Withdrawn,
        ..before.clone()
    };
    if before.status == UpdateStatus::AwaitingSignature {
        write.org().withdraw_awaiting_update(before.id).await?;
    } else {
        let change = UpdateChange {
            status: after.status,
            rollout: after.rollout,
            mandatory: after.mandatory,
            release_notes: after.release_notes.clone(),
        };
        write.org().change_update(before.id, &change).await?;
    }
    let (old, new) = (UpdateView::of(before), UpdateView::of(&after));
    write
        .audit("update.withdraw", before.id, Some(&old), Some(&new))
        .await?;
    write.event("update.withdrawn", &new).await
}
