//! A PKCS#12 file with one key and its certificate (RFC 7292), with the algorithms that Java 17 and OpenSSL 3 write.

use std::num::NonZeroU32;

use cbc::Encryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeEncrypt, KeyIvInit};
use ring::rand::SystemRandom;
use ring::{digest, hmac, pbkdf2};
use zeroize::Zeroizing;

use super::{NewKeystoreError, random_bytes};
use crate::asn1::{NULL, OCTET_STRING, SEQUENCE, SET, context, der, der_oid, der_unsigned};
use crate::encryption::{HMAC_WITH_SHA256, PBES2, PBKDF2};
use crate::password::{Password, Rounds};
use crate::pkcs12::{CERTIFICATE_BAG, DATA, FRIENDLY_NAME, LOCAL_KEY_ID, SHROUDED_KEY_BAG, VERSION, X509_CERTIFICATE};
use crate::pkcs12_derivation::{Purpose, derive};

const AES_256_CBC: &str = "2.16.840.1.101.3.4.1.42";
const SHA_256: &str = "2.16.840.1.101.3.4.2.1";
const BMP_STRING: u8 = 0x1e;
const KEY_ROUNDS: NonZeroU32 = NonZeroU32::new(100_000).expect("more than none");
const MAC_ROUNDS: u32 = 10_000;

/// The file.
pub(super) fn write(
    alias: &str,
    key: &[u8],
    certificate: &[u8],
    password: &Password,
    random: &SystemRandom,
) -> Result<Zeroizing<Vec<u8>>, NewKeystoreError> {
    let attributes = attributes(alias, certificate);
    let hidden = encrypted(key, password, random)?;
    let key_bag = bag(SHROUDED_KEY_BAG, &hidden, &attributes);
    let inner = der(context(0), &[&der(OCTET_STRING, &[certificate])]);
    let inner = der(SEQUENCE, &[&der_oid(X509_CERTIFICATE), &inner]);
    let certificate_bag = bag(CERTIFICATE_BAG, &inner, &attributes);
    let safes = der(SEQUENCE, &[&safe(&key_bag), &safe(&certificate_bag)]);
    let mac = mac(&safes, password, random)?;
    let version = u8::try_from(VERSION).unwrap_or(u8::MAX);
    Ok(Zeroizing::new(der(
        SEQUENCE,
        &[&der_unsigned(&[version]), &data(&safes), &mac],
    )))
}

/// A ContentInfo of plain data.
fn data(bytes: &[u8]) -> Vec<u8> {
    let content = der(context(0), &[&der(OCTET_STRING, &[bytes])]);
    der(SEQUENCE, &[&der_oid(DATA), &content])
}

/// A safe with one bag. The certificate is public, and the key in its bag is encrypted.
fn safe(bag: &[u8]) -> Vec<u8> {
    data(&der(SEQUENCE, &[bag]))
}

fn bag(kind: &str, value: &[u8], attributes: &[u8]) -> Vec<u8> {
    der(SEQUENCE, &[&der_oid(kind), &der(context(0), &[value]), attributes])
}

/// The alias, and the id that links a key to its certificate.
fn attributes(alias: &str, certificate: &[u8]) -> Vec<u8> {
    let attribute = |kind, value: Vec<u8>| der(SEQUENCE, &[&der_oid(kind), &der(SET, &[&value])]);
    let alias: Vec<u8> = alias.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let id = digest::digest(&digest::SHA256, certificate);
    let name = attribute(FRIENDLY_NAME, der(BMP_STRING, &[&alias]));
    let id = attribute(LOCAL_KEY_ID, der(OCTET_STRING, &[id.as_ref()]));
    der(SET, &[&name, &id])
}

/// An EncryptedPrivateKeyInfo: PBES2 with PBKDF2, HMAC-SHA-256 and AES-256 in CBC (RFC 8018).
fn encrypted(key: &[u8], password: &Password, random: &SystemRandom) -> Result<Vec<u8>, NewKeystoreError> {
    let (salt, iv): ([u8; 20], [u8; 16]) = (random_bytes(random)?, random_bytes(random)?);
    let mut secret = Zeroizing::new([0; 32]);
    pbkdf2::derive(
        pbkdf2::PBKDF2_HMAC_SHA256,
        KEY_ROUNDS,
        &salt,
        &password.utf8,
        &mut *secret,
    );
    let cipher = Encryptor::<aes::Aes256>::new_from_slices(&*secret, &iv).map_err(|_| NewKeystoreError::Key)?;
    let mut buffer = Zeroizing::new(key.to_vec());
    buffer.extend(iv);
    let hidden = cipher.encrypt_padded::<Pkcs7>(&mut buffer, key.len());
    let hidden = hidden.map_err(|_| NewKeystoreError::Key)?;
    let function = der(SEQUENCE, &[&der_oid(HMAC_WITH_SHA256), &der(NULL, &[])]);
    let rounds = der_unsigned(&KEY_ROUNDS.get().to_be_bytes());
    let derivation = der(SEQUENCE, &[&der(OCTET_STRING, &[&salt]), &rounds, &function]);
    let derivation = der(SEQUENCE, &[&der_oid(PBKDF2), &derivation]);
    let scheme = der(SEQUENCE, &[&der_oid(AES_256_CBC), &der(OCTET_STRING, &[&iv])]);
    let algorithm = der(SEQUENCE, &[&der_oid(PBES2), &der(SEQUENCE, &[&derivation, &scheme])]);
    Ok(der(SEQUENCE, &[&algorithm, &der(OCTET_STRING, &[hidden])]))
}

/// The MacData: an HMAC with a key that PKCS#12's own method derives from the password.
fn mac(bytes: &[u8], password: &Password, random: &SystemRandom) -> Result<Vec<u8>, NewKeystoreError> {
    let salt: [u8; 20] = random_bytes(random)?;
    let hash = &digest::SHA256;
    let secret = (password.pkcs12.as_slice(), salt.as_slice(), u64::from(MAC_ROUNDS));
    let key = derive(hash, Purpose::Mac, secret, hash.output_len(), &mut Rounds::new());
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key.map_err(|_| NewKeystoreError::Key)?);
    let tag = hmac::sign(&key, bytes);
    let algorithm = der(SEQUENCE, &[&der_oid(SHA_256), &der(NULL, &[])]);
    let info = der(SEQUENCE, &[&algorithm, &der(OCTET_STRING, &[tag.as_ref()])]);
    let rounds = der_unsigned(&MAC_ROUNDS.to_be_bytes());
    Ok(der(SEQUENCE, &[&info, &der(OCTET_STRING, &[&salt]), &rounds]))
}
