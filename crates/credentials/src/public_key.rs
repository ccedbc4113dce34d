//! Public keys: RSA and the NIST curves, as encoded in certificates and private keys (RFC 3279, RFC 5480).

use crate::asn1::{BIT_STRING, NULL, OID, Reader, SEQUENCE, der, der_unsigned, only, without_leading_zeros};
use crate::parse_error::ParseError;

pub(crate) const RSA: &str = "1.2.840.113549.1.1.1";
pub(crate) const EC: &str = "1.2.840.10045.2.1";
const RSA_BYTES: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const EC_BYTES: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];

/// The minimum size of RSA keys …
const MIN_RSA_BITS: usize = 1024;
/// … and the maximum: larger ones only cost time.
pub(crate) const MAX_RSA_BITS: usize = 16384;

/// A public key; equal values are the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PublicKey {
    /// Both numbers big endian, without leading zeros.
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    /// A point on the curve, uncompressed.
    Ec { curve: Curve, point: Vec<u8> },
}

/// An elliptic curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Curve {
    P256,
    P384,
    P521,
}

impl PublicKey {
    /// Parses a SubjectPublicKeyInfo.
    pub(crate) fn from_info(bytes: &[u8]) -> Result<Self, ParseError> {
        let mut info = only(bytes, SEQUENCE)?.children();
        let (algorithm, parameters) = info.take_algorithm()?;
        let key = info.take_bits()?;
        match algorithm.as_str() {
            RSA => {
                let mut numbers = only(key, SEQUENCE)?.children();
                Self::rsa(numbers.take_unsigned()?, numbers.take_unsigned()?)
            }
            EC => Curve::read(parameters)?.public(key),
            other => Err(ParseError::Unsupported(key_name(other))),
        }
    }

    /// An RSA key of supported size.
    pub(crate) fn rsa(modulus: &[u8], exponent: &[u8]) -> Result<Self, ParseError> {
        let (modulus, exponent) = (without_leading_zeros(modulus), without_leading_zeros(exponent));
        let size = bits(modulus);
        if !(MIN_RSA_BITS..=MAX_RSA_BITS).contains(&size) {
            return Err(ParseError::Unsupported(format!("an RSA key of {size} bits")));
        }
        Ok(Self::Rsa {
            modulus: modulus.to_vec(),
            exponent: exponent.to_vec(),
        })
    }

    /// The SubjectPublicKeyInfo in DER.
    pub(crate) fn info(&self) -> Vec<u8> {
        let (algorithm, key) = match self {
            Self::Rsa { .. } => ([der(OID, &[RSA_BYTES]), der(NULL, &[])].concat(), self.bit_string()),
            Self::Ec { curve, .. } => (
                [der(OID, &[EC_BYTES]), der(OID, &[curve.oid()])].concat(),
                self.bit_string(),
            ),
        };
        der(
            SEQUENCE,
            &[&der(SEQUENCE, &[&algorithm]), &der(BIT_STRING, &[&[0], &key])],
        )
    }

    /// The content of the BIT STRING in the SubjectPublicKeyInfo: an RSAPublicKey, or the point.
    pub(crate) fn bit_string(&self) -> Vec<u8> {
        match self {
            Self::Rsa { modulus, exponent } => der(SEQUENCE, &[&der_unsigned(modulus), &der_unsigned(exponent)]),
            Self::Ec { point, .. } => point.clone(),
        }
    }

    /// `RSA` or `EC`.
    pub(crate) fn algorithm(&self) -> &'static str {
        match self {
            Self::Rsa { .. } => "RSA",
            Self::Ec { .. } => "EC",
        }
    }

    /// The number of bits of the modulus, or of the curve's field.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Rsa { modulus, .. } => bits(modulus),
            Self::Ec { curve: Curve::P256, .. } => 256,
            Self::Ec { curve: Curve::P384, .. } => 384,
            Self::Ec { curve: Curve::P521, .. } => 521,
        }
    }
}

impl Curve {
    /// Parses the parameters of an EC key: the name of a curve.
    pub(crate) fn read(mut parameters: Reader<'_>) -> Result<Self, ParseError> {
        if parameters.peek() == Some(SEQUENCE) {
            return Err(ParseError::Unsupported(
                "a curve that is written out instead of named".to_owned(),
            ));
        }
        match parameters.take_oid()?.as_str() {
            "1.2.840.10045.3.1.7" => Ok(Self::P256),
            "1.3.132.0.34" => Ok(Self::P384),
            "1.3.132.0.35" => Ok(Self::P521),
            other => Err(ParseError::Unsupported(format!("the elliptic curve {other}"))),
        }
    }

    /// The key with this point, which must be on the curve.
    pub(crate) fn public(self, point: &[u8]) -> Result<PublicKey, ParseError> {
        let point = match self {
            Self::P256 => p256::PublicKey::from_sec1_bytes(point).map(|key| key.to_sec1_bytes()),
            Self::P384 => p384::PublicKey::from_sec1_bytes(point).map(|key| key.to_sec1_bytes()),
            Self::P521 => p521::PublicKey::from_sec1_bytes(point).map(|key| key.to_sec1_bytes()),
        };
        let point = point.map_err(|_| ParseError::MalformedError)?;
        Ok(PublicKey::Ec {
            curve: self,
            point: point.into(),
        })
    }

    /// The length of a private key in bytes.
    pub(crate) fn field_bytes(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }

    fn oid(self) -> &'static [u8] {
        match self {
            Self::P256 => &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07],
            Self::P384 => &[0x2b, 0x81, 0x04, 0x00, 0x22],
            Self::P521 => &[0x2b, 0x81, 0x04, 0x00, 0x23],
        }
    }
}

/// The display name of keys with this algorithm.
pub(crate) fn key_name(algorithm: &str) -> String {
    match algorithm {
        "1.2.840.10040.4.1" => "a DSA key".to_owned(),
        "1.2.840.113549.1.1.10" => "an RSA key that is bound to PSS".to_owned(),
        "1.3.101.112" => "an Ed25519 key".to_owned(),
        "1.3.101.113" => "an Ed448 key".to_owned(),
        other => format!("a key of the algorithm {other}"),
    }
}

/// The bit length of a number without leading zeros.
fn bits(number: &[u8]) -> usize {
    number
        .first()
        .map_or(0, |first| number.len() * 8 - first.leading_zeros() as usize)
}
