//! A signed update: the path of its target, and what was signed about it
//! (`docs/reference/trust.md#targets`).

use std::collections::BTreeMap;

use launchway_domain::build_number::BuildNumber;
use launchway_domain::platform::Platform;
use launchway_domain::version::Version;

use crate::digest::Sha256;
use crate::json::{Value, object};
use crate::metadata::fields::Fields;
use crate::metadata::{FormError, Target};
use crate::role::UpdateRole;

/// What is signed about an update beside the hash and length of its package: the field `custom` of its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The native app that it is for; `None`: every one.
    pub fingerprint: Option<String>,
    /// The hash of the list of files in the package.
    pub manifest: Sha256,
    version: Version,
    build: BuildNumber,
}

impl Update {
    /// An update of this version and build.
    pub fn new(version: Version, build: BuildNumber, fingerprint: Option<String>, manifest: Sha256) -> Self {
        Self {
            fingerprint,
            manifest,
            version,
            build,
        }
    }

    /// The version, without build metadata.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// The build number.
    pub fn build(&self) -> u64 {
        self.build.value()
    }

    /// Reads what was signed about a target.
    ///
    /// # Errors
    /// `custom` is missing, or one of its fields is.
    pub fn of(target: &Target) -> Result<Self, FormError> {
        let custom = target.custom.clone().ok_or(FormError { field: "custom" })?;
        let mut fields = Fields::of(custom, "custom")?;
        let version = Version::parse(&fields.text("version")?);
        let build = BuildNumber::parse(&fields.text("buildNumber")?);
        let fingerprint = fields
            .has("fingerprint")
            .then(|| fields.text("fingerprint"))
            .transpose()?;
        Ok(Self {
            fingerprint,
            manifest: fields
                .text("manifest")?
                .parse()
                .map_err(|_| FormError { field: "manifest" })?,
            version: version.map_err(|_| FormError { field: "version" })?,
            build: build.map_err(|_| FormError { field: "buildNumber" })?,
        })
    }

    /// The target of this update, whose package has this hash and length.
    pub fn target(&self, sha256: Sha256, length: u64) -> Target {
        let mut custom = object([
            ("buildNumber", self.build().to_string().into()),
            ("manifest", self.manifest.to_string().into()),
            ("version", self.version.to_string().into()),
        ]);
        if let Some(fingerprint) = &self.fingerprint {
            custom.insert("fingerprint".to_owned(), fingerprint.clone().into());
        }
        Target {
            length,
            hashes: BTreeMap::from([("sha256".to_owned(), sha256.to_string())]),
            custom: Some(Value::Object(custom)),
        }
    }

    /// The path of the update's target in a role.
    pub fn path(&self, role: &UpdateRole, platform: Platform) -> String {
        target_path(role, platform, &self.version, self.build())
    }
}

/// The path of an update's target in a role, `<role>/<platform>/<version>_<build>.zip`: the version without metadata, the
/// build number without leading zeros.
pub fn target_path(role: &UpdateRole, platform: Platform, version: &Version, build: u64) -> String {
    format!("{role}/{platform}/{}_{build}.zip", version.precedence_key())
}

/// The platform that a path of this role names. `None`: the path is not one of this role's updates.
pub(crate) fn platform_of(path: &str, role: &UpdateRole, update: &Update) -> Option<Platform> {
    Platform::ALL
        .into_iter()
        .find(|platform| update.path(role, *platform) == path)
}
