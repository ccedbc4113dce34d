//! The OpenID Connect provider that users may sign in through: its metadata and keys, and the exchange of its codes.
//! Calls go through the address guard, which lets only the provider itself be private, because the operator configured
//! it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use bytes::Bytes;
use launchway_app_stores::transport::{Body, Method, Request, Transport};
use launchway_credentials::jwt::JwtError;
use launchway_domain::percent::encode;
use launchway_domain::time::{EpochMs, HOUR, MINUTE, SECOND};
use reqwest::Url;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use super::id_token::{Expectations, IdTokenError, Keys, verified_email};

/// How long the provider's metadata and keys are cached.
const FRESH: EpochMs = HOUR;
/// The minimum age of cached keys before they are fetched again for a token with an unknown key.
const AGAIN: EpochMs = MINUTE;
/// How long the service does not retry a provider that could not be read: callers that wait behind a failed attempt get
/// an error at once.
const PAUSE: EpochMs = 5 * SECOND;

/// The provider, and this service's credentials there. `Debug` hides the secret.
#[derive(Clone)]
pub struct ProviderSettings {
    /// The provider's address as its tokens state it.
    pub issuer: String,
    /// The id of this service there.
    pub client_id: String,
    /// The secret that the provider issued to it.
    pub client_secret: Zeroizing<String>,
    /// The file that contains the secret.
    pub client_secret_file: PathBuf,
}

impl fmt::Debug for ProviderSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ProviderSettings")
            .field("issuer", &self.issuer)
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

/// Why the provider signs nobody in. Its text is for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The provider does not answer as it should. The log says why.
    #[error("The sign-in provider cannot be reached. Try again, or sign in with your password.")]
    Unavailable,
    /// The provider refused the code.
    #[error("The sign-in provider refused this sign-in. Start again.")]
    CodeRefused,
    /// The provider's token is invalid.
    #[error("The sign-in provider's token was refused: {0}")]
    TokenRefused(IdTokenError),
}

/// The provider.
pub struct Provider {
    settings: ProviderSettings,
    transport: Arc<dyn Transport>,
    memory: Mutex<Memory>,
}

/// The cached state of the provider.
#[derive(Default)]
struct Memory {
    metadata: Option<Metadata>,
    failed_at: Option<EpochMs>,
}

/// The provider's metadata and keys.
#[derive(Clone)]
struct Metadata {
    endpoints: Endpoints,
    keys: Keys,
    read_at: EpochMs,
}

/// The metadata of OpenID Connect Discovery 1.0, section 3.
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

/// The secrets of one sign-in. All are derived from a token in the browser, so the server stores nothing.
pub struct Login {
    /// The parameter that the provider returns with the code.
    pub state: String,
    nonce: String,
    verifier: String,
}

impl Login {
    /// The sign-in of a browser with this token.
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
    /// The provider in the settings.
    pub fn new(settings: ProviderSettings, transport: Arc<dyn Transport>) -> Provider {
        Provider {
            settings,
            transport,
            memory: Mutex::default(),
        }
    }

