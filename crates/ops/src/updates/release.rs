//! What a request to publish says for the clients of other services: format, runtime, range and ids
//! (`docs/reference/foreign-clients.md#publishing`).

use launchway_api::updates::{CreateUpdate, ForeignIdView};
use launchway_domain::app::Package;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{PackageId, UpdateId};
use launchway_domain::release::{
    BinaryRange, ForeignId, Format, Protocol, ReleaseFacts, RuntimeVersion, Sequence, UpdateKind,
};
use launchway_domain::update::Update;
use launchway_domain::words::UnknownWordError;
use launchway_foreign::hot_updater::FileHash;
use launchway_store::Org;
use sha2::{Digest, Sha256};

use crate::api_error::ApiError;
use crate::updates::expo::{self, GivenIssue};
use crate::updates::expo_signed::SignedPlan;
use crate::updates::naming::Naming;
use crate::updates::publish::UpdatePlan;
use crate::updates::release_error::ReleaseError;
use crate::write::Write;

/// The maximum number of ids in a request.
const MAX_IDS: usize = 8;
/// The highest number of a given label that raises the sequence. Labels above it do not: no app has so many releases.
const MAX_LABEL_NUMBER: u64 = 1 << 40;

/// What a request says for the clients of other services.
#[derive(Clone, Debug)]
pub struct ReleasePlan {
    /// Content, or the return to the built-in content.
    pub kind: UpdateKind,
    format: Option<Format>,
    runtime_version: Option<RuntimeVersion>,
    binary_range: Option<BinaryRange>,
    /// CodePush's label.
    label: Option<String>,
    /// What was signed for clients of Expo.
    signed: Option<SignedPlan>,
    /// How clients of Expo know it already.
    expo: Option<GivenIssue>,
    /// Capgo's name: `None` if its clients do not get the update, and `Some(None)` if the server chooses.
    capgo: Option<Option<String>>,
    file_hash: Option<FileHash>,
    /// Whether the request says how clients name the update, or that they do not.
    names_ids: bool,
}

impl ReleasePlan {
    /// Validates the fields of a request.
    ///
    /// # Errors
    /// A field has another form, or no client could use it.
    pub fn read(request: &CreateUpdate) -> Result<Self, ApiError> {
        let unknown = |error: UnknownWordError| ApiError::bad(error.to_string());
        let kind = request
            .kind
            .as_ref()
            .map(|kind| kind.checked())
            .transpose()
            .map_err(unknown)?;
        let format = request.format.as_ref().map(|format| format.checked());
        let runtime_version = request.runtime_version.as_deref().map(RuntimeVersion::parse);
        let binary_range = request.binary_range.as_deref().map(BinaryRange::parse);
        let file_hash = request.file_hash.as_deref().map(FileHash::parse).transpose();
        let mut plan = Self {
            kind: kind.unwrap_or(UpdateKind::Update),
            format: format.transpose().map_err(unknown)?,
            runtime_version: runtime_version
                .transpose()
                .map_err(|error| ApiError::bad(format!("runtimeVersion {error}")))?,
            binary_range: binary_range
                .transpose()
                .map_err(|error| ApiError::bad(format!("binaryRange {error}")))?,
            label: None,
            signed: None,
            expo: None,
            capgo: None,
            file_hash: file_hash.map_err(|error| ApiError::bad(format!("fileHash {error}")))?,
            names_ids: request.foreign_ids.is_some(),
        };
        if let Some(signed) = &request.expo {
            let signed = SignedPlan::read(signed, plan.kind, plan.runtime_version.as_ref())?;
            let own = signed.runtime_version().cloned();
            plan.runtime_version = plan.runtime_version.or(own);
            plan.signed = Some(signed);
        }
        plan.read_ids(request)?;
        plan.check()?;
        let is_upload = plan.kind == UpdateKind::Update && request.upload_id.is_some();
        if is_upload && plan.format() == Format::Expo && plan.runtime_version.is_none() {
            return Err(ReleaseError::NoRuntime.into());
        }
        Ok(plan)
    }

