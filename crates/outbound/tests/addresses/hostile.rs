//! Hostile URLs as a table: each private address in every way that URLs can write it, and forms that fool parsers.

use std::collections::BTreeSet;

/// Addresses of IPv4 that must not be reached: this machine, private networks, metadata of clouds, and the rest.
const PRIVATE: [[u8; 4]; 14] = [
    [127, 0, 0, 1],
    [127, 255, 255, 254],
    [0, 0, 0, 0],
    [10, 0, 0, 1],
    [100, 64, 0, 1],
    [100, 100, 100, 200],
    [169, 254, 169, 254],
    [172, 16, 0, 1],
    [192, 0, 0, 192],
    [192, 168, 0, 1],
    [198, 18, 0, 1],
    [203, 0, 113, 1],
    [224, 0, 0, 1],
    [255, 255, 255, 255],
];

/// The ways to write an address of IPv4 in a URL.
fn written_v4([a, b, c, d]: [u8; 4]) -> Vec<String> {
    let whole = u32::from_be_bytes([a, b, c, d]);
    let (last_two, last_three) = (whole & 0xffff, whole & 0xff_ffff);
    let dotted = format!("{a}.{b}.{c}.{d}");
    let wide: String = dotted
        .chars()
        .map(|letter| {
            letter
                .to_digit(10)
                .and_then(|digit| char::from_u32(0xff10 + digit))
                .unwrap_or(letter)
        })
        .collect();
    let escaped: String = dotted.bytes().map(|byte| format!("%{byte:02x}")).collect();
    vec![
        dotted.clone(),
        format!("{dotted}."),
        whole.to_string(),
        format!("0{whole:o}"),
        format!("0x{whole:x}"),
        format!("0X{whole:X}."),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("0000{a:o}.{b}.{c}.{d}"),
        format!("0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}"),
        format!("0x{a:x}.{b}.0{c:o}.{d}"),
        format!("{a}.{b}.{last_two}"),
        format!("{a}.{last_three}"),
        format!("0x{a:x}.0{last_three:o}"),
        dotted.replace('.', "\u{3002}"),
        wide,
        escaped,
    ]
}

/// The ways to hide an address of IPv4 in one of IPv6.
fn hidden_v6(bytes: [u8; 4]) -> Vec<String> {
    let [a, b, c, d] = bytes;
    let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    vec![
        format!("[::ffff:{a}.{b}.{c}.{d}]"),
        format!("[::ffff:{high:x}:{low:x}]"),
        format!("[0:0:0:0:0:FFFF:{high:04X}:{low:04X}]"),
        format!("[::{a}.{b}.{c}.{d}]"),
        format!("[::ffff:0:{high:x}:{low:x}]"),
        format!("[64:ff9b::{a}.{b}.{c}.{d}]"),
        format!("[64:ff9b:1::{high:x}:{low:x}]"),
        format!("[2002:{high:x}:{low:x}::1]"),
        format!("[2001:0:{high:x}:{low:x}::1]"),
    ]
}

const HOSTS: [&str; 26] = [
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.b.localhost",
    "localhost.localdomain",
    "l\u{ff4f}calhost",
    "%6c%6f%63%61%6c%68%6f%73%74",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    "[::]",
    "[0::0]",
    "[fe80::1]",
    "[fec0::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[ff02::1]",
    "[ff0e::1]",
    "[100::1]",
    "[2001:db8::1]",
    "[2001:2::1]",
    "[2001:20::1]",
    "[3fff::1]",
    "[5f00::1]",
    "[4000::1]",
    "[64:ff9b:1::1]",
];

/// The URLs, each for each of these ports.
pub fn urls(ports: &[u16]) -> BTreeSet<String> {
    let mut urls = BTreeSet::new();
    for port in ports {
        let v4 = PRIVATE.into_iter().flat_map(written_v4);
        let v6 = PRIVATE.into_iter().flat_map(hidden_v6);
        let hosts = HOSTS.into_iter().map(str::to_owned);
        urls.extend(
            v4.chain(v6)
                .chain(hosts)
                .map(|host| format!("https://{host}:{port}/hook")),
        );
        for local in [format!("127.0.0.1:{port}"), format!("[::1]:{port}")] {
            urls.extend([
                format!("http://{local}/"),
                format!("HTTP://{local}/"),
                format!("ftp://{local}/"),
                format!("ws://{local}/"),
                format!("file://{local}/etc/passwd"),
                format!("gopher://{local}/_GET"),
                format!("unix://{local}/"),
                format!("javascript:fetch('https://{local}')"),
                format!("//{local}/"),
                format!("https:{local}"),
                format!("https:/{local}/"),
                format!("https:///{local}/"),
                format!("https:\\\\{local}\\"),
                format!("https://\\{local}/"),
                format!("https://example.com@{local}/"),
                format!("https://example.com:443@{local}/"),
                format!("https://example.com%40{local}/"),
                format!("https://user:word@{local}/"),
                format!("https://@{local}/"),
                format!("https://{local}@example.com/"),
                format!("https://{local}#@example.com/"),
                format!("https://{local}?@example.com/"),
                format!("https://{local}\\@example.com/"),
                format!("https://example.com\\@{local}/"),
                format!("https://{local}\t.example.com/"),
                format!("https://{local}/\r\nHost: example.com"),
                format!(" https://{local}/"),
                format!("https://{local} /"),
                format!("https://\u{200b}{local}/"),
                format!("https://\u{ad}{local}/"),
                format!("https://{local}\0.example.com/"),
                format!("https://{local}%00.example.com/"),
                format!("https://[{local}]/"),
                format!("https://[::ffff:{local}"),
                format!("https://[::1%25lo]:{port}/"),
                format!("https://{local}:{port}/"),
            ]);
        }
    }
    urls
}
