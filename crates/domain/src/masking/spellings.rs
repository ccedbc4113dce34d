//! The spellings in which a secret can appear in a log.

use std::collections::BTreeSet;

use super::MIN_SECRET;

/// Longer texts are cut, so that the part of a log that must be withheld stays short.
const PIECE: usize = 128;
/// The length of the longest piece.
#[cfg(test)]
pub(super) const MAX_PIECE: usize = 2 * PIECE;
/// A line of a multi-line secret is masked on its own from this length on.
const MIN_LINE: usize = 8;

/// The patterns to search for, without line breaks: a log may wrap a text anywhere.
pub(super) fn pieces(secret: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut texts = encodings(secret);
    let lines: Vec<&[u8]> = secret
        .split(|byte| super::is_break(*byte))
        .map(<[u8]>::trim_ascii)
        .collect();
    if lines.len() > 1 {
        let long = lines.iter().filter(|line| line.len() >= MIN_LINE);
        texts.extend(long.flat_map(|line| encodings(line)));
    }
    // The last line break of a file is often not printed.
    texts.extend(encodings(secret.trim_ascii()));
    texts.iter().flat_map(|text| cut(text)).collect()
}

/// The secret itself and in each encoding.
fn encodings(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut texts = vec![secret.to_vec()];
    for alphabet in [STANDARD, URL_SAFE] {
        texts.extend((0..3).map(|offset| base64_inside(secret, offset, alphabet)));
    }
    for digits in [b"0123456789ABCDEF", b"0123456789abcdef"] {
        for kept in [b"-._~".as_slice(), b"-._~!*'()", b"-._*", b"-._~/"] {
            texts.push(url_escaped(secret, kept, digits));
        }
    }
    // Form encoding writes a space as a plus sign.
    let form: Vec<u8> = String::from_utf8_lossy(&url_escaped(secret, b"-._*", b"0123456789ABCDEF"))
        .replace("%20", "+")
        .into_bytes();
    texts.push(form);
    texts.extend(json_escaped(secret));
    let fits = |text: &Vec<u8>| text.len() >= MIN_SECRET;
    texts.into_iter().filter(fits).collect()
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The part of a base64 text that depends only on the secret if `offset` other bytes (modulo 3) precede it.
fn base64_inside(secret: &[u8], offset: usize, alphabet: &[u8; 64]) -> Vec<u8> {
    let bits = (offset * 8)..((offset + secret.len()) * 8);
    let first = bits.start.div_ceil(6);
    let last = bits.end / 6;
    let bit = |at: usize| {
        let at = at - offset * 8;
        secret[at / 8] >> (7 - at % 8) & 1
    };
    (first..last)
        .map(|digit| {
            let value = (digit * 6..digit * 6 + 6).fold(0, |value, at| value << 1 | bit(at));
            alphabet[value as usize]
        })
        .collect()
}

/// The secret in a URL: letters, digits and `kept` are not escaped.
fn url_escaped(secret: &[u8], kept: &[u8], digits: &[u8; 16]) -> Vec<u8> {
    let mut text = Vec::with_capacity(secret.len());
    for byte in secret {
        if byte.is_ascii_alphanumeric() || kept.contains(byte) {
            text.push(*byte);
        } else {
            text.extend([b'%', digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
        }
    }
    text
}

/// The secret in a JSON text: with the mandatory escapes only, and as writers emit it that escape more.
fn json_escaped(secret: &[u8]) -> Vec<Vec<u8>> {
    let Ok(text) = std::str::from_utf8(secret) else {
        return Vec::new();
    };
    let plain = serde_json::to_string(text).unwrap_or_default();
    let plain = plain.trim_start_matches('"');
    let plain = plain.strip_suffix('"').unwrap_or(plain).to_owned();
    let slashes = plain.replace('/', "\\/");
    let ascii: String = plain
        .chars()
        .flat_map(|letter| match letter.is_ascii() {
            true => vec![letter.to_string()],
            false => letter
                .encode_utf16(&mut [0; 2])
                .iter()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect(),
        })
        .collect();
    let html = plain
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026");
    [plain, slashes, ascii, html].map(String::into_bytes).to_vec()
}

/// Splits a text without line breaks into pieces of at most twice [`PIECE`] bytes.
fn cut(text: &[u8]) -> Vec<Vec<u8>> {
    let solid: Vec<u8> = text.iter().copied().filter(|byte| !super::is_break(*byte)).collect();
    if solid.len() < 2 * PIECE {
        let fits = solid.len() >= MIN_SECRET;
        return fits.then_some(solid).into_iter().collect();
    }
    let whole = solid.len() / PIECE;
    (0..whole)
        .map(|at| {
            let end = if at + 1 == whole { solid.len() } else { (at + 1) * PIECE };
            solid[at * PIECE..end].to_vec()
        })
        .collect()
}
