//! The renewal of root and targets before they expire, where their keys are, as part of publishing
//! (`docs/reference/trust.md#drafts-and-renewal`).

use launchway_client::Client;
use launchway_domain::time::{DAY, EpochMs, minute};
use launchway_trust::metadata::Header;

use crate::context::Context;
use crate::developer_role::DeveloperRole;
use crate::failure::Failure;
use crate::trust::change;
use crate::trust::file::ProjectTrust;
use crate::trust::next_versions::NextVersions;
use crate::trust::repository::VerifiedRepository;
use crate::trust::signers::Signers;

/// Root and targets are renewed when less is left.
const DUE: EpochMs = 90 * DAY;
/// Somebody should act when less is left and the keys are not here.
const URGENT: EpochMs = 30 * DAY;

/// Renews root and targets if fewer than 90 days are left and this machine has enough of their keys. Returns the new
/// metadata if something was renewed. A renewal that fails is a warning: publishing does not depend on it.
pub async fn renew_if_due(
    repository: &VerifiedRepository,
    service: &Client,
    project: &mut ProjectTrust,
    signers: &mut Signers,
    context: &Context,
) -> Result<Option<VerifiedRepository>, Failure> {
    let mut due = Vec::new();
    for (role, header) in headers(repository) {
        let left = header.expires.saturating_sub(repository.now());
        let authority = repository.authority(&role);
        let here = authority.is_some_and(|authority| signers.can_sign(authority));
        if left < DUE && here {
            due.push(role);
        } else if left < URGENT {
            let warning = format!(
                "{role} expires at {}: a holder of its keys must run `launchway trust sign {role}`",
                minute(header.expires)
            );
            context.printer.warn(&warning);
        }
    }
    if due.is_empty() {
        return Ok(None);
    }
    match renew(&due, repository, service, project, signers, context).await {
        Ok(renewed) => Ok(Some(renewed)),
        Err(failure) => {
            let warning = format!("cannot renew the metadata of the app: {}", failure.message);
            context.printer.warn(&warning);
            Ok(None)
        }
    }
}

fn headers(repository: &VerifiedRepository) -> [(DeveloperRole, &Header); 2] {
    [
        (DeveloperRole::Root, repository.root().header()),
        (DeveloperRole::Targets, repository.targets().header()),
    ]
}

async fn renew(
    due: &[DeveloperRole],
    repository: &VerifiedRepository,
    service: &Client,
    project: &mut ProjectTrust,
    signers: &mut Signers,
    context: &Context,
) -> Result<VerifiedRepository, Failure> {
    let online = repository.online_key();
    let online = online.ok_or_else(|| Failure::failed("the root names no key of the server"))?;
    let mut next = NextVersions::of(repository);
    for role in due {
        next.renew(role, None)?;
    }
    for line in change::describe(&next) {
        context.printer.note(&line);
    }
    let signed = change::sign(&next, &online, signers).await?;
    signed.send(service, project, context).await?;
    let file = project.required()?;
    VerifiedRepository::fetch(context, service, &project.bundle_id, file).await
}
