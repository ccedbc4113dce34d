//! Fingerprints of builds and updates as the API shows them (`docs/reference/fingerprints.md#fingerprint-endpoints`).

use launchway_domain::build::Build;
use launchway_domain::fingerprint::{Change, FingerprintDocument};
use launchway_domain::update::Update;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::open;
use crate::words::FingerprintPart;

/// The fingerprint of a build or an update.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FingerprintView {
    /// The build or update.
    pub id: String,
    /// The status of the build or update.
    pub status: open::BuildOrUpdateStatus,
    /// The app.
    pub bundle_id: String,
    /// The platform.
    #[schema(example = "ios")]
    pub platform: open::Platform,
    /// The configuration, if it has one.
    pub configuration: Option<String>,
    /// The version; null if not known.
    pub version: Option<String>,
    /// The build number; null if not known.
    pub build_number: Option<String>,
    /// The hash; null if not known.
    pub fingerprint: Option<String>,
    /// The `lwfp-2` hash of the same native code, which does not change with signing settings; null if not known.
    #[serde(default)]
    pub lwfp2: Option<String>,
    /// The document that was hashed; null if only the hash is known.
    #[schema(value_type = Option<Object>)]
    pub document: Option<Map<String, Value>>,
}

/// The differences between two fingerprints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FingerprintDifference {
    /// One side, such as the installed app.
    pub from: FingerprintView,
    /// The other side, such as the update.
    pub to: FingerprintView,
    /// Whether both have the same native code.
    pub same: bool,
    /// The differences as a sentence; null if there are none.
    pub reason: Option<String>,
    /// Each difference; null if only a hash is known of one side.
    pub changes: Option<Vec<FingerprintChange>>,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FingerprintChange {
    /// `framework`, `platform`, `plugin`, `resources` or `native`.
    pub kind: open::FingerprintPart,
    /// The plugin's name; null if it is not about a plugin.
    pub name: Option<String>,
    /// The value on the first side; null if it is missing there, or known only as a hash.
    pub from: Option<String>,
    /// The value on the other side.
    pub to: Option<String>,
    /// The difference as a sentence.
    pub message: String,
}

impl FingerprintView {
    /// A build, with the document of its hash and its `lwfp-2` hash.
    pub fn of_build(build: &Build, document: Option<Map<String, Value>>, lwfp2: Option<String>) -> Self {
        Self {
            id: build.id.to_string(),
            status: open::BuildOrUpdateStatus::of(build.state.status.as_str()),
            bundle_id: build.bundle_id.clone(),
            platform: build.platform.into(),
            configuration: build.configuration.as_ref().map(|label| label.as_str().to_owned()),
            version: build.spec.version.clone(),
            build_number: build.spec.build_number.clone(),
            fingerprint: build.fingerprint.as_ref().map(ToString::to_string),
            lwfp2,
            document,
        }
    }

    /// An update, with the document of its hash and its `lwfp-2` hash.
    pub fn of_update(update: &Update, document: Option<Map<String, Value>>, lwfp2: Option<String>) -> Self {
        Self {
            id: update.id.to_string(),
            status: open::BuildOrUpdateStatus::of(update.status.as_str()),
            bundle_id: update.bundle_id.clone(),
            platform: update.platform.into(),
            configuration: update.configuration.as_ref().map(|label| label.as_str().to_owned()),
            version: Some(update.version_text.clone()),
            build_number: Some(update.build_number.as_str().to_owned()),
            fingerprint: update.fingerprint.as_ref().map(ToString::to_string),
            lwfp2,
            document,
        }
    }

    /// Whether both have the same native code, as far as their hashes show.
    pub fn is_same_as(&self, other: &FingerprintView) -> bool {
        let second = |view: &FingerprintView| view.lwfp2.clone().or_else(|| view.fingerprint.clone());
        self.fingerprint == other.fingerprint || second(self) == second(other)
    }

    /// The document, if known.
    pub fn read(&self) -> Option<FingerprintDocument> {
        let document = Value::Object(self.document.clone()?);
        FingerprintDocument::from_value(document).ok()
    }
}

impl From<&Change<'_>> for FingerprintChange {
    fn from(change: &Change<'_>) -> Self {
        let text = |value: &dyn std::fmt::Display| Some(value.to_string());
        let (kind, name, from, to) = match change {
            Change::Framework { from, to } => (FingerprintPart::Framework, None, text(from), text(to)),
            Change::Platform { from, to } => (FingerprintPart::Platform, None, text(from), text(to)),
            Change::PluginAdded { name, version } => (FingerprintPart::Plugin, Some(*name), None, text(version)),
            Change::PluginRemoved { name, version } => (FingerprintPart::Plugin, Some(*name), text(version), None),
            Change::PluginVersion { name, from, to } => (FingerprintPart::Plugin, Some(*name), text(from), text(to)),
            Change::Resources => (FingerprintPart::Resources, None, None, None),
            Change::NativeSource => (FingerprintPart::Native, None, None, None),
        };
        Self {
            kind: kind.into(),
            name: name.map(str::to_owned),
            from,
            to,
            message: change.to_string(),
        }
    }
}
