//! Public keys, and the tokens that they verify.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

/// A public key for one algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerifyingKey {
    /// A point of P-256, uncompressed.
    Es256(Vec<u8>),
    /// Both numbers of an RSA key, big endian.
    Rs256 {
        /// The modulus, of 2048 to 8192 bits.
        modulus: Vec<u8>,
        /// The exponent.
        exponent: Vec<u8>,
    },
}

/// A key that a provider publishes (RFC 7517).
#[derive(Clone, Debug, Deserialize)]
pub struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// Why a token is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JwtError {
    /// It cannot be parsed, or it requires an extension.
    #[error("it is not a signed token")]
    Malformed,
    /// There is no key for its algorithm and key id.
    #[error("it is signed with an unknown key")]
    UnknownKey,
    /// No key has signed it.
    #[error("its signature is wrong")]
    Signature,
}

/// A parsed token. Its claims are returned only by the verification.
#[derive(Debug)]
pub struct Token<'t> {
    header: Header,
    claims: &'t str,
    input: &'t str,
    signature: Vec<u8>,
}

/// How a token is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
enum Algorithm {
    Es256,
    Rs256,
    /// Every other one, `none` among them.
    Unsupported,
}

#[derive(Debug, Deserialize)]
struct Header {
    alg: Algorithm,
    kid: Option<String>,
    /// Extensions that the verifier must understand: none are supported.
    crit: Option<IgnoredAny>,
}

impl<'t> Token<'t> {
    /// Parses the three parts of a token.
    ///
    /// # Errors
    /// [`JwtError::Malformed`]
    pub fn parse(text: &'t str) -> Result<Self, JwtError> {
        let (input, signature) = text.rsplit_once('.').ok_or(JwtError::Malformed)?;
        let (header, claims) = input.split_once('.').ok_or(JwtError::Malformed)?;
        let header: Header = part(header)?;
        if header.crit.is_some() {
            return Err(JwtError::Malformed);
        }
        Ok(Self {
            header,
            claims,
            input,
            signature: bytes(signature).ok_or(JwtError::Malformed)?,
        })
    }

    /// The id of the key that it names.
    pub fn key_id(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// The claims, if one of the keys has signed the token.
    ///
    /// # Errors
    /// The [`JwtError`].
    pub fn verify<T: DeserializeOwned>(&self, keys: impl IntoIterator<Item = VerifyingKey>) -> Result<T, JwtError> {
        let mut fitting = keys
            .into_iter()
            .filter(|key| key.algorithm() == self.header.alg)
            .peekable();
        fitting.peek().ok_or(JwtError::UnknownKey)?;
        if !fitting.any(|key| key.has_signed(self.input.as_bytes(), &self.signature)) {
            return Err(JwtError::Signature);
        }
        part(self.claims)
    }

    /// The claims, if one of the published keys has signed the token. If the token names a key, the others do not count.
    ///
    /// # Errors
    /// The [`JwtError`].
    pub fn verify_published<T: DeserializeOwned>(&self, keys: &[Jwk]) -> Result<T, JwtError> {
        let named = |key: &&Jwk| self.key_id().is_none() || self.key_id() == key.kid.as_deref();
        self.verify(keys.iter().filter(named).filter_map(Jwk::verifying_key))
    }
}

impl VerifyingKey {
    fn algorithm(&self) -> Algorithm {
        match self {
            Self::Es256(_) => Algorithm::Es256,
            Self::Rs256 { .. } => Algorithm::Rs256,
        }
    }

    fn has_signed(&self, input: &[u8], signature: &[u8]) -> bool {
        let verified = match self {
            Self::Es256(point) => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(input, signature),
            Self::Rs256 { modulus, exponent } => {
                let key = RsaPublicKeyComponents {
                    n: modulus,
                    e: exponent,
                };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, input, signature)
            }
        };
        verified.is_ok()
    }
}

impl Jwk {
    /// The key, if it is for signatures of a supported algorithm. A malformed one verifies nothing.
    fn verifying_key(&self) -> Option<VerifyingKey> {
        if self.usage.as_deref().is_some_and(|usage| usage != "sig") {
            return None;
        }
        let field = |value: &Option<String>| value.as_deref().and_then(bytes).unwrap_or_default();
        match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => Some(VerifyingKey::Rs256 {
                modulus: field(&self.n),
                exponent: field(&self.e),
            }),
            ("EC", Some("P-256")) => {
                let point = [&[4][..], field(&self.x).as_slice(), field(&self.y).as_slice()].concat();
                Some(VerifyingKey::Es256(point))
            }
            _ => None,
        }
    }
}

impl From<String> for Algorithm {
    fn from(name: String) -> Self {
        match name.as_str() {
            "ES256" => Self::Es256,
            "RS256" => Self::Rs256,
            _ => Self::Unsupported,
        }
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

fn part<T: DeserializeOwned>(text: &str) -> Result<T, JwtError> {
    let json = bytes(text).ok_or(JwtError::Malformed)?;
    serde_json::from_slice(&json).map_err(|_| JwtError::Malformed)
}
