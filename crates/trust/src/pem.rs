//! PEM armor (RFC 7468) of one block, whatever its line breaks: settings of CI systems lose them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";
const LINE_CHARACTERS: usize = 64;

/// The label and the bytes of the one block that the text consists of.
pub(crate) fn decode(text: &str) -> Option<(&str, Zeroizing<Vec<u8>>)> {
    let (label, rest) = text.trim().strip_prefix(BEGIN)?.split_once(DASHES)?;
    let (body, end) = rest.split_once(END)?;
    if end.strip_suffix(DASHES) != Some(label) {
        return None;
    }
    let digits: Zeroizing<Vec<u8>> = Zeroizing::new(body.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect());
    let bytes = STANDARD.decode(&*digits).ok()?;
    Some((label, Zeroizing::new(bytes)))
}

/// A block with lines of 64 characters.
pub(crate) fn encode(label: &str, bytes: &[u8]) -> Zeroizing<String> {
    let body = Zeroizing::new(STANDARD.encode(bytes));
    // Grown once, so that no copy of a private key is left behind.
    let size = body.len() + body.len() / LINE_CHARACTERS + 2 * label.len() + 64;
    let mut text = Zeroizing::new(String::with_capacity(size));
    for part in [BEGIN, label, DASHES, "\n"] {
        text.push_str(part);
    }
    let mut rest = body.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(LINE_CHARACTERS));
        text.push_str(line);
        text.push('\n');
        rest = after;
    }
    for part in [END, label, DASHES, "\n"] {
        text.push_str(part);
    }
    text
}
