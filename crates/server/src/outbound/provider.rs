//! The OpenID Connect provider that users may sign in through: what it publishes, and the exchange of its code. It is called
//! through the guard of addresses, where it alone may be private, for the operator named it.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use bytes::Bytes;
use launchway_app_stores::transport::{Body, Method, Request, Transport};
use launchway_domain::time::{EpochMs, HOUR, MINUTE, SECOND};
use reqwest::Url;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;

use super::id_token::{IdTokenError, Keys, Wanted, verified_email};
use crate::api_error::ApiError;
use crate::blob::percent::encoded;
use crate::config::Oidc;

const AWAY: &str = "The sign-in provider cannot be reached now; try again, or sign in with your password";
/// How long what the provider publishes is kept.
const FRESH: EpochMs = HOUR;
/// How soon it is read again for a token that no known key has signed.
const AGAIN: EpochMs = MINUTE;
/// How long a provider that could not be read is left alone: who waits behind a try that failed is told at once.
const PAUSE: EpochMs = 5 * SECOND;

/// The provider.
pub struct Provider {
    settings: Oidc,
    transport: Arc<dyn Transport>,
    memory: Mutex<Memory>,
}

/// What is remembered of the provider.
#[derive(Default)]
struct Memory {
    known: Option<Known>,
    failed_at: Option<EpochMs>,
}

/// What a provider publishes.
#[derive(Clone)]
struct Known {
    endpoints: Endpoints,
    keys: Keys,
    read_at: EpochMs,
}

/// Of OpenID Connect Discovery 1.0, part 3.
#[derive(Clone, Deserialize)]
struct Endpoints {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Tokens {
    id_token: String,
}

/// The secrets of one sign-in: all come from what its browser keeps, so that nothing is kept here.
pub struct Login {
    /// Comes back with the code.
    pub state: String,
    nonce: String,
    verifier: String,
}

impl Login {
    /// The sign-in of a browser that keeps this token.
    pub fn of(token: &str) -> Login {
        let part = |what: &str| BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(format!("launchway {what} {token}")));
        Login {
            state: part("state"),
            nonce: part("nonce"),
            verifier: part("verifier"),
        }
    }
}

impl Provider {
    /// The provider that the settings name.
    pub fn new(settings: Oidc, transport: Arc<dyn Transport>) -> Provider {
        Provider {
            settings,
            transport,
            memory: Mutex::default(),
        }
    }

