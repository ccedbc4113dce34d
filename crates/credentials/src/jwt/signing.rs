//! Private keys, and the tokens that they sign.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::ecdsa::SigningKey;
use p256::ecdsa::signature::Signer;
use p256::pkcs8::DecodePrivateKey;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Value, json};

use super::VerifyingKey;
use crate::MalformedError;

/// A private key of App Store Connect. Its `Debug` omits the key.
pub struct Es256Key(SigningKey);

/// A private key of a Google service account. Its `Debug` omits the key.
pub struct Rs256Key(RsaKeyPair);

impl Es256Key {
    /// Parses a `.p8` file.
    ///
    /// # Errors
    /// It is not a P-256 key in PKCS#8.
    pub fn from_pem(pem: &str) -> Result<Self, MalformedError> {
        let der = crate::private_key_der(pem)?;
        let key = SigningKey::from_pkcs8_der(&der);
        key.map(Self).map_err(|_| MalformedError)
    }

    /// The key that verifies its tokens.
    pub fn verifying_key(&self) -> VerifyingKey {
        let point = self.0.verifying_key().to_sec1_point(false);
        VerifyingKey::Es256(point.as_bytes().to_vec())
    }

    /// A token with these claims.
    pub fn sign(&self, key_id: &str, claims: &Value) -> String {
        let input = input("ES256", key_id, claims);
        let signature: p256::ecdsa::Signature = self.0.sign(input.as_bytes());
        format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes()))
    }
}

impl Rs256Key {
    /// Parses the `private_key` of a service account's file.
    ///
    /// # Errors
    /// It is not an RSA key in PKCS#8, or it has less than 2048 bits.
    pub fn from_pem(pem: &str) -> Result<Self, MalformedError> {
        let der = crate::private_key_der(pem)?;
        RsaKeyPair::from_pkcs8(&der).map(Self).map_err(|_| MalformedError)
    }

    /// The key that verifies its tokens.
    pub fn verifying_key(&self) -> VerifyingKey {
        let PublicKeyComponents { n, e } = PublicKeyComponents::<Vec<u8>>::from(self.0.public());
        VerifyingKey::Rs256 {
            modulus: n,
            exponent: e,
        }
    }

    /// A token with these claims. `None`: the system provides no randomness for blinding.
    pub fn sign(&self, key_id: &str, claims: &Value) -> Option<String> {
        let input = input("RS256", key_id, claims);
        let mut signature = vec![0; self.0.public().modulus_len()];
        let signed = self.0.sign(
            &RSA_PKCS1_SHA256,
            &SystemRandom::new(),
            input.as_bytes(),
            &mut signature,
        );
        signed.ok()?;
        Some(format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

/// What is signed: the header and the claims.
fn input(algorithm: &str, key_id: &str, claims: &Value) -> String {
    let header = json!({"alg": algorithm, "kid": key_id, "typ": "JWT"});
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(&header), part(claims))
}

impl fmt::Debug for Es256Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Es256Key")
    }
}

impl fmt::Debug for Rs256Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rs256Key")
    }
}
