//! Rate limits: calls of an organization by its tier (spec part 8), failed sign-ins and public checks by client address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use launchway_domain::time::{EpochMs, MINUTE};
use launchway_store::Db;

use crate::failure::Failure;

/// Subjects that the table of one process holds at most; beyond, those of the oldest minutes go first.
const MAX_SUBJECTS: usize = 100_000;

/// How many calls a window has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Calls a minute.
    pub limit: u32,
    /// Calls left in this minute.
    pub remaining: u32,
    /// When the minute ends, in epoch seconds.
    pub reset: i64,
    /// Whether this call is one too many.
    pub exceeded: bool,
}

impl Quota {
    /// Seconds until the window ends, at least one.
    pub fn wait(&self, now: EpochMs) -> u64 {
        u64::try_from(self.reset - now.div_euclid(1000)).unwrap_or(0).max(1)
    }
}

/// Counts calls in fixed windows of a minute: in memory on the embedded database, which one process has for itself,
/// in PostgreSQL where several nodes share the count.
pub struct CallLimiter {
    db: Db,
    counts: Mutex<HashMap<String, (i64, i64)>>,
}

impl CallLimiter {
    /// A limiter for the processes of this database.
    pub fn new(db: Db) -> Self {
        Self {
            db,
            counts: Mutex::default(),
        }
    }

    /// Counts one call of a subject against a limit.
    pub async fn count(&self, subject: &str, limit: u32, now: EpochMs) -> Result<Quota, Failure> {
        let minute = now.div_euclid(MINUTE);
        let count = if self.db.is_shared() {
            let mut tx = self.db.write().await?;
            let count = tx
                .system("the subject is the tenant, or has none yet")
                .count_call(subject, minute)
                .await?;
            tx.commit().await?;
            count
        } else {
            self.count_here(subject, minute, 1)
        };
        Ok(quota(count, limit, minute))
    }

    /// Takes back one call that was counted in this minute.
    pub async fn take_back(&self, subject: &str, now: EpochMs) -> Result<(), Failure> {
        let minute = now.div_euclid(MINUTE);
        if self.db.is_shared() {
            let mut tx = self.db.write().await?;
            tx.system("the subject has no tenant yet")
                .uncount_call(subject, minute)
                .await?;
            tx.commit().await?;
        } else {
            self.count_here(subject, minute, -1);
        }
        Ok(())
    }

    fn count_here(&self, subject: &str, minute: i64, add: i64) -> i64 {
        let mut counts = self.counts.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if counts.len() >= MAX_SUBJECTS && !counts.contains_key(subject) {
            counts.retain(|_, (then, _)| *then == minute);
            if counts.len() >= MAX_SUBJECTS {
                return add;
            }
        }
        let entry = counts.entry(subject.to_owned()).or_insert((minute, 0));
        // A clock that was put back a little goes on with the count; put back further, it starts anew.
        if entry.0 != minute && entry.0 != minute + 1 {
            *entry = (minute, 0);
        }
        entry.1 = (entry.1 + add).max(0);
        entry.1
    }
}

fn quota(count: i64, limit: u32, minute: i64) -> Quota {
    let remaining = u32::try_from(i64::from(limit) - count).unwrap_or(0);
    Quota {
        limit,
        remaining,
        reset: (minute + 1) * 60,
        exceeded: count > i64::from(limit),
    }
}

/// Counts public checks by client address in constant memory and without a lock: a table of atomic slots, each with the
/// minute, a tag of the address and the count. When all slots an address may have are taken by others in this minute,
/// it takes the place of the one that counted least.
pub struct AddressLimiter {
    limit: u32,
    slots: Box<[AtomicU64]>,
}

const SLOTS: usize = 1 << 17;
const WAYS: usize = 8;
const MINUTE_BITS: u32 = 16;
const TAG_BITS: u32 = 24;
const COUNT_MASK: u64 = (1 << (64 - MINUTE_BITS - TAG_BITS)) - 1;

