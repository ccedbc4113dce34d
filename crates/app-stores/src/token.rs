//! JSON Web Tokens (RFC 7519) that authenticate requests: ES256 for App Store Connect, RS256 for Google.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use launchway_credentials::MalformedError;
use p256::ecdsa::signature::Signer;
use p256::pkcs8::DecodePrivateKey;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Value, json};

/// A private key of App Store Connect. Its `Debug` omits the key.
pub struct Es256Key(p256::ecdsa::SigningKey);

/// A private key of a Google service account. Its `Debug` omits the key.
pub struct Rs256Key(RsaKeyPair);

impl Es256Key {
    /// Parses a `.p8` file.
    ///
    /// # Errors
    /// It is not a P-256 key in PKCS#8.
    pub fn from_pem(pem: &str) -> Result<Self, MalformedError> {
        let der = launchway_credentials::private_key_der(pem)?;
        let key = p256::ecdsa::SigningKey::from_pkcs8_der(&der);
        key.map(Self).map_err(|_| MalformedError)
    }

    /// A token with these claims.
    pub(crate) fn sign(&self, key_id: &str, claims: &Value) -> String {
        let input = input(&json!({"alg": "ES256", "kid": key_id, "typ": "JWT"}), claims);
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
        let der = launchway_credentials::private_key_der(pem)?;
        RsaKeyPair::from_pkcs8(&der).map(Self).map_err(|_| MalformedError)
    }

    /// A token with these claims. `None`: the system provides no randomness for blinding.
    pub(crate) fn sign(&self, key_id: &str, claims: &Value) -> Option<String> {
        let input = input(&json!({"alg": "RS256", "kid": key_id, "typ": "JWT"}), claims);
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

fn input(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(header), part(claims))
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
