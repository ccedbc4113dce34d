//! How JKS keystores protect a key, as `sun.security.provider.KeyProtector` defines it.

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY as SHA1, SHA1_OUTPUT_LEN};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::asn1::is_one_sequence;
use crate::parse_error::{MalformedError, ParseError};
use crate::password::Password;

/// The algorithm that protects the keys.
pub(crate) const KEY_PROTECTOR: &str = "1.3.6.1.4.1.42.2.17.1.1";

/// Removes the protection of a key: a stream of chained SHA-1 digests, and one digest to verify. `None`: wrong
/// password.
pub(crate) fn unprotect(data: &[u8], password: &Password) -> Result<Option<Zeroizing<Vec<u8>>>, ParseError> {
    let (salt, rest) = data.split_first_chunk::<SHA1_OUTPUT_LEN>().ok_or(MalformedError)?;
    let (hidden, check) = rest.split_last_chunk::<SHA1_OUTPUT_LEN>().ok_or(MalformedError)?;
    let hash = |bytes: &[u8]| {
        let mut context = Context::new(&SHA1);
        context.update(&password.utf16);
        context.update(bytes);
        context.finish()
    };
    let mut plain = Zeroizing::new(Vec::with_capacity(hidden.len()));
    let mut link = hash(salt);
    for block in hidden.chunks(SHA1_OUTPUT_LEN) {
        plain.extend(block.iter().zip(link.as_ref()).map(|(byte, mask)| byte ^ mask));
        link = hash(link.as_ref());
    }
    if bool::from(hash(&plain).as_ref().ct_eq(&check[..])) {
        return Ok(Some(plain));
    }
    // With a wrong password even the beginning is invalid.
    if is_one_sequence(&plain) {
        Err(ParseError::MalformedError)
    } else {
        Ok(None)
    }
}
