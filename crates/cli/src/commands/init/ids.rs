//! The identifiers of the project's app on each platform, as far as the native projects define them.

use std::path::Path;

use launchway_domain::platform::Platform;
use launchway_project::framework::Framework;
use launchway_project::native_version::{self, Variant};
use launchway_project::source::Source;

/// The bundle identifiers of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ids {
    /// The same on all its platforms, or unknown.
    One(Option<String>),
    /// A separate one for each platform of the project, if known.
    Several(Vec<(Platform, Option<String>)>),
}

impl Default for Ids {
    fn default() -> Self {
        Ids::One(None)
    }
}

impl Ids {
    /// Reads the project in `root`.
    pub fn read(root: &Path, framework: Option<Framework>) -> Self {
        let source = Source::new(root);
        let found = Platform::ALL.into_iter().filter_map(|platform| {
            let id = native_version::read(root, platform, &Variant::default()).bundle_id;
            let is_there = is_there(&source, framework, platform);
            is_there.then(|| (platform, id.map(|found| found.value)))
        });
        Self::of(found.collect())
    }

    /// Joins the identifiers into one if all are the same.
    pub fn of(found: Vec<(Platform, Option<String>)>) -> Self {
        match found.first() {
            None => Ids::One(None),
            Some((_, first)) if found.iter().all(|(_, id)| id == first) => Ids::One(first.clone()),
            Some(_) => Ids::Several(found),
        }
    }
}

/// Whether the project has an app for the platform.
fn is_there(source: &Source, framework: Option<Framework>, platform: Platform) -> bool {
    let folders: &[&str] = match platform {
        Platform::Android => &["android", "App_Resources/Android", "app"],
        Platform::Ios => &["ios", "App_Resources/iOS", "iosApp"],
        Platform::Visionos => {
            return ["visionos", "App_Resources/visionOS"]
                .iter()
                .any(|folder| source.has_directory(folder));
        }
    };
    match framework {
        // These generate the native project, or need none.
        Some(Framework::Expo | Framework::NativeScript | Framework::Capacitor) => true,
        Some(Framework::Gradle) => platform == Platform::Android,
        Some(Framework::Xcode) => platform == Platform::Ios,
        Some(Framework::ReactNative | Framework::Flutter) | None => {
            folders.iter().any(|folder| source.has_directory(folder))
        }
    }
}
