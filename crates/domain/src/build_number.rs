//! Build numbers: those of updates (`docs/reference/updates.md#build-number-of-an-update`), and those that installed apps send
//! (`docs/reference/updates.md#current-build`).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// The maximum number of digits of a build number: the highest one, 18 nines, fits a signed 64-bit column.
pub const MAX_BUILD_DIGITS: usize = 18;
/// The maximum number of characters that an installed app may send.
pub const MAX_CURRENT_BUILD_LENGTH: usize = 64;

/// The build number of an update: 1 to 18 digits, kept as written and compared as a number.
///
/// `007` and `7` are equal.
#[derive(Clone, Debug)]
pub struct BuildNumber {
    value: u64,
    text: Box<str>,
}

/// The text or number is not a valid build number. The message follows the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 18 digits")]
pub struct BuildNumberError;

impl BuildNumber {
    /// Parses a build number.
    ///
    /// # Errors
    /// Anything but 1 to 18 ASCII digits.
    pub fn parse(text: &str) -> Result<Self, BuildNumberError> {
        if text.len() > MAX_BUILD_DIGITS || !is_numeral(text) {
            return Err(BuildNumberError);
        }
        let value = text.parse().map_err(|_| BuildNumberError)?;
        Ok(Self {
            value,
            text: text.into(),
        })
    }

    /// The build number of this value, written without leading zeros.
    ///
    /// # Errors
    /// A value of more than 18 digits.
    pub fn from_value(value: u64) -> Result<Self, BuildNumberError> {
        Self::parse(&value.to_string())
    }

    /// The digits as they were written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The number, of at most 18 digits.
    pub const fn value(&self) -> u64 {
        self.value
    }

    /// Whether this build is numerically greater than the installed one.
    pub fn is_newer_than(&self, current: &CurrentBuild<'_>) -> bool {
        current.is_older_than(self.value)
    }
}

impl fmt::Display for BuildNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for BuildNumber {
    type Err = BuildNumberError;

    fn from_str(text: &str) -> Result<Self, BuildNumberError> {
        Self::parse(text)
    }
}

impl PartialEq for BuildNumber {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for BuildNumber {}

impl Hash for BuildNumber {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl Ord for BuildNumber {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.cmp(&other.value)
    }
}

impl PartialOrd for BuildNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The build that an installed app sends as `currentBuild`: numerals, also dotted such as `1.0.3`. Borrows its text.
#[derive(Clone, Copy, Debug)]
pub struct CurrentBuild<'a>(&'a str);

/// The text is not a valid installed build. The message follows the name of the parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be digits such as 42 or 1.0.3, of at most 64 characters")]
pub struct CurrentBuildError;

impl<'a> CurrentBuild<'a> {
    /// Parses an installed build. Every part may have any number of digits, leading zeros included.
    ///
    /// # Errors
    /// An empty part, anything but ASCII digits and dots, over 64 characters.
    pub fn parse(text: &'a str) -> Result<Self, CurrentBuildError> {
        if text.len() > MAX_CURRENT_BUILD_LENGTH || !text.split('.').all(is_numeral) {
            return Err(CurrentBuildError);
        }
        Ok(Self(text))
    }

    /// The text as it was sent.
    pub const fn as_str(&self) -> &'a str {
        self.0
    }

    /// Whether a build of this number is newer, comparing part by part; missing parts are 0.
    ///
    /// Only the first part counts: all further parts of a plain number are 0, so they never make it newer.
    pub fn is_older_than(&self, build: u64) -> bool {
        let first = self.0.split('.').next().unwrap_or_default();
        // Digits that do not fit in 64 bits exceed every build number.
        first.parse::<u64>().is_ok_and(|first| first < build)
    }
}

