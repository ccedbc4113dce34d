//! Password-based encryption: PKCS#12's schemes, PBES2 (RFC 8018), and the key protection of JKS keystores.

use cbc::Decryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipherDecrypt, BlockModeDecrypt, InnerIvInit, KeyInit};
use rc2::Rc2;
use ring::{digest, hmac, pbkdf2};
use std::num::NonZeroU32;
use zeroize::Zeroizing;

use crate::asn1::{INTEGER, OCTET_STRING, Reader, SEQUENCE, is_one_sequence, only};
use crate::jks_protection::{KEY_PROTECTOR, unprotect};
use crate::parse_error::{MalformedError, ParseError};
use crate::password::{Password, Rounds};
use crate::pkcs12_derivation::{Purpose, derive};

pub(crate) const PBES2: &str = "1.2.840.113549.1.5.13";
pub(crate) const PBKDF2: &str = "1.2.840.113549.1.5.12";
pub(crate) const HMAC_WITH_SHA256: &str = "1.2.840.113549.2.9";
/// The size of a block, and of one key, of DES in bytes; RC2 has the same block size.
const DES_BLOCK: usize = 8;

/// A block cipher.
enum Cipher {
    Aes128,
    Aes192,
    Aes256,
    TripleDes,
    /// With this effective key length in bits.
    Rc2(usize),
}

/// Decrypts an EncryptedPrivateKeyInfo; see [`decrypt`].
pub(crate) fn decrypt_key(
    bytes: &[u8],
    password: &Password,
    rounds: &mut Rounds,
) -> Result<Option<Zeroizing<Vec<u8>>>, ParseError> {
    let mut info = only(bytes, SEQUENCE)?.children();
    let (algorithm, parameters) = info.take_algorithm()?;
    let data = info.take_octets(OCTET_STRING)?;
    if algorithm == KEY_PROTECTOR {
        return unprotect(&data, password);
    }
    decrypt(&algorithm, parameters, &data, password, rounds)
}

/// Decrypts `data`. `None`: the password is wrong, or the data is corrupt. The result is one SEQUENCE; with a wrong
/// password the padding may be valid by chance, so it is not proven to be the right one.
pub(crate) fn decrypt(
    algorithm: &str,
    mut parameters: Reader<'_>,
    data: &[u8],
    password: &Password,
    rounds: &mut Rounds,
) -> Result<Option<Zeroizing<Vec<u8>>>, ParseError> {
    let (cipher, key, iv) = if algorithm == PBES2 {
        let mut parts = parameters.take_sequence()?;
        let (derivation, kdf) = parts.take_algorithm()?;
        let (name, mut cipher_parameters) = parts.take_algorithm()?;
        let cipher = Cipher::of_pbes2(&name)?;
        if derivation != PBKDF2 {
            return Err(ParseError::Unsupported(derivation_name(&derivation)));
        }
        let key = derive_pbkdf2(kdf, Some(cipher.key_bytes()), password, rounds)?;
        (
            cipher,
            key,
            Zeroizing::new(cipher_parameters.take(OCTET_STRING)?.content.to_vec()),
        )
    } else {
        let (cipher, key_bytes) = Cipher::of_pkcs12(algorithm)?;
        let mut parts = parameters.take_sequence()?;
        let salt = parts.take(OCTET_STRING)?.content;
        let secret = (password.pkcs12.as_slice(), salt, parts.take_number()?);
        let hash = &digest::SHA1_FOR_LEGACY_USE_ONLY;
        let mut key = derive(hash, Purpose::Key, secret, key_bytes, rounds)?;
        if key_bytes == 2 * DES_BLOCK && matches!(cipher, Cipher::TripleDes) {
            key.extend_from_within(..DES_BLOCK);
        }
        (cipher, key, derive(hash, Purpose::Iv, secret, DES_BLOCK, rounds)?)
    };
    let plain = cipher.decrypt(&key, &iv, data)?;
    Ok(plain.filter(|plain| is_one_sequence(plain)))
}

/// PBKDF2 with these parameters. `length` is the number of bytes needed; without it the parameters must contain it.
pub(crate) fn derive_pbkdf2(
    mut parameters: Reader<'_>,
    length: Option<usize>,
    password: &Password,
    rounds: &mut Rounds,
) -> Result<Zeroizing<Vec<u8>>, ParseError> {
    let mut parts = parameters.take_sequence()?;
    let salt = parts.take(OCTET_STRING)?.content;
    let iterations = parts.take_number()?;
    let said = if parts.peek() == Some(INTEGER) {
        Some(parts.take_number()?)
    } else {
        None
    };
    let said = said.map(|said| usize::try_from(said).unwrap_or(usize::MAX));
    let length = match (length, said) {
        (Some(length), None) => length,
        (Some(length), Some(said)) if said == length => length,
        (None, Some(said @ 1..=64)) => said,
        _ => return Err(ParseError::MalformedError),
    };
    let (function, per_run) = match parts.peek() {
        None => (pbkdf2::PBKDF2_HMAC_SHA1, 20),
        Some(_) => pseudorandom(&parts.take_algorithm()?.0)?,
    };
    rounds.spend(iterations, length, per_run)?;
    let iterations = u32::try_from(iterations)
        .ok()
        .and_then(NonZeroU32::new)
        .ok_or(MalformedError)?;
    let mut key = Zeroizing::new(vec![0; length]);
    pbkdf2::derive(function, iterations, salt, &password.utf8, &mut key);
    Ok(key)
}

