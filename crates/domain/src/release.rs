//! What a release is to the clients of other services (`docs/reference/foreign-clients.md`): whose protocol they speak, what they
//! can install, and how releases are ordered for them.

mod binary_range;
mod facts;

use std::fmt;
use std::str::FromStr;

pub use binary_range::{BinaryRange, BinaryRangeError, MAX_RANGE_LENGTH};
pub use facts::{DeploymentKey, MAX_DEPLOYMENT_KEYS, ReleaseFacts};

/// The maximum number of characters of a runtime version.
pub const MAX_RUNTIME_VERSION_LENGTH: usize = 128;
/// The maximum number of characters of a foreign id.
pub const MAX_FOREIGN_ID_LENGTH: usize = 255;

words! {
    /// What an update is: content, or the return to the content of the installed app.
    UpdateKind, error = "kind must be update or embedded",
    /// A package with content.
    Update = "update",
    /// No package: devices return to what their app was installed with.
    Embedded = "embedded",
}

words! {
    /// The form of an update's package, which decides what clients can install it.
    Format, error = "format must be archive, expo, codepush or hot-updater",
    /// A ZIP of web or script content, for our own SDK and for Capgo's client.
    Archive = "archive",
    /// An export of Expo, for expo-updates.
    Expo = "expo",
    /// A package of CodePush.
    Codepush = "codepush",
    /// An archive of hot-updater.
    HotUpdater = "hot-updater",
}

words! {
    /// The protocol of another service's client.
    Protocol, error = "protocol must be expo, codepush, capgo or hot-updater",
    /// Expo Updates.
    Expo = "expo",
    /// CodePush.
    Codepush = "codepush",
    /// Capgo.
    Capgo = "capgo",
    /// hot-updater.
    HotUpdater = "hot-updater",
}

impl Protocol {
    /// The format that clients of this protocol install.
    pub const fn format(self) -> Format {
        match self {
            Protocol::Expo => Format::Expo,
            Protocol::Codepush => Format::Codepush,
            Protocol::Capgo => Format::Archive,
            Protocol::HotUpdater => Format::HotUpdater,
        }
    }
}

/// The place of a release in the order of its bundle, platform and configuration, from 1 on. The content that an app was installed
/// with has [`Sequence::EMBEDDED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sequence(u64);

impl Sequence {
    /// The place of the built-in content, below every release.
    pub const EMBEDDED: Sequence = Sequence(0);

    /// The place with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The text is not a valid label of its kind. The message follows the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {0} visible ASCII characters")]
pub struct LabelError(usize);

fn label(text: &str, longest: usize) -> Result<Box<str>, LabelError> {
    let is_visible = text.bytes().all(|byte| byte.is_ascii_graphic());
    if text.is_empty() || text.len() > longest || !is_visible {
        return Err(LabelError(longest));
    }
    Ok(text.into())
}

/// The runtime that an Expo app was built with: 1 to 128 visible ASCII characters, compared byte by byte.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuntimeVersion(Box<str>);

impl RuntimeVersion {
    /// Parses a runtime version.
    ///
    /// # Errors
    /// The text does not have the form of the type; a space is not a visible character.
    pub fn parse(text: &str) -> Result<Self, LabelError> {
        label(text, MAX_RUNTIME_VERSION_LENGTH).map(Self)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RuntimeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for RuntimeVersion {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        Self::parse(text)
    }
}

/// How a client of another service names an update: 1 to 255 visible ASCII characters. An id names one update of its protocol,
/// bundle and platform (`docs/reference/foreign-clients.md#foreign-ids`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ForeignId(Box<str>);

impl ForeignId {
    /// Parses an id.
    ///
    /// # Errors
    /// The text does not have the form of the type.
    pub fn parse(text: &str) -> Result<Self, LabelError> {
        label(text, MAX_FOREIGN_ID_LENGTH).map(Self)
    }

    /// An id of a protocol that counts anew in each configuration, as CodePush's labels do: `{configuration}/{id}`.
    ///
    /// # Errors
    /// The text does not have the form of the type.
    pub fn within(configuration: Option<&str>, id: &str) -> Result<Self, LabelError> {
        Self::parse(&format!("{}/{id}", configuration.unwrap_or_default()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ForeignId {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_visible_ascii_of_a_bounded_length() {
        for text in ["1.0.0", "exposdk:52.0.0", "!~", &"r".repeat(MAX_RUNTIME_VERSION_LENGTH)] {
            assert_eq!(
                RuntimeVersion::parse(text).as_ref().map(RuntimeVersion::as_str),
                Ok(text)
            );
        }
        for text in ["", " ", "a b", "a\n", "é", &"r".repeat(MAX_RUNTIME_VERSION_LENGTH + 1)] {
            assert!(RuntimeVersion::parse(text).is_err(), "{text:?}");
        }
        assert!(ForeignId::parse(&"i".repeat(MAX_FOREIGN_ID_LENGTH)).is_ok());
        assert_eq!(
            ForeignId::parse(&"i".repeat(MAX_FOREIGN_ID_LENGTH + 1)).map_err(|error| error.to_string()),
            Err("must be 1 to 255 visible ASCII characters".to_owned())
        );
    }

    #[test]
    fn an_id_within_a_configuration_differs_from_that_of_another() {
        let within = |configuration, id| ForeignId::within(configuration, id).expect("an id");
        assert_eq!(within(Some("production"), "v3").as_str(), "production/v3");
        assert_eq!(within(None, "v3").as_str(), "/v3");
        assert_ne!(within(Some("production"), "v3"), within(Some("staging"), "v3"));
    }
}
