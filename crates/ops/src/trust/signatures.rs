//! Adds signatures to a draft. The last one that is missing publishes it (`docs/reference/trust.md#drafts`).

use launchway_api::trust::{AddTrustSignatures, TrustChange};
use launchway_domain::bundle_id::BundleId;
use launchway_store::TrustDraft;
use serde_json::json;

use super::accept::{Acceptance, Accepted, summarize};
use super::composition::store;
use super::drafts::required;
use super::error::TrustError;
use super::open_drafts::{GivenSignature, OpenDrafts};
use super::present::Present;
use super::proposal::{MAX_SIGNATURES, Proposal};
use crate::api_error::ApiError;
use crate::apps;
use crate::write::{NOTHING, Write};

/// Adds signatures to the draft of a role.
pub async fn add(write: &mut Write<'_>, given: &AddTrustSignatures) -> Result<TrustChange, ApiError> {
    if given.signatures.len() > MAX_SIGNATURES {
        let limit = MAX_SIGNATURES;
        return Err(TrustError::TooMany {
            what: "signatures",
            limit,
        }
        .into());
    }
    let bundle = apps::bundle_id(&given.bundle_id)?;
    write.touch_updates(&bundle).await?;
    let present = required(&mut write.org(), &bundle).await?;
    let open = OpenDrafts::read(&mut write.org(), &bundle).await?;
    let signatures: Vec<_> = given
        .signatures
        .iter()
        .map(|signature| GivenSignature {
            key_id: &signature.keyid,
            sig: &signature.sig,
        })
        .collect();
    let none = ApiError::NoneFits("This app has no draft of this role");
    let draft = open.row(&given.role).ok_or(none)?;
    if draft.version != given.version {
        return Err(TrustError::DraftVersion {
            role: draft.role.clone(),
            found: draft.version,
            given: given.version,
        }
        .into());
    }
    let Some(content) = open.with_signatures(&present.set, &given.role, &signatures)? else {
        return Err(ApiError::Internal("a draft is gone under its lock".to_owned()));
    };
    let signed = TrustDraft {
        content,
        ..draft.clone()
    };
    store(write, &bundle, &signed).await?;
    let ids: Vec<_> = given.signatures.iter().map(|signature| &signature.keyid).collect();
    let facts = json!({"role": signed.role, "version": signed.version, "keyIds": ids});
    write.audit("trust.sign", &bundle, NOTHING, Some(&facts)).await?;
    let accepted = complete(write, &bundle, &present, &given.role).await?;
    summarize(write, &bundle, accepted).await
}

/// Accepts the drafts that have all their signatures, together if they fit, else the one of this role. One that fits only
/// together with a draft that still lacks signatures waits for it.
async fn complete(
    write: &mut Write<'_>,
    bundle: &BundleId,
    present: &Present,
    role: &str,
) -> Result<Accepted, ApiError> {
    let open = OpenDrafts::read(&mut write.org(), bundle).await?;
    let all = open.complete(&present.set);
    let alone = only(&all, role);
    if alone.is_empty() {
        return Ok(Accepted::default());
    }
    let mut refusal = None;
    for proposal in [all, alone] {
        match Acceptance::judge(write, bundle, Some(present), &proposal).await {
            Ok(acceptance) => {
                let accepted = acceptance.store(write, &proposal, false).await?;
                acceptance.announce(write, &accepted).await?;
                return Ok(accepted);
            }
            Err(ApiError::BadRequest(message)) => refusal = Some(message),
            Err(failure) => return Err(failure),
        }
    }
    // The signature is kept: with the drafts above and below it, the file may fit.
    let others = open.rows.iter().any(|row| row.role != role);
    match refusal {
        Some(message) if !others => Err(ApiError::BadRequest(message)),
        _ => Ok(Accepted::default()),
    }
}

/// The part of a proposal that is of one role.
fn only(proposal: &Proposal, role: &str) -> Proposal {
    match role {
        "root" => Proposal {
            roots: proposal.roots.clone(),
            ..Proposal::default()
        },
        "targets" => Proposal {
            targets: proposal.targets.clone(),
            ..Proposal::default()
        },
        name => {
            let roles = proposal.roles.iter().filter(|(role, _)| role.to_string() == name);
            Proposal {
                roles: roles.map(|(role, file)| (role.clone(), file.clone())).collect(),
                ..Proposal::default()
            }
        }
    }
}