/// PBKDF2's pseudorandom function, and the size of its output in bytes.
fn pseudorandom(name: &str) -> Result<(pbkdf2::Algorithm, usize), ParseError> {
    match name {
        "1.2.840.113549.2.7" => Ok((pbkdf2::PBKDF2_HMAC_SHA1, 20)),
        HMAC_WITH_SHA256 => Ok((pbkdf2::PBKDF2_HMAC_SHA256, 32)),
        "1.2.840.113549.2.10" => Ok((pbkdf2::PBKDF2_HMAC_SHA384, 48)),
        "1.2.840.113549.2.11" => Ok((pbkdf2::PBKDF2_HMAC_SHA512, 64)),
        other => Err(ParseError::Unsupported(format!("PBKDF2 with the function {other}"))),
    }
}

/// The HMAC of PBMAC1 (RFC 9579).
pub(crate) fn hmac_algorithm(name: &str) -> Result<hmac::Algorithm, ParseError> {
    match name {
        "1.2.840.113549.2.7" => Ok(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
        "1.2.840.113549.2.9" => Ok(hmac::HMAC_SHA256),
        "1.2.840.113549.2.10" => Ok(hmac::HMAC_SHA384),
        "1.2.840.113549.2.11" => Ok(hmac::HMAC_SHA512),
        other => Err(ParseError::Unsupported(format!("the integrity check {other}"))),
    }
}

pub(crate) fn is_pbkdf2(algorithm: &str) -> bool {
    algorithm == PBKDF2
}

pub(crate) fn derivation_name(algorithm: &str) -> String {
    match algorithm {
        "1.3.6.1.4.1.11591.4.11" => "scrypt".to_owned(),
        other => format!("the derivation {other}"),
    }
}

fn cipher_name(algorithm: &str) -> String {
    let known = match algorithm {
        "1.2.840.113549.1.12.1.1" => "RC4 with 128 bits",
        "1.2.840.113549.1.12.1.2" => "RC4 with 40 bits",
        "1.2.840.113549.1.5.3" => "DES with MD5 (PBES1)",
        "1.2.840.113549.1.5.10" => "DES with SHA-1 (PBES1)",
        "1.3.14.3.2.7" => "DES",
        "1.2.840.113549.3.2" => "RC2 in PBES2",
        "2.16.840.1.101.3.4.1.6" | "2.16.840.1.101.3.4.1.26" | "2.16.840.1.101.3.4.1.46" => "AES-GCM",
        other => return format!("the encryption {other}"),
    };
    known.to_owned()
}

impl Cipher {
    /// A scheme of PKCS#12 itself (RFC 7292, appendix C), and the key length in bytes.
    fn of_pkcs12(algorithm: &str) -> Result<(Self, usize), ParseError> {
        match algorithm {
            "1.2.840.113549.1.12.1.3" => Ok((Self::TripleDes, 24)),
            "1.2.840.113549.1.12.1.4" => Ok((Self::TripleDes, 16)),
            "1.2.840.113549.1.12.1.5" => Ok((Self::Rc2(128), 16)),
            "1.2.840.113549.1.12.1.6" => Ok((Self::Rc2(40), 5)),
            other => Err(ParseError::Unsupported(cipher_name(other))),
        }
    }

    fn of_pbes2(algorithm: &str) -> Result<Self, ParseError> {
        match algorithm {
            "2.16.840.1.101.3.4.1.2" => Ok(Self::Aes128),
            "2.16.840.1.101.3.4.1.22" => Ok(Self::Aes192),
            "2.16.840.1.101.3.4.1.42" => Ok(Self::Aes256),
            "1.2.840.113549.3.7" => Ok(Self::TripleDes),
            other => Err(ParseError::Unsupported(cipher_name(other))),
        }
    }

    /// The key length in bytes, for the ciphers of PBES2.
    fn key_bytes(&self) -> usize {
        match self {
            Self::Aes128 => 16,
            Self::Aes192 | Self::TripleDes => 24,
            Self::Aes256 => 32,
            Self::Rc2(bits) => bits / 8,
        }
    }

    /// `None`: the padding is invalid.
    fn decrypt(&self, key: &[u8], iv: &[u8], data: &[u8]) -> Result<Option<Zeroizing<Vec<u8>>>, MalformedError> {
        match self {
            Self::Aes128 => unchain(aes::Aes128::new_from_slice(key).ok(), iv, data),
            Self::Aes192 => unchain(aes::Aes192::new_from_slice(key).ok(), iv, data),
            Self::Aes256 => unchain(aes::Aes256::new_from_slice(key).ok(), iv, data),
            Self::TripleDes => unchain(des::TdesEde3::new_from_slice(key).ok(), iv, data),
            Self::Rc2(bits) => unchain(Some(Rc2::new_with_eff_key_len(key, *bits)), iv, data),
        }
    }
}

/// CBC with PKCS#7's padding.
fn unchain<C: BlockCipherDecrypt>(
    cipher: Option<C>,
    iv: &[u8],
    data: &[u8],
) -> Result<Option<Zeroizing<Vec<u8>>>, MalformedError> {
    let block = C::block_size();
    if data.is_empty() || !data.len().is_multiple_of(block) {
        return Err(MalformedError);
    }
    let mode = Decryptor::inner_iv_slice_init(cipher.ok_or(MalformedError)?, iv).map_err(|_| MalformedError)?;
    let mut buffer = Zeroizing::new(data.to_vec());
    let length = mode.decrypt_padded::<Pkcs7>(&mut buffer).ok().map(<[u8]>::len);
    Ok(length.map(|length| {
        buffer.truncate(length);
        buffer
    }))
}
