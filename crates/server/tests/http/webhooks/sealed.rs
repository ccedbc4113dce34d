//! The URL of a webhook is a credential: sealed in the database, and shown shortened
//! (`docs/reference/webhooks.md#sealed-urls`).

use launchway_domain::time::DAY;
use launchway_jobs::clean_up::clean_up;
use launchway_store::StoredUrl;
use launchway_testing::receiver::Receiver;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::stage::webhooks::PATH;
use crate::support::Fields;

const SEALED_FROM: &str = "webhook_urls_sealed_from";
const REASON: &str = "a test";

async fn stored(stage: &Stage, webhook: &Value) -> StoredUrl {
    let mut tx = stage.app.db.read().await.unwrap();
    tx.org(stage.org).webhook_url(webhook.id().parse().unwrap()).await.unwrap().unwrap()
}

fn of(webhook: &Value, url: &str) -> Value {
    json!({"id": webhook.id(), "name": "CI", "url": url, "events": ["*"]})
}

#[tokio::test]
async fn a_url_is_sealed_and_deliveries_reach_it() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::ok().await;
    let webhook = stage.webhook(&receiver.url("/services/T0/verysecret"), json!({})).await;
    let shown = webhook.text("url").to_owned();
    assert!(shown.starts_with(&receiver.url("/…")) && shown.ends_with("cret") && !shown.contains("very"), "{shown}");
    let StoredUrl::Sealed(sealed) = stored(&stage, &webhook).await else { panic!("it is not sealed") };
    assert!(!sealed.contains("verysecret"));
    stage.publish_and_deliver().await;
    assert_eq!(receiver.received()[0].path, "/services/T0/verysecret");
    for path in [PATH.to_owned(), format!("{PATH}?id={}", webhook.id()), "/audit".to_owned()] {
        assert!(!stage.get(&stage.key, &path).await.text().contains("verysecret"), "{path}");
    }
}

#[tokio::test]
async fn a_record_as_it_was_read_keeps_its_url() {
    let mut stage = Stage::new().local_webhooks().await;
    let (receiver, other) = (Receiver::ok().await, Receiver::ok().await);
    let webhook = stage.webhook(&receiver.url("/services/T0/verysecret"), json!({})).await;
    let read = stage.webhook_now(&webhook).await;
    assert_eq!(stage.put(&stage.key, PATH, read.clone()).await.ok(), read);
    stage.publish_and_deliver().await;
    assert_eq!(receiver.received().len(), 1);
    // The shortened form of another URL names none.
    let not_whole = "url is shortened, as lists show it. Send the whole URL.";
    for url in ["https://hooks.example.com/…WXYZ", &receiver.url("/…")] {
        stage.put(&stage.key, PATH, of(&webhook, url)).await.refused(400, not_whole);
        let body = json!({"name": "CI", "url": url, "events": ["*"]});
        stage.post(&stage.key, PATH, body).await.refused(400, not_whole);
    }
    // One that looks the same when shortened is another.
    stage.put(&stage.key, PATH, of(&webhook, &receiver.url("/services/T1/otherwise-secret"))).await.ok();
    stage.publish_and_deliver().await;
    assert_eq!(receiver.received()[1].path, "/services/T1/otherwise-secret");
    stage.put(&stage.key, PATH, of(&webhook, &other.url("/"))).await.ok();
    stage.publish_and_deliver().await;
    assert_eq!((receiver.received().len(), other.received().len()), (2, 1));
}

#[tokio::test]
async fn after_an_upgrade_a_url_is_sealed_within_a_day() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::ok().await;
    let from = (stage.app.clock.now() + DAY).to_string();
    let mut tx = stage.app.db.write().await.unwrap();
    tx.system(REASON).set_meta(SEALED_FROM, &from).await.unwrap();
    tx.commit().await.unwrap();
    // A node of the release before, which may run beside, delivers to it.
    let url = receiver.url("/services/T0/verysecret");
    let webhook = stage.webhook(&url, json!({})).await;
    let shown = webhook.text("url").to_owned();
    assert!(!shown.contains("very"), "{shown}");
    clean_up(&stage.app).await.unwrap();
    assert_eq!(stored(&stage, &webhook).await, StoredUrl::Plain(url));
    stage.publish_and_deliver().await;
    stage.advance(DAY);
    clean_up(&stage.app).await.unwrap();
    assert!(matches!(stored(&stage, &webhook).await, StoredUrl::Sealed(_)));
    assert_eq!(stage.webhook_now(&webhook).await["url"], shown);
    stage.publish_and_deliver().await;
    assert_eq!(receiver.received().len(), 2);
    assert_eq!(receiver.received()[1].path, "/services/T0/verysecret");
}
