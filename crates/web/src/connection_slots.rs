//! Connection slots: how many connections are open at a time, in total, of one client, and of its networks.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use launchway_ops::limits::networks::{Width, network};

/// The slots in use.
pub struct ConnectionSlots {
    most: usize,
    most_of_client: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    all: usize,
    of_networks: HashMap<u64, usize>,
}

/// A connection's slot, released on drop.
pub struct ConnectionSlot {
    places: Arc<ConnectionSlots>,
    networks: Vec<u64>,
}

impl ConnectionSlots {
    /// Allows `most` connections, and `most_of_client` for one client that is not a proxy.
    pub fn new(most: usize, most_of_client: usize) -> Arc<ConnectionSlots> {
        Arc::new(ConnectionSlots {
            most,
            most_of_client,
            taken: Mutex::default(),
        })
    }

    /// Takes a slot for a connection from this address; `None` if a limit is reached. A proxy carries the requests of
    /// many clients, so it may take every slot.
    pub fn take(self: &Arc<ConnectionSlots>, peer: IpAddr, is_proxy: bool) -> Option<ConnectionSlot> {
        let networks: Vec<(u64, usize)> = Width::ALL
            .into_iter()
            .filter(|_| !is_proxy)
            .filter_map(|width| Some((network(peer, width)?, self.most_of(width))))
            .collect();
        let mut taken = self.taken.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let is_full = |(network, most): &(u64, usize)| taken.of_networks.get(network).is_some_and(|of| of >= most);
        if taken.all >= self.most || networks.iter().any(is_full) {
            return None;
        }
        taken.all += 1;
        let networks: Vec<u64> = networks.into_iter().map(|(network, _)| network).collect();
        for network in &networks {
            *taken.of_networks.entry(*network).or_default() += 1;
        }
        Some(ConnectionSlot {
            places: self.clone(),
            networks,
        })
    }

    /// The limit of a network of this width. A block cannot take more than half of all slots, and a whole provider not
    /// more than three quarters, however many addresses it has.
    fn most_of(&self, width: Width) -> usize {
        let client = self.most_of_client;
        let most = match width {
            Width::Client => client,
            Width::Site => client.saturating_mul(2).min(self.most / 2),
            Width::Block => client.saturating_mul(4).min(self.most / 2),
            Width::Provider => self.most - self.most / 4,
        };
        // The operator may have allowed one client more.
        most.max(client)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut taken = self
            .places
            .taken
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        taken.all -= 1;
        for network in &self.networks {
            if let Some(of_network) = taken.of_networks.get_mut(network) {
                *of_network -= 1;
                if *of_network == 0 {
                    taken.of_networks.remove(network);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(most: usize, most_of_client: usize) -> Arc<ConnectionSlots> {
        ConnectionSlots::new(most, most_of_client)
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn a_client_takes_its_own_places_and_gives_them_back() {
        let places = places(100, 2);
        for (one, same, other) in [
            ("192.0.2.1", "192.0.2.1", "192.0.2.2"),
            ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"),
            ("::ffff:198.51.100.1", "198.51.100.1", "198.51.100.2"),
        ] {
            let first = places.take(address(one), false).expect("a place");
            let _second = places.take(address(same), false).expect("a place");
            assert!(places.take(address(one), false).is_none());
            assert!(places.take(address(other), false).is_some());
            drop(first);
            assert!(places.take(address(same), false).is_some());
        }
        assert!(places.taken.lock().expect("the count").of_networks.is_empty());
    }

    #[test]
    fn a_proxy_takes_places_for_many_clients() {
        let places = places(100, 2);
        let taken: Vec<_> = (0..100)
            .filter_map(|_| places.take(address("192.0.2.1"), true))
            .collect();
        assert_eq!(taken.len(), 100);
        assert!(
            places.take(address("192.0.2.1"), true).is_none(),
            "but not more than there are"
        );
    }

    #[test]
    fn there_are_so_many_in_all() {
        let places = places(10, 2);
        let taken: Vec<_> = (0..20u8)
            .filter_map(|n| places.take(IpAddr::from([192, n, 2, 1]), false))
            .collect();
        assert_eq!(taken.len(), 10);
        drop(taken);
        assert!(places.take(address("192.0.2.1"), false).is_some());
    }

    /// Takes as many slots as possible for these addresses, at most `of_each` of each.
    fn flood(
        places: &Arc<ConnectionSlots>,
        of_each: usize,
        addresses: impl Iterator<Item = u128>,
    ) -> Vec<ConnectionSlot> {
        let mut taken = Vec::new();
        for address in addresses.map(|bits| IpAddr::from(bits.to_be_bytes())) {
            for _ in 0..of_each {
                let Some(place) = places.take(address, false) else {
                    break;
                };
                taken.push(place);
            }
        }
        taken
    }

    const BLOCK: u128 = 0x2001_0db8 << 96;

    /// The attack: an IPv6 /48 has 65,536 networks that each count as a client; without limits for networks twenty of
    /// them took every slot.
    #[test]
    fn one_block_does_not_take_every_place() {
        let places = places(10_000, 512);
        let taken = flood(&places, 512, (0..1 << 16).map(|n| BLOCK | (n << 64)));
        assert_eq!(taken.len(), 4 * 512);
        let other = places.take(address("2001:db8:1::1"), false);
        assert!(other.is_some(), "the next block has places");
        assert!(places.take(address("192.0.2.1"), false).is_some());
        drop(taken);
        assert!(places.take(address("2001:db8::1"), false).is_some());
    }

    /// Other forms: a connection or two of each network, one site, and a provider with very many blocks.
    #[test]
    fn no_network_of_any_width_takes_every_place() {
        for (of_each, step, count, expected) in [
            (1, 64, 1 << 16, 4 * 512),
            (2, 64, 1 << 16, 4 * 512),
            (512, 64, 256, 2 * 512),
            (512, 80, 1 << 16, 7_500),
            (1, 80, 1 << 16, 7_500),
        ] {
            let places = places(10_000, 512);
            let taken = flood(&places, of_each, (0..count).map(|n| BLOCK | (n << step)));
            assert_eq!(taken.len(), expected, "{of_each} of each of {count} networks, {step}");
            assert!(places.take(address("2a00::1"), false).is_some());
        }
    }

    #[test]
    fn neighbours_in_ipv4_do_not_take_every_place() {
        let places = places(10_000, 512);
        let taken = flood(&places, 512, (0..256).map(|n| 0xffff_c000_0200 | n));
        assert_eq!(taken.len(), 4 * 512);
        assert!(places.take(address("198.51.100.1"), false).is_some());
    }

    #[test]
    fn few_places_are_shared_by_networks_too() {
        for (most, of_client) in [(1, 1), (2, 1), (10, 5), (768, 384)] {
            let places = places(most, of_client);
            let block = flood(&places, of_client, (0..100).map(|n| BLOCK | (n << 64)));
            assert_eq!(block.len(), of_client.max(most / 2), "{most} and {of_client}");
        }
        let generous = places(10, 10);
        assert_eq!(
            flood(&generous, 10, [BLOCK].into_iter()).len(),
            10,
            "as the operator asked"
        );
    }
}
