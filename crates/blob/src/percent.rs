//! Percent-encoding of RFC 3986 and AWS Signature Version 4: everything but unreserved characters, in upper case.

/// Appends a byte to `out`, encoded unless it is unreserved.
pub fn push(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    if is_unreserved(byte) {
        out.push(byte);
    } else {
        out.extend([b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    }
}

/// Appends a text to `out`, encoded.
pub fn push_str(out: &mut Vec<u8>, text: &str) {
    // Most texts need no encoding and are copied whole.
    if text.bytes().all(is_unreserved) {
        out.extend_from_slice(text.as_bytes());
    } else {
        text.bytes().for_each(|byte| push(out, byte));
    }
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Returns the encoded text.
pub fn encode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    push_str(&mut out, text);
    String::from_utf8(out).expect("what is encoded is ASCII")
}

/// Returns the decoded text, or `None` if an escape is malformed or the bytes are not UTF-8. `+` stays as it is.
pub fn decode(encoded: &str) -> Option<String> {
    let mut bytes = encoded.bytes();
    let mut out = Vec::with_capacity(encoded.len());
    let digit = |bytes: &mut std::str::Bytes<'_>| char::from(bytes.next()?).to_digit(16);
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let value = digit(&mut bytes)? * 16 + digit(&mut bytes)?;
            out.push(u8::try_from(value).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_all_but_unreserved() {
        assert_eq!(encode("aZ09-._~ /+é\""), "aZ09-._~%20%2F%2B%C3%A9%22");
    }

    #[test]
    fn decodes_what_it_encodes_and_refuses_broken_escapes() {
        for text in ["", "a b", "é\u{1F600}%+", "\0"] {
            assert_eq!(decode(&encode(text)).as_deref(), Some(text));
        }
        for broken in ["%", "%4", "%zz", "%ff", "%+4"] {
            assert_eq!(decode(broken), None, "{broken}");
        }
    }
}
