//! Versions of apps and updates: semantic versions, compared by precedence (`docs/reference/updates.md#versions`).

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// The maximum number of characters of a version.
pub const MAX_VERSION_LENGTH: usize = 128;

/// A semantic version as far as precedence goes: build metadata is validated, then dropped.
///
/// Two versions are equal exactly if neither precedes the other, so the original text must be stored separately. Takes 32
/// bytes, plus a heap allocation only for a pre-release: an index holds millions of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    pre: Option<Box<PreRelease>>,
}

/// The dotted identifiers after the hyphen. The owner boxes it again: a thin pointer is half the size of a `Box<str>`.
///
/// Equal texts have equal precedence, since numeric identifiers have no leading zeros.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PreRelease(Box<str>);

/// The text is not a valid version. The message follows the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a semantic version such as 1.2.3, of at most 128 characters")]
pub struct VersionError;

impl Version {
    /// Parses a version: strict Semantic Versioning 2.0.0, and additionally `1` and `1.2`, which mean `1.0.0` and `1.2.0`.
    ///
    /// # Errors
    /// Anything else: leading zeros, a number over 64 bits, a short form with pre-release or metadata, over 128
    /// characters.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        if text.len() > MAX_VERSION_LENGTH {
            return Err(VersionError);
        }
        // The metadata may contain hyphens and the pre-release no plus, so the plus is searched first.
        let (text, metadata) = split_at_first(text, '+');
        let (core, pre) = split_at_first(text, '-');
        if metadata.is_some_and(|text| !text.split('.').all(is_identifier)) {
            return Err(VersionError);
        }
        if pre.is_some_and(|text| !text.split('.').all(is_pre_release_identifier)) {
            return Err(VersionError);
        }
        let mut parts = core.split('.');
        let major = number(parts.next().unwrap_or_default())?;
        let minor = parts.next().map(number).transpose()?;
        let patch = parts.next().map(number).transpose()?;
        let shortened_with_suffix = patch.is_none() && (pre.is_some() || metadata.is_some());
        if parts.next().is_some() || shortened_with_suffix {
            return Err(VersionError);
        }
        Ok(Self {
            major,
            minor: minor.unwrap_or(0),
            patch: patch.unwrap_or(0),
            pre: pre.map(|text| Box::new(PreRelease(text.into()))),
        })
    }

    /// The version of these three numbers, which is no pre-release.
    pub const fn from_core((major, minor, patch): (u64, u64, u64)) -> Version {
        Version {
            major,
            minor,
            patch,
            pre: None,
        }
    }

    /// Major, minor and patch.
    pub fn core(&self) -> (u64, u64, u64) {
        (self.major, self.minor, self.patch)
    }

    /// Whether it is a pre-release.
    pub fn is_pre_release(&self) -> bool {
        self.pre.is_some()
    }

    /// The identity of the version as text, `major.minor.patch[-pre]`: equal exactly for equal versions, regardless of
    /// metadata and short forms.
    pub fn precedence_key(&self) -> String {
        self.to_string()
    }
}

/// Writes the text of [`Version::precedence_key`].
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        match &self.pre {
            Some(pre) => write!(f, "-{}", pre.0),
            None => Ok(()),
        }
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        Self::parse(text)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        numbers(self)
            .cmp(&numbers(other))
            .then_with(|| match (&self.pre, &other.pre) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(this), Some(that)) => this.cmp(that),
            })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PreRelease {
    /// Semantic Versioning 2.0.0, item 11.4: identifier by identifier; if one is a prefix of the other, the shorter first.
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.split('.').map(rank).cmp(other.0.split('.').map(rank))
    }
}

/// Orders identifiers: numbers before words; numbers of any length by value, which without leading zeros is by length and
/// then as text; words as ASCII text.
fn rank(identifier: &str) -> (bool, usize, &str) {
    let word = !is_numeral(identifier);
    (word, if word { 0 } else { identifier.len() }, identifier)
}

fn split_at_first(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark)
        .map_or((text, None), |(before, after)| (before, Some(after)))
}

fn number(text: &str) -> Result<u64, VersionError> {
    if !is_numeral(text) || has_leading_zero(text) {
        return Err(VersionError);
    }
    text.parse().map_err(|_| VersionError)
}

