//! Public keys: ECDSA on P-256, as PEM of a SubjectPublicKeyInfo
//! (`docs/reference/trust.md#keys`).

use std::fmt;

use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};

use crate::digest::Sha256;
use crate::json::{self, Value, object};
use crate::pem;

/// `keytype` of every key that is written here.
pub const KEY_TYPE: &str = "ecdsa";
/// `scheme` of every key and signature.
pub const SCHEME: &str = "ecdsa-sha2-nistp256";

const LABEL: &str = "PUBLIC KEY";
/// What precedes the point in the DER of every P-256 key: algorithm, curve, and the header of the bit string.
const INFO_PREFIX: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// An uncompressed point: `04`, X and Y.
const POINT_BYTES: usize = 65;

/// A point of P-256. Two keys are equal exactly when they verify the same signatures, since the uncompressed form is the
/// only one that is read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; POINT_BYTES]);

/// The text or point is not a P-256 key. The message follows the name of what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an ECDSA P-256 public key: PEM of a SubjectPublicKeyInfo with an uncompressed point")]
pub struct PublicKeyError;

impl PublicKey {
    /// Reads PEM of a SubjectPublicKeyInfo.
    ///
    /// # Errors
    /// Any other form, algorithm or curve, and a compressed point.
    pub fn from_pem(text: &str) -> Result<Self, PublicKeyError> {
        let (_, der) = pem::decode(text)
            .filter(|(label, _)| *label == LABEL)
            .ok_or(PublicKeyError)?;
        let point = der.strip_prefix(&INFO_PREFIX[..]).ok_or(PublicKeyError)?;
        Self::from_point(point)
    }

    /// The key of an uncompressed point.
    ///
    /// # Errors
    /// Another length, or a compressed point. A point outside the curve is read, and verifies nothing.
    pub fn from_point(point: &[u8]) -> Result<Self, PublicKeyError> {
        let point: [u8; POINT_BYTES] = point.try_into().map_err(|_| PublicKeyError)?;
        if point[0] == 4 {
            Ok(Self(point))
        } else {
            Err(PublicKeyError)
        }
    }

    /// The key as PEM of a SubjectPublicKeyInfo, ending in a line break.
    pub fn to_pem(&self) -> String {
        pem::encode(LABEL, &[&INFO_PREFIX[..], &self.0].concat()).to_string()
    }

    /// The key as metadata names it.
    pub fn to_value(&self) -> Value {
        Value::Object(object([
            ("keytype", KEY_TYPE.into()),
            ("keyval", Value::Object(object([("public", self.to_pem().into())]))),
            ("scheme", SCHEME.into()),
        ]))
    }

    /// The id under which Launchway lists the key: the SHA-256 of its canonical form. Readers treat ids as opaque.
    pub fn id(&self) -> String {
        Sha256::of(&json::canonical(&self.to_value())).to_string()
    }

    /// Whether `signature`, in DER, is one of this key over `message`.
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &self.0)
            .verify(message, signature)
            .is_ok()
    }
}

/// The first digits of the id, enough for a person to distinguish keys.
impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", &self.id()[..12])
    }
}
