//! A service that may send to the loopback, whose events are delivered when the test says so.

use std::sync::Arc;

use launchway_domain::id::OrgId;
use launchway_domain::standard_webhooks::{Secret, signatures};
use launchway_domain::time::{EpochMs, SECOND};
use launchway_server::config::RawSettings;
use launchway_server::jobs::deliver::Deliverer;
use launchway_server::jobs::fan_out::fan_out;
use launchway_testing::receiver::{Received, Receiver};
use serde_json::{Value, json};

use crate::support::{Fields, Setup, TestApp};

pub const PATH: &str = "/webhooks";
pub const BUNDLE: &str = "com.example.app";

/// A service, an organization in it and a key of that.
pub struct Stage {
    pub app: TestApp,
    pub org: OrgId,
    pub key: String,
    deliverer: Deliverer,
}

impl Stage {
    pub async fn set() -> Stage {
        Self::with(Setup {
            settings: RawSettings {
                allow_private_webhooks: Some("true".to_owned()),
                ..RawSettings::default()
            },
            ..Setup::default()
        })
        .await
    }

    pub async fn with(setup: Setup) -> Stage {
        let app = TestApp::with(setup).await;
        let (org, key) = app.org_with_key().await;
        let deliverer = Deliverer::new(Arc::clone(&app.app));
        Stage {
            app,
            org,
            key,
            deliverer,
        }
    }

    /// A webhook for every event, with fields over the defaults: the record with its secret.
    pub async fn webhook(&self, url: &str, fields: Value) -> Value {
        let mut body = json!({"name": "CI", "url": url, "events": ["*"]});
        for (name, value) in fields.as_object().unwrap() {
            body[name] = value.clone();
        }
        self.post(PATH, Some(body)).await
    }

    /// A POST that creates something.
    pub async fn post(&self, path: &str, body: Option<Value>) -> Value {
        self.app.post(&self.key, path, body).await.created()
    }

    /// An event of each kind that there is yet: a new update of this app, published.
    pub async fn publish(&self, bundle: &str) -> Value {
        self.app
            .published(&self.key, json!({"bundleId": bundle, "buildNumber": "auto"}))
            .await
    }

    /// Makes deliveries of all events and delivers all that is due; gives how many tries that took.
    pub async fn deliver(&mut self) -> usize {
        fan_out(&self.app.app).await.unwrap();
        self.deliverer.deliver_due().await.unwrap()
    }

    /// Publishes an update and delivers what is due.
    pub async fn publish_and_deliver(&mut self) -> Value {
        let update = self.publish(BUNDLE).await;
        self.deliver().await;
        update
    }

    /// Moves the clock and delivers what is due then; gives how many tries that took.
    pub async fn deliver_after(&mut self, pause: EpochMs) -> usize {
        self.app.advance(pause);
        self.deliver().await
    }

    /// Another node's part that delivers.
    pub fn another_deliverer(&self) -> Deliverer {
        Deliverer::new(Arc::clone(&self.app.app))
    }

    /// A webhook as it is now.
    pub async fn read(&self, webhook: &Value) -> Value {
        let path = format!("{PATH}?id={}", id(webhook));
        self.app.get(&self.key, &path).await.ok()
    }

    /// The deliveries to a webhook, newest first.
    pub async fn deliveries(&self, webhook: &Value) -> Vec<Value> {
        let path = format!("/webhooks/deliveries?limit=100&id={}", id(webhook));
        let page = self.app.get(&self.key, &path).await.ok();
        page["items"].as_array().unwrap().clone()
    }

    /// The only delivery to a webhook.
    pub async fn delivery(&self, webhook: &Value) -> Value {
        let all = self.deliveries(webhook).await;
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    }
}

/// The `id` of a record.
pub fn id(record: &Value) -> &str {
    record.id()
}

/// A receiver that answers with one status for ever.
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

/// What has been received must be signed by these secrets, in this order, at this time.
pub fn assert_signed(received: &Received, secrets: &[Secret], at: EpochMs) {
    assert_eq!(received.header("webhook-timestamp"), (at / SECOND).to_string());
    let id = received.header("webhook-id");
    let wanted = signatures(secrets, id, at / SECOND, &received.body);
    assert_eq!(received.header("webhook-signature"), wanted);
}
