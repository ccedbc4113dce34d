//! `Content-Disposition: attachment` with a file name chosen by users (`docs/reference/uploads.md#bytes-from-users`;
//! RFC 6266).

use launchway_domain::percent;

/// The length in bytes that file systems accept; longer names are cut.
const MAX_NAME: usize = 255;

/// Writes the header's value in pieces: ASCII, quoted, without control characters. A name that is not plain ASCII is
/// repeated in full as `filename*`.
pub(crate) fn attachment(file_name: &str, mut put: impl FnMut(&str)) {
    let name = &file_name[..file_name.floor_char_boundary(MAX_NAME)];
    put("attachment; filename=\"");
    let mut pieces = name.split(|character| !is_plain(character));
    put(pieces.next().unwrap_or_default());
    let mut is_whole = true;
    for piece in pieces {
        is_whole = false;
        put("_");
        put(piece);
    }
    put("\"");
    if !is_whole {
        put("; filename*=UTF-8''");
        percent::encode(name).for_each(put);
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
        let mut out = String::new();
        attachment(name, |piece| out.push_str(piece));
        out
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