impl AddressLimiter {
    /// At most `limit` checks a minute and address; 0 is no limit.
    pub fn new(limit: u32) -> Self {
        let slots = if limit == 0 { 0 } else { SLOTS };
        Self {
            limit,
            slots: (0..slots).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Counts one check of an address; the seconds to wait when it is one too many.
    pub fn count(&self, address: IpAddr, now: EpochMs) -> Result<(), u64> {
        if self.limit == 0 {
            return Ok(());
        }
        let minute = now.div_euclid(MINUTE);
        let hash = mix(client(address));
        let label =
            ((minute as u64) << (64 - MINUTE_BITS)) | (hash >> (64 - TAG_BITS) << (64 - MINUTE_BITS - TAG_BITS));
        let base = (hash as usize % (SLOTS / WAYS)) * WAYS;
        let count = self.bump(&self.slots[base..base + WAYS], label, minute as u64);
        if count <= u64::from(self.limit) {
            Ok(())
        } else {
            Err(quota(0, self.limit, minute).wait(now))
        }
    }

    fn bump(&self, slots: &[AtomicU64], label: u64, minute: u64) -> u64 {
        let of_minute = |value: u64| value >> (64 - MINUTE_BITS) == minute & ((1 << MINUTE_BITS) - 1);
        if let Some(slot) = slots
            .iter()
            .find(|slot| slot.load(Ordering::Relaxed) & !COUNT_MASK == label)
        {
            let before = slot.fetch_add(1, Ordering::Relaxed);
            // The count must not run over into the tag.
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
}

/// What counts as one client: an IPv4 address, or the /64 of an IPv6 one.
fn client(address: IpAddr) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(v4) => u64::from(v4.to_bits()),
        // A bit that no IPv4 client has keeps the two apart.
        IpAddr::V6(v6) => (v6.to_bits() >> 64) as u64 | 1 << 63,
    }
}

/// The same client as text, for counts that are shared through the database.
pub fn client_name(address: IpAddr) -> String {
    format!("{:016x}", client(address))
}

/// Spreads the bits of a number over all of it.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value ^ (value >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn a_client_has_its_own_minute() {
        let limiter = AddressLimiter::new(2);
        let (one, other) = (address("192.0.2.1"), address("192.0.2.2"));
        let results: Vec<_> = (0..3).map(|_| limiter.count(one, 90_000)).collect();
        assert_eq!(results, [Ok(()), Ok(()), Err(30)]);
        assert_eq!(limiter.count(other, 90_000), Ok(()));
        assert_eq!(limiter.count(one, 120_000), Ok(()));
    }

    #[test]
    fn neighbours_of_one_ipv6_network_are_one_client() {
        let limiter = AddressLimiter::new(1);
        assert_eq!(limiter.count(address("2001:db8::1"), 0), Ok(()));
        assert!(limiter.count(address("2001:db8::2"), 0).is_err());
        assert_eq!(limiter.count(address("2001:db8:0:1::1"), 0), Ok(()));
        assert_eq!(client(address("::ffff:192.0.2.1")), client(address("192.0.2.1")));
    }

    #[test]
    fn no_limit_counts_nothing() {
        let limiter = AddressLimiter::new(0);
        assert!(limiter.slots.is_empty());
        assert_eq!(limiter.count(address("192.0.2.1"), 0), Ok(()));
    }

    #[test]
    fn a_flood_of_addresses_does_not_free_a_heavy_one() {
        let limiter = AddressLimiter::new(10);
        let heavy = address("192.0.2.1");
        for _ in 0..10 {
            assert_eq!(limiter.count(heavy, 0), Ok(()));
        }
        for n in 0..200_000u32 {
            let _ = limiter.count(IpAddr::from(n.to_be_bytes()), 0);
        }
        assert!(limiter.count(heavy, 0).is_err());
    }
}
