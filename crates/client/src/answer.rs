//! What comes back: the body as it was sent, and what it means.

use bytes::Bytes;
use launchway_api::error::ErrorBody;
use reqwest::header::{HeaderMap, HeaderName};
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::retry::retry_after;

/// The success of a typed call.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<T> {
    /// What the answer means.
    pub value: T,
    /// The answer as the server wrote it, for passing on: fields newer than this client are still in it.
    pub body: String,
}

/// Any answer of the server, errors included.
#[derive(Clone, Debug)]
pub struct RawAnswer {
    /// Where it came from: scheme, host and port.
    pub origin: String,
    /// The status of HTTP.
    pub status: u16,
    /// The body, whatever it is.
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

    /// Gives the answer back when it is a success, else the error it stands for.
    pub fn or_error(self) -> Result<Self, Error> {
        match self.status {
            200..=299 => Ok(self),
            300..=399 => Err(self.redirected()),
            _ => Err(self.refused()),
        }
    }

    /// How long the server asks to wait, by `Retry-After`.
    pub fn retry_after(&self) -> Option<std::time::Duration> {
        self.header(reqwest::header::RETRY_AFTER)
            .as_deref()
            .and_then(retry_after)
    }

    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<Answer<T>, Error> {
        let answer = self.or_error()?;
        let value = serde_json::from_slice(&answer.body).map_err(|problem| answer.unread(&problem))?;
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
            Err(_) => self.unexpected("the answer is not in the form of the API".to_owned()),
        }
    }

    fn redirected(self) -> Error {
        match self.header(reqwest::header::LOCATION) {
            Some(location) => Error::Redirected {
                origin: self.origin,
                location,
            },
            None => self.unexpected("the answer is not in the form of the API".to_owned()),
        }
    }

    /// A success that cannot be read.
    fn unread(&self, problem: &serde_json::Error) -> Error {
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
