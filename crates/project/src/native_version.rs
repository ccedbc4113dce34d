//! What the native project says about the app: bundle identifier, version and build number, and where it says so.
//! It reads the places where the known frameworks keep them and gives up rather than guess.

mod android;
mod apple;
mod blocks;
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

/// A value and the file it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The value, as written.
    pub value: String,
    /// The file, relative to the project, with forward slashes.
    pub place: String,
}

/// What the native project says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NativeProject {
    /// The bundle identifier.
    pub bundle_id: Option<Found>,
    /// The version people see.
    pub version: Option<Found>,
    /// The build number of the store.
    pub build_number: Option<Found>,
}

/// Which of the apps that a native project can be built as. Their identifiers may differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// What it is made for.
    pub build_type: BuildType,
    /// The product flavor.
    pub flavor: Option<String>,
    /// The Gradle module of the app; `app` when absent.
    pub module: Option<String>,
    /// The scheme of Xcode.
    pub scheme: Option<String>,
}

impl Default for Variant {
    /// What users get.
    fn default() -> Self {
        Self {
            build_type: BuildType::Release,
            flavor: None,
            module: None,
            scheme: None,
        }
    }
}

/// Reads the project in `root` for `platform`. What is not found, or only known by running the project's tools, is absent.
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
    fn first(&self, places: &[&str], read: impl Fn(&str) -> Option<String>) -> Option<Found> {
        places.iter().find_map(|place| {
            let value = read(&self.text(place)?)?;
            Some(Found {
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
