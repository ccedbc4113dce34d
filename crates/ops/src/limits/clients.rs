//! Counts requests of clients and of their networks, in constant memory and without a lock.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use launchway_domain::time::{EpochMs, MINUTE};
use launchway_os::random::Random;

use crate::limits::networks::{Width, network};

/// A table of atomic slots, each with the minute, a tag of the client and its count. It is never full: if other clients
/// hold all slots that a client may use in this minute, it replaces the one with the lowest count. So an unknown client
/// is never refused, and a client over its limit keeps its slot however many others come.
///
/// The hash that distributes clients over the slots has a random key, so nobody can choose addresses that evict each
/// other.
pub struct ClientLimiter {
    limit: u32,
    key: u64,
    slots: Box<[AtomicU64]>,
}

/// Slots for the clients of the public check, and for those of less frequent requests.
const MANY: usize = 1 << 17;
const FEW: usize = 1 << 14;
const WAYS: usize = 8;
const MINUTE_BITS: u32 = 16;
const TAG_BITS: u32 = 24;
const COUNT_MASK: u64 = (1 << (64 - MINUTE_BITS - TAG_BITS)) - 1;

/// A network's limit as a multiple of a client's. The client is counted first: its refused requests do not count for
/// its neighbors.
const SHARES: [(Width, u32); 3] = [(Width::Client, 1), (Width::Site, 4), (Width::Block, 16)];

impl ClientLimiter {
    /// Allows `limit` requests a minute and client; 0 is no limit.
    pub fn new(limit: u32, random: &dyn Random) -> Self {
        Self::with_slots(limit, FEW, random)
    }

    /// Like [`Self::new`], for very many clients a minute.
    pub fn of_many(limit: u32, random: &dyn Random) -> Self {
        Self::with_slots(limit, MANY, random)
    }

