//! The client itself: how it builds, sends and, where that is safe, repeats a call.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use launchway_domain::api_key::ApiKey;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, Url};
use serde::Serialize;

use crate::address::BaseUrl;
use crate::answer::RawAnswer;
use crate::environment::Environment;
use crate::error::Error;
use crate::retry::{Reason, Tries};
use crate::transport::{Timeouts, Transport};

/// The most bytes that are read of an error in the answer for a public file.
const MAX_ERROR_BYTES: usize = 64 << 10;
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The configuration of a client.
pub struct Options {
    /// The base address of the API.
    pub base: BaseUrl,
    /// The API key of the caller; without it only public endpoints answer.
    pub key: Option<ApiKey>,
    /// Sent as `orgId` with each call; without it, calls act in the organization of the key
    /// (`docs/reference/callers.md#organization-context`).
    pub org: Option<String>,
    /// Network timeouts.
    pub timeouts: Timeouts,
    /// Waiting and randomness.
    pub environment: Arc<dyn Environment>,
}

/// A client of one server, on behalf of one caller. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    pub(crate) transport: Transport,
    pub(crate) timeouts: Timeouts,
    pub(crate) environment: Arc<dyn Environment>,
    base: BaseUrl,
    bearer: Option<HeaderValue>,
    org: Option<String>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("base", &self.base)
            .field("org", &self.org)
            .finish_non_exhaustive()
    }
}

/// A call that has not been sent yet.
struct Call {
    method: Method,
    url: Url,
    body: Option<Bytes>,
    idempotency_key: Option<String>,
}

impl Client {
    /// Makes a client without sending anything. Fails if the machine's TLS certificates cannot be read, unless the address is one of plain
    /// HTTP.
    pub fn new(options: Options) -> Result<Self, Error> {
        let transport = Transport::new(&options.base, &options.timeouts)?;
        let bearer = options.key.map(|key| bearer(&key)).transpose()?;
        Ok(Self {
            transport,
            timeouts: options.timeouts,
            environment: options.environment,
            base: options.base,
            bearer,
            org: options.org,
        })
    }

    /// The base address of the API.
    pub fn base(&self) -> &BaseUrl {
        &self.base
    }

    /// Sends any call and returns any answer, errors included. `path` begins with a slash, is relative to the base and may
    /// contain a query; `body` is JSON. Fails only if no answer arrives or `path` is invalid.
    pub async fn raw(&self, method: Method, path: &str, body: Option<Bytes>) -> Result<RawAnswer, Error> {
        self.dispatch(method, self.url(path)?, body).await
    }

    /// Sends a GET once and returns the answer while its body is still arriving. `headers` are added.
    pub(crate) async fn open(
        &self,
        path: &str,
        query: &[(&str, &str)],
        headers: &[(HeaderName, String)],
    ) -> Result<Response, OpenError> {
        let permanent = |error| OpenError {
            reason: None,
            asked: None,
            error,
        };
        let mut url = self.url(path).map_err(permanent)?;
        url.query_pairs_mut().extend_pairs(query);
        if let Some(org) = &self.org {
            url.query_pairs_mut().append_pair("orgId", org);
        }
        let mut request = self.request(&Call {
            method: Method::GET,
            url,
            body: None,
            idempotency_key: None,
        });
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let failed = |error: reqwest::Error| OpenError::from(self.failed(&error));
        let response = request.send().await.map_err(failed)?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.bytes().await.map_err(failed)?;
        let answer = RawAnswer::new(self.base.origin(), status, headers, body);
        let (reason, asked) = reason_of(&answer).unzip();
        match answer.or_error() {
            Err(error) => Err(OpenError {
                reason,
                asked: asked.flatten(),
                error,
            }),
            // Unreachable: the status is not a success here.
            Ok(_) => Err(permanent(Error::Invalid(format!("cannot read {path}")))),
        }
    }

    /// Sends a GET for a public file beside the API, without the key. Returns `None` if the server does not have it, and at
    /// most `limit` + 1 bytes: longer files are invalid.
    pub(crate) async fn get_public(&self, path: &str, limit: usize) -> Result<Option<Vec<u8>>, Error> {
        let url = self.base.join_beside(path);
        let url = url.map_err(|_| Error::Invalid(format!("{path} is not a path of the server")))?;
        let mut tries = Tries::default();
        loop {
            let (failed, asked) = match self.get_public_once(url.clone(), limit).await {
                Ok(body) => return Ok(Some(body)),
                Err(PublicFailure::Failed(failed)) => (failed, None),
                Err(PublicFailure::Answer(answer)) if answer.status == 404 => return Ok(None),
                Err(PublicFailure::Answer(answer)) => {
                    let repeat = reason_of(&answer);
                    let error = match answer.or_error() {
                        Err(error) => error,
                        Ok(_) => Error::Invalid(format!("cannot read {path}")),
                    };
                    let Some((reason, asked)) = repeat else {
                        return Err(error);
                    };
                    (Failed { reason, error }, asked)
                }
            };
            match tries.next_delay(failed.reason, asked, true) {
                Some(delay) => self.environment.pause(delay, failed.reason).await,
                None => return Err(failed.error),
            }
        }
    }

