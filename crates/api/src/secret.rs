//! A text that must not appear in logs, `Debug` output or errors about the form of a request.

use std::fmt;

use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use zeroize::Zeroizing;

/// A secret in a request. Its memory is wiped on drop.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(Zeroizing<String>);

impl SecretText {
    /// Wraps a secret.
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// Returns the secret text.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(…)")
    }
}

impl Serialize for SecretText {
    /// For clients: serializes the secret in clear.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOnly)
    }
}

/// Serde's own message about a wrong type would quote the value; this one does not.
struct TextOnly;

const WRONG_TYPE: &str = "must be a text";

impl Visitor<'_> for TextOnly {
    type Value = SecretText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<SecretText, E> {
        Ok(SecretText::new(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<SecretText, E> {
        Ok(SecretText::new(text))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<SecretText, E> {
        Err(E::custom(WRONG_TYPE))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<SecretText, E> {
        Err(E::custom(WRONG_TYPE))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<SecretText, E> {
        Err(E::custom(WRONG_TYPE))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<SecretText, E> {
        Err(E::custom(WRONG_TYPE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_texts_and_shows_nothing() {
        let secret: SecretText = serde_json::from_str("\"hunter\\u0032\"").expect("a text");
        assert_eq!(secret.reveal(), "hunter2");
        assert_eq!(format!("{secret:?}"), "SecretText(…)");
        for other in ["12345", "-12345", "1.2345", "true", "null", "[12345]", "{\"x\":12345}"] {
            let error = serde_json::from_str::<SecretText>(other).expect_err(other).to_string();
            assert!(!error.contains("2345"), "{error}");
        }
    }
}
