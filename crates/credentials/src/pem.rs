//! PEM armor (RFC 7468): one block, with any line ends.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use crate::parse_error::MalformedError;

const BEGIN: &str = "-----BEGIN ";
const DASHES: &str = "-----";

/// The label of the first block, if the text starts with one.
pub(crate) fn label(text: &str) -> Option<&str> {
    let (label, _) = text.trim_start().strip_prefix(BEGIN)?.split_once(DASHES)?;
    Some(label)
}

/// The content of the single block that the text consists of, which must have this label.
pub(crate) fn decode(text: &str, wanted: &str) -> Result<Zeroizing<Vec<u8>>, MalformedError> {
    let rest = text.trim().strip_prefix(BEGIN).ok_or(MalformedError)?;
    let rest = rest
        .strip_prefix(wanted)
        .and_then(|rest| rest.strip_prefix(DASHES))
        .ok_or(MalformedError)?;
    let (body, end) = rest.split_once("-----END ").ok_or(MalformedError)?;
    if end.strip_suffix(DASHES) != Some(wanted) {
        return Err(MalformedError);
    }
    let letters: Zeroizing<Vec<u8>> = Zeroizing::new(body.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect());
    STANDARD
        .decode(&*letters)
        .map(Zeroizing::new)
        .map_err(|_| MalformedError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_block_is_read_whatever_its_line_ends() {
        for text in [
            "-----BEGIN A KEY-----\nAQID\n-----END A KEY-----\n",
            "\r\n-----BEGIN A KEY-----\r\nAQ\r\nID\r\n-----END A KEY-----",
            "-----BEGIN A KEY-----AQID-----END A KEY-----",
        ] {
            assert_eq!(label(text), Some("A KEY"));
            assert_eq!(decode(text, "A KEY").unwrap().as_slice(), [1, 2, 3]);
            assert!(decode(text, "KEY").is_err());
        }
        for text in [
            "",
            "AQID",
            "-----BEGIN A KEY-----\nAQID\n",
            "-----BEGIN A KEY-----\nAQID\n-----END B KEY-----",
            "-----BEGIN A KEY-----\nAQI\n-----END A KEY-----",
            "-----BEGIN A KEY-----\nAQID\n-----END A KEY-----\n-----BEGIN A KEY-----\nAQID\n-----END A KEY-----",
        ] {
            assert!(decode(text, "A KEY").is_err(), "{text:?}");
        }
    }
}
