//! Begins a new repository for an app whose keys are all lost, and what else only an owner decides
//! (`docs/reference/trust.md#reset`).

use launchway_api::trust::{ResetTrust, TrustChange, TrustView};
use launchway_domain::bundle_id::BundleId;
use serde_json::json;

use super::accept::{Acceptance, summarize};
use super::drafts::required;
use super::error::TrustError;
use super::online::{put_repository, used_versions};
use super::proposal::Proposal;
use super::view;
use crate::api_error::ApiError;
use crate::apps;
use crate::write::Write;

/// Begins a new repository at the version above the present root's. Phones with the old root refuse it.
pub async fn reset(write: &mut Write<'_>, wanted: &ResetTrust, proposal: Proposal) -> Result<TrustChange, ApiError> {
    let bundle = apps::bundle_id(&wanted.bundle_id)?;
    if wanted.confirm.trim() != wanted.bundle_id {
        return Err(TrustError::NotConfirmed.into());
    }
    write.touch_updates(&bundle).await?;
    let before = required(&mut write.org(), &bundle).await?;
    let (expected, found) = (
        before.set.root.version() + 1,
        proposal.roots.first().map_or(0, |root| root.version()),
    );
    if found != expected {
        return Err(TrustError::RootVersion { expected, found }.into());
    }
    let acceptance = Acceptance::judge(write, &bundle, None, &proposal).await?;
    let acceptance = acceptance.after(used_versions(&before.repository));
    if acceptance.judgment.set.identity.repository == before.set.identity.repository {
        return Err(TrustError::SameRepository.into());
    }
    let old = before.repository.repository.clone();
    write.org().retire_trust_repository(&bundle, &old).await?;
    let accepted = acceptance.store(write, &proposal, false).await?;
    acceptance.announce(write, &accepted).await?;
    let new = acceptance.judgment.set.identity.repository.to_string();
    write
        .audit(
            "trust.reset",
            &bundle,
            Some(&json!({"repository": old, "root": expected - 1})),
            Some(&json!({"repository": new, "root": expected})),
        )
        .await?;
    summarize(write, &bundle, accepted).await
}

/// Allows or forbids updates of formats that the root does not protect.
pub async fn allow_other_formats(
    write: &mut Write<'_>,
    bundle: &BundleId,
    allowed: bool,
) -> Result<TrustView, ApiError> {
    write.touch_updates(bundle).await?;
    let present = required(&mut write.org(), bundle).await?;
    let before = present.repository;
    if before.other_formats != allowed {
        let mut after = before.clone();
        after.other_formats = allowed;
        put_repository(write, bundle, &after).await?;
        let facts = |allowed| json!({ "allowed": allowed });
        let (old, new) = (facts(before.other_formats), facts(allowed));
        write
            .audit("trust.other_formats", bundle, Some(&old), Some(&new))
            .await?;
    }
    let now = write.now();
    view::read(&mut write.org(), bundle, now).await
}
