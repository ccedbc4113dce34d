//! What counts as one client, and the wider networks of a client. The owner of a whole IPv6 network can pose as any
//! number of clients, so networks have limits of their own.

use std::net::IpAddr;

/// How wide a network is counted as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// One client: an IPv4 address, or an IPv6 /64.
    Client,
    /// A household or a rented machine: an IPv6 /56.
    Site,
    /// The most that one customer of a provider gets easily: an IPv4 /24, or an IPv6 /48.
    Block,
    /// A provider: an IPv4 /16, or an IPv6 /32.
    Provider,
}

impl Width {
    /// Every width, the narrowest first.
    pub const ALL: [Width; 4] = [Width::Client, Width::Site, Width::Block, Width::Provider];
}

/// The client of an address, as a number.
pub fn client(address: IpAddr) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(v4) => u64::from(v4.to_bits()),
        // A bit that no IPv4 client has distinguishes the two.
        IpAddr::V6(v6) => (v6.to_bits() >> 64) as u64 | (1 << 63),
    }
}

/// The client of an address as text, for counts that are shared through the database.
pub fn client_name(address: IpAddr) -> String {
    format!("{:016x}", client(address))
}

/// The network of this width that contains an address, as a number that is unique among networks; `None` if the width
/// does not apply.
pub fn network(address: IpAddr, width: Width) -> Option<u64> {
    match (address.to_canonical(), width) {
        (_, Width::Client) => Some(client(address)),
        (IpAddr::V4(_), Width::Site) => None,
        (IpAddr::V4(v4), Width::Block) => Some((u64::from(v4.to_bits()) >> 8) | (1 << 32)),
        (IpAddr::V4(v4), Width::Provider) => Some((u64::from(v4.to_bits()) >> 16) | (1 << 33)),
        (IpAddr::V6(_), Width::Site) => Some(prefix(address, 56, 0b110)),
        (IpAddr::V6(_), Width::Block) => Some(prefix(address, 48, 0b111)),
        (IpAddr::V6(_), Width::Provider) => Some(prefix(address, 32, 0b100)),
    }
}

/// The first bits of an IPv6 address. All global addresses begin with 001 (101 in [`client`]), so the mark for the
/// width fits there.
fn prefix(address: IpAddr, length: u32, mark: u64) -> u64 {
    let cut = 64 - length;
    let kept = (client(address) >> cut) << cut;
    (kept & (u64::MAX >> 3)) | (mark << 61)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn networks_hold_the_addresses_that_share_their_prefix() {
        for (width, one, same, other) in [
            (Width::Client, "192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"),
            (Width::Block, "192.0.2.1", "192.0.2.255", "192.0.3.1"),
            (Width::Provider, "192.0.2.1", "192.0.255.1", "192.1.2.1"),
            (Width::Client, "2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"),
            (Width::Site, "2001:db8::1", "2001:db8:0:ff::1", "2001:db8:0:100::1"),
            (Width::Block, "2001:db8::1", "2001:db8:0:ffff::1", "2001:db8:1::1"),
            (Width::Provider, "2001:db8::1", "2001:db8:ffff::1", "2001:db9::1"),
        ] {
            let of = |text: &str| network(address(text), width);
            assert_eq!(of(one), of(same), "{width:?} of {one} and {same}");
            assert_ne!(of(one), of(other), "{width:?} of {one} and {other}");
        }
        assert_eq!(network(address("192.0.2.1"), Width::Site), None);
    }

    #[test]
    fn no_two_networks_have_one_number() {
        let addresses = [
            "0.0.0.0",
            "192.0.2.1",
            "192.0.0.0",
            "2001:db8::",
            "2001:db8::1:2:3:4",
            "2800::",
            "3fff:ffff::",
        ];
        let mut numbers = HashSet::new();
        let mut networks = 0;
        for width in Width::ALL {
            for number in addresses.iter().filter_map(|text| network(address(text), width)) {
                numbers.insert(number);
                networks += 1;
            }
        }
        // 192.0.2.1 and 192.0.0.0 share a /16; 2001:db8:: and 2001:db8::1:2:3:4 are one client, and in the same networks.
        assert_eq!(numbers.len(), networks - 5);
    }
}
