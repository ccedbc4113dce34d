//! Bundle ids of apps: unique regardless of letter case (`docs/reference/callers.md#claiming-a-bundle-identifier`).

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// The maximum number of characters of a bundle id, as in the app stores.
pub const MAX_BUNDLE_ID_LENGTH: usize = 155;

/// A bundle id such as `com.example.app`: 1 to 155 letters, digits, `.`, `_` and `-`, with no empty part between dots. Kept
/// as written; compared without regard to letter case.
#[derive(Clone, Debug)]
pub struct BundleId(Box<str>);

/// The text is not a valid bundle id. The message follows the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a bundle identifier such as com.example.app, of at most 155 letters, digits, `.`, `_` and `-`")]
pub struct BundleIdError;

impl BundleId {
    /// Parses a bundle id.
    ///
    /// # Errors
    /// The text does not have the form of the type.
    pub fn parse(text: &str) -> Result<Self, BundleIdError> {
        if Letters::of(text).is_some() {
            Ok(Self(text.into()))
        } else {
            Err(BundleIdError)
        }
    }

    /// The identifier as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The identity of the app, regardless of letter case: the bundle id in ASCII lower case.
    pub fn key(&self) -> String {
        self.0.to_ascii_lowercase()
    }

    /// Whether it is a reverse domain name, as the app stores require: two or more parts that begin with a letter or
    /// digit, the first with a letter. Apps that were claimed before this was required may lack the form.
    pub fn is_reverse_domain(&self) -> bool {
        let begins_well = |part: &str| part.starts_with(|first: char| first.is_ascii_alphanumeric());
        self.0.contains('.')
            && self.0.starts_with(|first: char| first.is_ascii_alphabetic())
            && self.0.split('.').all(begins_well)
    }

    /// The key under which any text is looked up: the public check refuses no bundle id for its form
    /// (`docs/reference/updates.md#lookup-of-the-bundle`). Returns `None` if the text cannot be a bundle id, so no app has
    /// it. Allocates only for upper-case letters.
    pub fn lookup_key(text: &str) -> Option<Cow<'_, str>> {
        Some(match Letters::of(text)? {
            Letters::Mixed => Cow::Owned(text.to_ascii_lowercase()),
            Letters::Lower => Cow::Borrowed(text),
        })
    }
}

/// The letters of a bundle id.
enum Letters {
    /// None is in upper case.
    Lower,
    /// Some are in upper case.
    Mixed,
}

impl Letters {
    /// `None` if the text is no bundle id. Every check asks this, so it takes one pass.
    fn of(text: &str) -> Option<Letters> {
        let mut letters = Letters::Lower;
        let mut is_part_empty = true;
        for byte in text.bytes() {
            is_part_empty = match byte {
                b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => false,
                b'A'..=b'Z' => {
                    letters = Letters::Mixed;
                    false
                }
                b'.' if !is_part_empty => true,
                _ => return None,
            };
        }
        (!is_part_empty && text.len() <= MAX_BUNDLE_ID_LENGTH).then_some(letters)
    }
}

impl fmt::Display for BundleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for BundleId {
    type Err = BundleIdError;

    fn from_str(text: &str) -> Result<Self, BundleIdError> {
        Self::parse(text)
    }
}

impl PartialEq for BundleId {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for BundleId {}

impl Hash for BundleId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn reads_identifiers_as_written() {
        let longest = "a".repeat(MAX_BUNDLE_ID_LENGTH);
        for text in ["com.example.app", "app", "Com.Example.My-App_2", "1.2", "-._", &longest] {
            assert_eq!(BundleId::parse(text).map(|read| read.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn refuses_every_other_form() {
        let longer = "a".repeat(MAX_BUNDLE_ID_LENGTH + 1);
        for text in [
            "", " ", ".", "com.", ".com", "com..app", "com/app", "com.app ", "com.äpp", "com.*", "a\0", "a%2e", &longer,
        ] {
            assert_eq!(BundleId::parse(text), Err(BundleIdError), "{text:?}");
            assert_eq!(BundleId::lookup_key(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_reverse_domain_has_parts_that_begin_well() {
        let of = |text: &str| BundleId::parse(text).unwrap().is_reverse_domain();
        for text in [
            "com.example.app",
            "a.b",
            "com.example.My-App_2",
            "io.7up.app",
            "com.example.app_",
        ] {
            assert!(of(text), "{text}");
        }
        for text in [
            "app",
            "1.2",
            "-._",
            "7.example.app",
            "com._example",
            "com.example.-app",
            "a-",
        ] {
            assert!(!of(text), "{text}");
        }
    }

    #[test]
    fn is_one_app_whatever_the_letter_case() {
        let (upper, lower) = (
            BundleId::parse("Com.Example").unwrap(),
            BundleId::parse("com.example").unwrap(),
        );
        assert_eq!(upper, lower);
        assert_eq!((upper.as_str(), upper.key().as_str()), ("Com.Example", "com.example"));
        assert_eq!(HashSet::from([upper, lower]).len(), 1);
        assert_ne!(
            BundleId::parse("com.example").unwrap(),
            BundleId::parse("com.examp1e").unwrap()
        );
    }

    #[test]
    fn a_lookup_of_lower_case_borrows() {
        assert!(matches!(
            BundleId::lookup_key("com.example"),
            Some(Cow::Borrowed("com.example"))
        ));
        assert_eq!(BundleId::lookup_key("Com.Example").as_deref(), Some("com.example"));
    }

    proptest! {
        #[test]
        fn equality_key_and_lookup_agree(this in "[aAbB][.]?[aAbB]", that in "[aAbB][.]?[aAbB]") {
            let (this, that) = (BundleId::parse(&this).unwrap(), BundleId::parse(&that).unwrap());
            prop_assert_eq!(this == that, this.key() == that.key());
            let found = BundleId::lookup_key(this.as_str());
            prop_assert_eq!(found, Some(Cow::Owned(this.key())));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,160}|[a-c.]{0,12}") {
            prop_assert_eq!(BundleId::parse(&text).is_ok(), BundleId::lookup_key(&text).is_some());
            if let Ok(read) = BundleId::parse(&text) {
                prop_assert!(!text.starts_with('.') && !text.ends_with('.') && !text.contains(".."));
                prop_assert_eq!(read.as_str(), text);
            }
        }
    }
}
