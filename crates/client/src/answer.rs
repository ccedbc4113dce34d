//! Answers of the server: the raw body and its meaning.

use bytes::Bytes;
use launchway_api::error::ErrorBody;
use reqwest::header::{HeaderMap, HeaderName};
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::retry::retry_after;

/// The success of a typed call.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<T> {
    /// The parsed answer.
    pub value: T,
    /// The raw answer of the server, for passing on: it still contains fields newer than this client.
    pub body: String,
}

/// Any answer of the server, errors included.
#[derive(Clone, Debug)]
pub struct RawAnswer {
    /// The scheme, host and port that answered.
    pub origin: String,
    /// The HTTP status.
    pub status: u16,
    /// The raw body.
    pub body: Bytes,
    headers: HeaderMap,
}

impl RawAnswer {
    pub(crate) fn new(origin: String, status: u16, headers: HeaderMap, body: Bytes) -> Self {
        Self {
            origin,
            status,
            body,
            headers,
        }
    }

    /// The `X-Request-Id`.
    pub fn request_id(&self) -> Option<String> {
        self.header(HeaderName::from_static("x-request-id"))
    }

    /// Returns the answer if it is a success, or the error that it represents.
    pub fn or_error(self) -> Result<Self, Error> {
        match self.status {
            200..=299 => Ok(self),
            300..=399 => Err(self.redirected()),
            _ => Err(self.refused()),
        }
    }

    /// How long the server asks to wait, from `Retry-After`.
    pub fn retry_after(&self) -> Option<std::time::Duration> {
        self.header(reqwest::header::RETRY_AFTER)
            .as_deref()
            .and_then(retry_after)
    }

    /// The URL that the answer to a call of `path` redirects to, or the error that any other answer is. A redirect to the
    /// same path is a server that moved.
    pub(crate) fn location(self, path: &str) -> Result<String, Error> {
        match self.or_error() {
            Err(Error::Redirected { location, .. }) if !location.contains(&format!("{path}?")) => Ok(location),
            Err(error) => Err(error),
            Ok(answer) => Err(answer.unexpected("the response is not a redirect".to_owned())),
        }
    }

    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<Answer<T>, Error> {
        let answer = self.or_error()?;
        let value = serde_json::from_slice(&answer.body).map_err(|problem| answer.unreadable(&problem))?;
        let body = String::from_utf8(answer.body.to_vec()).map_err(|problem| answer.unexpected(problem.to_string()))?;
        Ok(Answer { value, body })
    }

    fn header(&self, name: HeaderName) -> Option<String> {
        self.headers.get(name)?.to_str().ok().map(str::to_owned)
    }

    fn refused(self) -> Error {
        match serde_json::from_slice::<ErrorBody>(&self.body) {
            Ok(ErrorBody { error, message }) => Error::Api {
                status: self.status,
                error,
                message,
                request_id: self.request_id(),
            },
            Err(_) => self.unexpected("the response is not in the API's format".to_owned()),
        }
    }

    fn redirected(self) -> Error {
        match self.header(reqwest::header::LOCATION) {
            Some(location) => Error::Redirected {
                origin: self.origin,
                location,
            },
            None => self.unexpected("the response is not in the API's format".to_owned()),
        }
    }

    /// The error for a success whose body cannot be parsed.
    fn unreadable(&self, problem: &serde_json::Error) -> Error {
        if !problem.is_data() {
            return self.unexpected(problem.to_string());
        }
        Error::OtherVersion {
            origin: self.origin.clone(),
            problem: problem.to_string(),
            request_id: self.request_id(),
        }
    }

    fn unexpected(&self, problem: String) -> Error {
        Error::Unexpected {
            origin: self.origin.clone(),
            status: self.status,
            problem,
            request_id: self.request_id(),
        }
    }
}
