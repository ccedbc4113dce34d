//! Calls that are sent once and with any Bearer: for a caller that has a token of its own kind and tries again by itself.

use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};

use crate::address::BaseUrl;
use crate::answer::RawAnswer;
use crate::client::Timeouts;
use crate::error::Error;
use crate::transport::Transport;

/// A client that keeps no key and repeats nothing. Cheap to clone.
#[derive(Clone, Debug)]
pub struct BareClient {
    http: reqwest::Client,
    base: BaseUrl,
}

impl BareClient {
    /// Makes a client; nothing is sent yet. Fails when the machine's TLS certificates cannot be read.
    pub fn new(base: BaseUrl, timeouts: &Timeouts) -> Result<Self, Error> {
        let http = Transport::new(&base, timeouts)?.calls;
        Ok(Self { http, base })
    }

    /// Where the API is.
    pub fn base(&self) -> &BaseUrl {
        &self.base
    }

    /// Sends one POST and gives any answer, errors included. `path` begins with a slash, is relative to the base and
    /// may carry a query.
    ///
    /// # Errors
    /// No answer came, `path` is no path, or `token` has letters that no header can have.
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
            .map_err(|_| Error::Invalid("the token holds letters that no token has".to_owned()))?;
        // Keeps it out of every log of the HTTP library.
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
