//! The version of an app as hot-updater finds it in a text.

use launchway_domain::version::Version;

/// Longer numbers do not fit the numbers of JavaScript.
const MAX_DIGITS: usize = 16;
/// The first number that is not exact in JavaScript.
const TOO_LARGE: u64 = 1 << 53;

/// The first version in a text: up to three numbers with dots between them. `v1.2-beta` is 1.2.0. `None` if there is none, or one of
/// its numbers has a leading zero or is too large.
pub(super) fn coerce(text: &str) -> Option<Version> {
    let bytes = text.as_bytes();
    let mut start = 0;
    while start < bytes.len() {
        let length = digits(&bytes[start..]);
        if (1..=MAX_DIGITS).contains(&length) {
            let end = end_of_version(bytes, start + length);
            let version = Version::parse(&text[start..end]).ok()?;
            let (major, minor, patch) = version.core();
            return [major, minor, patch]
                .iter()
                .all(|number| *number < TOO_LARGE)
                .then_some(version);
        }
        start += length.max(1);
    }
    None
}

/// Where the version ends whose first number ends at `end`.
fn end_of_version(bytes: &[u8], mut end: usize) -> usize {
    for _ in 0..2 {
        let Some([b'.', rest @ ..]) = bytes.get(end..) else {
            break;
        };
        let length = digits(rest);
        if !(1..=MAX_DIGITS).contains(&length) {
            break;
        }
        end += 1 + length;
    }
    end
}

/// The number of digits that the bytes begin with.
fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Printed by the `coerce` that `@hot-updater/js` 0.36.3 uses.
    #[test]
    fn the_first_version_in_a_text_is_found() {
        for (text, expected) in [
            ("1.2.3", Some("1.2.3")),
            ("v1.2-beta", Some("1.2.0")),
            ("1", Some("1.0.0")),
            ("1.2.3.4", Some("1.2.3")),
            ("1.2.3-beta.4+5", Some("1.2.3")),
            ("version 10.20 of 30", Some("10.20.0")),
            ("a1b2", Some("1.0.0")),
            ("1..2", Some("1.0.0")),
            (".5", Some("5.0.0")),
            ("12345678901234567 1.2", Some("1.2.0")),
            ("1.12345678901234567.2", Some("1.0.0")),
            ("9007199254740991.0.0", Some("9007199254740991.0.0")),
            ("9007199254740992.0.0", None),
            ("01.2.3", None),
            ("1.02.3", None),
            ("", None),
            ("beta", None),
            ("\u{663}.1", Some("1.0.0")),
            ("\u{661}\u{662}", None),
        ] {
            let expected = expected.map(|text| Version::parse(text).unwrap());
            assert_eq!(coerce(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_version_or_none(text in ".{0,40}|[0-9.]{0,40}") {
            if let Some(version) = coerce(&text) {
                prop_assert!(!version.is_pre_release());
            }
        }
    }
}