    /// The URL at which a browser signs in (RFC 6749, section 4.1.1, with the challenge of RFC 7636).
    pub async fn authorization_url(
        &self,
        login: &Login,
        redirect: &str,
        now: EpochMs,
    ) -> Result<String, ProviderError> {
        let endpoint = self.metadata(now, FRESH).await?.endpoints.authorization_endpoint;
        let mut url = Url::parse(&endpoint).map_err(|_| unavailable("its authorization endpoint is not a URL"))?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(unavailable("its authorization endpoint is not a web address"));
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

    /// The verified address of the user to whom the code was issued.
    pub async fn email(
        &self,
        login: &Login,
        code: &str,
        redirect: &str,
        now: EpochMs,
    ) -> Result<String, ProviderError> {
        let mut metadata = self.metadata(now, FRESH).await?;
        let token = self.exchange(&metadata.endpoints, login, code, redirect).await?;
        let wanted = Expectations {
            issuer: &self.settings.issuer,
            client_id: &self.settings.client_id,
            nonce: &login.nonce,
            now,
        };
        let mut email = verified_email(&token, &metadata.keys, &wanted);
        if matches!(
            email,
            Err(IdTokenError::Token(JwtError::UnknownKey | JwtError::Signature))
        ) {
            metadata = self.metadata(now, AGAIN).await?;
            email = verified_email(&token, &metadata.keys, &wanted);
        }
        email.map_err(|refused| {
            tracing::warn!(%refused, "the sign-in provider returned an invalid token");
            ProviderError::TokenRefused(refused)
        })
    }

    /// Exchanges a code (RFC 6749, section 4.1.3), authenticating by HTTP Basic, or in the form if the provider accepts
    /// nothing else.
    async fn exchange(
        &self,
        endpoints: &Endpoints,
        login: &Login,
        code: &str,
        redirect: &str,
    ) -> Result<String, ProviderError> {
        let ProviderSettings {
            client_id,
            client_secret,
            ..
        } = &self.settings;
        let mut form = format!(
            "grant_type=authorization_code&code={}&redirect_uri={}&code_verifier={}&client_id={}",
            encode(code),
            encode(redirect),
            encode(&login.verifier),
            encode(client_id)
        );
        let mut request = Request::new(Method::Post, &endpoints.token_endpoint)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("accept", "application/json");
        let methods = endpoints.token_endpoint_auth_methods_supported.as_deref();
        if methods.is_none_or(|methods| methods.iter().any(|method| method == "client_secret_basic")) {
            let pair = format!("{}:{}", encode(client_id), encode(client_secret));
            request = request.header("authorization", format!("Basic {}", BASE64_STANDARD.encode(pair)));
        } else {
            form.push_str(&format!("&client_secret={}", encode(client_secret)));
        }
        let answer = self.transport.send(request.body(Body::Bytes(Bytes::from(form)))).await;
        let answer = answer.map_err(unavailable)?;
        if (400..500).contains(&answer.status) {
            tracing::warn!(status = answer.status, "the sign-in provider refused a code");
            return Err(ProviderError::CodeRefused);
        }
        let tokens: Tokens = read(answer.status, &answer.body)?;
        Ok(tokens.id_token)
    }

    /// The provider's metadata and keys, at most `age` old. One caller fetches them while the others wait.
    async fn metadata(&self, now: EpochMs, age: EpochMs) -> Result<Metadata, ProviderError> {
        let mut memory = self.memory.lock().await;
        if let Some(metadata) = memory.metadata.as_ref().filter(|metadata| now - metadata.read_at < age) {
            return Ok(metadata.clone());
        }
        if memory.failed_at.is_some_and(|at| (now - at).abs() < PAUSE) {
            return Err(ProviderError::Unavailable);
        }
        let read = self.fetch_metadata(now).await;
        memory.failed_at = read.is_err().then_some(now);
        if let Ok(metadata) = &read {
            memory.metadata = Some(metadata.clone());
        }
        read
    }

    /// Fetches the provider's metadata and keys.
    async fn fetch_metadata(&self, now: EpochMs) -> Result<Metadata, ProviderError> {
        let base = self.settings.issuer.trim_end_matches('/');
        let endpoints: Endpoints = self.get(&format!("{base}/.well-known/openid-configuration")).await?;
        if endpoints.issuer != self.settings.issuer {
            return Err(unavailable("its issuer differs from --oidc-issuer"));
        }
        let keys = self.get(&endpoints.jwks_uri).await?;
        Ok(Metadata {
            endpoints,
            keys,
            read_at: now,
        })
    }

    async fn get<T: DeserializeOwned>(&self, url: &str) -> Result<T, ProviderError> {
        let request = Request::new(Method::Get, url).header("accept", "application/json");
        let answer = self.transport.send(request).await.map_err(unavailable)?;
        read(answer.status, &answer.body)
    }
}

fn read<T: DeserializeOwned>(status: u16, body: &[u8]) -> Result<T, ProviderError> {
    if status != 200 {
        return Err(unavailable(format!("it responded with status {status}")));
    }
    serde_json::from_slice(body).map_err(|_| unavailable("cannot read its response"))
}

/// The error when the provider fails. The reason goes to the log, for the operator.
fn unavailable(why: impl std::fmt::Display) -> ProviderError {
    tracing::warn!(%why, "the sign-in provider does not respond correctly");
    ProviderError::Unavailable
}
