//! Authentication: tokens of App Store Connect, and Google's exchange of an assertion for a token.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use launchway_app_stores::transport::Response;
use launchway_domain::time::{EpochMs, HOUR, SECOND};
use p256::ecdsa::signature::Verifier;
use p256::ecdsa::{Signature, VerifyingKey};
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use serde_json::{Value, json};

use crate::answer::{RefusalError, apple, google, ok, with_status};
use crate::call::{Call, plain};
use crate::settings::{Account, Settings};

/// The maximum lifetime of an App Store Connect token, in seconds.
const MAX_TOKEN_SECONDS: i64 = 20 * 60;
/// The maximum lifetime of an assertion, in seconds.
const MAX_ASSERTION_SECONDS: i64 = 60 * 60;

/// The valid tokens.
#[derive(Default)]
pub(crate) struct Access {
    /// The issued Google tokens and their expiry.
    given: BTreeMap<String, EpochMs>,
    /// The verified Apple tokens and their expiry.
    known: BTreeMap<String, EpochMs>,
}

/// A parsed token, its signature not yet verified.
struct Token {
    header: Value,
    claims: Value,
    signed: String,
    signature: Vec<u8>,
}

impl Access {
    pub(crate) fn app_store(&mut self, settings: &Settings, call: &Call, now: EpochMs) -> Result<(), Response> {
        let text = bearer(call).unwrap_or_default();
        if self.known.get(text).is_some_and(|end| now < *end) {
            return Ok(());
        }
        let token = read(text).filter(|token| apple_token_is_good(settings, token, now));
        if let Some(end) = token.and_then(|token| token.claims["exp"].as_i64()) {
            self.known.insert(text.to_owned(), end * SECOND);
            return Ok(());
        }
        let detail = "Provide a properly configured and signed bearer token, and make sure that it has not expired.";
        Err(apple(RefusalError(401, "NOT_AUTHORIZED", detail.to_owned())))
    }

    pub(crate) fn google_play(&self, call: &Call, now: EpochMs) -> Result<(), Response> {
        let good = bearer(call)
            .and_then(|token| self.given.get(token))
            .is_some_and(|end| now < *end);
        let no = || {
            let message = "Request had invalid authentication credentials.";
            google(RefusalError(401, "UNAUTHENTICATED", message.to_owned()))
        };
        if good { Ok(()) } else { Err(no()) }
    }

    /// The token endpoint.
    pub(crate) fn token(&mut self, settings: &Settings, address: &str, form: &[u8], now: EpochMs) -> Response {
        let form = String::from_utf8_lossy(form);
        let field = |name: &str| {
            let pairs = form.split('&').filter_map(|pair| pair.split_once('='));
            pairs
                .filter(|(known, _)| *known == name)
                .map(|(_, value)| plain(value))
                .next()
        };
        let grant = field("grant_type");
        let token = field("assertion").and_then(|text| read(&text));
        let good = grant.as_deref() == Some("urn:ietf:params:oauth:grant-type:jwt-bearer")
            && token.is_some_and(|token| assertion_is_good(settings, &token, address, now));
        if !good {
            return with_status(
                400,
                &json!({"error": "invalid_grant", "error_description": "Invalid JWT"}),
            );
        }
        let token = format!("simulated-token-{}", self.given.len());
        self.given.insert(token.clone(), now + HOUR);
        ok(&json!({"access_token": token, "expires_in": HOUR / SECOND, "token_type": "Bearer"}))
    }
}

fn bearer(call: &Call) -> Option<&str> {
    call.header("authorization")?.strip_prefix("Bearer ")
}

fn read(text: &str) -> Option<Token> {
    let (signed, signature) = text.rsplit_once('.')?;
    let (header, claims) = signed.split_once('.')?;
    let part = |text: &str| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok();
    Some(Token {
        header: part(header)?,
        claims: part(claims)?,
        signed: signed.to_owned(),
        signature: URL_SAFE_NO_PAD.decode(signature).ok()?,
    })
}

/// Whether a token is valid now and its lifetime does not exceed `longest`.
fn is_of_now(token: &Token, longest: i64, now: EpochMs) -> bool {
    let (issued, end) = (token.claims["iat"].as_i64(), token.claims["exp"].as_i64());
    let now = now / SECOND;
    matches!((issued, end), (Some(issued), Some(end)) if issued <= now && now < end && end - issued <= longest)
}

fn apple_token_is_good(settings: &Settings, token: &Token, now: EpochMs) -> bool {
    let is_signed = settings.accounts.is_empty()
        || settings.accounts.iter().any(|account| match account {
            Account::AppStore {
                key_id,
                issuer_id,
                public,
            } => {
                let who = match issuer_id {
                    Some(issuer) => token.claims["iss"] == issuer.as_str(),
                    None => token.claims["sub"] == "user",
                };
                let key = VerifyingKey::from_sec1_bytes(public);
                let signature = Signature::from_slice(&token.signature);
                who && token.header["kid"] == key_id.as_str()
                    && matches!((key, signature), (Ok(key), Ok(signature))
                        if key.verify(token.signed.as_bytes(), &signature).is_ok())
            }
            Account::Google { .. } => false,
        });
    is_signed
        && token.header["alg"] == "ES256"
        && token.header["kid"].is_string()
        && token.claims["aud"] == "appstoreconnect-v1"
        && is_of_now(token, MAX_TOKEN_SECONDS, now)
}

fn assertion_is_good(settings: &Settings, token: &Token, address: &str, now: EpochMs) -> bool {
    let is_signed = settings.accounts.is_empty()
        || settings.accounts.iter().any(|account| match account {
            Account::Google { client_email, public } => {
                let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public);
                token.claims["iss"] == client_email.as_str()
                    && key.verify(token.signed.as_bytes(), &token.signature).is_ok()
            }
            Account::AppStore { .. } => false,
        });
    is_signed
        && token.header["alg"] == "RS256"
        && (token.claims["aud"] == format!("{address}/token") || settings.accounts.is_empty())
        && token.claims["scope"] == "https://www.googleapis.com/auth/androidpublisher"
        && is_of_now(token, MAX_ASSERTION_SECONDS, now)
}
