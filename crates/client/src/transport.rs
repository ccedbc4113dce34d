//! The two underlying HTTP clients: one for calls, one for uploads, which have no total timeout.

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use rustls::{ClientConfig, RootCertStore};

use crate::address::BaseUrl;
use crate::error::Error;

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
            uploads: build(base, || builder(timeouts.connect))?,
        })
    }
}

/// A plain HTTP client, for requests to a server that are no calls of the API. It follows no redirects.
///
/// # Errors
/// The machine's TLS certificates cannot be read.
pub fn http_client(base: &BaseUrl, timeouts: &Timeouts) -> Result<Client, Error> {
    // A second call fails harmlessly: one provider per process is enough.
    let _ = rustls::crypto::ring::default_provider().install_default();
    build(base, || builder(timeouts.connect).read_timeout(timeouts.read))
}

/// Redirects are disabled: a key is sent only where the user chose, and a POST would turn into a GET.
fn builder(connect: Duration) -> ClientBuilder {
    Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(connect)
        .redirect(Policy::none())
}

/// Builds a client. A machine without root certificates, such as a small container, can still use plain HTTP.
fn build(base: &BaseUrl, builder: impl Fn() -> ClientBuilder) -> Result<Client, Error> {
    let built = match builder().build() {
        Err(_) if base.is_plain_http() => {
            let nobody_trusted = ClientConfig::builder()
                .with_root_certificates(RootCertStore::empty())
                .with_no_client_auth();
            builder().tls_backend_preconfigured(nobody_trusted).build()
        }
        built => built,
    };
    built.map_err(|error| Error::network(base.origin(), &error))
}
