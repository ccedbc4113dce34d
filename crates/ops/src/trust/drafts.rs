//! Drafts: the next version of a role on its way to its threshold, one for each role of an app
//! (`docs/reference/trust.md#drafts`). A draft of updates that wait is made by the server; updates join it until somebody
//! signs it.

use std::collections::{BTreeMap, BTreeSet};

use launchway_api::trust::{CreateTrustDraft, TrustDraftView};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::UpdateId;
use launchway_domain::update::{Update, UpdateStatus};
use launchway_store::{Org, TrustDraft};
use launchway_trust::UpdateRole;
use launchway_trust::metadata::{Body, Metadata};
use serde_json::json;

use super::composition::{compose, compose_waiting, store};
use super::error::TrustError;
use super::listed_updates::{check_new, lists};
use super::open_drafts::OpenDrafts;
use super::permission::Permission;
use super::present::{self, Present};
use super::proposal::{Proposal, read_file};
use super::signature_list::{is_signed, joined, with_signatures_of};
use super::view;
use crate::api_error::ApiError;
use crate::apps;
use crate::write::{NOTHING, Write};

/// The error for a role without a draft.
const NO_DRAFT: &str = "This app has no draft of this role";

/// Makes the draft of a role from updates that wait.
pub async fn create(write: &mut Write<'_>, wanted: &CreateTrustDraft) -> Result<TrustDraftView, ApiError> {
    let bundle = apps::bundle_id(&wanted.bundle_id)?;
    let role: UpdateRole = wanted.role.parse().map_err(|_| TrustError::Name(wanted.role.clone()))?;
    write.touch_updates(&bundle).await?;
    let present = required(&mut write.org(), &bundle).await?;
    if present.set.authority(&role).is_none() {
        return Err(TrustError::NotDelegated(role.to_string()).into());
    }
    discard_unsigned(write, &bundle, &role.to_string(), wanted.force.unwrap_or(false)).await?;
    let waiting = write.org().awaiting_updates(&bundle, &role.to_string()).await?;
    let chosen = match &wanted.update_ids {
        Some(ids) => choose(&mut write.org(), &role, waiting, ids).await?,
        None => waiting,
    };
    if chosen.is_empty() {
        return Err(TrustError::NothingWaits(role.to_string()).into());
    }
    let draft = compose(write, &bundle, &present.set, &role, &chosen).await?;
    store(write, &bundle, &draft).await?;
    let facts = json!({"role": draft.role, "version": draft.version});
    write.audit("trust.draft", &bundle, NOTHING, Some(&facts)).await?;
    let open = OpenDrafts::read(&mut write.org(), &bundle).await?;
    Ok(view::draft(&bundle, &present.set, &open, &draft, true))
}

/// The updates with these ids, which all wait for the role.
async fn choose(
    org: &mut Org<'_>,
    role: &UpdateRole,
    waiting: Vec<Update>,
    ids: &[String],
) -> Result<Vec<Update>, ApiError> {
    let ids: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    let chosen: Vec<_> = waiting
        .into_iter()
        .filter(|update| ids.contains(update.id.to_string().as_str()))
        .collect();
    for text in ids {
        if chosen.iter().any(|update| update.id.to_string() == text) {
            continue;
        }
        let id: UpdateId = text.parse().map_err(|_| ApiError::NoSuch("update"))?;
        let other = org.update(id).await?.ok_or(ApiError::NoSuch("update"))?;
        return Err(TrustError::NotWaiting {
            update: other.id.to_string(),
            role: role.to_string(),
        }
        .into());
    }
    Ok(chosen)
}

/// Deletes the draft of a role. Its updates go on waiting. Only an admin deletes that of a root or of `targets`.
pub async fn delete(
    write: &mut Write<'_>,
    bundle: &BundleId,
    role: &str,
    permission: Permission,
) -> Result<(), ApiError> {
    write.touch_updates(bundle).await?;
    let Some(draft) = write.org().trust_draft(bundle, role).await? else {
        return Err(ApiError::NoneFits(NO_DRAFT));
    };
    if permission != Permission::All && matches!(role, "root" | "targets") {
        return Err(ApiError::Forbidden(format!(
            "Deleting a draft of `{role}` requires an admin"
        )));
    }
    write.org().delete_trust_draft(bundle, role).await?;
    let facts = json!({"role": draft.role, "version": draft.version, "signed": is_signed(&draft.content)});
    write.audit("trust.draft_delete", bundle, Some(&facts), NOTHING).await
}

/// The draft of a role with its metadata.
pub async fn read(org: &mut Org<'_>, bundle: &BundleId, role: &str) -> Result<TrustDraftView, ApiError> {
    let Some(present) = present::read(org, bundle).await? else {
        return Err(none());
    };
    let open = OpenDrafts::read(org, bundle).await?;
    let row = open.row(role).ok_or_else(none)?;
    Ok(view::draft(bundle, &present.set, &open, row, true))
}

/// The answer to who asks for a draft that does not exist.
pub fn none() -> ApiError {
    ApiError::NoneFits(NO_DRAFT)
}

/// What is accepted for an app that must have a root.
pub(super) async fn required(org: &mut Org<'_>, bundle: &BundleId) -> Result<Present, ApiError> {
    let present = present::read(org, bundle).await?;
    present.ok_or_else(|| TrustError::NoRoot.into())
}

