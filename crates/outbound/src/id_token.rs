//! ID tokens of an OpenID Connect provider (OpenID Connect Core 1.0, section 3.1.3.7): verifies signature, issuer,
//! audience and times. Accepts only RS256 and ES256, whatever a token states about itself.

use launchway_credentials::jwt::{Jwk, JwtError, Token};
use launchway_domain::time::{EpochMs, SECOND};
use serde::Deserialize;
use serde_json::Value;
use subtle::ConstantTimeEq;

/// The tolerated difference between the provider's clock and this one.
const SKEW: EpochMs = 60 * SECOND;

/// The keys that a provider publishes (RFC 7517).
#[derive(Clone, Debug, Deserialize)]
pub struct Keys {
    keys: Vec<Jwk>,
}

/// What a token must match.
pub struct Expectations<'a> {
    /// The issuer of the tokens.
    pub issuer: &'a str,
    /// The id of this service at the provider.
    pub client_id: &'a str,
    /// The nonce of the sign-in.
    pub nonce: &'a str,
    /// The current time.
    pub now: EpochMs,
}

/// Why a token is rejected. Its text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdTokenError {
    /// No key of the provider has signed it.
    #[error(transparent)]
    Token(#[from] JwtError),
    /// Another provider issued it, or it was issued for another service.
    #[error("it was not issued for this service")]
    Audience,
    /// It has expired.
    #[error("it has expired")]
    Expired,
    /// It belongs to another sign-in.
    #[error("it belongs to another sign-in")]
    Nonce,
    /// It has no verified address.
    #[error("it has no email address that the provider verified")]
    NoEmail,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    aud: Audience,
    azp: Option<String>,
    exp: f64,
    nonce: Option<String>,
    email: Option<String>,
    /// `true`; some providers send it as text.
    #[serde(default)]
    email_verified: Value,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

/// The verified address in a token.
pub fn verified_email(token: &str, keys: &Keys, wanted: &Expectations<'_>) -> Result<String, IdTokenError> {
    let claims: Claims = Token::parse(token)?.verify_published(&keys.keys)?;
    claims.check(wanted)
}

impl Claims {
    fn check(self, wanted: &Expectations<'_>) -> Result<String, IdTokenError> {
        let is_for_us = match &self.aud {
            Audience::One(one) => one == wanted.client_id,
            // A token for several audiences names the party that requested it.
            Audience::Many(many) => {
                many.iter().any(|one| one == wanted.client_id) && (many.len() == 1 || self.azp.is_some())
            }
        };
        let is_ours = self.azp.as_deref().is_none_or(|azp| azp == wanted.client_id);
        if self.iss != wanted.issuer || !is_for_us || !is_ours {
            return Err(IdTokenError::Audience);
        }
        if self.exp * (SECOND as f64) + (SKEW as f64) <= wanted.now as f64 {
            return Err(IdTokenError::Expired);
        }
        let nonce = self.nonce.unwrap_or_default();
        if !bool::from(nonce.as_bytes().ct_eq(wanted.nonce.as_bytes())) {
            return Err(IdTokenError::Nonce);
        }
        let is_verified = self.email_verified == true || self.email_verified == "true";
        self.email.filter(|_| is_verified).ok_or(IdTokenError::NoEmail)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;
    use proptest::prelude::*;
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
    use serde_json::json;

    use super::*;

    /// A key for ES256 with its published form.
    fn key() -> (EcdsaKeyPair, Keys) {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).expect("the key");
        let point = pair.public_key().as_ref();
        let [x, y] = [&point[1..33], &point[33..]].map(|part| Some(BASE64_URL_SAFE_NO_PAD.encode(part)));
        (pair, keys(json!({"kty": "EC", "crv": "P-256", "x": x, "y": y})))
    }

    fn keys(key: Value) -> Keys {
        serde_json::from_value(json!({"keys": [key]})).expect("keys")
    }

    fn read(token: &str, keys: &Keys) -> Result<String, IdTokenError> {
        let wanted = Expectations {
            issuer: "https://login.example.com",
            client_id: "launchway",
            nonce: "nonce",
            now: 0,
        };
        verified_email(token, keys, &wanted)
    }

    fn token(pair: &EcdsaKeyPair, head: &[u8], claims: &[u8]) -> String {
        let [head, claims] = [head, claims].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part));
        let input = format!("{head}.{claims}");
        let signature = pair.sign(&SystemRandom::new(), input.as_bytes()).expect("signed");
        format!("{input}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
    }

    const HEAD: &[u8] = br#"{"alg":"ES256"}"#;
    const CLAIMS: &[u8] = br#"{"iss":"https://login.example.com","aud":"launchway","exp":9,"nonce":"nonce","email":"ada@example.com","email_verified":true}"#;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Any input is rejected without a panic: as text, as parts of a token, and signed by the provider itself.
        #[test]
        fn any_bytes_are_refused(text: String, head: Vec<u8>, claims: Vec<u8>, signature: Vec<u8>) {
            let (pair, keys) = key();
            let part = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
            for token in [
                text.clone(),
                format!("{text}.{text}.{text}"),
                format!("{}.{}.{}", part(&head), part(&claims), part(&signature)),
                format!("{}.{}.{}", part(HEAD), part(&claims), part(&signature)),
                format!("{}.{}.{}", part(HEAD), part(CLAIMS), part(&signature)),
                token(&pair, &head, CLAIMS),
                token(&pair, HEAD, &claims),
            ] {
                prop_assert!(read(&token, &keys).is_err(), "{token}");
            }
        }

        /// A valid token is accepted, and no part of it can be altered.
        #[test]
        fn a_changed_token_is_refused(at: prop::sample::Index, to in "[A-Za-z0-9_.-]") {
            let (pair, keys) = key();
            let good = token(&pair, HEAD, CLAIMS);
            prop_assert_eq!(read(&good, &keys), Ok("ada@example.com".to_owned()));
            let at = at.index(good.len());
            let mut changed = good.clone();
            changed.replace_range(at..=at, &to);
            prop_assume!(changed != good);
            prop_assert!(read(&changed, &keys).is_err(), "{changed}");
        }

        /// Malformed keys cause no panic either.
        #[test]
        fn any_keys_are_taken(parts: [Option<String>; 4], bytes: Vec<u8>, is_rsa: bool) {
            let kty = if is_rsa { "RSA" } else { "EC" };
            let [n, e, x, y] = parts.map(|part| part.or_else(|| Some(BASE64_URL_SAFE_NO_PAD.encode(&bytes))));
            let key = keys(json!({"kty": kty, "crv": "P-256", "n": n, "e": e, "x": x, "y": y}));
            let head = if is_rsa { br#"{"alg":"RS256"}"# } else { HEAD };
            let (pair, _) = self::key();
            let refused = read(&token(&pair, head, CLAIMS), &key);
            prop_assert_eq!(refused, Err(IdTokenError::Token(JwtError::Signature)));
        }
    }
}
