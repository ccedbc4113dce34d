//! The SDK in the app: which projects use it, the settings that a build writes into the app
//! (`docs/reference/sdk.md#settings`), and what a project lacks to use it.

pub mod additions;
pub mod entry;
pub mod expo;
mod manifest;
pub mod native_edit;
pub mod nativescript;
pub mod obstacles;
mod script;
pub mod settings;

use crate::file::Project;
use crate::framework::Framework;
use crate::packages::Packages;

/// The packages of the SDK. An app depends on that of its framework.
pub const PACKAGES: [&str; 3] = [
    "@launchway/capacitor",
    "@launchway/react-native",
    "@launchway/nativescript",
];

/// The package of the SDK for a framework; `None` for native apps, which use its sources.
pub const fn package(framework: Framework) -> Option<&'static str> {
    match framework {
        Framework::Capacitor => Some(PACKAGES[0]),
        Framework::Expo | Framework::ReactNative => Some(PACKAGES[1]),
        Framework::NativeScript => Some(PACKAGES[2]),
        Framework::Flutter | Framework::Gradle | Framework::Xcode => None,
    }
}

/// Whether an app contains the SDK: it depends on one of its packages, or `launchway.toml` has `[sdk]`.
pub fn is_used(packages: Option<&Packages>, project: &Project) -> bool {
    let depends = |packages: &Packages| PACKAGES.iter().any(|name| packages.depends_on(name));
    project.sdk.is_some() || packages.is_some_and(depends)
}
