//! Makes the next version of a role from updates that wait for its signature (`docs/reference/trust.md#drafts`).

use std::collections::BTreeMap;

use launchway_domain::bundle_id::BundleId;
use launchway_domain::time::EpochMs;
use launchway_domain::update::Update;
use launchway_store::{NewTrustDraft, Org, TrustDraft};
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{Header, Metadata, Targets};
use launchway_trust::next_role::Pruning;
use launchway_trust::profile::UPDATE_ROLE_LIFETIME;
use launchway_trust::{Sha256, UpdateRole};

use super::error::TrustError;
use super::listed_updates::{path_of, signed_update, target_update};
use super::online::whole_seconds;
use super::signature_list::is_signed;
use super::trust_set::TrustSet;
use crate::api_error::ApiError;
use crate::write::Write;

/// Makes the draft of a role from all updates that wait for it, unless somebody signed one already. Returns it.
pub(super) async fn compose_waiting(
    write: &mut Write<'_>,
    bundle: &BundleId,
    set: &TrustSet,
    role: &UpdateRole,
) -> Result<Option<TrustDraft>, ApiError> {
    let name = role.to_string();
    let open = write.org().trust_draft(bundle, &name).await?;
    if open.is_some_and(|draft| is_signed(&draft.content)) || set.authority(role).is_none() {
        return Ok(None);
    }
    let waiting = write.org().awaiting_updates(bundle, &name).await?;
    if waiting.is_empty() {
        write.org().delete_trust_draft(bundle, &name).await?;
        return Ok(None);
    }
    let draft = compose(write, bundle, set, role, &waiting).await?;
    store(write, bundle, &draft).await?;
    Ok(Some(draft))
}

/// The next version of a role: the present one with these updates, the newest first, pruned.
pub(super) async fn compose(
    write: &mut Write<'_>,
    bundle: &BundleId,
    set: &TrustSet,
    role: &UpdateRole,
    updates: &[Update],
) -> Result<TrustDraft, ApiError> {
    let present = set.roles.get(role);
    let mut body = present.map(|file| file.body().clone()).unwrap_or_default();
    let mut published = publication_times(&mut write.org(), bundle, role, &body).await?;
    let now = write.now();
    for update in updates.iter().rev() {
        let signed = signed_update(update).ok_or(TrustError::NoFileList)?;
        let sha256 = update.sha256.parse();
        let sha256: Sha256 = sha256.map_err(|_| ApiError::Internal("the hash of a package is damaged".to_owned()))?;
        if body.revoked.contains(&sha256) {
            continue;
        }
        let length = u64::try_from(update.size).unwrap_or(0);
        published.insert(body.publish(role, update.platform, &signed, sha256, length), now);
    }
    body.prune(&Pruning {
        role,
        published_at: &|path: &str| published.get(path).copied(),
        now,
        signers: set.authority(role).map_or(0, |authority| authority.key_ids().count()),
    });
    let header = Header {
        version: present.map_or(0, Metadata::version) + 1,
        expires: whole_seconds(now + UPDATE_ROLE_LIFETIME),
        identity: Some(set.identity.clone()),
    };
    let text = Draft::new(&header, &body).to_text();
    let content = text.map_err(|error| ApiError::bad(format!("`{role}` has no room for the update: {error}")))?;
    let listed = updates
        .iter()
        .filter(|update| body.targets.contains_key(&path_of(update)));
    Ok(TrustDraft {
        role: role.to_string(),
        version: header.version,
        content,
        update_ids: listed.map(|update| update.id).collect(),
        created_at: now,
        created_by: write.actor_text(),
    })
}

/// When the updates of a role's targets were published, by path.
async fn publication_times(
    org: &mut Org<'_>,
    bundle: &BundleId,
    role: &UpdateRole,
    body: &Targets,
) -> Result<BTreeMap<String, EpochMs>, ApiError> {
    let mut times = BTreeMap::new();
    for (path, target) in &body.targets {
        if let Some(update) = target_update(org, bundle, role, path, target).await? {
            times.insert(path.clone(), update.published_at.unwrap_or(update.created_at));
        }
    }
    Ok(times)
}

/// Stores a draft in place of the one that its role has.
pub(super) async fn store(write: &mut Write<'_>, bundle: &BundleId, draft: &TrustDraft) -> Result<(), ApiError> {
    if write.org().put_trust_draft(&NewTrustDraft { bundle, draft }).await? {
        return Ok(());
    }
    Err(ApiError::Internal(
        "the draft of an app belongs to another organization".to_owned(),
    ))
}
