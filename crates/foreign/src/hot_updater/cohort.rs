//! Cohorts: which devices a staged hot-updater bundle reaches (`docs/reference/hot-updater.md#cohorts`).

use launchway_domain::rollout::Rollout;

/// The number of cohorts. A device belongs to one of them for good.
const COHORTS: i32 = 1000;
/// The largest prime below [`COHORTS`], from which the original takes its multiplier.
const PRIME: i32 = 997;

/// The cohort that a request names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cohort {
    /// None; clients before 0.30 have none.
    Unsaid,
    /// One of 1 to 1000.
    Number(u16),
    /// A name that the app chose for itself. Such a device only receives bundles that name its cohort, which ours never do.
    Named,
}

impl Cohort {
    /// Reads a cohort: spaces around it and letter case make no difference.
    pub fn read(text: &str) -> Self {
        // JavaScript trims the byte order mark, and not the next line.
        let digits = text.trim_matches(|c: char| (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}');
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.trim_start_matches('0').parse::<u16>().ok().filter(|_| is_number);
        match number.filter(|number| (1..=1000).contains(number)) {
            Some(number) => Cohort::Number(number),
            None => Cohort::Named,
        }
    }

    /// Whether a bundle with this id, as text, and this rollout is offered to the cohort.
    ///
    /// It is the rule of `@hot-updater/core`: each bundle puts the cohorts in an order of its own, of which the rollout takes the
    /// first. A raise never takes a bundle away.
    pub fn is_reached(self, id: &str, rollout: Rollout) -> bool {
        match self {
            Cohort::Unsaid => rollout == Rollout::FULL,
            Cohort::Number(number) => position(id, i32::from(number)) < i32::from(rollout.percent()) * (COHORTS / 100),
            Cohort::Named => false,
        }
    }
}

/// The place of a cohort in the order of a bundle, from 0 to 999.
fn position(bundle_id: &str, cohort: i32) -> i32 {
    let mut multiplier = hash(bundle_id, ":multiplier").rem_euclid(PRIME).max(1);
    while greatest_common_divisor(multiplier, COHORTS) != 1 {
        multiplier = ((multiplier + 1) % COHORTS).max(1);
    }
    let offset = hash(bundle_id, ":offset").rem_euclid(COHORTS);
    (inverse(multiplier) * (cohort - 1 - offset).rem_euclid(COHORTS)) % COHORTS
}

/// `h*31+c` over UTF-16, with the overflow of 32 bits.
fn hash(text: &str, suffix: &str) -> i32 {
    let units = text.encode_utf16().chain(suffix.encode_utf16());
    units.fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

fn greatest_common_divisor(mut this: i32, mut that: i32) -> i32 {
    while that != 0 {
        (this, that) = (that, this % that);
    }
    this
}

/// The number whose product with `value` is 1 modulo [`COHORTS`]. `value` has no common divisor with it.
fn inverse(value: i32) -> i32 {
    // The multiplicative group of 1000 has the exponent 100, so the power of 99 is the inverse.
    (0..99).fold(1, |power, _| power * value % COHORTS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sha2::{Digest, Sha256};

    use super::super::bundle_id::BundleId;
    use super::*;

    fn id(number: u32) -> BundleId {
        let mixed = u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hex = format!("{mixed:016x}");
        BundleId::parse(&format!(
            "0190a8c6-{}-7{}-8{}-{}{}",
            &hex[..4],
            &hex[4..7],
            &hex[7..10],
            &hex[10..],
            &hex[..6]
        ))
        .unwrap()
    }

    #[test]
    fn cohorts_are_read_as_the_client_does() {
        for (text, expected) in [
            ("1", Cohort::Number(1)),
            ("1000", Cohort::Number(1000)),
            (" 0042\u{feff}\n", Cohort::Number(42)),
            ("0", Cohort::Named),
            ("000", Cohort::Named),
            ("1001", Cohort::Named),
            ("99999999999999999999", Cohort::Named),
            ("", Cohort::Named),
            ("+1", Cohort::Named),
            ("1.0", Cohort::Named),
            ("qa-team", Cohort::Named),
            ("\u{661}", Cohort::Named),
            ("\u{85}1", Cohort::Named),
        ] {
            assert_eq!(Cohort::read(text), expected, "{text:?}");
        }
    }

    /// Printed by the `getNumericCohortRolloutPosition` of `@hot-updater/core` 0.36.3.
    #[test]
    fn positions_are_those_of_the_original() {
        for (number, cohort, expected) in POSITIONS {
            assert_eq!(position(id(number).as_str(), cohort), expected, "{number} {cohort}");
        }
    }

    const POSITIONS: [(u32, i32, i32); 6] = [
        (0, 1, 362),
        (0, 1000, 819),
        (1, 500, 936),
        (2, 7, 714),
        (3, 999, 920),
        (4, 1, 424),
    ];

    /// The digest of all 1000 positions of 100 bundles was printed by the original as well.
    #[test]
    fn a_hundred_thousand_positions_are_those_of_the_original() {
        let mut digest = Sha256::new();
        for number in 0..100 {
            let id = id(number);
            for cohort in 1..=COHORTS {
                digest.update(u16::try_from(position(id.as_str(), cohort)).unwrap().to_be_bytes());
            }
        }
        assert_eq!(
            hex::encode(digest.finalize()),
            "7ba2b4f5bafb0df09f89b2ca768f9735c107221a6781dff7184be26d8f448748"
        );
    }

    #[test]
    fn only_a_cohort_with_a_number_gets_part_of_a_rollout() {
        let rollout = |percent| Rollout::new(percent).unwrap();
        for number in 0..20 {
            let id = id(number);
            assert!(Cohort::Unsaid.is_reached(id.as_str(), Rollout::FULL));
            assert!(!Cohort::Unsaid.is_reached(id.as_str(), rollout(99)));
            assert!(!Cohort::Named.is_reached(id.as_str(), Rollout::FULL));
            for percent in 0..=100 {
                let reached =
                    (1..=1000).filter(|cohort| Cohort::Number(*cohort).is_reached(id.as_str(), rollout(percent)));
                assert_eq!(reached.count(), usize::from(percent) * 10, "{id} {percent}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_cohort(text in ".{0,70}", percent in 0u8..=100) {
            let cohort = Cohort::read(&text);
            prop_assert_ne!(cohort, Cohort::Unsaid);
            let _ = cohort.is_reached(BundleId::NIL.as_str(), Rollout::new(percent).unwrap());
        }
    }
}
