//! The addresses that a webhook may reach (`docs/reference/webhooks.md#addresses`): public ones over https, unless the
//! operator allows all.
//!
//! A URL is checked when it is configured and before each try. This module classifies literal addresses by value,
//! whatever their notation; [`resolver`](super::resolver) classifies the addresses of a name when they are dialed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

/// The maximum length of a URL in bytes.
pub(crate) const MAX_URL: usize = 2048;

/// Why a URL is rejected. The message follows the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// It is too long.
    #[error("must have at most {MAX_URL} bytes")]
    TooLong,
    /// It is not a URL.
    #[error("must be a URL such as https://example.com/hook, without spaces, control characters or backslashes")]
    NoUrl,
    /// It is not https, and only https is allowed.
    #[error("must start with https://")]
    NotHttps,
    /// It is not http or https.
    #[error("must start with https:// or http://")]
    NotHttp,
    /// It contains a user name or a password.
    #[error("must not contain a user name or password; put a token into the path or the query")]
    UserInfo,
    /// It names this machine.
    #[error("must not be this machine: webhooks go only to public addresses")]
    Localhost,
    /// It names an address that is not public.
    #[error("must be a public address")]
    NotPublic,
}

/// Parses and checks a URL. With `allow_private` it may use plain http and name any host.
///
/// # Errors
/// What is wrong with it. Does not resolve names.
pub fn check_url(text: &str, allow_private: bool) -> Result<Url, UrlError> {
    if text.len() > MAX_URL {
        return Err(UrlError::TooLong);
    }
    // The standard's parser would drop some of these and continue: the dialed URL would differ from the checked text.
    if text
        .chars()
        .any(|letter| letter.is_control() || letter.is_whitespace() || letter == '\\')
    {
        return Err(UrlError::NoUrl);
    }
    let (scheme, rest) = text.split_once("://").ok_or(UrlError::NoUrl)?;
    match (scheme.to_ascii_lowercase().as_str(), allow_private) {
        ("https", _) | ("http", true) => {}
        (_, true) => return Err(UrlError::NotHttp),
        (_, false) => return Err(UrlError::NotHttps),
    }
    // It would also accept more than two slashes.
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() {
        return Err(UrlError::NoUrl);
    }
    if authority.contains('@') {
        return Err(UrlError::UserInfo);
    }
    let url = Url::parse(text).map_err(|_| UrlError::NoUrl)?;
    let host = url
        .host_str()
        .filter(|_| url.port() != Some(0))
        .ok_or(UrlError::NoUrl)?;
    if !allow_private {
        check_host(host)?;
    }
    Ok(url)
}

/// Checks a host in the spelling of the standard's parser, which has already converted decimal, octal, hexadecimal and
/// shortened addresses to dotted ones.
fn check_host(host: &str) -> Result<(), UrlError> {
    if let Some(address) = literal(host) {
        return if is_public(address) {
            Ok(())
        } else {
            Err(UrlError::NotPublic)
        };
    }
    let name = host.trim_end_matches('.');
    let last = name.rsplit('.').next().unwrap_or_default();
    if last.eq_ignore_ascii_case("localhost") || last.eq_ignore_ascii_case("localdomain") {
        return Err(UrlError::Localhost);
    }
    Ok(())
}

/// Whether a URL names this machine, an address that is not public, or a name that only a private network resolves (RFC
/// 6761, RFC 6762 and `.internal`).
pub fn is_near(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    if let Some(address) = literal(host) {
        return !is_public(address);
    }
    let name = host.trim_end_matches('.');
    let endings = [".localhost", ".internal", ".local"];
    !name.contains('.') || endings.iter().any(|ending| name.ends_with(ending))
}

fn literal(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    bare.unwrap_or(host).parse().ok()
}

/// Scheme and host of a URL, for logs and audit lines: the rest may be a secret.
pub fn origin_of(url: &str) -> String {
    match Url::parse(url) {
        Ok(url) => format!("{}/…", url.origin().ascii_serialization()),
        Err(_) => "…".to_owned(),
    }
}

/// Whether an address is public, by IANA's registries of special-purpose addresses. An address that embeds an IPv4
/// address for translation is as public as that one.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// IPv4 networks that are not public, each with its prefix length.
const NOT_PUBLIC_V4: [([u8; 4], u32); 16] = [
    ([0, 0, 0, 0], 8),          // this network
    ([10, 0, 0, 0], 8),         // private
    ([100, 64, 0, 0], 10),      // carrier-grade NAT
    ([127, 0, 0, 0], 8),        // loopback
    ([169, 254, 0, 0], 16),     // link-local, including cloud metadata
    ([172, 16, 0, 0], 12),      // private
    ([192, 0, 0, 0], 24),       // protocol assignments
    ([192, 0, 2, 0], 24),       // documentation
    ([192, 88, 99, 0], 24),     // 6to4 relays, deprecated
    ([192, 168, 0, 0], 16),     // private
    ([198, 18, 0, 0], 15),      // benchmarks
    ([198, 51, 100, 0], 24),    // documentation
    ([203, 0, 113, 0], 24),     // documentation
    ([224, 0, 0, 0], 4),        // multicast
    ([240, 0, 0, 0], 4),        // reserved
    ([255, 255, 255, 255], 32), // broadcast
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    !NOT_PUBLIC_V4.iter().any(|(network, length)| {
        let mask = u32::MAX << (32 - length);
        address.to_bits() & mask == u32::from_be_bytes(*network)
    })
}

