//! The hash chain of the audit log. Each line's hash covers the line and the hash before it, so a changed, removed or inserted
//! line breaks the chain. The hash is keyed: whoever can write to the database but does not have the key cannot repair it. A
//! separate hash, stored in no line, marks the end of the chain, so truncating the log is detected too.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The hash of a line, 64 lower-case hex digits: HMAC-SHA256 under `key` over the end of the chain before it (`""` for the
/// first), the chain's owner, the line's number and its fields in a fixed order. Each text is prefixed with its length, and
/// an absent one differs from an empty one.
pub fn link(key: &[u8; 32], before: &str, owner: &str, seq: i64, fields: &[Option<&str>]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(&seq.to_be_bytes());
    for field in [Some(before), Some(owner)].iter().chain(fields) {
        match field {
            Some(text) => {
                mac.update(&[1]);
                mac.update(&(text.len() as u64).to_be_bytes());
                mac.update(text.as_bytes());
            }
            None => mac.update(&[0]),
        }
    }
    hex::encode(mac.finalize().into_bytes())
}

/// The marker of a chain's end, 64 lower-case hex digits: HMAC-SHA256 under `key` over a number that no line has and the
/// hash of the last line.
pub fn end(key: &[u8; 32], hash: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(&(-1i64).to_be_bytes());
    mac.update(hash.as_bytes());
    hex::encode(mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_counts() {
        let base = link(&[7; 32], "aa", "org", 3, &[Some("x"), None, Some("yz")]);
        let others = [
            link(&[8; 32], "aa", "org", 3, &[Some("x"), None, Some("yz")]),
            link(&[7; 32], "ab", "org", 3, &[Some("x"), None, Some("yz")]),
            link(&[7; 32], "aa", "orh", 3, &[Some("x"), None, Some("yz")]),
            link(&[7; 32], "aa", "org", 4, &[Some("x"), None, Some("yz")]),
            link(&[7; 32], "aa", "org", 3, &[Some("x"), Some(""), Some("yz")]),
            link(&[7; 32], "aa", "org", 3, &[Some("xy"), None, Some("z")]),
        ];
        assert!(others.iter().all(|other| *other != base));
        assert_eq!(base, link(&[7; 32], "aa", "org", 3, &[Some("x"), None, Some("yz")]));
    }

    #[test]
    fn an_end_is_no_hash_of_a_line() {
        let hash = link(&[7; 32], "", "org", 1, &[]);
        assert_ne!(end(&[7; 32], &hash), hash);
        assert_ne!(end(&[7; 32], &hash), end(&[8; 32], &hash));
        assert_ne!(end(&[7; 32], &hash), end(&[7; 32], ""));
    }
}
