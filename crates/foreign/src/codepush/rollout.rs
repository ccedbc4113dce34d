//! Which devices a staged CodePush release reaches (`docs/reference/codepush.md#rollout`).

use launchway_domain::rollout::Rollout;

/// Whether a release with this label and rollout is offered to a device. Without an id only full rollouts are.
///
/// It is the rule of the original server, so a fleet that moves in the middle of a rollout keeps its share. A raise never takes a
/// release away.
pub fn reaches(client_unique_id: Option<&str>, label: &str, rollout: Rollout) -> bool {
    rollout == Rollout::FULL || client_unique_id.is_some_and(|id| bucket(id, label) < u64::from(rollout.percent()))
}

/// The bucket of a device for a release, from 0 to 99.
fn bucket(client_unique_id: &str, label: &str) -> u64 {
    let units = client_unique_id
        .encode_utf16()
        .chain("-".encode_utf16())
        .chain(label.encode_utf16());
    units.fold(0, add_unit).unsigned_abs() % 100
}

/// One step of the original's hash. JavaScript shifts a number as 32 bits, but subtracts and adds without that bound, so the result
/// grows slowly beyond them. It stays exact: texts here are far too short to reach 2^53.
fn add_unit(hash: i64, unit: u16) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "JavaScript's shift drops the higher bits"
    )]
    let shifted = (hash as i32).wrapping_shl(5);
    i64::from(shifted).wrapping_sub(hash).wrapping_add(i64::from(unit))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sha2::{Digest, Sha256};

    use super::*;

    /// Printed by the `isSelectedForRollout` of code-push-server ff1d84c.
    #[test]
    fn buckets_are_those_of_the_original() {
        for (id, label, expected) in BUCKETS {
            assert_eq!(bucket(id, label), expected, "{id} {label}");
        }
    }

    const BUCKETS: [(&str, &str, u64); 6] = [
        ("9774d56d682e549c", "v1", 20),
        ("9774d56d682e549c", "v2", 19),
        ("E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "v12", 2),
        ("", "v3", 54),
        ("Gerät 3", "v1", 83),
        ("\u{1F600}", "v1", 87),
    ];

    /// The digest of 100,000 buckets was printed by the original as well: ids in the forms of Android and iOS, texts of other
    /// scripts, and long ones.
    #[test]
    fn a_hundred_thousand_devices_keep_their_buckets() {
        let mut digest = Sha256::new();
        for number in 0..100_000_u32 {
            let (id, label) = device(number);
            digest.update([u8::try_from(bucket(&id, &label)).unwrap()]);
        }
        assert_eq!(
            hex::encode(digest.finalize()),
            "debae4136195d10fcb6fb10e913170f7771c9a282a3ab2708b90cfb3534d5c0e"
        );
    }

    fn device(number: u32) -> (String, String) {
        let mixed = u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let label = format!("v{}", number % 997 + 1);
        let id = match number % 4 {
            0 => format!("{mixed:016x}"),
            1 => {
                let hex = format!("{mixed:016X}{:016X}", mixed.rotate_left(29));
                format!(
                    "{}-{}-{}-{}-{}",
                    &hex[..8],
                    &hex[8..12],
                    &hex[12..16],
                    &hex[16..20],
                    &hex[20..]
                )
            }
            2 => format!("\u{1F600}é{mixed}\u{FFFD}"),
            _ => format!("{mixed:x}").repeat((number % 13 + 1) as usize),
        };
        (id, label)
    }

    proptest! {
        #[test]
        fn a_raise_never_takes_a_release_away(id in prop::option::of(".{0,40}"), label in "v[1-9][0-9]{0,3}", low in 0u8..=100, high in 0u8..=100) {
            let reached = |percent| reaches(id.as_deref(), &label, Rollout::new(percent).unwrap());
            prop_assert!(!reached(low.min(high)) || reached(low.max(high)));
            prop_assert!(reached(100) && !reached(0));
        }
    }
}
