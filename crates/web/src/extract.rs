//! Extractors that respond to every malformed request with 400 and a message that names the field
//! (`docs/reference/conventions.md#requests-and-responses`).

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use launchway_domain::mac::MacKey;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::{Browser, Caller, Origin};
use launchway_store::RequestKey;
use launchway_vault::Purpose;
use serde::de::DeserializeOwned;

use crate::request_body::whole_body;
use crate::{cookies, same_site};

/// The maximum size of a JSON body, in bytes.
pub const MAX_BODY: usize = 1 << 20;
/// The lower maximum for unauthenticated requests: a body stays in memory until it is complete.
pub const SMALL_BODY: usize = 16 << 10;

/// A browser that no other site sent here: another site must not sign anybody in. Programs other than browsers send no
/// site.
pub struct SameSiteBrowser(pub Browser);

impl FromRequestParts<Arc<App>> for SameSiteBrowser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        if same_site::is_from_another_site(app, &parts.headers) {
            return Err(ApiError::Forbidden("Sign in on this server's own pages".to_owned()));
        }
        browser_of(parts, app).map(SameSiteBrowser)
    }
}

/// A browser that another site may have sent here: only for requests with a proof of their own, such as the `state` of
/// a sign-in provider's response.
pub struct SentHere(pub Browser);

impl FromRequestParts<Arc<App>> for SentHere {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        browser_of(parts, app).map(SentHere)
    }
}

fn browser_of(parts: &Parts, app: &App) -> Result<Browser, ApiError> {
    let origin = parts.extensions.get::<Origin>().cloned();
    let agent = parts
        .headers
        .get(header::USER_AGENT)
        .and_then(|value| value.to_str().ok());
    Ok(Browser {
        agent: agent.unwrap_or_default().to_owned(),
        token: cookies::session_token(app, &parts.headers).map(str::to_owned),
        devices: cookies::devices(app, &parts.headers),
        origin: origin.ok_or_else(|| ApiError::Internal("a request without origin".to_owned()))?,
    })
}

/// A JSON body of at most `LIMIT` bytes.
pub struct Body<T, const LIMIT: usize = MAX_BODY>(pub T);

/// The JSON body of a request that creates something, with its idempotency key if the caller sent one.
pub struct Create<T> {
    /// The body.
    pub body: T,
    /// Set if the caller sent `Idempotency-Key`.
    pub request: Option<RequestKey>,
}

/// A request that creates something from its query; its body, if any, is ignored.
pub struct CreateBare {
    /// Set if the caller sent `Idempotency-Key`.
    pub request: Option<RequestKey>,
}

impl<S: Send + Sync, T: DeserializeOwned, const LIMIT: usize> FromRequest<S> for Body<T, LIMIT> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        Ok(Body(read_json(&read_body(&parts.headers, body, LIMIT).await?)?))
    }
}

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Create<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let key = idempotency_key(&parts.headers)?;
        let bytes = read_body(&parts.headers, body, MAX_BODY).await?;
        Ok(Create {
            body: read_json(&bytes)?,
            request: request_key(app, &parts, key, &bytes),
        })
    }
}

impl FromRequestParts<Arc<App>> for CreateBare {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let key = idempotency_key(&parts.headers)?;
        Ok(CreateBare {
            request: request_key(app, parts, key, &[]),
        })
    }
}

/// The key under which the first response to a request is stored, if the caller sent one.
fn request_key(app: &App, parts: &Parts, key: Option<String>, body: &[u8]) -> Option<RequestKey> {
    let (key, caller) = (key?, parts.extensions.get::<Caller>()?);
    // A keyed hash: a body may contain a short secret, which a plain hash would reveal to guessing.
    let hash = MacKey::new(&app.vault.derive(Purpose::Idempotency));
    let query = parts.uri.query().unwrap_or_default().as_bytes();
    Some(RequestKey {
        caller: caller.actor().to_string(),
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        key,
        body_hash: hex::encode(hash.of(&[query, &[0], body])),
    })
}

/// `Idempotency-Key`: 1 to 255 visible ASCII characters.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let mut values = headers.get_all("idempotency-key").iter();
    let Some(value) = values.next() else { return Ok(None) };
    let visible = value.as_bytes().iter().all(u8::is_ascii_graphic) && (1..=255).contains(&value.len());
    match (values.next(), value.to_str()) {
        (None, Ok(text)) if visible => Ok(Some(text.to_owned())),
        _ => Err(ApiError::bad(
            "Idempotency-Key must be 1 to 255 visible ASCII characters, given once",
        )),
    }
}

async fn read_body(headers: &HeaderMap, body: axum::body::Body, limit: usize) -> Result<Bytes, ApiError> {
    let json = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|kind| {
            kind.split(';')
                .next()
                .unwrap_or_default()
                .trim()
                .eq_ignore_ascii_case("application/json")
        });
    if !json {
        return Err(ApiError::bad("Content-Type must be application/json"));
    }
    let too_large = format!("The body may have at most {limit} bytes");
    whole_body(headers, body, limit, &too_large).await
}

fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // serde would accept an array as the fields in their order.
    if bytes.trim_ascii_start().starts_with(b"[") {
        return Err(ApiError::bad("The body must be a JSON object, not an array"));
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let (path, cause) = (error.path().to_string(), error.inner().to_string());
        // The position reported by serde_json is useless for a one-line body.
        let cause = cause.split(" at line ").next().unwrap_or_default().to_owned();
        // A truncated body has no position: then the path is `?`.
        if path == "." || path == "?" {
            ApiError::bad(cause)
        } else {
            ApiError::bad(format!("{path}: {cause}"))
        }
    })?;
    reader
        .end()
        .map_err(|_| ApiError::bad("The JSON body is followed by more data"))?;
    Ok(value)
}