    /// Where a browser goes to sign in (RFC 6749, part 4.1.1, with the challenge of RFC 7636).
    pub async fn authorization_url(&self, login: &Login, redirect: &str, now: EpochMs) -> Result<String, ApiError> {
        let endpoint = self.known(now, FRESH).await?.endpoints.authorization_endpoint;
        let mut url = Url::parse(&endpoint).map_err(|_| away("its authorization endpoint is no URL"))?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(away("its authorization endpoint is no web address"));
        }
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&login.verifier));
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("scope", "openid email")
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", redirect)
            .append_pair("state", &login.state)
            .append_pair("nonce", &login.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        Ok(url.into())
    }

    /// The verified address of the user whose code it is.
    pub async fn email(&self, login: &Login, code: &str, redirect: &str, now: EpochMs) -> Result<String, ApiError> {
        let mut known = self.known(now, FRESH).await?;
        let token = self.exchange(&known.endpoints, login, code, redirect).await?;
        let wanted = Wanted {
            issuer: &self.settings.issuer,
            client_id: &self.settings.client_id,
            nonce: &login.nonce,
            now,
        };
        let mut email = verified_email(&token, &known.keys, &wanted);
        if matches!(email, Err(IdTokenError::UnknownKey | IdTokenError::Signature)) {
            known = self.known(now, AGAIN).await?;
            email = verified_email(&token, &known.keys, &wanted);
        }
        email.map_err(|refused| {
            tracing::warn!(%refused, "the sign-in provider gave a token that does not hold");
            ApiError::NotProven(format!("The sign-in provider's token was refused: {refused}"))
        })
    }

    /// Exchanges a code (RFC 6749, part 4.1.3). By HTTP Basic, or by the form where the provider takes nothing else.
    async fn exchange(
        &self,
        endpoints: &Endpoints,
        login: &Login,
        code: &str,
        redirect: &str,
    ) -> Result<String, ApiError> {
        let Oidc {
            client_id,
            client_secret,
            ..
        } = &self.settings;
        let mut form = format!(
            "grant_type=authorization_code&code={}&redirect_uri={}&code_verifier={}&client_id={}",
            encoded(code),
            encoded(redirect),
            encoded(&login.verifier),
            encoded(client_id)
        );
        let mut request = Request::new(Method::Post, &endpoints.token_endpoint)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("accept", "application/json");
        let methods = endpoints.token_endpoint_auth_methods_supported.as_deref();
        if methods.is_none_or(|methods| methods.iter().any(|method| method == "client_secret_basic")) {
            let pair = format!("{}:{}", encoded(client_id), encoded(client_secret));
            request = request.header("authorization", format!("Basic {}", BASE64_STANDARD.encode(pair)));
        } else {
            form.push_str(&format!("&client_secret={}", encoded(client_secret)));
        }
        let answer = self.transport.send(request.body(Body::Bytes(Bytes::from(form)))).await;
        let answer = answer.map_err(away)?;
        if (400..500).contains(&answer.status) {
            tracing::warn!(status = answer.status, "the sign-in provider refused a code");
            return Err(ApiError::NotProven(
                "The sign-in provider refused this sign-in; begin anew".to_owned(),
            ));
        }
        let tokens: Tokens = read(answer.status, &answer.body)?;
        Ok(tokens.id_token)
    }

    /// What the provider publishes, read at most this long ago. One reads at a time, and the others wait for it.
    async fn known(&self, now: EpochMs, age: EpochMs) -> Result<Known, ApiError> {
        let mut memory = self.memory.lock().await;
        if let Some(known) = memory.known.as_ref().filter(|known| now - known.read_at < age) {
            return Ok(known.clone());
        }
        if memory.failed_at.is_some_and(|at| (now - at).abs() < PAUSE) {
            return Err(ApiError::Unavailable(AWAY.to_owned()));
        }
        let read = self.published(now).await;
        memory.failed_at = read.is_err().then_some(now);
        if let Ok(known) = &read {
            memory.known = Some(known.clone());
        }
        read
    }

    /// Reads what the provider publishes.
    async fn published(&self, now: EpochMs) -> Result<Known, ApiError> {
        let base = self.settings.issuer.trim_end_matches('/');
        let endpoints: Endpoints = self.get(&format!("{base}/.well-known/openid-configuration")).await?;
        if endpoints.issuer != self.settings.issuer {
            return Err(away("it calls itself otherwise than --oidc-issuer says"));
        }
        let keys = self.get(&endpoints.jwks_uri).await?;
        Ok(Known {
            endpoints,
            keys,
            read_at: now,
        })
    }

    async fn get<T: DeserializeOwned>(&self, url: &str) -> Result<T, ApiError> {
        let request = Request::new(Method::Get, url).header("accept", "application/json");
        let answer = self.transport.send(request).await.map_err(away)?;
        read(answer.status, &answer.body)
    }
}

fn read<T: DeserializeOwned>(status: u16, body: &[u8]) -> Result<T, ApiError> {
    if status != 200 {
        return Err(away(format!("it answered {status}")));
    }
    serde_json::from_slice(body).map_err(|_| away("its answer cannot be read"))
}

/// The provider does not do its part: why goes to the log, for the operator.
fn away(why: impl std::fmt::Display) -> ApiError {
    tracing::warn!(%why, "the sign-in provider does not answer as it should");
    ApiError::Unavailable(AWAY.to_owned())
}
