//! Rollouts: which devices an update is offered to (`docs/reference/updates.md#rollout`).

use std::fmt;

use sha2::{Digest, Sha256};

/// The share of devices that an update is offered to, in whole percent from 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rollout(u8);

impl Rollout {
    /// Everybody, also callers that send no device id.
    pub const FULL: Rollout = Rollout(100);

    /// The rollout of this many percent; `None` above 100.
    pub const fn new(percent: u8) -> Option<Self> {
        if percent <= 100 { Some(Self(percent)) } else { None }
    }

    /// The percentage, 0 to 100.
    pub const fn percent(self) -> u8 {
        self.0
    }

    /// Whether an update with this id, written as text, is offered to this device.
    ///
    /// 100 includes everybody. Below 100, a caller without a device id is excluded, and a device is included if its bucket
    /// for this update is below the percentage. The bucket never changes, so raising the percentage never takes an update
    /// away.
    pub fn includes(self, update_id: &str, device_id: Option<&str>) -> bool {
        if self == Self::FULL {
            return true;
        }
        // No bucket is below 0, so no hash is needed.
        device_id.is_some_and(|device_id| self.0 > 0 && bucket(update_id, device_id) < u64::from(self.0))
    }
}

impl fmt::Display for Rollout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0)
    }
}

/// The first 8 bytes, big endian, of SHA-256(update id + ":" + device id), modulo 100.
fn bucket(update_id: &str, device_id: &str) -> u64 {
    let digest = Sha256::new()
        .chain_update(update_id)
        .chain_update(":")
        .chain_update(device_id)
        .finalize();
    let [a, b, c, d, e, f, g, h, ..]: [u8; 32] = digest.into();
    u64::from_be_bytes([a, b, c, d, e, f, g, h]) % 100
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UPDATE: &str = "update_01h455vb4pex5vsknk084sn02q";

    fn rollout(percent: u8) -> Rollout {
        Rollout::new(percent).unwrap()
    }

    /// Computed with Python: `int.from_bytes(hashlib.sha256(f"{update}:{device}".encode()).digest()[:8], "big") % 100`.
    #[test]
    fn buckets_are_those_of_the_reference() {
        for (update, device, expected) in [
            (UPDATE, "device-1", 49),
            (UPDATE, "device-2", 14),
            (UPDATE, "Gerät 3", 25),
            (UPDATE, "", 55),
            (UPDATE, "device-137", 0),
            (UPDATE, "device-68", 99),
            ("update_01h455vb4pex5vsknk084sn02r", "device-1", 24),
        ] {
            assert_eq!(bucket(update, device), expected, "{update} {device}");
        }
    }

    #[test]
    fn a_device_is_inside_when_its_bucket_is_below_the_percentage() {
        for (device, percent, inside) in [
            ("device-1", 49, false),
            ("device-1", 50, true),
            ("device-137", 0, false),
            ("device-137", 1, true),
            ("device-68", 99, false),
            ("device-68", 100, true),
        ] {
            assert_eq!(
                rollout(percent).includes(UPDATE, Some(device)),
                inside,
                "{device} {percent}"
            );
        }
    }

    #[test]
    fn a_caller_without_device_id_needs_a_full_rollout() {
        assert!(Rollout::FULL.includes(UPDATE, None));
        assert!((0..100).all(|percent| !rollout(percent).includes(UPDATE, None)));
    }

    #[test]
    fn is_a_percentage() {
        assert_eq!(Rollout::new(100), Some(Rollout::FULL));
        assert_eq!(Rollout::new(101), None);
        assert_eq!(rollout(7).percent(), 7);
        assert_eq!(rollout(7).to_string(), "7 %");
    }

    #[test]
    fn the_share_reached_is_about_the_percentage() {
        let reached = (0..10_000)
            .filter(|device| rollout(25).includes(UPDATE, Some(&device.to_string())))
            .count();
        assert!((2_300..=2_700).contains(&reached), "{reached} of 10000");
    }

    proptest! {
        #[test]
        fn a_raise_never_takes_an_update_away(
            update in ".{0,30}", device in prop::option::of(".{0,30}"), low in 0u8..=100, high in 0u8..=100,
        ) {
            let (low, high) = (low.min(high), low.max(high));
            let inside = |percent| rollout(percent).includes(&update, device.as_deref());
            prop_assert!(!inside(low) || inside(high));
        }
    }
}
