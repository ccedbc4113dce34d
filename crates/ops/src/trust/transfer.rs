//! The move of an app to another organization: the server's keys for its snapshot and timestamp are sealed anew.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::OrgId;

use super::online::key_place;
use crate::api_error::ApiError;
use crate::write::Write;

/// Seals the keys of an app, which were sealed for `from`, for the organization of the change.
pub async fn seal_again(write: &mut Write<'_>, bundle: &BundleId, from: OrgId) -> Result<(), ApiError> {
    let to = write.org_id();
    if from == to {
        return Ok(());
    }
    let keys = write
        .system("a key moves between tenants with its app")
        .sealed_trust_online_keys(bundle)
        .await?;
    for (id, sealed) in keys {
        write.enter(from);
        let opened = write
            .open_secret(&key_place(&id), &sealed, "the transfer of the app")
            .await;
        write.enter(to);
        let sealed = write.seal(&key_place(&id), &opened?).await?;
        write
            .system("a key moves between tenants with its app")
            .reseal_trust_online_key(&id, &sealed)
            .await?;
    }
    Ok(())
}