    async fn get_public_once(&self, url: Url, limit: usize) -> Result<Vec<u8>, PublicFailure> {
        let failed = |error: reqwest::Error| PublicFailure::Failed(self.failed(&error));
        let mut response = self.transport.calls.get(url).send().await.map_err(failed)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let limit = if status.is_success() { limit } else { MAX_ERROR_BYTES };
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            let room = (limit + 1).saturating_sub(body.len());
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if body.len() > limit {
                break;
            }
        }
        if status.is_success() {
            return Ok(body);
        }
        let origin = self.base.origin();
        let answer = RawAnswer::new(origin, status.as_u16(), headers, body.into());
        Err(PublicFailure::Answer(answer))
    }

    pub(crate) async fn call<B: Serialize>(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&B>,
    ) -> Result<RawAnswer, Error> {
        let mut url = self.url(path)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let body = body
            .map(serde_json::to_vec)
            .transpose()
            .map_err(|error| Error::Invalid(error.to_string()))?;
        self.dispatch(method, url, body.map(Bytes::from)).await
    }

    async fn dispatch(&self, method: Method, mut url: Url, body: Option<Bytes>) -> Result<RawAnswer, Error> {
        let names_org = url.query_pairs().any(|(name, _)| name == "orgId");
        if let Some(org) = self.org.as_ref().filter(|_| !names_org) {
            url.query_pairs_mut().append_pair("orgId", org);
        }
        let idempotency_key = (method == Method::POST).then(|| hex::encode(self.environment.random()));
        self.send(Call {
            method,
            url,
            body,
            idempotency_key,
        })
        .await
    }

    fn url(&self, path: &str) -> Result<Url, Error> {
        let slash = path.starts_with('/');
        let url = slash.then(|| self.base.join(path).ok()).flatten();
        url.ok_or_else(|| Error::Invalid(format!("{path} is not a path of the API")))
    }

    /// Sends a call until it receives a final answer or the attempts are used up.
    async fn send(&self, call: Call) -> Result<RawAnswer, Error> {
        // A DELETE that succeeded without an answer would return 404 the second time, so it is not repeated.
        let repeatable = match call.method {
            Method::GET | Method::HEAD | Method::PUT | Method::PATCH => true,
            _ => call.idempotency_key.is_some(),
        };
        let mut tries = Tries::default();
        loop {
            let outcome = self.send_once(&call).await;
            let Some((reason, asked)) = reason_to_repeat(&outcome) else {
                return outcome.map_err(|failed| failed.error);
            };
            match tries.next_delay(reason, asked, repeatable) {
                Some(delay) => self.environment.pause(delay, reason).await,
                None => return outcome.map_err(|failed| failed.error),
            }
        }
    }

    async fn send_once(&self, call: &Call) -> Result<RawAnswer, Failed> {
        let failed = |error: reqwest::Error| self.failed(&error);
        let response = self.request(call).send().await.map_err(failed)?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.bytes().await.map_err(failed)?;
        Ok(RawAnswer::new(self.base.origin(), status, headers, body))
    }

    fn failed(&self, error: &reqwest::Error) -> Failed {
        Failed {
            reason: if error.is_connect() {
                Reason::NotConnected
            } else {
                Reason::Broken
            },
            error: Error::network(self.base.origin(), error),
        }
    }

    fn request(&self, call: &Call) -> RequestBuilder {
        let mut request = self.transport.calls.request(call.method.clone(), call.url.clone());
        if let Some(bearer) = &self.bearer {
            request = request.header(AUTHORIZATION, bearer);
        }
        if let Some(key) = &call.idempotency_key {
            request = request.header(IDEMPOTENCY_KEY, key);
        }
        if let Some(body) = &call.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.clone());
        }
        request
    }
}

/// An attempt that received no answer.
struct Failed {
    reason: Reason,
    error: Error,
}

/// Why a public file was not received.
enum PublicFailure {
    Failed(Failed),
    Answer(RawAnswer),
}

/// An error before the answer's body.
pub(crate) struct OpenError {
    /// Why another attempt may help; `None` if it will not.
    pub(crate) reason: Option<Reason>,
    /// How long the server asks to wait before it.
    pub(crate) asked: Option<Duration>,
    /// What happened.
    pub(crate) error: Error,
}

impl From<Failed> for OpenError {
    fn from(failed: Failed) -> Self {
        Self {
            reason: Some(failed.reason),
            asked: None,
            error: failed.error,
        }
    }
}

fn reason_to_repeat(outcome: &Result<RawAnswer, Failed>) -> Option<(Reason, Option<Duration>)> {
    match outcome {
        Err(failed) => Some((failed.reason, None)),
        Ok(answer) => reason_of(answer),
    }
}

fn reason_of(answer: &RawAnswer) -> Option<(Reason, Option<Duration>)> {
    match answer.status {
        429 => Some((Reason::RateLimited, answer.retry_after())),
        502..=504 => Some((Reason::Unavailable, answer.retry_after())),
        _ => None,
    }
}

fn bearer(key: &ApiKey) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_str(&format!("Bearer {}", key.reveal()))
        .map_err(|_| Error::Invalid("the API key has characters that no key has".to_owned()))?;
    // Keeps the key out of every log of the HTTP library.
    value.set_sensitive(true);
    Ok(value)
}
