//! A published release as clients of other services are offered it.

use launchway_blob::Key;
use launchway_domain::id::UpdateId;
use launchway_domain::ota::Release;
use launchway_domain::platform::Platform;
use launchway_domain::release::{BinaryRange, Format, Protocol, RuntimeVersion, Sequence, UpdateKind};
use launchway_domain::rollout::Rollout;
use launchway_domain::version::Version;
use launchway_foreign::capgo::CapgoRelease;
use launchway_foreign::codepush::CodepushRelease;
use launchway_foreign::hot_updater::{self, HotUpdaterRelease};
use launchway_store::ReleaseRow;

/// A published release as clients of other services are offered it.
#[derive(Debug)]
pub struct ForeignRelease {
    /// The update.
    pub update_id: UpdateId,
    id: Box<str>,
    kind: UpdateKind,
    format: Format,
    platform: Platform,
    configuration: Option<Box<str>>,
    fingerprint: Option<Box<str>>,
    sequence: Sequence,
    runtime_version: Option<RuntimeVersion>,
    binary_range: Option<BinaryRange>,
    rollout: Rollout,
    mandatory: bool,
    version: Version,
    /// Of no meaning in other formats.
    hot_updater_id: hot_updater::BundleId,
    /// How the client of its format names it: CodePush's label, Capgo's version name, or hot-updater's bundle id; empty for the
    /// return to the built-in content.
    pub name: Box<str>,
    /// How clients of its format identify the content; empty if they do not.
    pub content_id: Box<str>,
    /// What its publisher wrote about it.
    pub notes: Box<str>,
    /// How the client verifies the package, if not by its SHA-256.
    signature: Option<Box<str>>,
    /// Size of the package in bytes.
    pub size: u64,
    /// SHA-256 of the package, in hexadecimal.
    pub sha256: Box<str>,
    /// The key of the package.
    pub blob_key: Key,
    /// The file name of a download.
    pub file_name: Box<str>,
}

impl ForeignRelease {
    /// Prepares a release; `None` if no client could name it afterwards.
    pub(super) fn new(row: ReleaseRow) -> Option<Self> {
        let name = match row.kind {
            UpdateKind::Embedded => Box::default(),
            UpdateKind::Update => name_of(&row)?,
        };
        Some(Self {
            update_id: row.id,
            id: row.id.to_string().into(),
            kind: row.kind,
            format: row.format,
            platform: row.platform,
            sequence: row.sequence,
            runtime_version: row.runtime_version,
            binary_range: row.binary_range,
            rollout: row.rollout,
            mandatory: row.mandatory,
            hot_updater_id: hot_updater::BundleId::parse(&name).unwrap_or(hot_updater::BundleId::NIL),
            version: Version::parse(&row.version).ok()?,
            name,
            content_id: row.content_id.unwrap_or_default().into(),
            notes: row.release_notes.into(),
            signature: row.file_hash.map(Into::into),
            size: u64::try_from(row.size).unwrap_or(0),
            sha256: row.sha256.into(),
            blob_key: Key::new(&row.blob_key).ok()?,
            file_name: format!("{}-{}.zip", row.bundle_id, row.version).into(),
            configuration: row.configuration.map(Into::into),
            fingerprint: row.fingerprint.map(Into::into),
        })
    }
}

impl ForeignRelease {
    /// The runtime that the installed app must have.
    pub(super) fn runtime(&self) -> Option<&RuntimeVersion> {
        self.runtime_version.as_ref()
    }
}

/// How the client of the release's format names it. CodePush's ids are within their configuration, and the hash is one of them.
fn name_of(row: &ReleaseRow) -> Option<Box<str>> {
    let protocol = match row.format {
        Format::Archive => Protocol::Capgo,
        Format::Expo => Protocol::Expo,
        Format::Codepush => Protocol::Codepush,
        Format::HotUpdater => Protocol::HotUpdater,
    };
    let ids = row.ids.iter().filter(|(of, _)| *of == protocol);
    let configuration = row.configuration.as_deref().unwrap_or_default();
    let mut names = ids.filter_map(|(_, id)| match protocol {
        Protocol::Codepush => {
            let within = id.strip_prefix(configuration)?.strip_prefix('/')?;
            (Some(within) != row.content_id.as_deref()).then_some(within)
        }
        _ => Some(id.as_str()),
    });
    names.next().map(Into::into)
}

impl Release for ForeignRelease {
    fn id(&self) -> &str {
        &self.id
    }

    fn sequence(&self) -> Sequence {
        self.sequence
    }

    fn kind(&self) -> UpdateKind {
        self.kind
    }

    fn format(&self) -> Format {
        self.format
    }

    fn platform(&self) -> Platform {
        self.platform
    }

    fn configuration(&self) -> Option<&str> {
        self.configuration.as_deref()
    }

    fn runtime_version(&self) -> Option<&str> {
        self.runtime_version.as_ref().map(RuntimeVersion::as_str)
    }

    fn binary_range(&self) -> Option<&BinaryRange> {
        self.binary_range.as_ref()
    }

    fn fingerprint(&self) -> Option<&str> {
        self.fingerprint.as_deref()
    }

    /// Capgo's clients take nothing that is older than their app.
    fn newest_app(&self) -> Option<&Version> {
        (self.format == Format::Archive && self.kind == UpdateKind::Update).then_some(&self.version)
    }

    fn rollout(&self) -> Rollout {
        self.rollout
    }

    fn is_mandatory(&self) -> bool {
        self.mandatory
    }
}

impl CapgoRelease for ForeignRelease {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &Version {
        &self.version
    }
}

impl CodepushRelease for ForeignRelease {
    fn label(&self) -> &str {
        &self.name
    }

    fn package_hash(&self) -> &str {
        &self.content_id
    }

    fn package_size(&self) -> u64 {
        self.size
    }

    fn description(&self) -> &str {
        &self.notes
    }
}

impl HotUpdaterRelease for ForeignRelease {
    fn bundle_id(&self) -> &hot_updater::BundleId {
        &self.hot_updater_id
    }

    fn file_hash(&self) -> &str {
        self.signature.as_deref().unwrap_or(&self.sha256)
    }

    fn message(&self) -> Option<&str> {
        (!self.notes.is_empty()).then_some(&*self.notes)
    }
}
