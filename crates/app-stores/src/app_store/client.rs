//! Requests to App Store Connect: the token, the request itself, and the interpretation of refusals.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use launchway_credentials::jwt::Es256Key;
use launchway_domain::time::{EpochMs, MINUTE, SECOND};
use serde_json::{Value, json};

use super::refusal::{CallError, refusal};
use crate::answer::{json as read_json, unavailable};
use crate::clock::Clock;
use crate::transport::{Method, Request, Transport};

/// Apple's maximum is 20 minutes after the token was issued.
const LIFETIME: EpochMs = 18 * MINUTE;
/// Tokens are backdated, as the clock of the app store may be behind.
const BACKDATED: EpochMs = MINUTE;
/// A token with less time left is no longer used.
const RENEW_BEFORE: EpochMs = 5 * MINUTE;
const AUDIENCE: &str = "appstoreconnect-v1";

/// A key of App Store Connect.
#[derive(Debug)]
pub struct Credential {
    /// The private key.
    pub key: Es256Key,
    /// The key id, 10 characters.
    pub key_id: String,
    /// The team's issuer id; an individual key has none.
    pub issuer_id: Option<String>,
}

/// A client of App Store Connect with one key.
pub struct AppStoreConnect {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) clock: Arc<dyn Clock>,
    base: String,
    credential: Credential,
    token: Mutex<Option<(String, EpochMs)>>,
}

impl fmt::Debug for AppStoreConnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AppStoreConnect({})", self.base)
    }
}

impl AppStoreConnect {
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

    /// Reads the resource at `path`.
    pub(super) async fn get(&self, path: &str) -> Result<Value, CallError> {
        self.call(Method::Get, path, None).await
    }

    /// The resource at `path`; `None` if there is none.
    pub(super) async fn find(&self, path: &str) -> Result<Option<Value>, CallError> {
        match self.get(path).await {
            Ok(found) if found["data"].is_null() => Ok(None),
            Ok(found) => Ok(Some(found)),
            Err(CallError::Refused(refused)) if refused.status == 404 => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends one request, without retries.
    pub(super) async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, CallError> {
        let mut request = Request::new(method, format!("{}{path}", self.base))
            .header("accept", "application/json")
            .header("authorization", format!("Bearer {}", self.token()));
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = self.transport.send(request).await?;
        if let Some(trouble) = unavailable(&response, self.clock.now()) {
            return Err(trouble.into());
        }
        if response.is_success() {
            return Ok(read_json(&response)?);
        }
        if response.status == 401 {
            self.forget_token();
        }
        Err(CallError::Refused(refusal(&response)))
    }

    fn token(&self) -> String {
        let now = self.clock.now();
        let mut kept = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((token, end)) = &*kept
            && now + RENEW_BEFORE < *end
        {
            return token.clone();
        }
        let (issued, end) = ((now - BACKDATED) / SECOND, (now + LIFETIME) / SECOND);
        let mut claims = json!({"iat": issued, "exp": end, "aud": AUDIENCE});
        match &self.credential.issuer_id {
            Some(issuer) => claims["iss"] = json!(issuer),
            None => claims["sub"] = json!("user"),
        }
        let token = self.credential.key.sign(&self.credential.key_id, &claims);
        *kept = Some((token.clone(), now + LIFETIME));
        token
    }

    fn forget_token(&self) {
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
