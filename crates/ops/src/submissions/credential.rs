//! Chooses the credential for the app store: the one that is named, or the only one that fits.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::credential::{Credential, CredentialKind, CredentialStatus, MAX_CREDENTIALS};
use launchway_domain::id::CredentialId;
use launchway_domain::submission::Store;
use launchway_store::Paging;

use crate::api_error::ApiError;
use crate::write::Write;

/// More than the maximum number of credentials of an organization.
const ALL: Paging = Paging {
    limit: MAX_CREDENTIALS,
    offset: 0,
};

/// The kind of credential that an app store requires.
pub const fn kind_of(store: Store) -> CredentialKind {
    match store {
        Store::AppStore => CredentialKind::AppStoreConnectKey,
        Store::GooglePlay => CredentialKind::GoogleServiceAccount,
    }
}

/// Chooses the credential for an app. One for this app precedes those for every app.
pub async fn choose(
    write: &mut Write<'_>,
    named: Option<Option<CredentialId>>,
    store: Store,
    bundle: &BundleId,
) -> Result<CredentialId, ApiError> {
    if let Some(named) = named {
        let none = || ApiError::NoSuch("credential");
        let credential = write
            .org()
            .credential(named.ok_or_else(none)?)
            .await?
            .ok_or_else(none)?;
        return fits(&credential, store, bundle, write.now());
    }
    let (now, kind) = (write.now(), kind_of(store));
    let mut all = write.org().credentials(ALL).await?.items;
    all.retain(|one| fits(one, store, bundle, now).is_ok());
    if all.iter().any(|one| one.bundle_id.is_some()) {
        all.retain(|one| one.bundle_id.is_some());
    }
    match all.as_slice() {
        [one] => Ok(one.id),
        [] => Err(ApiError::bad(format!(
            "This app has no credential of the kind {kind}. An admin can add one with POST /credentials."
        ))),
        several => {
            let ids: Vec<String> = several.iter().map(|one| format!("{} ({})", one.id, one.name)).collect();
            Err(ApiError::bad(format!(
                "Several credentials fit. Specify one of them in credentialId: {}.",
                ids.join(", ")
            )))
        }
    }
}

fn fits(credential: &Credential, store: Store, bundle: &BundleId, now: i64) -> Result<CredentialId, ApiError> {
    let wanted = kind_of(store);
    if !credential.is(wanted) {
        return Err(ApiError::bad(format!(
            "credentialId must be a credential of the kind {wanted}, but this one is {}",
            credential.kind
        )));
    }
    if credential.status(now) != CredentialStatus::Active {
        return Err(ApiError::bad("credentialId is an expired credential; add a new one"));
    }
    if credential.bundle_id.as_ref().is_some_and(|own| own != bundle) {
        return Err(ApiError::bad("credentialId is a credential of another app"));
    }
    Ok(credential.id)
}