/// Adds the signatures of open drafts to proposed files that say the same. Returns the roles of those files.
///
/// # Errors
/// A proposed file says something else than a draft with signatures, which would be lost.
pub(super) async fn merge(
    org: &mut Org<'_>,
    bundle: &BundleId,
    proposal: &mut Proposal,
) -> Result<BTreeSet<String>, ApiError> {
    let mut completed = BTreeSet::new();
    let drafts = org.trust_drafts(bundle).await?;
    for draft in drafts {
        let same = match draft.role.as_str() {
            "root" => proposal.roots.first_mut().map(|file| merge_file(&draft, file)),
            "targets" => proposal.targets.as_mut().map(|file| merge_file(&draft, file)),
            name => {
                let mut roles = proposal.roles.iter_mut();
                let file = roles.find(|(role, _)| role.to_string() == name);
                file.map(|(_, file)| merge_file(&draft, file))
            }
        };
        if same.transpose()? == Some(true) {
            completed.insert(draft.role);
        }
    }
    Ok(completed)
}

/// Adds the signatures of a draft to a file that says the same; returns whether it does.
fn merge_file<T: Body>(draft: &TrustDraft, file: &mut Metadata<T>) -> Result<bool, ApiError> {
    let known: Metadata<T> = read_file(&draft.role, draft.content.as_bytes())?;
    if known.message() != file.message() {
        if is_signed(&draft.content) {
            return Err(signed_error(draft));
        }
        return Ok(false);
    }
    let text = joined(file.bytes(), draft.content.as_bytes(), T::LIMIT);
    let text = text.ok_or_else(|| ApiError::Internal("a draft cannot be read".to_owned()))?;
    *file = read_file(&draft.role, text.as_bytes())?;
    Ok(true)
}

/// Stores proposed files as drafts, because one of them has too few signatures. Signatures that do not verify are left out:
/// they would take the places of others.
pub(super) async fn store_proposal(
    write: &mut Write<'_>,
    bundle: &BundleId,
    present: &Present,
    proposal: &Proposal,
    restore: bool,
) -> Result<(), ApiError> {
    let mut made = BTreeMap::new();
    for root in &proposal.roots {
        made.insert("root".to_owned(), of_file(write, "root", root, Vec::new())?);
    }
    if let Some(targets) = &proposal.targets {
        made.insert("targets".to_owned(), of_file(write, "targets", targets, Vec::new())?);
    }
    for (role, file) in &proposal.roles {
        let before = present.set.roles.get(role);
        let found = check_new(&mut write.org(), bundle, role, (before, file), restore).await?;
        let waiting = found
            .into_iter()
            .filter(|update| update.status == UpdateStatus::AwaitingSignature && lists(file, update));
        let name = role.to_string();
        made.insert(
            name.clone(),
            of_file(write, &name, file, waiting.map(|update| update.id).collect())?,
        );
    }
    for draft in made.values() {
        store(write, bundle, draft).await?;
    }
    let open = OpenDrafts::read(&mut write.org(), bundle).await?;
    for draft in made.values_mut() {
        let ids = open.signed_key_ids(&present.set, &draft.role);
        let content = with_signatures_of(&ids, &draft.content);
        draft.content = content.ok_or_else(|| ApiError::Internal("a draft cannot be read".to_owned()))?;
        store(write, bundle, draft).await?;
    }
    let versions: BTreeMap<_, _> = made.iter().map(|(role, draft)| (role, draft.version)).collect();
    write.audit("trust.draft", bundle, NOTHING, Some(&versions)).await
}

fn of_file<T: Body>(
    write: &Write<'_>,
    role: &str,
    file: &Metadata<T>,
    update_ids: Vec<UpdateId>,
) -> Result<TrustDraft, ApiError> {
    let content = String::from_utf8(file.bytes().to_vec()).map_err(|error| ApiError::Internal(error.to_string()))?;
    Ok(TrustDraft {
        role: role.to_owned(),
        version: file.version(),
        content,
        update_ids,
        created_at: write.now(),
        created_by: write.actor_text(),
    })
}

/// Takes an update that no longer waits out of the draft of its role. A draft with signatures stays as it was signed.
pub async fn forget(write: &mut Write<'_>, update: &Update) -> Result<(), ApiError> {
    let Some(role) = update.trust_role.as_ref().and_then(|role| role.parse().ok()) else {
        return Ok(());
    };
    let bundle = apps::bundle_id(&update.bundle_id)?;
    if let Some(present) = present::read(&mut write.org(), &bundle).await? {
        compose_waiting(write, &bundle, &present.set, &role).await?;
    }
    Ok(())
}

/// Deletes the draft of a role if nobody signed it, or if its signatures may be lost; returns whether some are.
///
/// # Errors
/// It has signatures.
pub(super) async fn discard_unsigned(
    write: &mut Write<'_>,
    bundle: &BundleId,
    role: &str,
    force: bool,
) -> Result<bool, ApiError> {
    let Some(draft) = write.org().trust_draft(bundle, role).await? else {
        return Ok(false);
    };
    let signed = is_signed(&draft.content);
    if signed && !force {
        return Err(signed_error(&draft));
    }
    write.org().delete_trust_draft(bundle, role).await?;
    if signed {
        let facts = json!({"role": draft.role, "version": draft.version, "signed": true});
        write.audit("trust.draft_delete", bundle, Some(&facts), NOTHING).await?;
        let lost = json!({"role": draft.role, "version": draft.version});
        let event = json!({"bundleId": bundle.as_str(), "versions": {}, "lostDraft": lost});
        write.event("trust.changed", &event).await?;
    }
    Ok(signed)
}

fn signed_error(draft: &TrustDraft) -> ApiError {
    let (role, version) = (draft.role.clone(), draft.version);
    TrustError::SignedDraft { role, version }.into()
}
