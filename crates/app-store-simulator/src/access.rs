//! Authentication: tokens of App Store Connect, and Google's exchange of an assertion for a token.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use launchway_app_stores::transport::Response;
use launchway_credentials::jwt::Token;
use launchway_domain::time::{EpochMs, HOUR, SECOND};
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

impl Access {
    pub(crate) fn app_store(&mut self, settings: &Settings, call: &Call, now: EpochMs) -> Result<(), Response> {
        let text = bearer(call).unwrap_or_default();
        if self.known.get(text).is_some_and(|end| now < *end) {
            return Ok(());
        }
        let claims = apple_claims(settings, text).filter(|claims| is_of_now(claims, MAX_TOKEN_SECONDS, now));
        if let Some(end) = claims.and_then(|claims| claims["exp"].as_i64()) {
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
        let claims = field("assertion").and_then(|text| google_claims(settings, &text, address));
        let good = grant.as_deref() == Some("urn:ietf:params:oauth:grant-type:jwt-bearer")
            && claims.is_some_and(|claims| is_of_now(&claims, MAX_ASSERTION_SECONDS, now));
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

/// Whether a token is valid now and its lifetime does not exceed `longest`.
fn is_of_now(claims: &Value, longest: i64, now: EpochMs) -> bool {
    let (issued, end) = (claims["iat"].as_i64(), claims["exp"].as_i64());
    let now = now / SECOND;
    matches!((issued, end), (Some(issued), Some(end)) if issued <= now && now < end && end - issued <= longest)
}

/// The claims of a token for App Store Connect, if its signer has access.
fn apple_claims(settings: &Settings, text: &str) -> Option<Value> {
    let token = Token::parse(text).ok()?;
    let kid = token.key_id()?;
    let of_account = |account: &Account| match account {
        Account::AppStore {
            key_id,
            issuer_id,
            public,
        } if kid == key_id => {
            let claims: Value = token.verify([public.clone()]).ok()?;
            let who = match issuer_id {
                Some(issuer) => claims["iss"] == issuer.as_str(),
                None => claims["sub"] == "user",
            };
            who.then_some(claims)
        }
        Account::AppStore { .. } | Account::Google { .. } => None,
    };
    let claims = match settings.accounts.as_slice() {
        [] => anybody(text, "ES256"),
        accounts => accounts.iter().find_map(of_account),
    };
    claims.filter(|claims| claims["aud"] == "appstoreconnect-v1")
}

/// The claims of an assertion for Google, if its signer has access.
fn google_claims(settings: &Settings, text: &str, address: &str) -> Option<Value> {
    let token = Token::parse(text).ok()?;
    let of_account = |account: &Account| match account {
        Account::Google { client_email, public } => {
            let claims: Value = token.verify([public.clone()]).ok()?;
            (claims["iss"] == client_email.as_str() && claims["aud"] == format!("{address}/token")).then_some(claims)
        }
        Account::AppStore { .. } => None,
    };
    let claims = match settings.accounts.as_slice() {
        [] => anybody(text, "RS256"),
        accounts => accounts.iter().find_map(of_account),
    };
    claims.filter(|claims| claims["scope"] == "https://www.googleapis.com/auth/androidpublisher")
}

/// The claims of a token whoever signed it: without accounts, every key has access.
fn anybody(text: &str, algorithm: &str) -> Option<Value> {
    let mut parts = text.split('.');
    let mut part = || -> Option<Value> { serde_json::from_slice(&URL_SAFE_NO_PAD.decode(parts.next()?).ok()?).ok() };
    let (header, claims) = (part()?, part()?);
    (header["alg"] == algorithm).then_some(claims)
}
