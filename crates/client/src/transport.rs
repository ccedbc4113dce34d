//! The two underlying HTTP clients: one for calls, one for uploads, which have no total timeout.

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};

use crate::address::BaseUrl;
use crate::error::Error;
use crate::machine_roots;

/// Network timeouts.
#[derive(Clone, Debug)]
pub struct Timeouts {
    /// For establishing a connection.
    pub connect: Duration,
    /// For the next bytes of an answer.
    pub read: Duration,
    /// For an upload without progress. While it progresses, its duration is unlimited.
    pub stall: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            read: Duration::from_secs(60),
            stall: Duration::from_secs(60),
        }
    }
}

const USER_AGENT: &str = concat!("launchway/", env!("CARGO_PKG_VERSION"));

#[derive(Clone, Debug)]
pub(crate) struct Transport {
    pub(crate) calls: Client,
    pub(crate) uploads: Client,
}

impl Transport {
    pub(crate) fn new(base: &BaseUrl, timeouts: &Timeouts) -> Result<Self, Error> {
        Ok(Self {
            calls: http_client(base, timeouts)?,
            uploads: build(base, builder(timeouts.connect))?,
        })
    }
}

/// A plain HTTP client, for requests to a server that are no calls of the API. It follows no redirects.
///
/// # Errors
/// The machine's TLS certificates cannot be read, and the address needs them.
pub fn http_client(base: &BaseUrl, timeouts: &Timeouts) -> Result<Client, Error> {
    build(base, builder(timeouts.connect).read_timeout(timeouts.read))
}

/// Redirects are disabled: a key is sent only where the user chose, and a POST would turn into a GET.
fn builder(connect: Duration) -> ClientBuilder {
    Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(connect)
        .redirect(Policy::none())
}

/// Builds a client. With plain HTTP, the machine's TLS certificates are read when something else needs them, such as the URL of an object.
fn build(base: &BaseUrl, builder: ClientBuilder) -> Result<Client, Error> {
    // A second call fails harmlessly: one provider per process is enough.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = if base.is_plain_http() {
        builder.tls_backend_preconfigured(machine_roots::config())
    } else {
        builder
    };
    builder.build().map_err(|error| Error::network(base.origin(), &error))
}
