//! Trusted proxies: a list of addresses and networks.

use std::net::IpAddr;

use ipnet::IpNet;

use super::ConfigError;

/// A list of networks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Vec<IpNet>);

impl Networks {
    /// Parses `10.0.0.0/8,::1`.
    pub fn parse(text: &str) -> Result<Networks, ConfigError> {
        let read = |part: &str| {
            let net = part
                .parse::<IpNet>()
                .ok()
                .or_else(|| part.parse::<IpAddr>().ok().map(IpNet::from));
            net.ok_or_else(|| {
                ConfigError::new(
                    "--trusted-proxies",
                    format!("`{part}` is not an address or a network such as 10.0.0.0/8"),
                )
            })
        };
        text.split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(read)
            .collect::<Result<_, _>>()
            .map(Networks)
    }

    /// Whether no proxy is trusted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an address belongs to one of the networks. An IPv4-mapped IPv6 address counts as IPv4.
    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|net| net.contains(&address))
    }
}
