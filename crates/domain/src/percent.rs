//! Percent-encoding of RFC 3986 and AWS Signature Version 4: everything but unreserved characters, in upper case.

use std::borrow::Cow;

use percent_encoding::{
    AsciiSet, NON_ALPHANUMERIC, PercentEncode, percent_decode, percent_decode_str, utf8_percent_encode,
};

const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the encoded text in pieces, which is also its `Display`.
pub fn encode(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, RESERVED)
}

/// Returns the decoded text, or `None` if an escape is malformed or the bytes are not UTF-8. `+` stays as it is.
pub fn decode(encoded: &str) -> Option<String> {
    // The library leaves a malformed escape as it is.
    let is_escape =
        |rest: &str| matches!(rest.as_bytes(), [a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit());
    let well_formed = encoded.split('%').skip(1).all(is_escape);
    well_formed.then(|| percent_decode_str(encoded).decode_utf8().ok().map(Into::into))?
}

/// Decodes `%XX` of a path; a plus sign is literal there. An invalid escape is kept as it is.
pub fn decode_path(path: &str) -> Cow<'_, [u8]> {
    percent_decode_str(path).into()
}

/// Decodes `%XX` and `+` of a query. An invalid escape is kept as it is. Allocates only if something is decoded.
pub fn decode_query(part: &[u8]) -> Cow<'_, [u8]> {
    // Scans all bytes without an early exit, so that the compiler vectorizes the loop.
    let escaped = part.iter().fold(false, |any, byte| any | matches!(byte, b'%' | b'+'));
    if !escaped {
        return Cow::Borrowed(part);
    }
    if !part.contains(&b'+') {
        return percent_decode(part).into();
    }
    let spaced: Vec<u8> = part
        .iter()
        .map(|byte| if *byte == b'+' { b' ' } else { *byte })
        .collect();
    Cow::Owned(percent_decode(&spaced).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_all_but_unreserved() {
        assert_eq!(encode("aZ09-._~ /+é\"").to_string(), "aZ09-._~%20%2F%2B%C3%A9%22");
        assert_eq!(encode("\0\u{7f}!*'()").to_string(), "%00%7F%21%2A%27%28%29");
    }

    #[test]
    fn decodes_what_it_encodes_and_refuses_broken_escapes() {
        for text in ["", "a b", "é\u{1F600}%+", "\0"] {
            assert_eq!(decode(&encode(text).to_string()).as_deref(), Some(text));
        }
        assert_eq!(decode("%c3%A9+").as_deref(), Some("é+"), "either case");
        for broken in ["%", "%4", "%zz", "%ff", "%+4", "%%41", "%4é", "a%"] {
            assert_eq!(decode(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_path_and_a_query_keep_broken_escapes() {
        for (text, path, query) in [
            ("", "", ""),
            ("a-b", "a-b", "a-b"),
            ("a+b%2Bc", "a+b+c", "a b+c"),
            ("%c3%A9%", "é%", "é%"),
            ("%%41%4", "%A%4", "%A%4"),
            ("%+4%zz", "%+4%zz", "% 4%zz"),
        ] {
            assert_eq!(decode_path(text), path.as_bytes(), "{text}");
            assert_eq!(decode_query(text.as_bytes()), query.as_bytes(), "{text}");
        }
        assert_eq!(*decode_query(b"%ff"), [255]);
        assert!(matches!(decode_query(b"plain"), Cow::Borrowed(_)));
    }
}
