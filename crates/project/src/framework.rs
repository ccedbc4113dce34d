//! The frameworks that are known by their files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
}
