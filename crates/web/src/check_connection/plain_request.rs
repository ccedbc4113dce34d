//! A request in the bytes of a connection that needs no HTTP implementation: its meaning depends on nothing but its path, its query, its
//! headers and a body that is there.

use crate::http::foreign::Headers;

const FORWARDED_FOR: &str = "x-forwarded-for";
const HOST: &str = "host";
const CONTENT_LENGTH: &str = "content-length";
/// Headers that decide how a request is read or its connection continues.
const DECISIVE: [&str; 6] = [
    CONTENT_LENGTH,
    "transfer-encoding",
    "connection",
    "expect",
    "upgrade",
    "te",
];

/// The bytes that a target may have here. Looking one up takes a fraction of the time of comparing it with each.
const SIMPLE: [bool; 256] = letters_digits_and(b"-._~%=&?/+:@!$'()*,;");

/// A request in the bytes of a connection, whose meaning depends on nothing but these fields.
pub struct PlainRequest<'r> {
    /// The path, still percent-encoded.
    pub path: &'r str,
    /// The text after `?`.
    pub query: &'r str,
    headers: &'r [httparse::Header<'r>],
    /// The body of a `POST`; `None` for a `GET`.
    pub body: Option<&'r [u8]>,
}

impl<'r> PlainRequest<'r> {
    /// The request with this head, followed by `rest`. `None` if its meaning depends on more than its fields, or its body has not
    /// arrived.
    pub fn of<'h: 'r, 'b: 'r>(request: &'r httparse::Request<'h, 'b>, rest: &'r [u8]) -> Option<PlainRequest<'r>> {
        let headers: &'r [httparse::Header<'r>] = &*request.headers;
        let target = request
            .path
            .filter(|target| target.starts_with('/') && is_simple(target))?;
        let hosts = headers.iter().filter(|header| header.name.eq_ignore_ascii_case(HOST));
        if request.version != Some(1) || hosts.count() != 1 {
            return None;
        }
        let mut decisive = headers.iter().filter(|header| is_decisive(header));
        let body = match (request.method?, decisive.next(), decisive.next()) {
            ("GET", None, None) => None,
            ("POST", Some(header), None) => Some(rest.get(..body_length(header)?)?),
            _ => return None,
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Some(PlainRequest {
            path,
            query,
            headers,
            body,
        })
    }

    /// The lines of `X-Forwarded-For`.
    pub fn forwarded_for(&self) -> impl DoubleEndedIterator<Item = &'r [u8]> {
        let lines = self.headers.iter();
        let lines = lines.filter(|header| header.name.eq_ignore_ascii_case(FORWARDED_FOR));
        lines.map(|header| header.value)
    }
}

impl Headers for PlainRequest<'_> {
    fn value(&self, name: &str) -> Option<&[u8]> {
        let mut all = self.headers.iter();
        Some(all.find(|header| header.name.eq_ignore_ascii_case(name))?.value)
    }
}

/// Whether a header decides how its request is read or the connection continues.
fn is_decisive(header: &httparse::Header<'_>) -> bool {
    DECISIVE.iter().any(|name| header.name.eq_ignore_ascii_case(name)) && !is_keep_alive(header)
}

/// The length of a body; `None` for another header, or one that is no plain number of few digits.
fn body_length(header: &httparse::Header<'_>) -> Option<usize> {
    let is_plain = matches!(header.value.len(), 1..=5) && header.value.iter().all(u8::is_ascii_digit);
    let is_length = is_plain && header.name.eq_ignore_ascii_case(CONTENT_LENGTH);
    is_length.then(|| str::from_utf8(header.value).ok()?.parse().ok())?
}

/// Whether a target has only characters that mean the same to every reader.
fn is_simple(target: &str) -> bool {
    target.bytes().all(|byte| SIMPLE[usize::from(byte)])
}

/// Whether a byte is a letter, a digit or one of `others`, by byte.
const fn letters_digits_and(others: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let mut at = 0;
    while at < others.len() {
        table[others[at] as usize] = true;
        at += 1;
    }
    table
}

/// What is the default in any case.
fn is_keep_alive(header: &httparse::Header<'_>) -> bool {
    header.name.eq_ignore_ascii_case("connection") && header.value.eq_ignore_ascii_case(b"keep-alive")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_without_doubtful_characters_is_simple() {
        let simple = "-._~%=&?/+:@!$'()*,;";
        for byte in 0..128u8 {
            let character = char::from(byte);
            let expected = character.is_ascii_alphanumeric() || simple.contains(character);
            assert_eq!(is_simple(&format!("/a{character}")), expected, "{character:?}");
        }
        assert!(!is_simple("/é"));
    }

    #[test]
    fn the_first_header_of_a_name_counts() {
        let request = b"GET /a HTTP/1.1\r\nHost: a\r\nExpo-Platform: ios\r\nEXPO-PLATFORM: android\r\n\r\n";
        let mut headers = [httparse::EMPTY_HEADER; 4];
        let mut parsed = httparse::Request::new(&mut headers);
        parsed.parse(request).unwrap();
        let plain = PlainRequest::of(&parsed, &[]).unwrap();
        assert_eq!(plain.value("expo-platform"), Some(&b"ios"[..]));
        assert_eq!(plain.value("accept"), None);
    }
}
