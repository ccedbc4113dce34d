//! A minimal project of each framework.

use std::fs;
use std::path::Path;

use launchway_domain::build::{BuildType, Distribution};
use launchway_domain::platform::Platform;
use launchway_project::resolve::{BuildRequest, ResolveError, Resolved, resolve};
use tempfile::TempDir;

/// Path and content of the files of a project.
pub type Files = &'static [(&'static str, &'static str)];

pub const NATIVESCRIPT: Files = &[
    ("nativescript.config.ts", "export default { id: 'com.example.app' }"),
    (
        "package.json",
        r#"{"dependencies": {"@nativescript/core": "~8.9.0"}, "devDependencies": {"nativescript": "8.9.3"}}"#,
    ),
    ("package-lock.json", "{}"),
];

pub const CAPACITOR: Files = &[
    (
        "capacitor.config.ts",
        "export default { appId: 'com.example.app', webDir: 'dist' }",
    ),
    (
        "package.json",
        r#"{"scripts": {"build": "vite build"}, "dependencies": {"@capacitor/core": "7"}, "devDependencies": {"@capacitor/cli": "7"}}"#,
    ),
    ("package-lock.json", "{}"),
    ("android/gradlew", ""),
    ("android/app/build.gradle", "apply plugin: 'com.android.application'"),
    ("ios/App/App.xcodeproj/project.pbxproj", ""),
    ("ios/App/App.xcworkspace/contents.xcworkspacedata", ""),
    ("ios/App/Podfile", ""),
];

pub const EXPO: Files = &[
    ("app.json", r#"{"expo": {"name": "Sample"}}"#),
    (
        "package.json",
        r#"{"dependencies": {"expo": "~54.0.0", "react-native": "0.81.0"}}"#,
    ),
    ("yarn.lock", "# yarn lockfile v1\n"),
];

pub const REACT_NATIVE: Files = &[
    ("app.json", r#"{"name": "Sample"}"#),
    ("package.json", r#"{"dependencies": {"react-native": "0.81.0"}}"#),
    ("pnpm-lock.yaml", ""),
    ("Gemfile", "gem 'cocoapods', '>= 1.13'\n"),
    ("android/gradlew", ""),
    ("android/app/build.gradle", "apply plugin: \"com.android.application\""),
    ("ios/Podfile", ""),
    ("ios/Podfile.lock", ""),
    ("ios/Sample.xcodeproj/project.pbxproj", ""),
    ("ios/Sample.xcodeproj/xcshareddata/xcschemes/Sample.xcscheme", ""),
];

pub const FLUTTER: Files = &[
    (
        "pubspec.yaml",
        "name: sample\ndependencies:\n  flutter:\n    sdk: flutter\n",
    ),
    ("pubspec.lock", ""),
    ("android/settings.gradle", ""),
    ("ios/Runner.xcodeproj/project.pbxproj", ""),
];

pub const GRADLE: Files = &[
    ("settings.gradle.kts", "include(\":mobile\")"),
    ("gradlew", ""),
    ("gradle/libs.versions.toml", ""),
    (
        "mobile/build.gradle.kts",
        "plugins { alias(libs.plugins.android.application) }",
    ),
    ("wear/build.gradle.kts", "plugins { id(\"com.android.library\") }"),
];

pub const XCODE: Files = &[
    ("My App.xcodeproj/project.pbxproj", ""),
    ("My App.xcodeproj/xcshareddata/xcschemes/App Store.xcscheme", ""),
];

pub const ALL: [Files; 7] = [NATIVESCRIPT, CAPACITOR, EXPO, REACT_NATIVE, FLUTTER, GRADLE, XCODE];

/// Writes a project into a new directory.
pub fn project(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    add(directory.path(), files);
    directory
}

/// Writes files below a directory.
pub fn add(directory: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// A build without a profile.
pub fn request(platform: Platform, build_type: BuildType, distribution: Distribution) -> BuildRequest {
    BuildRequest {
        platform,
        profile: None,
        build_type: Some(build_type),
        distribution: Some(distribution),
    }
}

/// Resolves a release for the store.
pub fn for_store(files: &[(&str, &str)], platform: Platform) -> Result<Resolved, ResolveError> {
    let request = request(platform, BuildType::Release, Distribution::Store);
    resolve(project(files).path(), &request)
}
