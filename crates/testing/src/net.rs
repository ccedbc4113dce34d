//! Ports that nobody else uses while a test needs them.

use std::net::TcpListener;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// The lowest port.
const FIRST: u32 = 15_000;

/// The number of ports. The range ends below 32768, where Linux's ephemeral ports start, so no connection can take the
/// port of a server that a test has stopped for a moment.
const COUNT: u32 = 17_000;

/// A prime, so that processes with adjacent ids start far apart.
const STEP: u32 = 7_919;

/// A TCP port of `127.0.0.1`, 15000 to 31999, without a listener. A process gets the same port again only after all
/// others.
///
/// # Panics
/// If no port in the range is free.
#[must_use]
pub fn free_port() -> u16 {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    let first = process::id().wrapping_mul(STEP) % COUNT;
    let next = || (first + GIVEN.fetch_add(1, Ordering::Relaxed) % COUNT) % COUNT;
    pick(next, |port| TcpListener::bind(("127.0.0.1", port)).is_ok())
        .expect("one port between 15000 and 31999 must be free")
}

/// The first port that `is_free` accepts, with the indexes from `next`; `None` after one round.
fn pick(mut next: impl FnMut() -> u32, is_free: impl Fn(u16) -> bool) -> Option<u16> {
    (0..COUNT)
        .filter_map(|_| u16::try_from(FIRST + next()).ok())
        .find(|port| is_free(*port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_over_ports_in_use() {
        let mut place = 0;
        let next = || {
            place += 1;
            place
        };
        assert_eq!(pick(next, |port| port > 15_010), Some(15_011));
        assert_eq!(pick(|| 0, |_| false), None);
    }

    #[test]
    fn gives_each_port_once_and_outside_the_systems_own_range() {
        let mut ports: Vec<u16> = (0..200).map(|_| free_port()).collect();
        assert!(ports.iter().all(|port| (15_000..32_000).contains(port)), "{ports:?}");
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 200);
    }
}