fn is_numeral(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HIGHEST: u64 = 999_999_999_999_999_999;

    fn build(text: &str) -> BuildNumber {
        BuildNumber::parse(text).unwrap()
    }

    #[test]
    fn a_build_number_is_kept_as_written_and_compared_as_number() {
        let zeros = build("007");
        assert_eq!(
            (zeros.as_str(), zeros.to_string().as_str(), zeros.value()),
            ("007", "007", 7)
        );
        assert_eq!(zeros, build("7"));
        assert!(build("10") > build("9"));
        assert!(build("010") > build("9"));
    }

    #[test]
    fn a_build_number_has_1_to_18_digits() {
        for text in ["0", "000000000000000000", "999999999999999999"] {
            assert_eq!(
                BuildNumber::parse(text).map(|read| read.to_string()).as_deref(),
                Ok(text)
            );
        }
        for text in [
            "",
            " ",
            "1 ",
            "-1",
            "+1",
            "1.0",
            "1e3",
            "0x1",
            "a",
            "٣",
            "1000000000000000000",
            "0000000000000000000",
        ] {
            assert_eq!(BuildNumber::parse(text), Err(BuildNumberError), "{text:?}");
        }
        assert_eq!(BuildNumber::from_value(HIGHEST).map(|made| made.value()), Ok(HIGHEST));
        assert_eq!(BuildNumber::from_value(HIGHEST + 1), Err(BuildNumberError));
        assert_eq!(
            BuildNumber::from_value(0).map(|made| made.to_string()).as_deref(),
            Ok("0")
        );
    }

    #[test]
    fn an_installed_build_is_numerals_with_dots() {
        let longest = "1".repeat(MAX_CURRENT_BUILD_LENGTH);
        for text in ["0", "42", "1.0.3", "007.08", "1.2.3.4.5.6", &longest] {
            assert_eq!(
                CurrentBuild::parse(text)
                    .map(|read| read.as_str().to_owned())
                    .as_deref(),
                Ok(text)
            );
        }
        let longer = "1".repeat(MAX_CURRENT_BUILD_LENGTH + 1);
        for text in [
            "", ".", "1.", ".1", "1..2", "1.a", "a", "-1", "+1", "1 ", "1,2", "1.0-3", "٣", &longer,
        ] {
            assert!(CurrentBuild::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn an_update_is_newer_by_number_part_by_part() {
        let forty = "9".repeat(40);
        for (update, installed, newer) in [
            ("42", "41", true),
            ("42", "42", false),
            ("42", "43", false),
            ("10", "9", true),
            ("042", "42", false),
            ("43", "0042", true),
            ("1", "1.0.0", false),
            ("1", "1.0.3", false),
            ("2", "1.0.3", true),
            ("2", "1.99999999999999999999999", true),
            ("1", "0.9", true),
            ("0", "0", false),
            ("999999999999999999", "18446744073709551616", false),
            ("999999999999999999", &forty, false),
            ("1", "0000000000000000000000000000000000000000", true),
        ] {
            let installed = CurrentBuild::parse(installed).unwrap();
            assert_eq!(build(update).is_newer_than(&installed), newer, "{update} {installed:?}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_comparing_lists_of_numbers(
            update in 0u64..5, parts in prop::collection::vec(0u128..5, 1..4), zeros in 0usize..3,
        ) {
            let written: Vec<_> = parts.iter().map(|part| format!("{}{part}", "0".repeat(zeros))).collect();
            let text = written.join(".");
            let installed = CurrentBuild::parse(&text).unwrap();
            let mut padded = vec![0u128; parts.len()];
            padded[0] = u128::from(update);
            let made = BuildNumber::from_value(update).unwrap();
            prop_assert_eq!(made.is_newer_than(&installed), padded > parts);
        }

        #[test]
        fn agrees_with_wide_numbers(update in 0u64..=HIGHEST, near in -2i128..3, wide: u128, take_near: bool) {
            let first = if take_near { (i128::from(update) + near).max(0).unsigned_abs() } else { wide };
            let text = first.to_string();
            let installed = CurrentBuild::parse(&text).unwrap();
            prop_assert_eq!(installed.is_older_than(update), first < u128::from(update));
        }

        #[test]
        fn a_higher_build_is_newer_than_whatever_a_lower_one_is(low in 0u64..50, more in 0u64..50, text in "[0-9]{1,2}(\\.[0-9]{1,2}){0,2}") {
            let installed = CurrentBuild::parse(&text).unwrap();
            prop_assert!(!installed.is_older_than(low) || installed.is_older_than(low + more));
        }

        #[test]
        fn order_equality_and_value_agree(this in "[0-9]{1,3}", that in "[0-9]{1,3}") {
            let (this, that) = (build(&this), build(&that));
            prop_assert_eq!(this.cmp(&that), this.value().cmp(&that.value()));
            prop_assert_eq!(this == that, this.value() == that.value());
        }

        #[test]
        fn any_text_is_kept_as_written_or_refused(text in ".{0,70}|[0-9.]{1,70}") {
            if let Ok(read) = BuildNumber::parse(&text) {
                prop_assert_eq!(read.as_str(), &text);
                prop_assert!(read.value() <= HIGHEST);
            }
            if let Ok(read) = CurrentBuild::parse(&text) {
                prop_assert_eq!(read.as_str(), &text);
                prop_assert!(!read.is_older_than(0));
            }
        }
    }
}
