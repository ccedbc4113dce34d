//! Addresses that webhooks must not reach: refused when a webhook is created, and when a delivery resolves its name. The
//! guard itself is tested in `crates/outbound/tests/addresses`.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use futures::future::BoxFuture;
use launchway_outbound::resolver::Resolver;
use launchway_testing::receiver::{Receiver, Reply};
use serde_json::json;

use crate::stage::Stage;
use crate::stage::webhooks::PATH;
use crate::support::Setup;

#[tokio::test]
async fn a_webhook_is_for_a_public_address() {
    let stage = Stage::new().await;
    for url in [
        "http://example.com/",
        "https://localhost/",
        "https://127.0.0.1/",
        "https://0x7f.1/",
        "https://[::ffff:10.0.0.1]/",
        "https://169.254.169.254/latest/meta-data",
        "https://user@example.com/",
    ] {
        let answer = stage.post(&stage.key, PATH, json!({"name": "CI", "url": url, "events": ["*"]})).await;
        let message = answer.json()["message"].as_str().unwrap_or_default().to_owned();
        assert!(answer.status == 400 && message.starts_with("url must "), "{url}: {} {message}", answer.status);
    }
    for (url, shown) in [
        ("https://EXAMPLE.com/Hook?token=a%20b&c=d#part", "https://EXAMPLE.com/…part"),
        ("https://8.8.8.8:8443/", "https://8.8.8.8:8443/"),
    ] {
        assert_eq!(stage.webhook(url, json!({})).await["url"], shown);
    }
}

/// Resolves every name to the loopback.
struct Loopback;

impl Resolver for Loopback {
    fn resolve<'r>(&'r self, _name: &'r str) -> BoxFuture<'r, io::Result<Vec<IpAddr>>> {
        Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) })
    }
}

#[tokio::test]
async fn a_delivery_to_a_name_of_a_private_address_reaches_nobody() {
    let receiver = Receiver::start_on(Ipv4Addr::LOCALHOST.into(), |_, _| Reply::status(204)).await.unwrap();
    let setup = Setup { resolver: Some(Arc::new(Loopback)), ..Setup::default() };
    let mut stage = Stage::new().with(setup).await;
    // The name is not resolved when the webhook is created, because it may change at any time.
    let url = format!("https://loopback.example.com:{}/", receiver.address.port());
    let webhook = stage.webhook(&url, json!({})).await;
    stage.test_event(&webhook).await;
    assert_eq!(stage.deliver().await, 1);
    let delivery = stage.delivery(&webhook).await;
    let attempt = &delivery["attempts"][0];
    assert_eq!(
        json!([attempt["responseStatus"], attempt["error"]]),
        json!([null, "The name loopback.example.com has no public address"])
    );
    assert_eq!(receiver.connections(), 0);
}
