//! What the present roles of an app say about one of its updates (`docs/reference/trust.md#targets`).

use std::collections::BTreeSet;

use launchway_domain::bundle_id::BundleId;
use launchway_domain::update::Update;
use launchway_store::{Org, TrustFileRow};
use launchway_trust::metadata::{Metadata, Targets};
use launchway_trust::{UpdateRole, target_path};

use crate::api_error::ApiError;

/// An update of an app with signed updates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The role that revokes its package.
    pub revoked_by: Option<String>,
    /// Whether its role lists it. Devices are offered only listed updates.
    pub is_listed: bool,
}

/// Reads what the roles of the app say about an update; `None` if the app has no root.
pub async fn listing(org: &mut Org<'_>, update: &Update) -> Result<Option<Listing>, ApiError> {
    let damaged = || ApiError::Internal(format!("the stored metadata of {} is damaged", update.bundle_id));
    let bundle: BundleId = update.bundle_id.parse().map_err(|_| damaged())?;
    let Some(repository) = org.trust_repository(&bundle).await? else {
        return Ok(None);
    };
    let mut listing = Listing::default();
    for file in files(org, &bundle, &repository.repository, update).await? {
        let Ok(role) = file.role.parse::<UpdateRole>() else {
            continue;
        };
        let metadata = Metadata::<Targets>::parse(file.content.as_bytes()).map_err(|_| damaged())?;
        let targets = metadata.body();
        if targets.revoked.iter().any(|hash| hash.to_string() == update.sha256) {
            listing.revoked_by = Some(file.role.clone());
        }
        if update.trust_role.as_ref() == Some(&file.role) {
            let path = target_path(&role, update.platform, &update.version, update.build_number.value());
            let hash = targets.targets.get(&path).and_then(|target| target.sha256());
            listing.is_listed = hash.is_some_and(|hash| hash.to_string() == update.sha256);
        }
    }
    Ok(Some(listing))
}

/// The files of the roles that may revoke or list an update (`docs/reference/trust.md#offered-updates`). Those of an app
/// with many roles are large, so they are not all read for an update with a role of its own.
async fn files(
    org: &mut Org<'_>,
    bundle: &BundleId,
    repository: &str,
    update: &Update,
) -> Result<Vec<TrustFileRow>, ApiError> {
    let Some(own) = &update.trust_role else {
        return Ok(org.trust_files(bundle, repository).await?);
    };
    let mut files = Vec::new();
    for role in BTreeSet::from([own.clone(), UpdateRole::Any.to_string()]) {
        files.extend(org.trust_file(bundle, repository, &role).await?);
    }
    Ok(files)
}
