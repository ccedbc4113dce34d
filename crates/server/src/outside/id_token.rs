//! ID tokens of an OpenID Connect provider (OpenID Connect Core 1.0, part 3.1.3.7): the signature, who made it for whom, and
//! when. RS256 and ES256 are taken and nothing else, whatever a token says of itself.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use launchway_domain::time::{EpochMs, SECOND};
use ring::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use subtle::ConstantTimeEq;

/// How far the provider's clock may be from this one.
const SKEW: EpochMs = 60 * SECOND;

/// The keys that a provider publishes (RFC 7517).
#[derive(Clone, Debug, Deserialize)]
pub struct Keys {
    keys: Vec<Key>,
}

#[derive(Clone, Debug, Deserialize)]
struct Key {
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

/// What a token must say.
pub struct Wanted<'a> {
    /// Who makes the tokens.
    pub issuer: &'a str,
    /// What this service is called there.
    pub client_id: &'a str,
    /// What the token's sign-in began with.
    pub nonce: &'a str,
    /// The time.
    pub now: EpochMs,
}

/// Why a token is refused. Its text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It cannot be read.
    #[error("it is no signed token")]
    Malformed,
    /// No published key has signed it. The keys may have changed meanwhile.
    #[error("it is signed with an unknown key")]
    UnknownKey,
    /// It was changed.
    #[error("its signature is wrong")]
    Signature,
    /// Another provider made it, or it was made for another service.
    #[error("it was not made for this service")]
    Audience,
    /// It is over.
    #[error("its time is over")]
    Expired,
    /// It belongs to another sign-in.
    #[error("it belongs to another sign-in")]
    Nonce,
    /// It names nobody who can be known here.
    #[error("it holds no e-mail address that the provider has verified")]
    NoEmail,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Extensions that must be understood: none is.
    crit: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    aud: Audience,
    azp: Option<String>,
    exp: f64,
    nonce: Option<String>,
    email: Option<String>,
    #[serde(default)]
    email_verified: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

/// The verified address that a token names.
pub fn verified_email(token: &str, keys: &Keys, wanted: &Wanted<'_>) -> Result<String, Refused> {
    let (input, signature) = token.rsplit_once('.').ok_or(Refused::Malformed)?;
    let (header, claims) = input.split_once('.').ok_or(Refused::Malformed)?;
    let header: Header = part(header)?;
    let signature = bytes(signature).ok_or(Refused::Malformed)?;
    if header.crit.is_some() {
        return Err(Refused::Malformed);
    }
    let mut fitting = keys.keys.iter().filter(|key| key.may_have_signed(&header)).peekable();
    fitting.peek().ok_or(Refused::UnknownKey)?;
    if !fitting.any(|key| key.has_signed(input.as_bytes(), &signature)) {
        return Err(Refused::Signature);
    }
    // Read only now, when it is known who says it.
    part::<Claims>(claims)?.check(wanted)
}

impl Key {
    fn may_have_signed(&self, header: &Header) -> bool {
        let of_kind = match header.alg.as_str() {
            "RS256" => self.kty == "RSA",
            "ES256" => self.kty == "EC" && self.crv.as_deref() == Some("P-256"),
            _ => false,
        };
        let is_named = header.kid.is_none() || header.kid == self.kid;
        of_kind && is_named && self.usage.as_deref().is_none_or(|usage| usage == "sig")
    }

    fn has_signed(&self, input: &[u8], signature: &[u8]) -> bool {
        let field = |value: &Option<String>| value.as_deref().and_then(bytes).unwrap_or_default();
        if self.kty == "RSA" {
            let (n, e) = (field(&self.n), field(&self.e));
            let key = RsaPublicKeyComponents { n: &n, e: &e };
            return key.verify(&RSA_PKCS1_2048_8192_SHA256, input, signature).is_ok();
        }
        let point = [&[4u8][..], field(&self.x).as_slice(), field(&self.y).as_slice()].concat();
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
        key.verify(input, signature).is_ok()
    }
}

impl Claims {
    fn check(self, wanted: &Wanted<'_>) -> Result<String, Refused> {
        let is_for_us = match &self.aud {
            Audience::One(one) => one == wanted.client_id,
            // One for several names the one that asked.
            Audience::Many(many) => {
                many.iter().any(|one| one == wanted.client_id) && (many.len() == 1 || self.azp.is_some())
            }
        };
        let is_ours = self.azp.as_deref().is_none_or(|azp| azp == wanted.client_id);
        if self.iss != wanted.issuer || !is_for_us || !is_ours {
            return Err(Refused::Audience);
        }
        if self.exp * (SECOND as f64) + (SKEW as f64) <= wanted.now as f64 {
            return Err(Refused::Expired);
        }
        let nonce = self.nonce.unwrap_or_default();
        if !bool::from(nonce.as_bytes().ct_eq(wanted.nonce.as_bytes())) {
            return Err(Refused::Nonce);
        }
        self.email.filter(|_| self.email_verified).ok_or(Refused::NoEmail)
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    BASE64_URL_SAFE_NO_PAD.decode(text).ok()
}

fn part<T: DeserializeOwned>(text: &str) -> Result<T, Refused> {
    let json = bytes(text).ok_or(Refused::Malformed)?;
    serde_json::from_slice(&json).map_err(|_| Refused::Malformed)
}
