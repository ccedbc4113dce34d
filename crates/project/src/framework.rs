//! The frameworks, and the files that they are known by.

use launchway_domain::platform::Platform;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packages::{Packages, join};
use crate::source::Source;

/// What is looked for, as a sentence.
pub const LOOKED_FOR: &str = "Looked for nativescript.config.ts, capacitor.config.*, expo and react-native in package.json, \
    pubspec.yaml, settings.gradle and *.xcodeproj";

/// Where the Gradle project of an app without a framework may be.
const GRADLE_ROOTS: [&str; 2] = ["", "android"];
/// Where its Xcode project may be.
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
    /// The most specific first: each of them has files of those behind it too.
    pub const ALL: [Framework; 7] = [
        Framework::NativeScript,
        Framework::Capacitor,
        Framework::Expo,
        Framework::ReactNative,
        Framework::Flutter,
        Framework::Gradle,
        Framework::Xcode,
    ];

    /// The name in `launchway.toml` and in a build's record.
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

    /// The name that people know.
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

    /// Whether its apps are made of packages of JavaScript.
    pub fn is_of_javascript(self) -> bool {
        match self {
            Framework::NativeScript | Framework::Capacitor | Framework::Expo | Framework::ReactNative => true,
            Framework::Flutter | Framework::Gradle | Framework::Xcode => false,
        }
    }

    /// The files of configuration that are there in `directory`, in groups: of each group the framework's tools read only
    /// the first.
    pub fn configs(self, source: &Source, directory: &str) -> Vec<Vec<&'static str>> {
        let groups: &[&[&'static str]] = match self {
            Framework::NativeScript => &[&["nativescript.config.ts", "nativescript.config.js"]],
            Framework::Capacitor => &[&["capacitor.config.ts", "capacitor.config.js", "capacitor.config.json"]],
            // What the script gives is made from what the JSON says.
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

/// The framework of the app in `directory`, which is empty for the source's root; the most specific that fits the platform.
pub fn recognise(
    source: &Source,
    directory: &str,
    packages: Option<&Packages>,
    platform: Platform,
) -> Option<Framework> {
    let has_package = |name: &str| packages.is_some_and(|packages| packages.has(name));
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
    // One that is for the other platform is still worth telling.
    let found = || Framework::ALL.into_iter().filter(fits);
    found()
        .find(|framework| !is_for_another(framework))
        .or_else(|| found().next())
}

/// Where below an app the Gradle project is.
pub fn gradle_root(source: &Source, directory: &str) -> Option<&'static str> {
    GRADLE_ROOTS.into_iter().find(|root| {
        let has = |name| source.has_file(&join(&join(directory, root), name));
        has("settings.gradle") || has("settings.gradle.kts")
    })
}

/// Where below an app the Xcode project is.
pub fn xcode_root(source: &Source, directory: &str) -> Option<&'static str> {
    XCODE_ROOTS.into_iter().find(|root| {
        let names = source.names(&join(directory, root));
        names
            .iter()
            .any(|name| name.ends_with(".xcodeproj") || name.ends_with(".xcworkspace"))
    })
}
