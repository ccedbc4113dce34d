//! The webhooks of a stage: events are delivered when the test says so.

use launchway_domain::standard_webhooks::{Secret, signatures};
use launchway_domain::time::{EpochMs, SECOND};
use launchway_jobs::deliver::Deliverer;
use launchway_jobs::fan_out::fan_out;
use launchway_testing::receiver::{Received, Receiver};
use serde_json::{Value, json};

use super::{BUNDLE, Stage};
use crate::support::{Fields, with};

pub const PATH: &str = "/webhooks";

impl Stage {
    /// Creates a webhook for every event, with fields over the defaults; returns the record with its secret.
    pub async fn webhook(&self, url: &str, fields: Value) -> Value {
        let body = with(json!({"name": "CI", "url": url, "events": ["*"]}), &fields);
        self.post(&self.key, PATH, body).await.created()
    }

    /// An event of each existing kind: a new update of this app, published.
    pub async fn publish_for(&self, bundle: &str) -> Value {
        self.published(&self.key, json!({"bundleId": bundle, "buildNumber": "auto"})).await
    }

    /// Sends a test event to a webhook; returns the delivery.
    pub async fn test_event(&self, webhook: &Value) -> Value {
        let path = format!("/webhooks/test?id={}", webhook.id());
        self.post(&self.key, &path, ()).await.created()
    }

    /// Creates the deliveries of all events and delivers what is due; returns the number of attempts.
    pub async fn deliver(&mut self) -> usize {
        fan_out(&self.app).await.unwrap();
        let app = &self.service.app;
        let deliverer = self.deliverer.get_or_insert_with(|| Deliverer::new(app.clone()));
        deliverer.deliver_due().await.unwrap()
    }

    /// Publishes an update and delivers what is due.
    pub async fn publish_and_deliver(&mut self) -> Value {
        let update = self.publish_for(BUNDLE).await;
        self.deliver().await;
        update
    }

    /// Moves the clock and delivers what is due; returns the number of attempts.
    pub async fn deliver_after(&mut self, pause: EpochMs) -> usize {
        self.advance(pause);
        self.deliver().await
    }

    /// The delivery job of another node.
    pub fn another_deliverer(&self) -> Deliverer {
        Deliverer::new(self.app.clone())
    }

    /// A webhook as it is now.
    pub async fn webhook_now(&self, webhook: &Value) -> Value {
        let path = format!("{PATH}?id={}", webhook.id());
        self.get(&self.key, &path).await.ok()
    }

    /// The deliveries to a webhook, newest first.
    pub async fn deliveries(&self, webhook: &Value) -> Vec<Value> {
        let page = self.get(&self.key, &format!("/webhooks/deliveries?limit=100&id={}", webhook.id())).await.ok();
        page["items"].as_array().unwrap().clone()
    }

    /// The only delivery to a webhook.
    pub async fn delivery(&self, webhook: &Value) -> Value {
        let all = self.deliveries(webhook).await;
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    }
}

/// A receiver that always responds with one status.
pub async fn answering(status: u16) -> Receiver {
    Receiver::start(move |_, _| launchway_testing::receiver::Reply::status(status)).await
}

/// The secret behind its text.
pub fn secret(text: &Value) -> Secret {
    use base64::Engine;
    let text = text.as_str().unwrap().strip_prefix("whsec_").unwrap();
    let bytes = base64::prelude::BASE64_STANDARD.decode(text).unwrap();
    Secret::from_bytes(&bytes).unwrap()
}

/// Every received request must be signed with these secrets, in this order, at this time.
pub fn assert_signed(received: &Received, secrets: &[Secret], at: EpochMs) {
    assert_eq!(received.header("webhook-timestamp"), (at / SECOND).to_string());
    let id = received.header("webhook-id");
    let wanted = signatures(secrets, id, at / SECOND, &received.body);
    assert_eq!(received.header("webhook-signature"), wanted);
}
