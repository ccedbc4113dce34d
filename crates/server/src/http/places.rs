//! Places of connections: how many there are at a time, in all and of one client.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use crate::http::client_limit::client;

/// The places that are taken.
pub struct Places {
    most: usize,
    most_of_client: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    all: usize,
    of_clients: HashMap<u64, usize>,
}

/// A place of a connection, free again when this is dropped.
pub struct Place {
    places: Arc<Places>,
    client: Option<u64>,
}

impl Places {
    /// At most `most` places, and `most_of_client` for one client that is no proxy.
    pub fn new(most: usize, most_of_client: usize) -> Arc<Places> {
        Arc::new(Places {
            most,
            most_of_client,
            taken: Mutex::default(),
        })
    }

    /// A place for a connection from this address; `None` when it may have none. A proxy brings the requests of many clients, so
    /// it may take every place.
    pub fn take(self: &Arc<Places>, peer: IpAddr, is_proxy: bool) -> Option<Place> {
        let client = (!is_proxy).then(|| client(peer));
        let mut taken = self.taken.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if taken.all >= self.most {
            return None;
        }
        if let Some(client) = client {
            let of_client = taken.of_clients.entry(client).or_default();
            if *of_client >= self.most_of_client {
                return None;
            }
            *of_client += 1;
        }
        taken.all += 1;
        Some(Place {
            places: self.clone(),
            client,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self
            .places
            .taken
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        taken.all -= 1;
        if let Some(client) = self.client
            && let Some(of_client) = taken.of_clients.get_mut(&client)
        {
            *of_client -= 1;
            if *of_client == 0 {
                taken.of_clients.remove(&client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(most: usize, most_of_client: usize) -> Arc<Places> {
        Places::new(most, most_of_client)
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
        assert!(places.taken.lock().expect("the count").of_clients.is_empty());
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
            .filter_map(|n| places.take(IpAddr::from([192, 0, 2, n]), false))
            .collect();
        assert_eq!(taken.len(), 10);
        drop(taken);
        assert!(places.take(address("192.0.2.1"), false).is_some());
    }
}
