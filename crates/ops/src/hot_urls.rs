//! Signed URLs of updates that many devices ask for: each thread signs such a URL once a second. The URLs of a second are the
//! same anyway, because they expire at the same second.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use launchway_domain::id::UpdateId;
use launchway_domain::time::{EpochMs, SECOND};

/// The URLs that a thread remembers.
const SLOTS: usize = 256;

/// The remembered URLs of one kind and server.
#[derive(Debug)]
pub struct HotUrls {
    /// Threads are shared by both kinds of URLs, and by all servers of a process: tests start many.
    owner: u64,
}

#[derive(Default)]
struct Slot {
    update: Option<(u64, UpdateId, EpochMs)>,
    /// Empty until the URL is asked for again: most updates are not asked for twice in a second.
    url: Vec<u8>,
    expires_at: EpochMs,
}

thread_local! {
    static SLOTS_OF_THREAD: RefCell<Vec<Slot>> = const { RefCell::new(Vec::new()) };
}

impl HotUrls {
    /// No URLs yet.
    pub fn new() -> HotUrls {
        static OWNERS: AtomicU64 = AtomicU64::new(0);
        HotUrls {
            owner: OWNERS.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Writes the URL of an update's package and returns when it expires. `sign` does so, and writes the same whenever it is
    /// called for this update within a second; `None` if the update has no URL.
    pub fn push(
        &self,
        out: &mut Vec<u8>,
        update: UpdateId,
        now: EpochMs,
        sign: impl FnOnce(&mut Vec<u8>) -> Option<EpochMs>,
    ) -> Option<EpochMs> {
        let asked = Some((self.owner, update, now.div_euclid(SECOND)));
        SLOTS_OF_THREAD.with_borrow_mut(|slots| {
            if slots.is_empty() {
                slots.resize_with(SLOTS, Slot::default);
            }
            let slot = &mut slots[place_of(self.owner, update)];
            if slot.update != asked {
                slot.update = asked;
                slot.url.clear();
                return sign(out);
            }
            if slot.url.is_empty() {
                slot.expires_at = sign(&mut slot.url)?;
            }
            out.extend_from_slice(&slot.url);
            Some(slot.expires_at)
        })
    }
}

/// The slot of an update: the upper bits of its id times an odd number (Fibonacci hashing). Owners have different ones, since they sign
/// the same updates.
fn place_of(owner: u64, update: UpdateId) -> usize {
    let (upper, lower) = update.uuid().as_u64_pair();
    ((upper ^ lower ^ owner).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % SLOTS
}

impl Default for HotUrls {
    fn default() -> Self {
        HotUrls::new()
    }
}

#[cfg(test)]
mod tests {
    use launchway_domain::id::Id;

    use super::*;

    /// Asks for a URL; returns it, and whether it was signed.
    fn ask(urls: &HotUrls, update: UpdateId, now: EpochMs) -> (String, bool) {
        let (mut out, mut is_signed) = (b"before ".to_vec(), false);
        let expires_at = urls.push(&mut out, update, now, |out| {
            is_signed = true;
            out.extend_from_slice(format!("{update}?{}", now / SECOND).as_bytes());
            Some(now / SECOND + 3600)
        });
        assert_eq!(expires_at, Some(now / SECOND + 3600));
        (String::from_utf8(out).unwrap(), is_signed)
    }

    #[test]
    fn a_url_is_signed_twice_a_second_at_most() {
        let (urls, update) = (HotUrls::new(), Id::new(1, [1; 10]));
        for now in [7_000, 8_000] {
            let signed: Vec<_> = [0, 1, 500, 999].map(|later| ask(&urls, update, now + later)).into();
            assert_eq!(
                signed.iter().map(|(_, is_signed)| *is_signed).collect::<Vec<_>>(),
                [true, true, false, false]
            );
            assert!(
                signed
                    .iter()
                    .all(|(url, _)| *url == format!("before {update}?{}", now / SECOND))
            );
        }
    }

    #[test]
    fn updates_in_one_slot_get_their_own_urls() {
        let urls = HotUrls::new();
        let one: UpdateId = Id::new(1, [0; 10]);
        let others = (2..).map(|time| Id::new(time, [0; 10]));
        let other = others
            .into_iter()
            .find(|other| place_of(urls.owner, *other) == place_of(urls.owner, one))
            .unwrap();
        for update in [one, other, one, one, other, one] {
            assert_eq!(ask(&urls, update, 5_000).0, format!("before {update}?5"));
        }
    }

    #[test]
    fn an_update_without_a_url_has_none_later_either() {
        let (urls, update) = (HotUrls::new(), Id::new(1, [9; 10]));
        for _ in 0..3 {
            let mut out = Vec::new();
            assert_eq!(urls.push(&mut out, update, 0, |_| None), None);
            assert!(out.is_empty());
        }
    }

    #[test]
    fn servers_of_one_process_share_no_urls() {
        let (urls, others, update) = (HotUrls::new(), HotUrls::new(), Id::new(1, [3; 10]));
        for _ in 0..3 {
            ask(&urls, update, 0);
        }
        assert_eq!([ask(&others, update, 0).1, ask(&others, update, 0).1], [true, true]);
    }
}
