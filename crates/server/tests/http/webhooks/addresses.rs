//! The guard of addresses against hostile URLs: nothing reaches listeners on the loopback, whatever a URL is written like
//! and whatever a name resolves to, and ordinary public URLs pass.

mod hostile;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use launchway_outbound::address_guard::check_url;
use launchway_outbound::resolver::{GuardedResolver, Resolver};
use launchway_outbound::webhook_sender::Message;
use launchway_testing::receiver::{Receiver, Reply};
use reqwest::dns::Resolve;
use serde_json::json;

use crate::stage::Stage;
use crate::stage::webhooks::PATH;
use crate::support::Setup;

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
    let stage = Stage::new().await;
    let urls = hostile::urls(&canary.ports());
    assert!(urls.len() >= 300, "{}", urls.len());
    let mut accepted = Vec::new();
    for (place, url) in urls.iter().enumerate() {
        // Not one minute's limit is what refuses.
        if place % 500 == 0 {
            stage.advance(60_000);
        }
        let body = json!({"name": "CI", "url": url, "events": ["*"]});
        let answer = stage.post(&stage.key, PATH, body).await;
        let told = answer.json()["message"].as_str().unwrap_or_default().to_owned();
        if answer.status != 400 || !told.starts_with("url must ") {
            accepted.push(format!("{url:?}: {} {told}", answer.status));
        }
        // As if it had been taken: what sends looks again.
        let reply = stage.app.webhooks.sender.send(&message(url)).await;
        let why = reply.error.unwrap_or_default();
        if reply.response_status.is_some() || !why.starts_with("The webhook's url must ") {
            accepted.push(format!("{url:?} was sent: {:?} {why}", reply.response_status));
        }
        canary.assert_untouched(url);
    }
    assert!(
        accepted.is_empty(),
        "{} of {}:\n{}",
        accepted.len(),
        urls.len(),
        accepted.join("\n")
    );
    println!(
        "summary: {} hostile URLs, none reached a listener on the loopback",
        urls.len()
    );
}

/// The table is no table of URLs that nobody could use: where all is allowed, its first form reaches the canary.
#[tokio::test]
async fn where_private_addresses_are_allowed_the_canary_is_reached() {
    let canary = Canary::start().await;
    let stage = Stage::new().local_webhooks().await;
    for listener in &canary.0 {
        let reply = stage.app.webhooks.sender.send(&message(&listener.url("/"))).await;
        assert_eq!((reply.response_status, reply.error), (Some(204), None));
    }
}

/// Names of a test. A name that starts with `turns-` is public at the first look and the loopback afterwards.
struct Names {
    looks: AtomicUsize,
}

/// No host has it, and on most machines no network leads to it, but it is public by its value.
const PUBLIC: &str = "2000::1";

impl Resolver for Names {
    fn resolve<'r>(&'r self, name: &'r str) -> BoxFuture<'r, io::Result<Vec<IpAddr>>> {
        let look = self.looks.fetch_add(1, Ordering::SeqCst);
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let labels: Vec<&str> = name.split('.').collect();
        let found = match labels[0] {
            "nobody" => vec![],
            "loopback" => vec![address("127.0.0.1")],
            "loopback6" => vec![address("::1")],
            "both" => vec![address("::1"), address("127.0.0.1")],
            "mapped" => vec![address("::ffff:127.0.0.1"), address("64:ff9b::7f00:1")],
            "metadata" => vec![address("169.254.169.254"), address("fd00:ec2::254")],
            "turns-private" if look > 0 => vec![address("127.0.0.1"), address("::1")],
            "turns-private" => vec![address(PUBLIC)],
            "mixed" => vec![
                address("127.0.0.1"),
                address(PUBLIC),
                address("::1"),
                address("10.0.0.1"),
            ],
            "refused" => return Box::pin(async { Err(io::Error::other("no such name")) }),
            other => panic!("{other} is no name of this test"),
        };
        Box::pin(async move { Ok(found) })
    }
}

async fn with_names() -> (Stage, Arc<Names>) {
    let names = Arc::new(Names {
        looks: AtomicUsize::new(0),
    });
    let setup = Setup {
        resolver: Some(names.clone()),
        ..Setup::default()
    };
    (Stage::new().with(setup).await, names)
}

#[tokio::test]
async fn a_name_of_a_private_address_reaches_nobody() {
    let canary = Canary::start().await;
    let (mut stage, _) = with_names().await;
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
            // A name is not looked up when it is given: it may change at any time.
            let webhook = stage.webhook(&format!("https://{name}:{port}/"), json!({})).await;
            stage.test_event(&webhook).await;
            assert_eq!(stage.deliver().await, 1);
            let delivery = stage.delivery(&webhook).await;
            let attempt = &delivery["attempts"][0];
            assert_eq!(
                json!([attempt["responseStatus"], attempt["error"]]),
                json!([null, format!("The name {name} {why}")])
            );
            canary.assert_untouched(name);
        }
    }
}

/// Between a check and a connection a name can change: so what is dialled is what was checked, and nothing is looked up again.
#[tokio::test]
async fn a_name_that_changes_between_look_ups_reaches_nobody() {
    let canary = Canary::start().await;
    let (stage, names) = with_names().await;
    for port in canary.ports() {
        names.looks.store(0, Ordering::SeqCst);
        let url = format!("https://turns-private.example.com:{port}/");
        let sender = &stage.app.webhooks.sender;
        let reply = sender.send(&message(&url)).await;
        assert_eq!(reply.response_status, None);
        assert_eq!(names.looks.load(Ordering::SeqCst), 1, "one look, and that was dialled");
        canary.assert_untouched(&url);
        let reply = sender.send(&message(&url)).await;
        let told = "The name turns-private.example.com has no public address";
        assert_eq!(reply.error.as_deref(), Some(told));
        canary.assert_untouched(&url);
    }
}

#[tokio::test]
async fn of_a_names_addresses_only_the_public_ones_are_dialled() {
    let names = Arc::new(Names {
        looks: AtomicUsize::new(0),
    });
    let dialled = async |allow_private: bool| {
        let guard = GuardedResolver::new(names.clone(), allow_private);
        let found = guard.resolve("mixed.example.com".parse().unwrap()).await.unwrap();
        found.map(|address| address.ip().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(dialled(false).await, [PUBLIC]);
    assert_eq!(dialled(true).await, ["127.0.0.1", PUBLIC, "::1", "10.0.0.1"]);
}

#[tokio::test]
async fn ordinary_public_urls_pass() {
    let urls = [
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
    ];
    let stage = Stage::new().await;
    for url in urls {
        assert!(check_url(url, false).is_ok(), "{url}");
        assert_eq!(stage.webhook(url, json!({})).await["url"], url, "as it was given");
    }
}
