//! The `Range` header (RFC 9110 section 14), limited to a single range.
//!
//! Of the crates, `http-range-header` refuses a suffix that is longer than the object and numbers beyond 64 bits, which the RFC
//! accepts, and parses every range of a list.

/// The part of an object to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of it: the range is absent or may be ignored (another unit, several ranges, bad syntax).
    Whole,
    /// From the first to the last byte, inclusive.
    Part {
        /// Offset of the first byte.
        first: u64,
        /// Offset of the last byte.
        last: u64,
    },
    /// The range contains no byte.
    Unsatisfiable,
}

/// Parses the header's value for an object of `size` bytes.
pub fn select(header: &str, size: u64) -> Selection {
    parse(header, size).unwrap_or(Selection::Whole)
}

fn parse(header: &str, size: u64) -> Option<Selection> {
    let (unit, range) = header.split_once('=')?;
    let (first, last) = range.trim().split_once('-')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let selection = match (first, last) {
        ("", suffix) => Selection::Part {
            first: size.saturating_sub(number(suffix)?.min(size)),
            last: size.checked_sub(1)?,
        },
        (first, "") => Selection::Part {
            first: number(first)?,
            last: size.saturating_sub(1),
        },
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return None;
            }
            Selection::Part {
                first,
                last: last.min(size.saturating_sub(1)),
            }
        }
    };
    match selection {
        Selection::Part { first, .. } if first >= size => Some(Selection::Unsatisfiable),
        selection => Some(selection),
    }
}

/// Accepts digits only. A number beyond 64 bits is beyond every object too, so it saturates.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Selection::{Part, Unsatisfiable, Whole};
    use super::*;

    proptest! {
        #[test]
        fn a_part_lies_within_the_object(
            header in "(bytes|BYTES|items|)[= ]{0,2}[0-9]{0,22}-?[0-9]{0,22}[-, +0-9a-z]{0,6}",
            size in prop_oneof![Just(0), 1..20_u64, any::<u64>()],
        ) {
            if let Part { first, last } = select(&header, size) {
                prop_assert!(first <= last && last < size, "{}-{} of {}", first, last, size);
            }
        }

        #[test]
        fn a_range_selects_the_bytes_that_it_names(size in 1..100_u64, first in 0..120_u64, length in 1..120_u64) {
            let last = first + length - 1;
            let named: Vec<u64> = (first..=last).filter(|at| *at < size).collect();
            let expected = match (named.first(), named.last()) {
                (Some(first), Some(last)) => Part { first: *first, last: *last },
                _ => Unsatisfiable,
            };
            prop_assert_eq!(select(&format!("bytes={first}-{last}"), size), expected);
            let suffix = Part { first: size.saturating_sub(length), last: size - 1 };
            prop_assert_eq!(select(&format!("bytes=-{length}"), size), suffix);
        }
    }

    #[test]
    fn table() {
        let part = |first, last| Part { first, last };
        let cases = [
            ("bytes=0-0", 10, part(0, 0)),
            ("bytes=2-4", 10, part(2, 4)),
            ("bytes=2-", 10, part(2, 9)),
            ("bytes=9-99", 10, part(9, 9)),
            ("bytes=-3", 10, part(7, 9)),
            ("bytes=-30", 10, part(0, 9)),
            ("BYTES= 1-2 ", 10, part(1, 2)),
            ("bytes=0-99999999999999999999999", 10, part(0, 9)),
            ("bytes=10-", 10, Unsatisfiable),
            ("bytes=10-12", 10, Unsatisfiable),
            ("bytes=99999999999999999999999-", 10, Unsatisfiable),
            ("bytes=-0", 10, Unsatisfiable),
            ("bytes=0-", 0, Unsatisfiable),
            ("bytes=0-5", 0, Unsatisfiable),
            ("bytes=-5", 0, Whole),
            ("bytes=4-2", 10, Whole),
            ("bytes=0-1,3-4", 10, Whole),
            ("bytes=+1-2", 10, Whole),
            ("bytes=a-b", 10, Whole),
            ("bytes=-", 10, Whole),
            ("bytes=", 10, Whole),
            ("bytes", 10, Whole),
            ("items=0-1", 10, Whole),
            ("", 10, Whole),
        ];
        for (header, size, wanted) in cases {
            assert_eq!(select(header, size), wanted, "{header} of {size}");
        }
    }
}
