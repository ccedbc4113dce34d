//! Generates an RSA key (FIPS 186-5, appendix A.1.3): two random primes that pass the test of Miller and Rabin.

use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, ConcatenatingMul, Limb, NonZero, Odd};
use ring::error::Unspecified;
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use crate::asn1::{NULL, OCTET_STRING, SEQUENCE, der, der_oid, der_unsigned};
use crate::public_key::RSA;

const PUBLIC_EXPONENT: u32 = 65537;
/// Rounds of Miller and Rabin's test. For random candidates of 1024 bits and more, 5 leave a chance below 2^-100.
const ROUNDS: usize = 16;
/// Candidates with a smaller prime factor are skipped without the test.
const SMALL: u32 = 4096;

/// A new key in PKCS#8, with a modulus of `bits`, which is a multiple of 128.
pub(super) fn generate(bits: u32, random: &SystemRandom) -> Result<Zeroizing<Vec<u8>>, Unspecified> {
    let small = small_primes();
    let first = prime(bits / 2, &small, random)?;
    let mut second = prime(bits / 2, &small, random)?;
    while second == first {
        second = prime(bits / 2, &small, random)?;
    }
    let (p, q) = if first > second {
        (first, second)
    } else {
        (second, first)
    };
    encode(&p, &q).ok_or(Unspecified)
}

/// The key of two primes; `None` if its exponents have no inverse, which [`prime`] excludes.
fn encode(p: &BoxedUint, q: &BoxedUint) -> Option<Zeroizing<Vec<u8>>> {
    let one = BoxedUint::one_with_precision(p.bits_precision());
    let before = |prime: &BoxedUint| Zeroizing::new(prime.wrapping_sub(&one));
    let non_zero = |number: &BoxedUint| Option::<NonZero<BoxedUint>>::from(NonZero::new(number.clone()));
    let (before_p, before_q) = (before(p), before(q));
    let modulus = p.concatenating_mul(q);
    let order = Zeroizing::new(before_p.concatenating_mul(&*before_q));
    let public = PUBLIC_EXPONENT.to_be_bytes();
    let exponent = BoxedUint::from_be_slice(&public, order.bits_precision()).ok()?;
    let private: Option<BoxedUint> = exponent.invert_mod(&non_zero(&order)?).into();
    let private = Zeroizing::new(private?);
    let coefficient: Option<BoxedUint> = q.invert_mod(&non_zero(p)?).into();
    let coefficient = Zeroizing::new(coefficient?);
    let numbers = [
        der_unsigned(&[0]),
        der_unsigned(&modulus.to_be_bytes()),
        der_unsigned(&public),
        der_unsigned(&private.to_be_bytes()),
        der_unsigned(&p.to_be_bytes()),
        der_unsigned(&q.to_be_bytes()),
        der_unsigned(&private.rem(&non_zero(&before_p)?).to_be_bytes()),
        der_unsigned(&private.rem(&non_zero(&before_q)?).to_be_bytes()),
        der_unsigned(&coefficient.to_be_bytes()),
    ]
    .map(Zeroizing::new);
    let parts = numbers.each_ref().map(|number| number.as_slice());
    let key = Zeroizing::new(der(SEQUENCE, &parts));
    let algorithm = der(SEQUENCE, &[&der_oid(RSA), &der(NULL, &[])]);
    let key = Zeroizing::new(der(OCTET_STRING, &[&key]));
    Some(Zeroizing::new(der(SEQUENCE, &[&der_unsigned(&[0]), &algorithm, &key])))
}

/// A random prime whose two highest bits are set, so that the product of two has twice as many bits. Its predecessor has no
/// factor in common with the public exponent.
fn prime(bits: u32, small: &[Limb], random: &SystemRandom) -> Result<BoxedUint, Unspecified> {
    let mut bytes = Zeroizing::new(vec![0; bits.div_ceil(8) as usize]);
    loop {
        random.fill(&mut bytes)?;
        if let Some(first) = bytes.first_mut() {
            *first |= 0xc0;
        }
        if let Some(last) = bytes.last_mut() {
            *last |= 1;
        }
        let candidate = BoxedUint::from_be_slice(&bytes, bits).map_err(|_| Unspecified)?;
        if may_be_prime(&candidate, small) && is_probably_prime(&candidate, random)? {
            return Ok(candidate);
        }
    }
}

