//! `Content-Disposition: attachment` with a file name chosen by users (`docs/reference/uploads.md#bytes-from-users`;
//! RFC 6266).

use super::percent;

/// The length in bytes that file systems accept; longer names are cut.
const MAX_NAME: usize = 255;

/// Writes the header's value byte by byte: ASCII, quoted, without control characters. A name that is not plain ASCII is
/// repeated in full as `filename*`.
pub(crate) fn attachment(file_name: &str, mut put: impl FnMut(u8)) {
    let name = &file_name[..file_name.floor_char_boundary(MAX_NAME)];
    b"attachment; filename=\"".iter().copied().for_each(&mut put);
    for character in name.chars() {
        put(if is_plain(character) { character as u8 } else { b'_' });
    }
    put(b'"');
    if !name.chars().all(is_plain) {
        b"; filename*=UTF-8''".iter().copied().for_each(&mut put);
        let mut escape = Vec::with_capacity(3);
        for byte in name.bytes() {
            escape.clear();
            percent::push(&mut escape, byte);
            escape.iter().copied().for_each(&mut put);
        }
    }
}

/// Printable ASCII without the characters that matter in quoting or paths. `%` is excluded because some readers decode
/// it.
fn is_plain(character: char) -> bool {
    (character.is_ascii_graphic() || character == ' ') && !matches!(character, '"' | '\\' | '/' | '%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &str) -> String {
        let mut out = Vec::new();
        attachment(name, |byte| out.push(byte));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn quotes_whatever_the_name_is() {
        assert_eq!(value("My App-1.0.zip"), r#"attachment; filename="My App-1.0.zip""#);
        assert_eq!(
            value("a\"\r\nX: y\\/é%.zip"),
            "attachment; filename=\"a___X: y____.zip\"; filename*=UTF-8''a%22%0D%0AX%3A%20y%5C%2F%C3%A9%25.zip"
        );
        assert_eq!(value(&"é".repeat(200)).matches("%C3%A9").count(), 127);
    }
}
