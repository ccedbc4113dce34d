//! Publishing an update of an app with a root: signed at once, or waiting for signatures
//! (`docs/reference/trust.md#publishing`).

use launchway_api::trust::SignedRole;
use launchway_api::updates::UpdateView;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::id::{OrgId, UpdateId};
use launchway_domain::update::{MAX_AWAITING, Update, UpdateStatus};
use launchway_trust::metadata::{Metadata, Targets};
use launchway_trust::next_role::check_publication;
use launchway_trust::{Sha256, UpdateRole};

use super::accept::Acceptance;
use super::composition::compose_waiting;
use super::drafts;
use super::error::TrustError;
use super::listed_updates::{path_of, role_of};
use super::present::{self, Present};
use super::proposal::{Proposal, read_file};
use crate::api_error::ApiError;
use crate::app::App;
use crate::packages;
use crate::write::{NOTHING, Write};

/// The signed next version of a role, as a request carries it.
#[derive(Clone, Debug)]
pub struct SignedFile {
    role: UpdateRole,
    file: Metadata<Targets>,
}

impl SignedFile {
    /// Reads `signed` of a request.
    ///
    /// # Errors
    /// It is no metadata of a role that signs updates.
    pub fn read(signed: &SignedRole) -> Result<Self, TrustError> {
        let role = signed.role.parse();
        Ok(Self {
            role: role.map_err(|_| TrustError::Name(signed.role.chars().take(80).collect()))?,
            file: read_file(&signed.role, signed.metadata.as_bytes())?,
        })
    }
}

/// How an update of an app with a root is published.
pub struct Signing {
    present: Present,
    role: UpdateRole,
    signed: Option<SignedFile>,
    /// Whether signatures of an open draft may be lost.
    force: bool,
}

impl Signing {
    /// How an update of this configuration is published; `None` for an app without a root. Call it under the lock of the
    /// bundle's updates.
    ///
    /// # Errors
    /// The request is signed and the app is not, or its role is not one of the app's roles.
    pub async fn begin(
        write: &mut Write<'_>,
        bundle: &BundleId,
        configuration: Option<&Configuration>,
        signed: Option<SignedFile>,
        force: bool,
    ) -> Result<Option<Self>, ApiError> {
        let Some(present) = present::read(&mut write.org(), bundle).await? else {
            return match signed {
                Some(_) => Err(TrustError::Unneeded.into()),
                None => Ok(None),
            };
        };
        let role = role_of(configuration);
        if present.set.authority(&role).is_none() {
            return Err(TrustError::NoSuchRole(role.to_string()).into());
        }
        if signed.as_ref().is_some_and(|signed| signed.role != role) {
            let expected = role.to_string();
            return Err(TrustError::OtherRole { expected }.into());
        }
        Ok(Some(Self {
            present,
            role,
            signed,
            force,
        }))
    }

    /// The role that signs the update.
    pub fn role(&self) -> String {
        self.role.to_string()
    }

    /// Whether the update is published at once: its role has all its signatures.
    ///
    /// # Errors
    /// The signed file is not the publication of this update.
    pub async fn is_complete(
        &self,
        write: &mut Write<'_>,
        bundle: &BundleId,
        update: &Update,
    ) -> Result<bool, ApiError> {
        let role = self.role.to_string();
        let present = self.present.set.roles.get(&self.role);
        let sha256 = update.sha256.parse();
        let sha256: Sha256 = sha256.map_err(|_| ApiError::Internal("the hash of a package is damaged".to_owned()))?;
        if present.is_some_and(|file| file.body().revoked.contains(&sha256)) {
            return Err(TrustError::Revoked(role).into());
        }
        if update.manifest.is_none() {
            return Err(TrustError::NoFileList.into());
        }
        let Some(proposal) = self.proposal() else {
            return Ok(false);
        };
        let acceptance = Acceptance::judge(write, bundle, Some(&self.present), &proposal).await?;
        for file in proposal.roles.values() {
            check_publication(present, file, &path_of(update)).map_err(|error| TrustError::Publication {
                role: role.clone(),
                error,
            })?;
        }
        Ok(acceptance.judgment.lacking.is_empty())
    }

    /// Ends the publication of an update that was just stored: accepts the signed role, or makes the draft.
    pub async fn end(self, write: &mut Write<'_>, bundle: &BundleId, update: &Update) -> Result<(), ApiError> {
        let view = UpdateView::of(update);
        let name = self.role.to_string();
        if self.signed.is_some() || self.force {
            drafts::discard_unsigned(write, bundle, &name, self.force).await?;
        }
        let proposal = self.proposal();
        if update.status == UpdateStatus::AwaitingSignature {
            // This one is among them.
            if write.org().awaiting_updates(bundle, &name).await?.len() > MAX_AWAITING {
                let (role, limit) = (name, MAX_AWAITING);
                return Err(TrustError::TooManyWaiting { role, limit }.into());
            }
            match proposal {
                Some(proposal) => {
                    drafts::store_proposal(write, bundle, &self.present, &proposal, false).await?;
                }
                None => {
                    compose_waiting(write, bundle, &self.present.set, &self.role).await?;
                }
            }
            write.audit("update.await", update.id, NOTHING, Some(&view)).await?;
            return write.event("update.awaiting_signature", &view).await;
        }
        if let Some(proposal) = proposal {
            let acceptance = Acceptance::judge(write, bundle, Some(&self.present), &proposal).await?;
            acceptance.store(write, &proposal, false).await?;
        }
        write.audit("update.publish", update.id, NOTHING, Some(&view)).await?;
        write.event("update.published", &view).await
    }

    fn proposal(&self) -> Option<Proposal> {
        let signed = self.signed.as_ref()?;
        Some(Proposal::of_role(signed.role.clone(), signed.file.clone()))
    }
}

/// Refuses a signed file whose version is in use before its package is inspected. The binding check is that of the
/// transaction.
///
/// # Errors
/// The version is in use.
pub async fn check_version(app: &App, org: OrgId, bundle: &BundleId, signed: &SignedFile) -> Result<(), ApiError> {
    let mut tx = app.db.read().await?;
    let mut rows = tx.org(org);
    let Some(repository) = rows.trust_repository(bundle).await? else {
        return Ok(());
    };
    let (role, found) = (signed.role.to_string(), signed.file.version());
    let present = rows.trust_file(bundle, &repository.repository, &role).await?;
    match present.map(|file| file.version).filter(|present| *present >= found) {
        Some(present) => Err(TrustError::Version { role, present, found }.into()),
        None => Ok(()),
    }
}

/// Computes the hash of the list of files in an update's package, if the app has a root and nobody has yet: for an update
/// whose bytes are published again.
///
/// # Errors
/// The package cannot be read now.
pub async fn learn_manifest(app: &App, org: OrgId, id: UpdateId) -> Result<(), ApiError> {
    let mut tx = app.db.read().await?;
    let mut rows = tx.org(org);
    let Some(update) = rows.update(id).await?.filter(|update| update.manifest.is_none()) else {
        return Ok(());
    };
    let bundle = crate::apps::bundle_id(&update.bundle_id)?;
    if rows.trust_repository(&bundle).await?.is_none() {
        return Ok(());
    }
    drop(tx);
    let package = packages::package_of(&update);
    if let Some(manifest) = packages::manifest(app, &package).await? {
        let mut tx = app.db.write().await?;
        tx.org(org).set_package_manifest(package.id, &manifest).await?;
        tx.commit().await?;
    }
    Ok(())
}