fn is_numeral(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn has_leading_zero(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0')
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_pre_release_identifier(text: &str) -> bool {
    is_identifier(text) && !(is_numeral(text) && has_leading_zero(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::hash::{DefaultHasher, Hash, Hasher};

    fn version(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    fn hash(version: &Version) -> u64 {
        let mut hasher = DefaultHasher::new();
        version.hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn reads_what_the_reference_allows() {
        for (text, key) in [
            ("1", "1.0.0"),
            ("1.2", "1.2.0"),
            ("0", "0.0.0"),
            ("1.2.3", "1.2.3"),
            ("1.2.3+5", "1.2.3"),
            ("1.2.3+001.-", "1.2.3"),
            ("1.2.3-rc.1", "1.2.3-rc.1"),
            ("1.2.3-rc-1.0a+x-y.z", "1.2.3-rc-1.0a"),
            ("1.0.0--", "1.0.0--"),
            ("18446744073709551615.0.0", "18446744073709551615.0.0"),
            ("1.0.0-99999999999999999999999", "1.0.0-99999999999999999999999"),
        ] {
            assert_eq!(
                Version::parse(text).map(|version| version.precedence_key()).as_deref(),
                Ok(key),
                "{text}"
            );
        }
    }

    #[test]
    fn refuses_everything_else() {
        for text in [
            "",
            " ",
            "1.",
            ".1",
            "1..2",
            "1.2.3.",
            "1.2.3.4",
            "01",
            "1.02",
            "1.2.03",
            "v1.2.3",
            "1.2.3 ",
            " 1.2.3",
            "-1",
            "+1",
            "1.2.-3",
            "1-rc",
            "1.2-rc",
            "1+5",
            "1.2+5",
            "1.2.3-",
            "1.2.3+",
            "1.2.3-+5",
            "1.2.3-a..b",
            "1.2.3-01",
            "1.2.3-a.01",
            "1.2.3+a..b",
            "1.2.3+a+b",
            "1.2.3-a_b",
            "1.2.3-é",
            "١.٢.٣",
            "1.2.x",
            "1,2,3",
            "1.2.3\n",
            "18446744073709551616.0.0",
            "0.0.18446744073709551616",
            "1.0.0-a b",
        ] {
            assert_eq!(Version::parse(text), Err(VersionError), "{text:?}");
        }
    }

    #[test]
    fn is_read_up_to_its_longest() {
        let longest = format!("1.0.0-{}", "a".repeat(MAX_VERSION_LENGTH - 6));
        assert_eq!(version(&longest).precedence_key(), longest);
        assert_eq!(Version::parse(&format!("{longest}a")), Err(VersionError));
    }

    #[test]
    fn is_ordered_as_semantic_versions_are() {
        // Semantic Versioning 2.0.0, items 11.2 and 11.4, with numbers of more than 64 bits and numbers inside words.
        let rising = [
            "0.0.1",
            "0.2",
            "0.10.0",
            "1.0.0-1",
            "1.0.0-2",
            "1.0.0-10",
            "1.0.0-99999999999999999999",
            "1.0.0-100000000000000000000",
            "1.0.0--",
            "1.0.0-A",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.1.0",
            "1.0.0-alpha.beta",
            "1.0.0-alpha1",
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1",
            "1.0.1",
            "2.0.0",
            "2.1.0",
            "2.1.1",
            "10.0.0",
        ]
        .map(version);
        for (place, lower) in rising.iter().enumerate() {
            assert_eq!(lower.cmp(lower), Ordering::Equal);
            for higher in &rising[place + 1..] {
                assert_eq!(
                    (lower.cmp(higher), higher.cmp(lower)),
                    (Ordering::Less, Ordering::Greater),
                    "{lower} {higher}"
                );
            }
        }
    }

    #[test]
    fn metadata_and_shortness_make_no_difference() {
        for (this, that) in [
            ("1.0.0+1", "1.0.0+2"),
            ("1", "1.0.0"),
            ("1.2", "1.2.0+x"),
            ("1.0.0-a+1", "1.0.0-a"),
        ] {
            assert_eq!(version(this), version(that));
            assert_eq!(hash(&version(this)), hash(&version(that)));
        }
    }

    #[test]
    fn is_small() {
        assert_eq!(size_of::<Version>(), 32);
    }

    /// Few letters, so that equal and nearly equal versions are frequent.
    fn nearby() -> impl Strategy<Value = String> {
        "(0|1|10)\\.(0|2)\\.(0|3)(-(0|1|2|10|a|b|A|-)(\\.(0|1|10|a|ab)){0,2})?(\\+(0|01|a)(\\.b)?)?"
    }

    proptest! {
        #[test]
        fn reads_the_same_three_part_versions_as_the_oracle(text in "[0-2a.+-]{0,12}|(0|1|01)\\.(0|1|10)\\.(0|2)[+.-]?[01a.+-]{0,8}") {
            let oracle = semver::Version::parse(&text).ok();
            let ours = Version::parse(&text).ok();
            let short = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && text.matches('.').count() < 2;
            if !short {
                prop_assert_eq!(ours.is_some(), oracle.is_some(), "{}", &text);
            }
            if let (Some(ours), Some(mut oracle)) = (ours, oracle) {
                oracle.build = semver::BuildMetadata::EMPTY;
                prop_assert_eq!(ours.precedence_key(), oracle.to_string());
            }
        }

        #[test]
        fn a_short_form_is_the_long_one(major in 0u64..100, minor in 0u64..100) {
            prop_assert_eq!(version(&format!("{major}")), version(&format!("{major}.0.0")));
            prop_assert_eq!(version(&format!("{major}.{minor}")), version(&format!("{major}.{minor}.0")));
        }

        #[test]
        fn agrees_with_the_oracle_about_precedence(this in nearby(), that in nearby()) {
            let oracle = |text: &str| semver::Version::parse(text).unwrap();
            let expected = oracle(&this).cmp_precedence(&oracle(&that));
            let (this, that) = (version(&this), version(&that));
            prop_assert_eq!(this.cmp(&that), expected);
            prop_assert_eq!(that.cmp(&this), expected.reverse());
            prop_assert_eq!(this == that, expected == Ordering::Equal);
            prop_assert_eq!(this.precedence_key() == that.precedence_key(), this == that);
            prop_assert!(this != that || hash(&this) == hash(&that));
        }

        #[test]
        fn the_order_is_total(texts in prop::array::uniform3(nearby())) {
            let mut sorted = texts.map(|text| version(&text));
            sorted.sort();
            prop_assert!(sorted[0] <= sorted[1] && sorted[1] <= sorted[2] && sorted[0] <= sorted[2]);
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}") {
            if let Ok(read) = Version::parse(&text) {
                prop_assert_eq!(version(&read.precedence_key()), read);
            }
        }
    }
}
