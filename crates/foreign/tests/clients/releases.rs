//! A release for tests, in the forms of all protocols.

use launchway_domain::ota::{Held, Release};
use launchway_domain::platform::Platform;
use launchway_domain::release::{BinaryRange, Format, Sequence, UpdateKind};
use launchway_domain::rollout::Rollout;
use launchway_domain::version::Version;
use launchway_foreign::capgo::CapgoRelease;
use launchway_foreign::codepush::CodepushRelease;
use launchway_foreign::hot_updater::{BundleId, HotUpdaterRelease};

#[derive(Clone, Debug)]
pub struct TestRelease {
    pub id: String,
    pub sequence: u64,
    pub kind: UpdateKind,
    pub format: Format,
    pub platform: Platform,
    pub configuration: Option<&'static str>,
    pub runtime_version: Option<&'static str>,
    pub fingerprint: Option<&'static str>,
    pub label: String,
    pub version: Version,
    pub name: String,
    pub hash: String,
    pub bundle_id: BundleId,
    pub description: String,
    pub is_mandatory: bool,
    pub is_withdrawn: bool,
    pub is_paused: bool,
    pub rollout: Rollout,
    pub range: Option<BinaryRange>,
}

impl TestRelease {
    /// A release for every app of every version.
    pub fn new(format: Format, sequence: u64) -> Self {
        Self {
            id: format!("v{sequence}"),
            sequence,
            kind: UpdateKind::Update,
            format,
            platform: Platform::Ios,
            configuration: None,
            runtime_version: None,
            fingerprint: None,
            label: format!("v{sequence}"),
            version: Version::parse(&format!("1.0.{sequence}")).unwrap(),
            name: format!("1.0.{sequence}"),
            hash: format!("hash{sequence}"),
            bundle_id: BundleId::parse(&format!("0190a8c6-0000-7000-8000-{sequence:012x}")).unwrap(),
            description: String::new(),
            is_mandatory: false,
            is_withdrawn: false,
            is_paused: false,
            rollout: Rollout::FULL,
            range: None,
        }
    }

    pub fn held(&self) -> Held<'static> {
        Held {
            sequence: self.sequence(),
            configuration: self.configuration,
            is_withdrawn: self.is_withdrawn,
        }
    }
}

/// Those that are offered, highest first.
pub fn offered(releases: &[TestRelease]) -> Vec<TestRelease> {
    let is_offered = |release: &&TestRelease| !release.is_withdrawn && !release.is_paused;
    let mut offered: Vec<_> = releases.iter().filter(is_offered).cloned().collect();
    offered.sort_by_key(|release| std::cmp::Reverse(release.sequence));
    offered
}

impl Release for TestRelease {
    fn id(&self) -> &str {
        &self.id
    }
    fn sequence(&self) -> Sequence {
        Sequence::new(self.sequence)
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
        self.configuration
    }
    fn runtime_version(&self) -> Option<&str> {
        self.runtime_version
    }
    fn binary_range(&self) -> Option<&BinaryRange> {
        self.range.as_ref()
    }
    fn fingerprint(&self) -> Option<&str> {
        self.fingerprint
    }
    fn newest_app(&self) -> Option<&Version> {
        (self.format == Format::Archive && self.kind == UpdateKind::Update).then_some(&self.version)
    }
    fn rollout(&self) -> Rollout {
        self.rollout
    }
    fn is_mandatory(&self) -> bool {
        self.is_mandatory
    }
}

impl CapgoRelease for TestRelease {
    fn name(&self) -> &str {
        &self.name
    }
    fn version(&self) -> &Version {
        &self.version
    }
}

impl CodepushRelease for TestRelease {
    fn label(&self) -> &str {
        &self.label
    }
    fn package_hash(&self) -> &str {
        &self.hash
    }
    fn package_size(&self) -> u64 {
        100 + self.sequence
    }
    fn description(&self) -> &str {
        &self.description
    }
}

impl HotUpdaterRelease for TestRelease {
    fn bundle_id(&self) -> &BundleId {
        &self.bundle_id
    }
    fn file_hash(&self) -> &str {
        &self.hash
    }
    fn message(&self) -> Option<&str> {
        None
    }
}
