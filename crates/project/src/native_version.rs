//! Reads bundle identifier, version and build number from the native project, and where they are set. Reads the places
//! where the known frameworks keep them, and never guesses.

mod android;
mod apple;
pub(crate) mod blocks;
mod gradle_id;
mod javascript;
mod openstep;
pub(crate) mod scan;
mod xcode_id;
mod xcode_settings;

use std::path::Path;

use launchway_domain::build::BuildType;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::platform::Platform;
use launchway_domain::version::Version;

use crate::source::Source;

/// A value and the file that contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedValue {
    /// The value, as written.
    pub value: String,
    /// The file, relative to the project, with forward slashes.
    pub place: String,
}

/// The values of the native project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NativeProject {
    /// The bundle identifier.
    pub bundle_id: Option<LocatedValue>,
    /// The version for users.
    pub version: Option<LocatedValue>,
    /// The build number for the store.
    pub build_number: Option<LocatedValue>,
}

/// Selects one of the apps that a native project can be built as. Their identifiers may differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Debug or release.
    pub build_type: BuildType,
    /// The product flavor.
    pub flavor: Option<String>,
    /// The Gradle module of the app; `app` when absent.
    pub module: Option<String>,
    /// The Xcode scheme.
    pub scheme: Option<String>,
}

impl Default for Variant {
    /// The variant for users.
    fn default() -> Self {
        Self {
            build_type: BuildType::Release,
            flavor: None,
            module: None,
            scheme: None,
        }
    }
}

/// Reads the project in `root` for `platform`. Values that are missing, or that only the project's tools can compute,
/// are absent.
/// are absent.
pub fn read(root: &Path, platform: Platform, variant: &Variant) -> NativeProject {
    let project = Source::new(root);
    let native = match platform {
        Platform::Android => android::read(&project, variant),
        Platform::Ios | Platform::Visionos => apple::read(&project, platform, variant),
    };
    let scripts = javascript::read(&project, platform);
    NativeProject {
        bundle_id: native.bundle_id.or(scripts.bundle_id),
        version: native.version.or(scripts.version),
        build_number: native.build_number.or(scripts.build_number),
    }
}

impl Source {
    /// The first value that `read` finds in these files.
    fn first(&self, places: &[&str], read: impl Fn(&str) -> Option<String>) -> Option<LocatedValue> {
        places.iter().find_map(|place| {
            let value = read(&self.text(place)?)?;
            Some(LocatedValue {
                value,
                place: (*place).to_owned(),
            })
        })
    }
}

fn good_bundle_id(text: String) -> Option<String> {
    BundleId::parse(&text).is_ok().then_some(text)
}

fn good_version(text: String) -> Option<String> {
    Version::parse(&text).is_ok().then_some(text)
}

fn good_build_number(text: String) -> Option<String> {
    (text.len() <= 18 && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

#[cfg(test)]
mod tests;