/// Networks within IPv6's public space, 2000::/3, that are not public.
const NOT_PUBLIC_V6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocol assignments: Teredo, benchmarks, ORCHID
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4: embeds an IPv4 address that no check sees
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];
const PUBLIC_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);
/// Translation to IPv4 in networks without their own IPv4 (RFC 6052).
const NAT64: (Ipv6Addr, u32) = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    if within(address, NAT64) {
        return is_public_v4(Ipv4Addr::from_bits(address.to_bits() as u32));
    }
    within(address, PUBLIC_V6) && !NOT_PUBLIC_V6.iter().any(|network| within(address, *network))
}

fn within(address: Ipv6Addr, (network, length): (Ipv6Addr, u32)) -> bool {
    let mask = u128::MAX << (128 - length);
    address.to_bits() & mask == network.to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses_are_told_from_the_others() {
        let public = [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2400:cb00::1",
            "2606:4700:4700::1111",
            "3ffe::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
        ];
        let others = [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.0",
            "10.255.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.0",
            "192.168.255.255",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::8.8.8.8",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:0:127.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::8.8.8.8",
            "64:ff9b:1:ffff::1",
            "100::1",
            "2001::1",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:1ff:ffff::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:808:808::1",
            "3fff::1",
            "3fff:fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fdff::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
        ];
        for (addresses, wanted) in [(&public[..], true), (&others[..], false)] {
            for address in addresses {
                assert_eq!(is_public(address.parse().unwrap()), wanted, "{address}");
            }
        }
    }

    #[test]
    fn a_url_is_told_what_is_wrong_with_it() {
        use UrlError::*;
        let long = format!("https://example.com/{}", "a".repeat(MAX_URL));
        for (url, wanted) in [
            ("https://example.com", None),
            ("HTTPS://Example.COM:8443/a?b=c#d", None),
            ("https://example.com/@at", None),
            ("https://bücher.example/", None),
            ("https://example.com.", None),
            ("https://8.8.8.8/", None),
            ("https://[2606:4700:4700::1111]/", None),
            (&long, Some(TooLong)),
            ("", Some(NoUrl)),
            ("example.com", Some(NoUrl)),
            ("https:example.com", Some(NoUrl)),
            ("https:/example.com", Some(NoUrl)),
            ("https:///example.com", Some(NoUrl)),
            ("https://", Some(NoUrl)),
            ("https://?", Some(NoUrl)),
            (" https://example.com", Some(NoUrl)),
            ("https://exa\tmple.com", Some(NoUrl)),
            ("https://example.com/a b", Some(NoUrl)),
            ("https://example.com\\@evil.example", Some(NoUrl)),
            ("https://example.com\0", Some(NoUrl)),
            ("https://exa mple.com", Some(NoUrl)),
            ("https://example.com:0/", Some(NoUrl)),
            ("https://example.com:65536/", Some(NoUrl)),
            ("https://[::1", Some(NoUrl)),
            ("https://256.256.256.256/", Some(NoUrl)),
            ("http://example.com", Some(NotHttps)),
            ("ftp://example.com", Some(NotHttps)),
            ("file:///etc/passwd", Some(NotHttps)),
            ("https://user@example.com", Some(UserInfo)),
            ("https://user:word@example.com", Some(UserInfo)),
            ("https://@example.com", Some(UserInfo)),
            ("https://localhost", Some(Localhost)),
            ("https://LocalHost./", Some(Localhost)),
            ("https://a.localhost:8443", Some(Localhost)),
            ("https://localhost.localdomain", Some(Localhost)),
            ("https://127.0.0.1", Some(NotPublic)),
            ("https://[::1]/", Some(NotPublic)),
        ] {
            assert_eq!(check_url(url, false).err(), wanted, "{url:?}");
        }
    }

    #[test]
    fn where_everything_is_allowed_the_form_still_counts() {
        for (url, wanted) in [
            ("http://127.0.0.1:8080/", None),
            ("https://localhost", None),
            ("ftp://localhost", Some(UrlError::NotHttp)),
            ("http://user@localhost", Some(UrlError::UserInfo)),
            ("http:localhost", Some(UrlError::NoUrl)),
        ] {
            assert_eq!(check_url(url, true).err(), wanted, "{url:?}");
        }
    }

    #[test]
    fn only_scheme_and_host_are_shown() {
        for (url, wanted) in [
            (
                "https://hooks.slack.com/services/T0/B0/secret",
                "https://hooks.slack.com/…",
            ),
            ("https://example.com:8443?token=secret", "https://example.com:8443/…"),
            ("nonsense", "…"),
        ] {
            assert_eq!(origin_of(url), wanted);
        }
    }
}
