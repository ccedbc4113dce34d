//! The frameworks that a fingerprint document knows (contract part 9).

use std::fmt;
use std::str::FromStr;

/// What an app is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framework {
    /// NativeScript.
    NativeScript,
    /// Capacitor, Cordova plugins included.
    Capacitor,
    /// React Native without Expo.
    ReactNative,
    /// Expo.
    Expo,
    /// Flutter.
    Flutter,
    /// No framework: a plain Gradle or Xcode project.
    Native,
}

/// The text names no framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be nativescript, capacitor, react-native, expo, flutter or native")]
pub struct UnknownFramework;

impl Framework {
    /// Every framework.
    pub const ALL: [Framework; 6] = [
        Framework::NativeScript,
        Framework::Capacitor,
        Framework::ReactNative,
        Framework::Expo,
        Framework::Flutter,
        Framework::Native,
    ];

    /// The name in a document.
    pub const fn as_str(self) -> &'static str {
        match self {
            Framework::NativeScript => "nativescript",
            Framework::Capacitor => "capacitor",
            Framework::ReactNative => "react-native",
            Framework::Expo => "expo",
            Framework::Flutter => "flutter",
            Framework::Native => "native",
        }
    }
}

impl fmt::Display for Framework {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Framework {
    type Err = UnknownFramework;

    fn from_str(text: &str) -> Result<Self, UnknownFramework> {
        Framework::ALL
            .into_iter()
            .find(|framework| framework.as_str() == text)
            .ok_or(UnknownFramework)
    }
}
