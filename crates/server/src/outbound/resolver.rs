//! Names become addresses: by the system, or by a test; what is not public is filtered out where it must not be dialled.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address_guard::is_public;

/// Looks up names.
pub trait Resolver: Send + Sync + 'static {
    /// The addresses of a name, in the order they are to be tried.
    fn resolve<'r>(&'r self, name: &'r str) -> BoxFuture<'r, io::Result<Vec<IpAddr>>>;
}

/// The system's look-up: its hosts file and name servers.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'r>(&'r self, name: &'r str) -> BoxFuture<'r, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// A name has no address that may be dialled. Its text is shown to who set the webhook up.
#[derive(Debug, thiserror::Error)]
pub enum AddressLookupError {
    /// Nobody knows the name.
    #[error("The name {0} cannot be resolved")]
    Unknown(String),
    /// It has addresses, and none is public.
    #[error("The name {0} has no public address")]
    NotPublic(String),
}

/// What a client's connector asks: it dials exactly the addresses that it is given, so a name that changes meanwhile
/// changes nothing.
pub struct GuardedResolver {
    resolver: Arc<dyn Resolver>,
    allow_private: bool,
}

impl GuardedResolver {
    /// Filters what `resolver` finds, unless private addresses are allowed.
    pub fn new(resolver: Arc<dyn Resolver>, allow_private: bool) -> GuardedResolver {
        GuardedResolver {
            resolver,
            allow_private,
        }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (resolver, allow_private) = (self.resolver.clone(), self.allow_private);
        let name = name.as_str().to_owned();
        Box::pin(async move {
            let found = resolver.resolve(&name).await.unwrap_or_default();
            if found.is_empty() {
                return Err(AddressLookupError::Unknown(name).into());
            }
            let dialled: Vec<SocketAddr> = found
                .into_iter()
                .filter(|address| allow_private || is_public(*address))
                .map(|address| SocketAddr::new(address, 0))
                .collect();
            if dialled.is_empty() {
                return Err(AddressLookupError::NotPublic(name).into());
            }
            let dialled: Addrs = Box::new(dialled.into_iter());
            Ok(dialled)
        })
    }
}