    fn with_slots(limit: u32, slots: usize, random: &dyn Random) -> Self {
        let slots = if limit == 0 { 0 } else { slots };
        let mut key = [0; 8];
        random.fill(&mut key);
        Self {
            limit,
            key: u64::from_be_bytes(key),
            slots: (0..slots).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Counts one request of an address and of its networks. Returns the seconds to wait if it exceeds a limit.
    pub fn count(&self, address: IpAddr, now: EpochMs) -> Result<(), u64> {
        for (width, share) in SHARES {
            if let Some(number) = network(address, width) {
                self.count_up_to(self.limit.saturating_mul(share), number, now)?;
            }
        }
        Ok(())
    }

    /// Counts one request of the subject that this number identifies. Returns the seconds to wait if it exceeds the
    /// limit.
    pub fn count_number(&self, number: u64, now: EpochMs) -> Result<(), u64> {
        self.count_up_to(self.limit, number, now)
    }

    fn count_up_to(&self, limit: u32, number: u64, now: EpochMs) -> Result<(), u64> {
        if limit == 0 {
            return Ok(());
        }
        let minute = now.div_euclid(MINUTE);
        let (slots, label) = self.place(number, minute);
        if bump(slots, label, minute as u64) <= u64::from(limit) {
            Ok(())
        } else {
            Err(seconds_left(minute, now))
        }
    }

    /// Uncounts one request of an address that was counted at this time.
    pub fn take_back(&self, address: IpAddr, at: EpochMs) {
        if self.limit == 0 {
            return;
        }
        for number in SHARES.iter().filter_map(|(width, _)| network(address, *width)) {
            let (slots, label) = self.place(number, at.div_euclid(MINUTE));
            let mine = slots
                .iter()
                .find(|slot| slot.load(Ordering::Relaxed) & !COUNT_MASK == label);
            if let Some(slot) = mine {
                let less = |value: u64| (value & !COUNT_MASK == label && value & COUNT_MASK > 0).then(|| value - 1);
                let _ = slot.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
            }
        }
    }

    /// The slots that a client may use, and the mark of its own slot in this minute.
    fn place(&self, number: u64, minute: i64) -> (&[AtomicU64], u64) {
        let hash = mix(mix(number ^ self.key).wrapping_add(self.key));
        let label =
            ((minute as u64) << (64 - MINUTE_BITS)) | (hash >> (64 - TAG_BITS) << (64 - MINUTE_BITS - TAG_BITS));
        let base = (hash as usize % (self.slots.len() / WAYS)) * WAYS;
        (&self.slots[base..base + WAYS], label)
    }
}

fn bump(slots: &[AtomicU64], label: u64, minute: u64) -> u64 {
    let of_minute = |value: u64| value >> (64 - MINUTE_BITS) == minute & ((1 << MINUTE_BITS) - 1);
    if let Some(slot) = slots
        .iter()
        .find(|slot| slot.load(Ordering::Relaxed) & !COUNT_MASK == label)
    {
        let before = slot.fetch_add(1, Ordering::Relaxed);
        // The count must not overflow into the tag.
        if before & COUNT_MASK >= COUNT_MASK - 1 {
            slot.store(before, Ordering::Relaxed);
        }
        return (before & COUNT_MASK) + 1;
    }
    let weight = |slot: &&AtomicU64| {
        let value = slot.load(Ordering::Relaxed);
        if of_minute(value) { value & COUNT_MASK } else { 0 }
    };
    if let Some(slot) = slots.iter().min_by_key(weight) {
        slot.store(label | 1, Ordering::Relaxed);
    }
    1
}

/// Seconds until the end of a minute, at least one.
fn seconds_left(minute: i64, now: EpochMs) -> u64 {
    let left = (minute + 1) * 60 - now.div_euclid(1000);
    u64::try_from(left).unwrap_or(0).max(1)
}

/// Distributes the bits of a number over all of it.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value ^ (value >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use launchway_os::random::SystemRandom;

    fn limiter(limit: u32) -> ClientLimiter {
        ClientLimiter::new(limit, &SystemRandom)
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// Address `n` of a flood from as many blocks of IPv4 addresses, and of IPv6 ones.
    fn floods(n: u32) -> [IpAddr; 2] {
        let network = (0x2001_0db8_u128 << 96) | (u128::from(n) << 80) | 1;
        [
            IpAddr::from((n << 8).to_be_bytes()),
            IpAddr::from(network.to_be_bytes()),
        ]
    }

    /// Network `n` of an IPv6 /48.
    fn of_block(n: u32) -> IpAddr {
        let network = (0x2001_0db8_u128 << 96) | (u128::from(n) << 64);
        IpAddr::from(network.to_be_bytes())
    }

    #[test]
    fn a_client_has_its_own_minute() {
        let limiter = limiter(2);
        let (one, other) = (address("192.0.2.1"), address("192.0.2.2"));
        let results: Vec<_> = (0..3).map(|_| limiter.count(one, 90_000)).collect();
        assert_eq!(results, [Ok(()), Ok(()), Err(30)]);
        assert_eq!(limiter.count(other, 90_000), Ok(()));
        assert_eq!(limiter.count(one, 120_000), Ok(()));
    }

    #[test]
    fn neighbours_of_one_ipv6_network_are_one_client() {
        let limiter = limiter(1);
        assert_eq!(limiter.count(address("2001:db8::1"), 0), Ok(()));
        assert!(limiter.count(address("2001:db8::2"), 0).is_err());
        assert_eq!(limiter.count(address("2001:db8:0:1::1"), 0), Ok(()));
    }

    /// The attack: the owner of an IPv6 /48 has 65,536 networks that each count as a client, and 256 sites.
    #[test]
    fn many_clients_of_one_block_are_limited_together() {
        let limiter = limiter(10);
        let taken = || (0..1 << 16).filter(|n| limiter.count(of_block(*n), 0).is_ok()).count();
        assert_eq!(taken(), 160);
        assert_eq!(taken(), 0);
        assert_eq!(
            limiter.count(address("2001:db8:1::1"), 0),
            Ok(()),
            "another block is not touched"
        );
        assert_eq!(limiter.count(of_block(0), 60_000), Ok(()), "nor another minute");
    }

    #[test]
    fn many_clients_of_one_site_are_limited_together() {
        let limiter = limiter(10);
        let of_site = |n: u32| IpAddr::from((0x2001_0db8_u128 << 96 | u128::from(n) << 64).to_be_bytes());
        let taken = (0..256).filter(|n| limiter.count(of_site(*n), 0).is_ok()).count();
        assert_eq!(taken, 40);
        assert_eq!(
            limiter.count(of_site(256), 0),
            Ok(()),
            "another site of the block is not touched"
        );
    }

    #[test]
    fn many_ipv4_addresses_of_one_block_are_limited_together() {
        let limiter = limiter(1);
        let taken = (0..=255u8).filter(|n| limiter.count(IpAddr::from([192, 0, 2, *n]), 0).is_ok());
        assert_eq!(taken.count(), 16);
        assert_eq!(limiter.count(address("192.0.3.1"), 0), Ok(()));
    }

    #[test]
    fn a_clients_refusals_do_not_count_for_its_neighbours() {
        let limiter = limiter(2);
        let greedy = address("2001:db8::1");
        let refused = (0..1000).filter(|_| limiter.count(greedy, 0).is_err()).count();
        assert_eq!(refused, 998);
        assert_eq!(limiter.count(address("2001:db8:0:1::1"), 0), Ok(()));
    }

    #[test]
    fn no_limit_counts_nothing() {
        let limiter = limiter(0);
        assert!(limiter.slots.is_empty());
        assert_eq!(limiter.count(address("192.0.2.1"), 0), Ok(()));
        limiter.take_back(address("192.0.2.1"), 0);
    }

    #[test]
    fn a_request_that_is_taken_back_does_not_count() {
        let limiter = limiter(1);
        let one = address("192.0.2.1");
        limiter.take_back(one, 0);
        for _ in 0..5 {
            assert_eq!(limiter.count(one, 0), Ok(()));
            limiter.take_back(one, 0);
        }
        limiter.take_back(one, 0);
        assert_eq!(limiter.count(one, 0), Ok(()));
        limiter.take_back(one, 60_000);
        assert!(
            limiter.count(one, 0).is_err(),
            "another minute's request is not this one's"
        );
    }

    #[test]
    fn a_flood_of_clients_does_not_free_one_that_is_over_its_limit() {
        for kind in [0, 1] {
            let limiter = limiter(10);
            let heavy = address("192.0.2.1");
            for _ in 0..10 {
                assert_eq!(limiter.count(heavy, 0), Ok(()));
            }
            for n in 0..3 * FEW as u32 {
                let _ = limiter.count(floods(n)[kind], 0);
            }
            assert!(limiter.count(heavy, 0).is_err());
        }
    }

    #[test]
    fn a_client_that_comes_after_a_flood_is_not_refused() {
        for kind in [0, 1] {
            // A limit of two, because one client in two million is confused with another.
            let limiter = limiter(2);
            for n in 0..3 * FEW as u32 {
                assert_eq!(limiter.count(floods(n)[kind], 0), Ok(()), "{n} came for the first time");
            }
            assert_eq!(limiter.count(address("198.51.100.7"), 0), Ok(()));
            assert_eq!(limiter.count(address("2001:db8:ffff::7"), 0), Ok(()));
        }
    }

    /// With a predictable hash, nine clients of one set of slots would evict each other forever.
    #[test]
    fn nobody_can_choose_clients_that_push_each_other_out() {
        let without_key = |n: u64| mix(mix(n)) as usize % (FEW / WAYS);
        let chosen: Vec<u64> = (0..).filter(|n| without_key(*n) == 0).take(4 * WAYS).collect();
        let limiter = limiter(5);
        for _ in 0..5 {
            for number in &chosen {
                assert_eq!(limiter.count_number(*number, 0), Ok(()));
            }
        }
        let refused = chosen
            .iter()
            .filter(|number| limiter.count_number(**number, 0).is_err());
        assert!(refused.count() > 3 * WAYS);
    }
}
