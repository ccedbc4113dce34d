//! Resolves names to addresses, through the system or a test, and filters out addresses that must not be dialed.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address_guard::is_public;

/// Resolves names.
pub trait Resolver: Send + Sync + 'static {
    /// The addresses of a name, in the order in which to try them.
    fn resolve<'r>(&'r self, name: &'r str) -> BoxFuture<'r, io::Result<Vec<IpAddr>>>;
}

/// The system's resolver: its hosts file and name servers.
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

/// A name has no address that may be dialed. Its text is shown to the owner of the webhook.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AddressLookupError {
    /// The name does not exist.
    #[error("The name {0} cannot be resolved")]
    Unknown(String),
    /// It has addresses, but none is public.
    #[error("The name {0} has no public address")]
    NotPublic(String),
}

/// The resolver of a client's connector, which dials exactly these addresses, so a name that changes meanwhile has no
/// effect.
pub struct GuardedResolver {
    resolver: Arc<dyn Resolver>,
    allow_private: bool,
}

impl GuardedResolver {
    /// Filters the results of `resolver`, unless private addresses are allowed.
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