    fn read_ids(&mut self, request: &CreateUpdate) -> Result<(), ApiError> {
        let given = request.foreign_ids.as_deref().unwrap_or_default();
        if given.len() > MAX_IDS {
            return Err(ReleaseError::Ids.into());
        }
        for new in given {
            let protocol = new.protocol.checked();
            let protocol = protocol.map_err(|error| ApiError::bad(format!("foreignIds: {error}")))?;
            if protocol == Protocol::Expo && self.expo.is_none() {
                self.expo = Some(GivenIssue::read(new)?);
                continue;
            }
            if protocol != Protocol::Expo && new.created_at.is_some() {
                return Err(ReleaseError::OtherIdTime.into());
            }
            let id = new.id.clone();
            // Behind the configuration, an id of CodePush must still fit.
            if id
                .as_ref()
                .is_some_and(|id| id.len() > 200 || ForeignId::parse(id).is_err())
            {
                return Err(ReleaseError::Id.into());
            }
            match protocol {
                Protocol::Codepush if self.label.is_none() => self.label = Some(id.unwrap_or_default()),
                Protocol::Capgo if self.capgo.is_none() => self.capgo = Some(id),
                Protocol::Codepush | Protocol::Capgo | Protocol::Expo => return Err(ReleaseError::Ids.into()),
                Protocol::HotUpdater => return Err(ReleaseError::OtherProtocol.into()),
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), ReleaseError> {
        let says_twice = |given: &GivenIssue| self.kind == UpdateKind::Update || given.has_time();
        if self.signed.is_some() && self.expo.as_ref().is_some_and(says_twice) {
            return Err(ReleaseError::SignedId);
        }
        let named = self.label.is_some() || self.capgo.is_some() || self.file_hash.is_some();
        if self.kind == UpdateKind::Embedded {
            return match self.format.is_some() || named {
                true => Err(ReleaseError::EmbeddedContent),
                false => Ok(()),
            };
        }
        self.format.map_or(Ok(()), |format| self.check_format(format))
    }

    /// Whether clients of a format could use what the request says.
    fn check_format(&self, format: Format) -> Result<(), ReleaseError> {
        if self.signed.is_some() && format != Format::Expo {
            return Err(ReleaseError::SignedFormat);
        }
        if self.runtime_version.is_some() && format != Format::Expo {
            return Err(ReleaseError::Runtime);
        }
        if self.binary_range.is_some() && format == Format::Expo {
            return Err(ReleaseError::RangeOfExpo);
        }
        if self.binary_range.is_some() && format == Format::Archive && self.capgo.is_none() {
            return Err(ReleaseError::RangeOfArchive);
        }
        if self.file_hash.is_some() && format != Format::HotUpdater {
            return Err(ReleaseError::FileHash);
        }
        let is_other = (self.label.is_some() && format != Format::Codepush)
            || (self.capgo.is_some() && format != Format::Archive)
            || (self.expo.is_some() && format != Format::Expo);
        if is_other {
            Err(ReleaseError::OtherProtocol)
        } else {
            Ok(())
        }
    }

    /// The format of an upload.
    pub fn format(&self) -> Format {
        self.format.unwrap_or(Format::Archive)
    }

    /// Whether clients of Capgo install the update.
    pub fn is_for_capgo(&self) -> bool {
        self.capgo.is_some()
    }

    /// Refuses to publish the bytes of an earlier update again where no client could run them.
    ///
    /// # Errors
    /// It is of another format than the request says, has no bytes, or an id inside them.
    pub fn check_source(&self, source: &Update) -> Result<(), ApiError> {
        if source.release.kind == UpdateKind::Embedded {
            return Err(ApiError::bad(
                "sourceUpdateId is a return to the built-in content, which has no package. Publish with kind embedded instead.",
            ));
        }
        let format = source.release.format;
        if let Some(given) = self.format.filter(|given| *given != format) {
            return Err(ApiError::bad(format!(
                "sourceUpdateId is an update of format {format}, not {given}"
            )));
        }
        match format {
            Format::HotUpdater => Err(ReleaseError::Republished.into()),
            _ => Ok(()),
        }
    }

    /// Takes from the update whose bytes are published again what the request does not say: its range, and that Capgo's clients
    /// install it, under a name of its own.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn inherit(&mut self, write: &mut Write<'_>, source: &Update) -> Result<(), ApiError> {
        if self.binary_range.is_none() {
            self.binary_range.clone_from(&source.release.binary_range);
        }
        if self.runtime_version.is_none() {
            self.runtime_version.clone_from(&source.release.runtime_version);
        }
        if !self.names_ids && source.release.format == Format::Archive {
            let ids = write.org().foreign_ids(source.id).await?;
            if ids.iter().any(|(protocol, _)| *protocol == Protocol::Capgo) {
                self.capgo = Some(None);
            }
        }
        Ok(())
    }

    /// The facts of the new update. Call it under the lock of the bundle's updates.
    ///
    /// # Errors
    /// The request does not fit the format of the package.
    pub async fn facts(
        &self,
        write: &mut Write<'_>,
        plan: &UpdatePlan,
        package: &Package,
    ) -> Result<ReleaseFacts, ApiError> {
        if self.kind == UpdateKind::Update {
            self.check_format(package.format)?;
        }
        let configuration = plan.configuration.as_ref();
        let next = write
            .org()
            .next_sequence(&plan.bundle, plan.platform, configuration)
            .await?;
        Ok(ReleaseFacts {
            kind: self.kind,
            format: package.format,
            sequence: Some(self.label_number().map_or(next, |number| next.max(number))),
            runtime_version: self.runtime_version.clone(),
            binary_range: self.binary_range.clone(),
            content_id: package.content_id.clone(),
        })
    }

    /// The number of a given label: later releases, whose labels are their sequences, are above it.
    fn label_number(&self) -> Option<Sequence> {
        let number = self.label.as_deref()?.strip_prefix('v')?.parse().ok()?;
        (number <= MAX_LABEL_NUMBER).then(|| Sequence::new(number))
    }

    /// Names a new update for the clients that can install it.
    ///
    /// # Errors
    /// An id names another update.
    pub async fn name(&self, write: &mut Write<'_>, bundle: &BundleId, update: &Update) -> Result<(), ApiError> {
        let naming = Naming { bundle, update };
        let issue = expo::NewRelease {
            bundle,
            update,
            signed: self.signed.as_ref(),
            given: self.expo,
        };
        if update.release.kind == UpdateKind::Embedded {
            return issue.name(write).await;
        }
        match update.release.format {
            Format::Archive => match &self.capgo {
                Some(name) => naming.capgo(write, name.as_deref()).await,
                None => Ok(()),
            },
            Format::Codepush => {
                let given = self.label.as_deref().filter(|label| !label.is_empty());
                naming.codepush(write, given).await
            }
            Format::HotUpdater => naming.hot_updater(write, self.file_hash.as_ref()).await,
            Format::Expo => issue.name(write).await,
        }
    }
}

/// Stores the package of a return to the built-in content, which has no bytes: like that of a package whose bytes were deleted, its
/// key leads nowhere.
pub async fn store_empty_package(write: &mut Write<'_>) -> Result<Package, ApiError> {
    let id: PackageId = write.app().random.id(write.now());
    let package = Package {
        id,
        org_id: write.org_id(),
        blob_key: format!("gone/{id}"),
        size: 0,
        sha256: hex::encode(Sha256::digest([])),
        file_count: 0,
        manifest: None,
        format: Format::Archive,
        content_id: None,
    };
    let now = write.now();
    write.org().create_package(&package, now).await?;
    Ok(package)
}

/// The ids of an update as the API shows them.
///
/// # Errors
/// Errors of the database.
pub async fn foreign_ids(org: &mut Org<'_>, update: UpdateId) -> Result<Vec<ForeignIdView>, ApiError> {
    let ids = org.foreign_ids(update).await?.into_iter();
    let view = |(protocol, id): (Protocol, String)| ForeignIdView {
        protocol: protocol.into(),
        id,
    };
    Ok(ids.map(view).collect())
}
