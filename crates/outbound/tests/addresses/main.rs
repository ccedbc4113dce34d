//! The guard of addresses against hostile URLs and names: nothing reaches listeners on the loopback, whatever a URL is
//! written like and whatever a name resolves to, and ordinary public URLs pass.

// Tells clippy that the functions below are tests, in which `unwrap` is allowed.
#![cfg(test)]

mod hostile;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use launchway_outbound::address_guard::check_url;
use launchway_outbound::resolver::{GuardedResolver, Resolver};
use launchway_outbound::webhook_sender::{Message, WebhookSender};
use launchway_testing::receiver::{Receiver, Reply};
use reqwest::dns::Resolve;

/// Listeners that must never be reached, one on each loopback that this machine has.
struct Canary(Vec<Receiver>);

impl Canary {
    async fn start() -> Canary {
        let mut listeners = Vec::new();
        for address in [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)] {
            listeners.extend(Receiver::start_on(address, |_, _| Reply::status(204)).await.ok());
        }
        assert!(!listeners.is_empty());
        Canary(listeners)
    }

    fn ports(&self) -> Vec<u16> {
        self.0.iter().map(|listener| listener.address.port()).collect()
    }

    fn assert_untouched(&self, after: &str) {
        for listener in &self.0 {
            assert_eq!(listener.connections(), 0, "{} was reached by {after}", listener.address);
        }
    }
}

/// Names of a test. The name `turns-private` is public when it is first resolved, and the loopback afterwards.
#[derive(Default)]
struct Names {
    lookups: AtomicUsize,
}

/// No host has it, and on most machines no network leads to it, but it is public by its value.
const PUBLIC: &str = "2000::1";

impl Resolver for Names {
    fn resolve<'r>(&'r self, name: &'r str) -> BoxFuture<'r, io::Result<Vec<IpAddr>>> {
        let lookup = self.lookups.fetch_add(1, Ordering::SeqCst);
        let addresses: &[&str] = match name.split('.').next().unwrap_or_default() {
            "nobody" => &[],
            "loopback" => &["127.0.0.1"],
            "loopback6" => &["::1"],
            "both" => &["::1", "127.0.0.1"],
            "mapped" => &["::ffff:127.0.0.1", "64:ff9b::7f00:1"],
            "metadata" => &["169.254.169.254", "fd00:ec2::254"],
            "turns-private" if lookup > 0 => &["127.0.0.1", "::1"],
            "turns-private" => &[PUBLIC],
            "mixed" => &["127.0.0.1", PUBLIC, "::1", "10.0.0.1"],
            "refused" => return Box::pin(async { Err(io::Error::other("no such name")) }),
            other => panic!("{other} is no name of this test"),
        };
        let found = addresses.iter().map(|address| address.parse().unwrap()).collect();
        Box::pin(async move { Ok(found) })
    }
}

fn sender(names: &Arc<Names>, allow_private: bool) -> WebhookSender {
    // Another test may have installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    WebhookSender::new(names.clone(), allow_private)
}

fn message(url: &str) -> Message {
    Message {
        url: url.to_owned(),
        id: "event_x".to_owned(),
        timestamp: 1,
        signatures: "v1,x".to_owned(),
        body: "{}".to_owned(),
    }
}

#[tokio::test]
async fn hostile_urls_are_refused_and_reach_nobody() {
    let canary = Canary::start().await;
    let (names, mut accepted) = (Arc::new(Names::default()), Vec::new());
    let sender = sender(&names, false);
    let urls = hostile::urls(&canary.ports());
    assert!(urls.len() >= 300, "{}", urls.len());
    for url in &urls {
        if check_url(url, false).is_ok() {
            accepted.push(format!("{url:?} passes the check"));
        }
        // As if it had passed: the sender checks again, before it resolves a name.
        let reply = sender.send(&message(url)).await;
        let why = reply.error.unwrap_or_default();
        if reply.response_status.is_some() || !why.starts_with("The webhook's url must ") {
            accepted.push(format!("{url:?} was sent: {:?} {why}", reply.response_status));
        }
        canary.assert_untouched(url);
    }
    assert!(accepted.is_empty(), "\n{}\n", accepted.join("\n"));
    assert_eq!(names.lookups.load(Ordering::SeqCst), 0);
}

