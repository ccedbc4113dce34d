//! Requests to Google Play: the service account's token, the request itself, and the interpretation of refusals.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use launchway_credentials::jwt::Rs256Key;
use launchway_domain::percent;
use launchway_domain::time::{EpochMs, HOUR, MINUTE, SECOND};
use serde::Deserialize;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::refusal::{CallError, refusal};
use crate::answer::{Fields, json as read_json, unavailable};
use crate::clock::Clock;
use crate::failure::AppStoreError;
use crate::transport::{Body, Method, Request, Response, Transport};

/// The scope of the token.
const SCOPE: &str = "https://www.googleapis.com/auth/androidpublisher";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// Google's maximum for an assertion is an hour.
const ASSERTION: EpochMs = HOUR - 2 * MINUTE;
/// Assertions are backdated, as the clock of the app store may be behind.
const BACKDATED: EpochMs = MINUTE;
/// A token with less time left is no longer used.
const RENEW_BEFORE: EpochMs = 5 * MINUTE;

/// The key of a service account.
#[derive(Debug)]
pub struct Credential {
    /// The private key.
    pub key: Rs256Key,
    /// The key id.
    pub key_id: String,
    /// The address of the account.
    pub client_email: String,
    /// The URL that issues tokens. The owner has checked that it may be called.
    pub token_uri: String,
}

/// The JSON file that Google issues for a service account.
#[derive(Deserialize)]
struct ServiceAccount {
    client_email: String,
    private_key: Zeroizing<String>,
    private_key_id: String,
    token_uri: String,
}

impl Credential {
    /// Reads the JSON file that Google issues for a service account. `None` if it is not such a file, or if its key
    /// cannot be read.
    pub fn from_json(text: &str) -> Option<Credential> {
        let account: ServiceAccount = serde_json::from_str(text).ok()?;
        Some(Credential {
            key: Rs256Key::from_pem(&account.private_key).ok()?,
            key_id: account.private_key_id,
            client_email: account.client_email,
            token_uri: account.token_uri,
        })
    }
}

/// A client of Google Play with one service account.
pub struct GooglePlay {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) base: String,
    credential: Credential,
    token: Mutex<Option<(String, EpochMs)>>,
}

impl fmt::Debug for GooglePlay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GooglePlay({})", self.base)
    }
}

impl GooglePlay {
    /// A client of the app store at `base`, such as [`ADDRESS`](super::ADDRESS).
    pub fn new(transport: Arc<dyn Transport>, clock: Arc<dyn Clock>, base: &str, credential: Credential) -> Self {
        Self {
            transport,
            clock,
            base: base.trim_end_matches('/').to_owned(),
            credential,
            token: Mutex::new(None),
        }
    }

    /// Sends one request, without retries, and returns its JSON.
    pub(super) async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, CallError> {
        let mut request = Request::new(method, format!("{}{path}", self.base));
        if let Some(body) = body {
            request = request.json(body);
        }
        Ok(read_json(&self.send(request).await?)?)
    }

    /// Sends one request with the token, without retries. The response is 2xx.
    pub(super) async fn send(&self, request: Request) -> Result<Response, CallError> {
        let token = self.token().await?;
        let request = request
            .header("accept", "application/json")
            .header("authorization", format!("Bearer {token}"));
        let response = self.transport.send(request).await?;
        if response.status == 401 {
            *self.kept() = None;
        }
        checked(response, self.clock.now())
    }

    pub(super) async fn token(&self) -> Result<String, AppStoreError> {
        let now = self.clock.now();
        if let Some((token, end)) = &*self.kept()
            && now + RENEW_BEFORE < *end
        {
            return Ok(token.clone());
        }
        let credential = &self.credential;
        let claims = json!({
            "iss": credential.client_email,
            "scope": SCOPE,
            "aud": credential.token_uri,
            "iat": (now - BACKDATED) / SECOND,
            "exp": (now + ASSERTION) / SECOND,
        });
        let assertion = credential.key.sign(&credential.key_id, &claims);
        let assertion = assertion.ok_or_else(|| AppStoreError::invalid_response("a signature"))?;
        let form = format!("grant_type={}&assertion={assertion}", percent::encode(GRANT));
        let request = Request::new(Method::Post, &credential.token_uri)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(Body::Bytes(Bytes::from(form)));
        let response = self.transport.send(request).await?;
        if let Some(trouble) = unavailable(&response, self.clock.now()) {
            return Err(trouble);
        }
        let answer = read_json(&response).unwrap_or_default();
        if !response.is_success() {
            // Google's code, and its message in our words: it may quote the request.
            let code = answer
                .text("/error")
                .filter(|code| code.len() < 40)
                .unwrap_or("no further details");
            let reason = refused_because(answer.text("/error_description").unwrap_or_default());
            return Err(AppStoreError::refused_token(format!(
                "Google refused a token for the service account: {code}{reason}"
            )));
        }
        let token = answer.need("/access_token")?;
        let lives = answer.pointer("/expires_in").and_then(Value::as_i64).unwrap_or(0);
        *self.kept() = Some((token.clone(), now + lives.clamp(0, 86_400) * SECOND));
        Ok(token)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Option<(String, EpochMs)>> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why Google refuses a token, as far as its message is known.
fn refused_because(description: &str) -> &'static str {
    let description = description.to_lowercase();
    let known = [
        ("account not found", ", as the account does not exist"),
        ("signature", ", as the account does not have this key"),
        ("short-lived", ", as the clock of this server is wrong"),
    ];
    let reason = known.iter().find(|(part, _)| description.contains(part));
    reason.map_or("", |(_, reason)| reason)
}

/// The response, if it is 2xx. `now` is when it arrived.
pub(super) fn checked(response: Response, now: EpochMs) -> Result<Response, CallError> {
    if let Some(trouble) = unavailable(&response, now) {
        return Err(trouble.into());
    }
    if response.is_success() {
        Ok(response)
    } else {
        Err(CallError::Refused(refusal(&response)))
    }
}
