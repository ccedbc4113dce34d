//! Calls that are sent once and with any Bearer token: for a caller that has its own kind of token and retries itself.

use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};

use crate::address::BaseUrl;
use crate::answer::RawAnswer;
use crate::error::Error;
use crate::transport::{Timeouts, Transport};

/// A client that stores no key and repeats nothing. Cheap to clone.
#[derive(Clone, Debug)]
pub struct BareClient {
    http: reqwest::Client,
    base: BaseUrl,
}

impl BareClient {
    /// Makes a client without sending anything. Fails if the machine's TLS certificates cannot be read, unless the address is one of plain
    /// HTTP.
    pub fn new(base: BaseUrl, timeouts: &Timeouts) -> Result<Self, Error> {
        let http = Transport::new(&base, timeouts)?.calls;
        Ok(Self { http, base })
    }

    /// The base address of the API.
    pub fn base(&self) -> &BaseUrl {
        &self.base
    }

    /// Sends one POST and returns any answer, errors included. `path` begins with a slash, is relative to the base and may
    /// contain a query.
    ///
    /// # Errors
    /// No answer arrived, `path` is invalid, or `token` has characters that are not allowed in a header.
    pub async fn post(
        &self,
        path: &str,
        token: &str,
        content_type: &'static str,
        body: Bytes,
    ) -> Result<RawAnswer, Error> {
        let url = self
            .base
            .join(path)
            .map_err(|error| Error::Invalid(error.to_string()))?;
        let mut bearer = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| Error::Invalid("the token has characters that no token has".to_owned()))?;
        // Keeps the token out of every log of the HTTP library.
        bearer.set_sensitive(true);
        let failed = |error: reqwest::Error| Error::network(self.base.origin(), &error);
        let request = self.http.post(url).header(AUTHORIZATION, bearer);
        let request = request.header(CONTENT_TYPE, content_type).body(body);
        let response = request.send().await.map_err(failed)?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.bytes().await.map_err(failed)?;
        Ok(RawAnswer::new(self.base.origin(), status, headers, body))
    }
}