/// Whether no small prime divides the candidate, and the public exponent does not divide its predecessor.
fn may_be_prime(candidate: &BoxedUint, small: &[Limb]) -> bool {
    let remainder = |divisor: Limb| {
        let divisor = Option::<NonZero<Limb>>::from(NonZero::new(divisor));
        divisor.map(|divisor| candidate.rem_limb(divisor))
    };
    let is_free = small.iter().all(|prime| remainder(*prime) != Some(Limb::ZERO));
    is_free && remainder(Limb::from(PUBLIC_EXPONENT)) != Some(Limb::ONE)
}

/// Miller and Rabin's test of an odd number with random bases.
fn is_probably_prime(candidate: &BoxedUint, random: &SystemRandom) -> Result<bool, Unspecified> {
    let bits = candidate.bits_precision();
    let one = BoxedUint::one_with_precision(bits);
    let before = candidate.wrapping_sub(&one);
    let modulus = Option::<Odd<BoxedUint>>::from(Odd::new(candidate.clone())).ok_or(Unspecified)?;
    let bound = Option::<NonZero<BoxedUint>>::from(NonZero::new(before.clone())).ok_or(Unspecified)?;
    let params = BoxedMontyParams::new_vartime(modulus);
    let halvings = before.trailing_zeros();
    let odd_part = before.shr(halvings);
    let mut bytes = vec![0; bits.div_ceil(8) as usize];
    for _ in 0..ROUNDS {
        random.fill(&mut bytes)?;
        // From 0 to the candidate less 2; the bases 0 and 1 say nothing, and never come up.
        let base = BoxedUint::from_be_slice(&bytes, bits)
            .map_err(|_| Unspecified)?
            .rem(&bound);
        if base <= one {
            continue;
        }
        let mut power = BoxedMontyForm::new(base, &params).pow(&odd_part);
        let mut value = power.retrieve();
        if value == one || value == before {
            continue;
        }
        let mut is_witness = true;
        for _ in 1..halvings {
            power = power.square();
            value = power.retrieve();
            if value == before {
                is_witness = false;
                break;
            }
        }
        if is_witness {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The odd primes below [`SMALL`].
fn small_primes() -> Vec<Limb> {
    let mut primes: Vec<u32> = Vec::new();
    for number in (3..SMALL).step_by(2) {
        if primes.iter().all(|prime| number % prime != 0) {
            primes.push(number);
        }
    }
    primes.into_iter().map(Limb::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(hex: &str) -> BoxedUint {
        let hex = format!("{hex:0>32}");
        BoxedUint::from_be_slice(&hex::decode(hex).expect("hex"), 128).expect("128 bits")
    }

    #[test]
    fn primes_pass_and_others_do_not() {
        let random = SystemRandom::new();
        // 2^127 - 1, 2^107 - 1, and the largest prime below 2^64.
        for prime in [
            "7fffffffffffffffffffffffffffffff",
            "7ffffffffffffffffffffffffff",
            "ffffffffffffffc5",
        ] {
            assert!(
                is_probably_prime(&number(prime), &random).expect("randomness"),
                "{prime}"
            );
        }
        // A Carmichael number, a strong pseudoprime to the bases 2 to 37, and 2^128 - 5.
        for other in ["231", "437ae92817f9fc85b7e5", "fffffffffffffffffffffffffffffffb"] {
            assert!(
                !is_probably_prime(&number(other), &random).expect("randomness"),
                "{other}"
            );
        }
    }

    #[test]
    fn small_factors_and_unfit_predecessors_are_found() {
        let small = small_primes();
        assert_eq!(small.len(), 563);
        assert!(may_be_prime(&number("7fffffffffffffffffffffffffffffff"), &small));
        assert!(!may_be_prime(&number("ffffffffffffffffffffffffffffffff"), &small));
        // 65537 · 6 + 1 is prime, and 65537 divides its predecessor.
        assert!(!may_be_prime(&number("60007"), &[]));
    }

    #[test]
    fn a_key_of_two_primes_is_one_that_ring_accepts() {
        let random = SystemRandom::new();
        let key = generate(2048, &random).expect("a key");
        let pair = ring::signature::RsaKeyPair::from_pkcs8(&key).expect("a consistent key");
        assert_eq!(pair.public().modulus_len(), 256);
        crate::private_key::public_half(&key).expect("a consistent key");
    }
}
