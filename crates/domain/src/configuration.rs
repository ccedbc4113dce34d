//! Configurations: the deployment targets of an update, such as `production` or `staging`
//! (`docs/reference/updates.md#configuration`).

use std::fmt;
use std::str::FromStr;

/// The maximum number of characters of a label.
pub const MAX_CONFIGURATION_LENGTH: usize = 64;

/// The label of a configuration: 1 to 64 letters, digits, `.`, `_` and `-`; case-sensitive.
///
/// The absence of a configuration is `None`, not an empty label.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Configuration(Box<str>);

/// The text is not a valid label. The message follows the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 64 letters, digits, `.`, `_` and `-`")]
pub struct ConfigurationError;

impl Configuration {
    /// Parses a label.
    ///
    /// # Errors
    /// The text does not have the form of the type.
    pub fn parse(text: &str) -> Result<Self, ConfigurationError> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if text.is_empty() || text.len() > MAX_CONFIGURATION_LENGTH || !text.bytes().all(allowed) {
            return Err(ConfigurationError);
        }
        Ok(Self(text.into()))
    }

    /// The label.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Configuration {
    type Err = ConfigurationError;

    fn from_str(text: &str) -> Result<Self, ConfigurationError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_labels_as_written() {
        let longest = "x".repeat(MAX_CONFIGURATION_LENGTH);
        for text in ["production", "Staging-2", "eu.west_1", ".", &longest] {
            assert_eq!(
                Configuration::parse(text).map(|read| read.to_string()).as_deref(),
                Ok(text)
            );
        }
        assert_ne!(Configuration::parse("Production"), Configuration::parse("production"));
    }

    #[test]
    fn refuses_every_other_form() {
        let longer = "x".repeat(MAX_CONFIGURATION_LENGTH + 1);
        for text in ["", " ", "a b", "a/b", "a\n", "ä", "a*", &longer] {
            assert_eq!(Configuration::parse(text), Err(ConfigurationError), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_kept_as_written_or_refused(text in ".{0,70}|[a-z.]{1,64}") {
            if let Ok(read) = Configuration::parse(&text) {
                prop_assert_eq!(read.as_str(), text);
            }
        }
    }
}
