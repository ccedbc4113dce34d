//! The transport to the App Store and Google Play: only over https to public addresses, except for the addresses that
//! the operator configured. Addresses also come from responses and service accounts, so each is checked when it is
//! dialed.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use launchway_app_stores::transport::{HttpTransport, Request, Response, Transport, TransportError};
use launchway_domain::time::EpochMs;
use launchway_os::clock::Clock;
use reqwest::{Client, Url};

use super::address_guard::check_url;
use super::resolver::{GuardedResolver, Resolver};

const USER_AGENT: &str = concat!("Launchway/", env!("CARGO_PKG_VERSION"));
/// The timeout for establishing a connection.
const CONNECT: Duration = Duration::from_secs(15);
/// How long an idle connection is kept.
const IDLE: Duration = Duration::from_secs(60);

/// The app stores, and the transport to them.
pub struct AppStores {
    /// The transport.
    pub transport: Arc<dyn Transport>,
    /// The clock in the form that the clients take.
    pub clock: Arc<dyn launchway_app_stores::Clock>,
    /// The address of App Store Connect.
    pub app_store_connect: String,
    /// The address of Google Play.
    pub google_play: String,
}

impl AppStores {
    /// Whether a URL may be called: a public one over https, or one with the origin of a configured address.
    pub fn may_call(&self, url: &str) -> bool {
        check_url(url, false).is_ok() || is_of(url, &[&self.app_store_connect, &self.google_play])
    }
}

/// Whether a URL has the origin of one of these addresses.
fn is_of(url: &str, addresses: &[&str]) -> bool {
    let origin = |text: &str| Url::parse(text).ok().map(|url| url.origin());
    let Ok(wanted) = check_url(url, true) else { return false };
    addresses
        .iter()
        .any(|address| origin(address).is_some_and(|known| known == wanted.origin()))
}

/// An HTTP transport behind the address guard.
pub struct GuardedTransport {
    resolver: Arc<dyn Resolver>,
    addresses: Vec<String>,
    /// Created at the first use, because that reads the system's certificates. The guarded client dials public
    /// addresses only.
    guarded: OnceLock<Option<HttpTransport>>,
    configured: OnceLock<Option<HttpTransport>>,
}

impl GuardedTransport {
    /// A transport to these configured addresses, and to public ones.
    pub fn new(resolver: Arc<dyn Resolver>, addresses: Vec<String>) -> GuardedTransport {
        GuardedTransport {
            resolver,
            addresses,
            guarded: OnceLock::new(),
            configured: OnceLock::new(),
        }
    }

    fn way(&self, url: &str) -> Option<&HttpTransport> {
        let configured: Vec<&str> = self.addresses.iter().map(String::as_str).collect();
        if is_of(url, &configured) {
            self.configured.get_or_init(|| self.client(true)).as_ref()
        } else if check_url(url, false).is_ok() {
            self.guarded.get_or_init(|| self.client(false)).as_ref()
        } else {
            tracing::warn!("a response contains an address that must not be called");
            None
        }
    }

    fn client(&self, allow_private: bool) -> Option<HttpTransport> {
        let guard = GuardedResolver::new(self.resolver.clone(), allow_private);
        let client = Client::builder()
            .dns_resolver(Arc::new(guard))
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .user_agent(USER_AGENT)
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE)
            .build();
        client
            .map(HttpTransport::new)
            .inspect_err(|error| tracing::error!(%error, "this server cannot make outbound requests"))
            .ok()
    }
}

impl Transport for GuardedTransport {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        match self.way(&request.url) {
            Some(way) => way.send(request),
            None => Box::pin(async { Err(TransportError::NotConnected) }),
        }
    }
}

/// The service's own clock; pauses use the system timer.
pub struct StoreClock(pub Arc<dyn Clock>);

impl launchway_app_stores::Clock for StoreClock {
    fn now(&self) -> EpochMs {
        self.0.now()
    }

    fn pause(&self, delay: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(delay))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_public_or_configured_is_called() {
        let stores = ["https://api.example.com", "http://127.0.0.1:8790/"];
        for (url, wanted) in [
            ("http://127.0.0.1:8790/token", true),
            ("http://127.0.0.1:8790", true),
            ("http://127.0.0.1:8791/token", false),
            ("https://127.0.0.1:8790/token", false),
            ("http://127.0.0.1:8790@evil.example.com/", false),
            ("http://api.example.com/", false),
            ("not a url", false),
        ] {
            assert_eq!(is_of(url, &stores), wanted, "{url}");
        }
    }
}
