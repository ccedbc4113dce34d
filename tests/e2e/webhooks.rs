//! Webhooks with real receivers: verified by the published packages (`docs/reference/webhooks.md#signature`), and no
//! event lost when servers die (`docs/reference/webhooks.md#at-least-once`).

mod kill;
mod receivers;

use std::time::Instant;

use launchway_testing::says::Fields;
use launchway_testing::server_process::ServerBuilder;
use serde_json::{Value, json};

use crate::api::Api;
use crate::deployment::{Deployment, Ground, Turn};
use crate::packages::package;
use receivers::Program;

/// Allows the server to send to the loopback interface.
fn to_the_loopback(builder: ServerBuilder) -> ServerBuilder {
    builder.env("LAUNCHWAY_ALLOW_PRIVATE_WEBHOOKS", "true")
}

/// Creates a webhook for these events; returns the record with its secret.
async fn webhook(api: &Api, url: &str, events: &str) -> Value {
    let body = json!({"name": "receiver", "url": url, "events": [events]});
    api.post("/webhooks", body).await.created()
}

/// Publishes a new update of an app.
async fn publish(api: &Api, bundle: &str) -> Value {
    let fields = json!({
        "bundleId": bundle, "platform": "ios", "version": "1.0.0", "buildNumber": "auto"
    });
    api.publish(&package("index.html", b"hello"), fields).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_published_package_for_node_verifies() {
    verifies(Program::node).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_published_package_for_python_verifies() {
    verifies(Program::python).await;
}

async fn verifies(start: fn() -> Program) {
    let deployment = Deployment::with(Ground::SqliteDirectory, Turn::beside_others().await, to_the_loopback);
    let api = deployment.api();
    let mut receiver = tokio::task::spawn_blocking(start).await.unwrap();
    let webhook = webhook(&api, &receiver.url(), "*").await;
    let of = |path: &str| format!("/webhooks/{path}?id={}", webhook.id());
    receiver.take_secret(webhook.text("secret"));

    publish(&api, "com.example.told").await;
    let answered = Instant::now();
    let told = receiver.next();
    println!(
        "summary: a webhook arrived {} ms after the answer",
        answered.elapsed().as_millis()
    );
    assert_eq!(
        json!([told["verified"], told["type"]]),
        json!([true, "update.published"]),
        "{told}"
    );

    // For a day the old secret signs in addition to the new one.
    let rotated = api.post(&of("rotate-secret"), json!({})).await.ok();
    api.post(&of("test"), json!({})).await.created();
    let told = receiver.next();
    assert_eq!(
        json!([told["verified"], told["type"]]),
        json!([true, "webhook.test"]),
        "{told}"
    );
    receiver.take_secret(rotated.text("secret"));
    publish(&api, "com.example.told").await;
    let told = receiver.next();
    assert_eq!(told["verified"], true, "{told}");

    // With another secret verification fails, and a refused delivery is retried with the same id.
    receiver.take_secret("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    publish(&api, "com.example.told").await;
    let refused = receiver.next();
    assert_eq!(refused["verified"], false, "{refused}");
    receiver.take_secret(rotated.text("secret"));
    let again = receiver.next();
    assert_eq!(
        json!([again["id"], again["verified"]]),
        json!([refused["id"], true]),
        "{again}"
    );
}
