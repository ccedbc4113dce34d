//! The certificate of a new key, signed by the key itself (X.509, RFC 5280).

use launchway_domain::time::{EpochMs, iso};
use ring::digest;
use ring::rand::SystemRandom;
use ring::signature::{KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};

use super::{NewKeystore, NewKeystoreError, random_bytes};
use crate::asn1::{BIT_STRING, NULL, OCTET_STRING, SEQUENCE, SET, context, der, der_oid, der_unsigned};
use crate::certificate::SUBJECT_KEY_IDENTIFIER;
use crate::name::COMMON_NAME;
use crate::public_key::RSA;

const RSA_WITH_SHA256: &str = "1.2.840.113549.1.1.11";
const UTF8_STRING: u8 = 0x0c;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// The number of version 3.
const VERSION: u8 = 2;

/// The certificate of a key in DER.
pub(super) fn self_signed(
    wanted: &NewKeystore<'_>,
    key: &RsaKeyPair,
    random: &SystemRandom,
) -> Result<Vec<u8>, NewKeystoreError> {
    let algorithm = algorithm(RSA_WITH_SHA256);
    let name = name(wanted.common_name);
    let (from, until) = (time(wanted.not_before)?, time(wanted.not_after)?);
    if wanted.not_before >= wanted.not_after {
        return Err(NewKeystoreError::Validity);
    }
    let mut serial: [u8; 16] = random_bytes(random)?;
    // Never zero.
    serial[0] |= 0x40;
    let public = key.public_key().as_ref();
    let body = der(
        SEQUENCE,
        &[
            &der(context(0), &[&der_unsigned(&[VERSION])]),
            &der_unsigned(&serial),
            &algorithm,
            &name,
            &der(SEQUENCE, &[&from, &until]),
            &name,
            &der(SEQUENCE, &[&self::algorithm(RSA), &bits(public)]),
            &der(context(3), &[&der(SEQUENCE, &[&key_identifier(public)])]),
        ],
    );
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, random, &body, &mut signature)?;
    Ok(der(SEQUENCE, &[&body, &algorithm, &bits(&signature)]))
}

/// An AlgorithmIdentifier without parameters.
fn algorithm(oid: &str) -> Vec<u8> {
    der(SEQUENCE, &[&der_oid(oid), &der(NULL, &[])])
}

/// A BIT STRING of whole bytes.
fn bits(bytes: &[u8]) -> Vec<u8> {
    der(BIT_STRING, &[&[0], bytes])
}

/// A name that consists of a common name.
fn name(common_name: &str) -> Vec<u8> {
    let value = der(UTF8_STRING, &[common_name.as_bytes()]);
    let pair = der(SEQUENCE, &[&der_oid(COMMON_NAME), &value]);
    der(SEQUENCE, &[&der(SET, &[&pair])])
}

/// The extension by which Java links a key to its certificate.
fn key_identifier(public: &[u8]) -> Vec<u8> {
    let hash = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, public);
    let value = der(OCTET_STRING, &[hash.as_ref()]);
    der(
        SEQUENCE,
        &[&der_oid(SUBJECT_KEY_IDENTIFIER), &der(OCTET_STRING, &[&value])],
    )
}

/// A time in whole seconds: with two digits of the year until 2049, with four from 2050 on.
fn time(at: EpochMs) -> Result<Vec<u8>, NewKeystoreError> {
    let text = iso(at);
    let (seconds, _) = text.split_once('.').unwrap_or((text.as_str(), ""));
    let digits: String = seconds.chars().filter(char::is_ascii_digit).collect();
    let year = digits.get(..4).filter(|_| digits.len() == 14 && seconds.len() == 19);
    let year: u16 = year
        .and_then(|year| year.parse().ok())
        .ok_or(NewKeystoreError::Validity)?;
    Ok(match year {
        1950..=2049 => der(UTC_TIME, &[&digits.as_bytes()[2..], b"Z"]),
        _ => der(GENERALIZED_TIME, &[digits.as_bytes(), b"Z"]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_from_2050_on_have_four_digits() {
        assert_eq!(time(0).expect("a time"), b"\x17\x0d700101000000Z");
        assert_eq!(time(2_524_607_999_999).expect("a time"), b"\x17\x0d491231235959Z");
        assert_eq!(time(2_524_608_000_000).expect("a time"), b"\x18\x0f20500101000000Z");
    }
}
