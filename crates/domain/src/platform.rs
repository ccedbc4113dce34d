//! The platforms an app is made for (spec part 2).

use std::fmt;
use std::str::FromStr;

/// A platform, written in lower case on the wire and in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// iPhone and iPad.
    Ios,
    /// Android phones and tablets.
    Android,
    /// Apple Vision.
    Visionos,
}

/// The text names no platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("platform must be ios, android or visionos")]
pub struct UnknownPlatform;

impl Platform {
    /// Every platform, in the order of the spec.
    pub const ALL: [Platform; 3] = [Platform::Ios, Platform::Android, Platform::Visionos];

    /// The name on the wire: `ios`, `android` or `visionos`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Platform::Ios => "ios",
            Platform::Android => "android",
            Platform::Visionos => "visionos",
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Platform {
    type Err = UnknownPlatform;

    fn from_str(text: &str) -> Result<Self, UnknownPlatform> {
        Platform::ALL
            .into_iter()
            .find(|platform| platform.as_str() == text)
            .ok_or(UnknownPlatform)
    }
}
