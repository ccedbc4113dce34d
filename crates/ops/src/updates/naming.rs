//! How the clients of other services name a new update (`docs/reference/foreign-clients.md#foreign-ids`).

use launchway_domain::bundle_id::BundleId;
use launchway_domain::release::{ForeignId, Protocol, Sequence};
use launchway_domain::update::Update;
use launchway_foreign::hot_updater::FileHash;
use launchway_store::NewForeignId;

use crate::api_error::ApiError;
use crate::updates::release_error::ReleaseError;
use crate::write::Write;

/// An update that gets its ids.
pub(super) struct Naming<'n> {
    pub bundle: &'n BundleId,
    pub update: &'n Update,
}

impl Naming<'_> {
    fn id<'f>(&'f self, protocol: Protocol, id: &'f ForeignId) -> NewForeignId<'f> {
        NewForeignId {
            protocol,
            bundle: self.bundle,
            platform: self.update.platform,
            id,
            update_id: self.update.id,
            file_hash: None,
        }
    }

    async fn add(&self, write: &mut Write<'_>, protocol: Protocol, id: &ForeignId) -> Result<bool, ApiError> {
        let new = self.id(protocol, id);
        Ok(write.org().add_foreign_id(&new).await?)
    }

    fn taken(protocol: Protocol, id: &str) -> ApiError {
        ApiError::bad(format!(
            "foreignIds: another update of this app and platform already has the {protocol} id `{id}`"
        ))
    }

    /// Within its configuration: the label, and the hash, which may name an earlier release with the same content.
    pub async fn codepush(&self, write: &mut Write<'_>, given: Option<&str>) -> Result<(), ApiError> {
        let within = |id: &str| {
            let configuration = self.update.configuration.as_ref().map(|label| label.as_str());
            ForeignId::within(configuration, id).map_err(|_| ApiError::from(ReleaseError::Id))
        };
        let sequence = self.update.release.sequence.unwrap_or(Sequence::EMBEDDED);
        let label = given.map_or_else(|| format!("v{sequence}"), str::to_owned);
        if !self.add(write, Protocol::Codepush, &within(&label)?).await? {
            return Err(Self::taken(Protocol::Codepush, &label));
        }
        let hash = self.update.release.content_id.as_deref().unwrap_or_default();
        let hash = within(hash)?;
        write.org().move_foreign_id(&self.id(Protocol::Codepush, &hash)).await?;
        Ok(())
    }

    /// A given name, or the version, with the build number if another update has it.
    pub async fn capgo(&self, write: &mut Write<'_>, given: Option<&str>) -> Result<(), ApiError> {
        let version = self.update.version_text.as_str();
        let with_build = format!("{version}+{}", self.update.build_number.as_str());
        let names = given.map_or_else(|| vec![version, with_build.as_str()], |name| vec![name]);
        for name in &names {
            let id = ForeignId::parse(name).map_err(|_| ReleaseError::Id)?;
            if self.add(write, Protocol::Capgo, &id).await? {
                return Ok(());
            }
        }
        Err(Self::taken(Protocol::Capgo, names.last().copied().unwrap_or_default()))
    }

    /// The id inside the archive. Clients order bundles by it, so it must be above all earlier ones.
    pub async fn hot_updater(&self, write: &mut Write<'_>, file_hash: Option<&FileHash>) -> Result<(), ApiError> {
        let protocol = Protocol::HotUpdater;
        let signature = match file_hash {
            Some(FileHash::Sha256(hash)) if hex::encode(hash) != self.update.sha256 => {
                return Err(ReleaseError::OtherFileHash.into());
            }
            Some(FileHash::Sha256(_)) | None => None,
            Some(signature @ FileHash::Signature(_)) => Some(signature.to_string()),
        };
        let own = self.update.release.content_id.clone().unwrap_or_default();
        let highest = write
            .org()
            .highest_foreign_id(protocol, self.bundle, self.update.platform)
            .await?;
        if highest.is_some_and(|highest| highest >= own) {
            return Err(ApiError::bad(format!(
                "The bundle {own} is not newer than one that was published before. Build the bundle again."
            )));
        }
        let id = ForeignId::parse(&own).map_err(|_| ReleaseError::Id)?;
        let new = NewForeignId {
            file_hash: signature.as_deref(),
            ..self.id(protocol, &id)
        };
        match write.org().add_foreign_id(&new).await? {
            true => Ok(()),
            false => Err(Self::taken(protocol, &own)),
        }
    }
}
