//! The integrity check of a PKCS#12 file: an HMAC with a key from the password, derived by PKCS#12's own method or by
//! PBMAC1 (RFC 9579).

use ring::{digest, hmac};

use crate::asn1::{Element, INTEGER, OCTET_STRING, Reader};
use crate::encryption::{derivation_name, derive_pbkdf2, hmac_algorithm, is_pbkdf2};
use crate::parse_error::ParseError;
use crate::password::{Password, Rounds};
use crate::pkcs12_derivation::{Purpose, derive};

const PBMAC1: &str = "1.2.840.113549.1.5.14";

/// Whether the HMAC matches `bytes`. If not, the password is wrong or the file is corrupt.
pub(super) fn is_intact(
    mac: &Element<'_>,
    bytes: &[u8],
    password: &Password,
    rounds: &mut Rounds,
) -> Result<bool, ParseError> {
    let mut fields = mac.children();
    let mut info = fields.take_sequence()?;
    let (algorithm, parameters) = info.take_algorithm()?;
    let tag = info.take_octets(OCTET_STRING)?;
    let salt = fields.take_octets(OCTET_STRING)?;
    let iterations = if fields.peek() == Some(INTEGER) {
        fields.take_number()?
    } else {
        1
    };
    let key = if algorithm == PBMAC1 {
        pbmac1_key(parameters, password, rounds)?
    } else {
        let (hash, algorithm) = hash(&algorithm)?;
        let secret = (password.pkcs12.as_slice(), &*salt, iterations);
        let key = derive(hash, Purpose::Mac, secret, hash.output_len(), rounds)?;
        hmac::Key::new(algorithm, &key)
    };
    Ok(hmac::verify(&key, bytes, &tag).is_ok())
}

fn pbmac1_key(mut parameters: Reader<'_>, password: &Password, rounds: &mut Rounds) -> Result<hmac::Key, ParseError> {
    let mut parts = parameters.take_sequence()?;
    let (derivation, kdf) = parts.take_algorithm()?;
    let (scheme, _) = parts.take_algorithm()?;
    if !is_pbkdf2(&derivation) {
        return Err(ParseError::Unsupported(derivation_name(&derivation)));
    }
    let algorithm = hmac_algorithm(&scheme)?;
    Ok(hmac::Key::new(algorithm, &derive_pbkdf2(kdf, None, password, rounds)?))
}

fn hash(name: &str) -> Result<(&'static digest::Algorithm, hmac::Algorithm), ParseError> {
    match name {
        "1.3.14.3.2.26" => Ok((&digest::SHA1_FOR_LEGACY_USE_ONLY, hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY)),
        "2.16.840.1.101.3.4.2.1" => Ok((&digest::SHA256, hmac::HMAC_SHA256)),
        "2.16.840.1.101.3.4.2.2" => Ok((&digest::SHA384, hmac::HMAC_SHA384)),
        "2.16.840.1.101.3.4.2.3" => Ok((&digest::SHA512, hmac::HMAC_SHA512)),
        "1.2.840.113549.2.5" => Err(ParseError::Unsupported("an integrity check with MD5".to_owned())),
        "2.16.840.1.101.3.4.2.4" => Err(ParseError::Unsupported("an integrity check with SHA-224".to_owned())),
        other => Err(ParseError::Unsupported(format!("the integrity check {other}"))),
    }
}
