//! The text of an API key: `lw_`, 40 random base62 characters and 6 of their CRC32 (`docs/reference/callers.md#form-of-a-key`).
//! The check digits let a secret scanner tell a real key from a look-alike without asking the server.

use std::fmt;

use sha2::{Digest, Sha256};

const PREFIX: &str = "lw_";
const RANDOM_LENGTH: usize = 40;
const CHECK_LENGTH: usize = 6;
const SHOWN_LENGTH: usize = 12;
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Number of random bytes that [`ApiKey::from_random`] takes. Rejection exhausts them with a probability of 2^-80.
pub const RANDOM_BYTES: usize = 128;

/// An API key in clear text. It is shown once; only its hash and its first characters are stored.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({}…)", self.prefix())
    }
}

impl ApiKey {
    /// Makes a key from random bytes, without bias: bytes of 248 and above are skipped. Returns `None` if too many bytes
    /// are skipped to make 40 characters; try again with fresh bytes.
    pub fn from_random(random: &[u8; RANDOM_BYTES]) -> Option<Self> {
        let letters = random
            .iter()
            .filter(|byte| **byte < 248)
            .map(|byte| BASE62[usize::from(*byte) % 62] as char);
        let body: String = letters.take(RANDOM_LENGTH).collect();
        if body.len() < RANDOM_LENGTH {
            return None;
        }
        let check = check_digits(&body);
        Some(Self(format!("{PREFIX}{body}{check}")))
    }

    /// Parses a key as a caller sent it. Returns `None` unless length, alphabet and check digits are correct.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(PREFIX)?;
        let right_form =
            rest.len() == RANDOM_LENGTH + CHECK_LENGTH && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !right_form {
            return None;
        }
        let (body, check) = rest.split_at(RANDOM_LENGTH);
        (check_digits(body) == check).then(|| Self(text.to_owned()))
    }

    /// The whole key, for the only response that shows it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The first 12 characters, by which people recognize a key.
    pub fn prefix(&self) -> &str {
        &self.0[..SHOWN_LENGTH]
    }

    /// The stored form: lower-case hex SHA-256 of the key.
    pub fn hash(&self) -> String {
        hex::encode(Sha256::digest(self.0.as_bytes()))
    }
}

fn check_digits(body: &str) -> String {
    let mut rest = crc32fast::hash(body.as_bytes());
    let mut digits = [b'0'; CHECK_LENGTH];
    for place in digits.iter_mut().rev() {
        *place = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    digits.iter().map(|digit| *digit as char).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn has_the_form_of_the_reference() {
        let key = ApiKey::from_random(&[7; RANDOM_BYTES]).expect("no byte is skipped");
        assert_eq!(key.reveal().len(), 3 + 40 + 6);
        // CRC32 of forty times `7` is 0xe6df92db, computed independently with zlib.
        assert_eq!(key.reveal(), format!("lw_{}4E8RLv", "7".repeat(40)));
        assert_eq!(key.prefix(), "lw_777777777");
        assert_eq!(format!("{key:?}"), "ApiKey(lw_777777777…)");
    }

    #[test]
    fn skips_biased_bytes() {
        assert_eq!(ApiKey::from_random(&[255; RANDOM_BYTES]), None);
    }

    proptest! {
        #[test]
        fn reads_what_it_made_and_sees_every_typing_error(random in prop::array::uniform32(any::<[u8; 4]>()), place in 3usize..49) {
            let mut bytes = [0; RANDOM_BYTES];
            bytes.copy_from_slice(random.as_flattened());
            let key = ApiKey::from_random(&bytes).expect("enough letters");
            prop_assert_eq!(ApiKey::parse(key.reveal()), Some(key.clone()));
            let mut typo = key.reveal().to_owned().into_bytes();
            typo[place] = if typo[place] == b'x' { b'y' } else { b'x' };
            prop_assert_eq!(ApiKey::parse(&String::from_utf8(typo).expect("ASCII")), None);
        }
    }
}
