//! PKCS#12's own derivation of keys from passwords (RFC 7292, appendix B.2).

use ring::digest::{self, Context};
use zeroize::Zeroizing;

use crate::parse_error::ParseError;
use crate::password::Rounds;

/// The purpose of the derived bytes.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    Key = 1,
    Iv = 2,
    Mac = 3,
}

/// Derives `length` bytes from a password in PKCS#12's encoding.
pub(crate) fn derive(
    algorithm: &'static digest::Algorithm,
    purpose: Purpose,
    (password, salt, iterations): (&[u8], &[u8], u64),
    length: usize,
    rounds: &mut Rounds,
) -> Result<Zeroizing<Vec<u8>>, ParseError> {
    rounds.spend(iterations, length, algorithm.output_len())?;
    let block = algorithm.block_len();
    let diversifier = vec![purpose as u8; block];
    let mut input = Zeroizing::new(repeat_to_blocks(salt, block));
    input.extend(repeat_to_blocks(password, block));
    let mut output = Zeroizing::new(Vec::with_capacity(length + algorithm.output_len()));
    loop {
        let mut context = Context::new(algorithm);
        context.update(&diversifier);
        context.update(&input);
        let mut hash = context.finish();
        for _ in 1..iterations {
            hash = digest::digest(algorithm, hash.as_ref());
        }
        output.extend(hash.as_ref());
        if output.len() >= length {
            output.truncate(length);
            return Ok(output);
        }
        let addend: Vec<u8> = hash.as_ref().iter().copied().cycle().take(block).collect();
        for part in input.chunks_mut(block) {
            add_and_one(part, &addend);
        }
    }
}

/// The bytes, repeated to fill whole blocks; empty input stays empty.
fn repeat_to_blocks(bytes: &[u8], block: usize) -> Vec<u8> {
    let length = bytes.len().div_ceil(block) * block;
    bytes.iter().copied().cycle().take(length).collect()
}

/// Adds `addend` and 1 to a big-endian number of the same length, ignoring the overflow.
fn add_and_one(number: &mut [u8], addend: &[u8]) {
    let mut carry = 1u16;
    for (digit, added) in number.iter_mut().zip(addend).rev() {
        carry += u16::from(*digit) + u16::from(*added);
        *digit = carry as u8;
        carry >>= 8;
    }
}
