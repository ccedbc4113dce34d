//! Extractors that respond to every malformed request with 400 and a message that names the field
//! (`docs/reference/conventions.md#requests-and-responses`).

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use launchway_domain::id::{Id, Kind};
use launchway_domain::mac::MacKey;
use launchway_domain::percent::decode_query;
use launchway_store::{Paging, RequestKey};
use launchway_vault::Purpose;
use serde::de::DeserializeOwned;

use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::{Browser, Caller, Origin, RunnerCaller};
use crate::http::request_body::whole_body;
use crate::http::{admit, cookies};

/// The maximum size of a JSON body, in bytes.
pub const MAX_BODY: usize = 1 << 20;
/// The lower maximum for unauthenticated requests: a body stays in memory until it is complete.
pub const SMALL_BODY: usize = 16 << 10;
const MAX_NUMBER_DIGITS: usize = 9;

/// The query parameters of a request. Unknown ones are ignored; reading a duplicate is refused.
#[derive(Clone, Debug, Default)]
pub struct Query(Vec<(Vec<u8>, Vec<u8>)>);

impl Query {
    /// Parses the text after `?`.
    pub fn parse(text: &str) -> Query {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let owned = |text: &str| decode_query(text.as_bytes()).into_owned();
        Query(
            pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(name, value)| (owned(name), owned(value)))
                .collect(),
        )
    }

    /// All parameters as they were sent.
    pub fn into_pairs(self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.0
    }

    /// A parameter as it was sent, empty ones included.
    pub fn raw(&self, name: &str) -> Result<Option<&str>, ApiError> {
        let mut values = self
            .0
            .iter()
            .filter(|(given, _)| given == name.as_bytes())
            .map(|(_, value)| value);
        let value = values.next();
        if values.next().is_some() {
            return Err(duplicate_parameter(name));
        }
        value.map(|bytes| text(name, bytes)).transpose()
    }

    /// An optional parameter; an empty one counts as absent.
    pub fn get(&self, name: &str) -> Result<Option<&str>, ApiError> {
        Ok(self.raw(name)?.filter(|value| !value.is_empty()))
    }

    /// An optional parameter of a type; `wanted` describes the valid values.
    pub fn parsed<T: std::str::FromStr>(&self, name: &str, wanted: &str) -> Result<Option<T>, ApiError> {
        let Some(text) = self.get(name)? else { return Ok(None) };
        text.parse()
            .map(Some)
            .map_err(|_| ApiError::bad(format!("{name} must be {wanted}")))
    }

    /// The id of a request that requires one. An id of any shape that names nothing is "not found".
    pub fn id<K: Kind>(&self, what: &'static str) -> Result<IdParam<K>, ApiError> {
        self.optional_id(what)?.ok_or_else(|| ApiError::bad("id is required"))
    }

    /// The id of a request that returns a list without one. An empty id is refused.
    pub fn optional_id<K: Kind>(&self, what: &'static str) -> Result<Option<IdParam<K>>, ApiError> {
        match self.raw("id")? {
            None => Ok(None),
            Some("") => Err(ApiError::bad("id is required")),
            Some(text) => Ok(Some(IdParam {
                id: text.parse().ok(),
                what,
            })),
        }
    }

    /// `limit` and `offset` (`docs/reference/conventions.md#lists`).
    pub fn paging(&self) -> Result<Paging, ApiError> {
        let number = |name: &str, least: i64, default: i64| -> Result<i64, ApiError> {
            let Some(text) = self.get(name)? else {
                return Ok(default);
            };
            let digits = text.len() <= MAX_NUMBER_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
            let value = digits
                .then(|| text.parse::<i64>().ok())
                .flatten()
                .filter(|value| *value >= least);
            value.ok_or_else(|| ApiError::bad(format!("{name} must be a whole number from {least}")))
        };
        Ok(Paging {
            limit: number("limit", 1, 10)?.min(100),
            offset: number("offset", 0, 0)?,
        })
    }
}

/// An id as it was sent: a request's form is checked before existence, so a malformed id is kept until then.
#[derive(Clone, Copy, Debug)]
pub struct IdParam<K: Kind> {
    id: Option<Id<K>>,
    what: &'static str,
}

impl<K: Kind> IdParam<K> {
    /// The id; "not found" if it does not have the shape of an id.
    pub fn get(self) -> Result<Id<K>, ApiError> {
        self.id.ok_or(ApiError::NoSuch(self.what))
    }
}

/// The refusal of a duplicate parameter.
pub fn duplicate_parameter(name: &str) -> ApiError {
    ApiError::bad(format!("{name} is given twice"))
}

/// The value of a parameter as text.
pub fn text<'v>(name: &str, value: &'v [u8]) -> Result<&'v str, ApiError> {
    std::str::from_utf8(value).map_err(|_| ApiError::bad(format!("{name} is not valid UTF-8")))
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Query::parse(parts.uri.query().unwrap_or_default()))
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    /// The admitted caller; the route table decides which routes have one.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts
            .extensions
            .get::<Caller>()
            .cloned()
            .ok_or(ApiError::NoAuthentication)
    }
}

impl<S: Sync> FromRequestParts<S> for RunnerCaller {
    type Rejection = ApiError;

    /// The admitted runner.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let runner = parts.extensions.get::<RunnerCaller>().cloned();
        runner.ok_or(ApiError::NoAuthentication)
    }
}

impl FromRequestParts<Arc<App>> for Browser {
    type Rejection = ApiError;

    /// A browser on another site must not sign anybody in. Programs other than browsers send no site.
    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        if admit::is_from_another_site(app, &parts.headers) {
            return Err(ApiError::Forbidden("Sign in on this server's own pages".to_owned()));
        }
        browser_of(parts, app)
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
        .map_err(|_| ApiError::bad("There is more behind the JSON body"))?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_parameter_is_read_once() {
        let query = Query::parse("a=1&b=x%20y+z&c=&a=2&d=%ff&%65=5");
        assert_eq!(query.get("b").expect("b"), Some("x y z"));
        assert_eq!(query.get("c").expect("c"), None);
        assert_eq!(query.get("e").expect("e"), Some("5"));
        assert_eq!(query.get("a").expect_err("twice").to_string(), "a is given twice");
        assert_eq!(query.get("d").expect_err("bytes").to_string(), "d is not valid UTF-8");
    }

    #[test]
    fn paging_follows_the_reference() {
        for (text, limit, offset) in [
            ("", 10, 0),
            ("limit=100&offset=5", 100, 5),
            ("limit=101", 100, 0),
            ("limit=&offset=", 10, 0),
        ] {
            let paging = Query::parse(text).paging().expect(text);
            assert_eq!((paging.limit, paging.offset), (limit, offset), "{text}");
        }
        for text in [
            "limit=0",
            "limit=-1",
            "offset=-1",
            "limit=ten",
            "limit=1.5",
            "limit=1000000000",
            "limit=%201",
            "limit=1&limit=1",
        ] {
            assert!(Query::parse(text).paging().is_err(), "{text}");
        }
    }
}
