//! The supported frameworks, and the files that identify them.

use launchway_domain::platform::Platform;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packages::{Packages, join};
use crate::source::Source;

/// The recognized files, as a sentence.
pub const LOOKED_FOR: &str = "Looked for nativescript.config.ts, capacitor.config.*, expo and react-native in package.json, \
    pubspec.yaml, settings.gradle and *.xcodeproj";

/// Where an app without a framework may have its Gradle project.
const GRADLE_ROOTS: [&str; 2] = ["", "android"];
/// Where an app without a framework may have its Xcode project.
const XCODE_ROOTS: [&str; 3] = ["", "ios", "iosApp"];

/// What an app is made with. It decides which commands build it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framework {
    /// NativeScript.
    #[serde(rename = "nativescript")]
    NativeScript,
    /// Capacitor, with Ionic or without.
    Capacitor,
    /// Expo.
    Expo,
    /// React Native without Expo's prebuild.
    ReactNative,
    /// Flutter.
    Flutter,
    /// Android alone.
    Gradle,
    /// Apple alone.
    Xcode,
}

impl Framework {
    /// The most specific first: a project of one framework also has the files of those after it.
    pub const ALL: [Framework; 7] = [
        Framework::NativeScript,
        Framework::Capacitor,
        Framework::Expo,
        Framework::ReactNative,
        Framework::Flutter,
        Framework::Gradle,
        Framework::Xcode,
    ];

    /// The name in `launchway.toml` and in the record of a build.
    pub const fn as_str(self) -> &'static str {
        match self {
            Framework::NativeScript => "nativescript",
            Framework::Capacitor => "capacitor",
            Framework::Expo => "expo",
            Framework::ReactNative => "react-native",
            Framework::Flutter => "flutter",
            Framework::Gradle => "gradle",
            Framework::Xcode => "xcode",
        }
    }

    /// The name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Framework::NativeScript => "NativeScript",
            Framework::Capacitor => "Capacitor",
            Framework::Expo => "Expo",
            Framework::ReactNative => "React Native",
            Framework::Flutter => "Flutter",
            Framework::Gradle => "Gradle",
            Framework::Xcode => "Xcode",
        }
    }

    /// Whether its apps consist of JavaScript packages.
    pub fn is_of_javascript(self) -> bool {
        match self {
            Framework::NativeScript | Framework::Capacitor | Framework::Expo | Framework::ReactNative => true,
            Framework::Flutter | Framework::Gradle | Framework::Xcode => false,
        }
    }

    /// The configuration files in `directory`, in groups: the framework's tools read only the first file of each group.
    pub fn configs(self, source: &Source, directory: &str) -> Vec<Vec<&'static str>> {
        let groups: &[&[&'static str]] = match self {
            Framework::NativeScript => &[&["nativescript.config.ts", "nativescript.config.js"]],
            Framework::Capacitor => &[&["capacitor.config.ts", "capacitor.config.js", "capacitor.config.json"]],
            // The output of the script is derived from the JSON.
            Framework::Expo => &[
                &["app.config.ts", "app.config.js", "app.config.cjs", "app.config.mjs"],
                &["app.config.json", "app.json"],
            ],
            Framework::ReactNative | Framework::Flutter | Framework::Gradle | Framework::Xcode => &[],
        };
        let is_there = |name: &&'static str| source.has_file(&join(directory, name));
        let there = groups
            .iter()
            .map(|group| group.iter().copied().filter(is_there).collect());
        there.filter(|group: &Vec<_>| !group.is_empty()).collect()
    }
}

/// The most specific framework of the app in `directory` that supports the platform. `directory` is empty for the root
/// of the source.
pub fn detect(source: &Source, directory: &str, packages: Option<&Packages>, platform: Platform) -> Option<Framework> {
    let has_package = |name: &str| packages.is_some_and(|packages| packages.depends_on(name));
    let has_config = |stem: &str| {
        let has = |ending: &str| source.has_file(&join(directory, &format!("{stem}.config.{ending}")));
        ["ts", "js", "json", "mjs"].iter().any(|ending| has(ending))
    };
    let fits = |framework: &Framework| match framework {
        Framework::NativeScript => has_config("nativescript") || has_package("@nativescript/core"),
        Framework::Capacitor => has_config("capacitor") || has_package("@capacitor/cli"),
        Framework::Expo => has_package("expo"),
        Framework::ReactNative => has_package("react-native"),
        Framework::Flutter => {
            let text = source.text(&join(directory, "pubspec.yaml"));
            text.is_some_and(|text| text.lines().any(|line| line.trim() == "sdk: flutter"))
        }
        Framework::Gradle => gradle_root(source, directory).is_some(),
        Framework::Xcode => xcode_root(source, directory).is_some(),
    };
    let is_for_another = |framework: &Framework| match framework {
        Framework::Gradle => platform != Platform::Android,
        Framework::Xcode => platform == Platform::Android,
        _ => false,
    };
    // A framework for the other platform is still useful in the message.
    let found = || Framework::ALL.into_iter().filter(fits);
    found()
        .find(|framework| !is_for_another(framework))
        .or_else(|| found().next())
}

/// The directory of the Gradle project, below the app.
pub fn gradle_root(source: &Source, directory: &str) -> Option<&'static str> {
    GRADLE_ROOTS.into_iter().find(|root| {
        let has = |name| source.has_file(&join(&join(directory, root), name));
        has("settings.gradle") || has("settings.gradle.kts")
    })
}

/// The directory of the Xcode project, below the app.
pub fn xcode_root(source: &Source, directory: &str) -> Option<&'static str> {
    XCODE_ROOTS.into_iter().find(|root| {
        let names = source.names(&join(directory, root));
        names
            .iter()
            .any(|name| name.ends_with(".xcodeproj") || name.ends_with(".xcworkspace"))
    })
}