/// The table is not one of unusable URLs: where everything is allowed, its first form reaches the canary.
#[tokio::test]
async fn where_private_addresses_are_allowed_the_canary_is_reached() {
    let canary = Canary::start().await;
    let sender = sender(&Arc::default(), true);
    for listener in &canary.0 {
        let reply = sender.send(&message(&listener.url("/"))).await;
        assert_eq!((reply.response_status, reply.error), (Some(204), None));
    }
}

#[tokio::test]
async fn a_name_of_a_private_address_reaches_nobody() {
    let canary = Canary::start().await;
    let sender = sender(&Arc::default(), false);
    for port in canary.ports() {
        for (name, why) in [
            ("loopback.example.com", "has no public address"),
            ("loopback6.example.com", "has no public address"),
            ("both.example.com", "has no public address"),
            ("both.example.com.", "has no public address"),
            ("mapped.example.com", "has no public address"),
            ("metadata.google.internal", "has no public address"),
            ("nobody.example.com", "cannot be resolved"),
            ("refused.example.com", "cannot be resolved"),
        ] {
            let reply = sender.send(&message(&format!("https://{name}:{port}/"))).await;
            assert_eq!(
                (reply.response_status, reply.error),
                (None, Some(format!("The name {name} {why}")))
            );
            canary.assert_untouched(name);
        }
    }
}

/// A name can change between the check and the connection, so the address that is dialed is the one that was checked.
#[tokio::test]
async fn a_name_that_changes_between_lookups_reaches_nobody() {
    let canary = Canary::start().await;
    for port in canary.ports() {
        let names = Arc::new(Names::default());
        let sender = sender(&names, false);
        let url = format!("https://turns-private.example.com:{port}/");
        let reply = sender.send(&message(&url)).await;
        assert_eq!(reply.response_status, None);
        assert_eq!(
            names.lookups.load(Ordering::SeqCst),
            1,
            "one lookup, whose result is dialed"
        );
        canary.assert_untouched(&url);
        let reply = sender.send(&message(&url)).await;
        let expected = "The name turns-private.example.com has no public address";
        assert_eq!(reply.error.as_deref(), Some(expected));
        canary.assert_untouched(&url);
    }
}

#[tokio::test]
async fn only_the_public_addresses_of_a_name_are_dialed() {
    let dialed = async |allow_private: bool| {
        let guard = GuardedResolver::new(Arc::new(Names::default()), allow_private);
        let found = guard.resolve("mixed.example.com".parse().unwrap()).await.unwrap();
        found.map(|address| address.ip().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(dialed(false).await, [PUBLIC]);
    assert_eq!(dialed(true).await, ["127.0.0.1", PUBLIC, "::1", "10.0.0.1"]);
}

#[test]
fn ordinary_public_urls_pass() {
    for url in [
        "https://example.com",
        "https://example.com/",
        "https://example.com:8443/hook",
        "https://EXAMPLE.com/Hook?token=a%20b&c=d#part",
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        "https://prod-01.westeurope.logic.azure.com:443/workflows/abc/triggers/manual/paths/invoke?api-version=2016-06-01",
        "https://user.github.io/@name",
        "https://bücher.example/",
        "https://xn--bcher-kva.example/",
        "https://a-b.c-d.example.co.uk/x",
        "https://localhost.example.com/",
        "https://127.0.0.1.example.com/",
        "https://10.example.com/",
        "https://0x7f.example.com/",
        "https://example.com.",
        "https://1.1.1.1/",
        "https://8.8.8.8:8443/",
        "https://134744072/",
        "https://[2606:4700:4700::1111]/",
        "https://[2001:4860:4860::8888]:443/hook",
        "https://[::ffff:8.8.8.8]/",
        "https://[64:ff9b::8.8.8.8]/",
    ] {
        assert_eq!(check_url(url, false).err(), None, "{url}");
    }
}
